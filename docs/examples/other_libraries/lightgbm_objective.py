"""
LightGBM: a driver as the objective of trees
============================================

What it gains, and what not, is measured in docs/boosting.md (extra ``boosting``).
"""

import lightgbm
import numpy as np

from aesara_nondecomp import data, metrics
from aesara_nondecomp.drivers import ClassWeighted, WarmStart
from aesara_nondecomp.training import Problem, recipe_for


def tree_objective(driver, signs):
    """The first derivative of a driver's objective, and a bound of the second one, for labels in {-1, +1}."""
    positive, share = signs > 0, np.mean(signs > 0)

    def of_rows(pos, neg):
        return np.where(positive, pos / share, neg / (1 - share))

    def objective(scores, _):
        sums = metrics.class_sums(scores, signs)  # of all rows, once in a round
        if driver.needs_refresh():
            driver.refresh(sums)
        w = driver.weights()
        driver.observe(sums)
        a, b = of_rows(w.sigmoid_pos, w.sigmoid_neg), of_rows(w.logistic_pos, w.logistic_neg)
        right = 1 / (1 + np.exp(-signs * scores))
        slope = right * (1 - right)
        return -signs * (a * slope + b * (1 - right)), (abs(a) + abs(b)) * slope

    return objective


letters = data.load("letter")
signs, test_signs = (np.where(y > 0, 1, -1) for y in (letters.y_train, letters.y_test))
prior = float(np.mean(signs > 0))
f1 = recipe_for("f1", Problem(prior, eps=0.0)).phases[0].driver
driver = WarmStart(ClassWeighted(prior), 10, f1)
options = {"objective": tree_objective(driver, signs), "num_leaves": 31, "num_threads": 1, "verbosity": -1}
trees = lightgbm.train(options, lightgbm.Dataset(letters.X_train, signs > 0), num_boost_round=50)

scores = trees.predict(letters.X_test)  # of the custom objective: not probabilities
print(driver.duals(), metrics.score("f1", metrics.confusion_at_threshold(scores, test_signs)))
