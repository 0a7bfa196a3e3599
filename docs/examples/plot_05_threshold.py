"""
The threshold of a measure
==========================

F1 is not best at a probability of one half. `fit` chooses the threshold on rows held out; with few of them, the exact
best one follows their noise, so it takes a steadier one.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, metrics

adult = data.load("a9a")
signs = np.where(adult.y_train > 0, 1, -1)
rest, few = data.stratified_split(signs, 0.02, seed=1)  # some 650 rows to choose the threshold by
model = an.fit(
    adult.X_train[rest], signs[rest], "f1", algorithm="cross_entropy", validation=None, steps=500, seed=0
)  # fmt: skip
scores, truth = model.decision_function(adult.X_train[few]), signs[few]
test_scores, test_truth = model.decision_function(adult.X_test), np.where(adult.y_test > 0, 1, -1)

best, _ = metrics.best_threshold("f1", scores, truth)
steady, _ = metrics.steady_threshold("f1", scores, truth)


def f1(some_scores, some_truth, threshold):
    return metrics.score("f1", metrics.confusion_at_threshold(some_scores, some_truth, threshold))


# %%
# The jagged line is what the few rows say, the smooth one what 16,281 test rows say.

plt.style.use("tableau-colorblind10")
cuts = np.linspace(-3, 2, 201)
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
axis.plot(cuts, [f1(scores, truth, cut) for cut in cuts], label=f"{len(few)} rows held out")
axis.plot(cuts, [f1(test_scores, test_truth, cut) for cut in cuts], linewidth=2, label="test rows")
for name, cut, line in (
    ("probability 1/2", 0.0, ":"),
    ("best on the rows held out", best, "--"),
    ("steady", steady, "-."),
):
    value = f1(test_scores, test_truth, cut)
    print(f"{name:26} {cut:6.2f}   F1 on the test rows {value:.3f}")
    axis.axvline(cut, color="0.3", linestyle=line, label=f"{name}: {value:.3f} on the test rows")
axis.set(xlabel="threshold on the score", ylabel="F1", ylim=(0.45, 0.75), title="a9a, a network on cross-entropy")
axis.legend(loc="lower left")
