"""
imbalanced-learn: a sampler before the estimator
================================================

A pipeline of imbalanced-learn resamples the rows of `fit` alone. The measure weighs the classes by itself, so compare
with the estimator without a sampler.
"""

from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import RandomUnderSampler

from aesara_nondecomp import MeasureClassifier, data, measure_scorer

letter = data.load("letter")
network = MeasureClassifier("min", steps=300, validation=0.2, random_state=0)
pipeline = make_pipeline(RandomUnderSampler(sampling_strategy=0.2, random_state=0), network)
scorer = measure_scorer("min")
for name, model in (("with a sampler", pipeline), ("without", network)):
    model.fit(letter.X_train, letter.y_train)
    print(name, scorer(model, letter.X_test, letter.y_test))
