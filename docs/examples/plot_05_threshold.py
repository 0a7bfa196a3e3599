"""
The threshold of a measure
==========================

F1 is not best at a probability of one half. `fit` chooses the threshold on rows held out; with few of them the exact
best one follows their noise, so it takes a steadier one.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, metrics

adult = data.load("a9a")
signs, test_signs = (np.where(y > 0, 1, -1) for y in (adult.y_train, adult.y_test))
rest, held = data.stratified_split(signs, 0.2, seed=0)
model = an.fit(
    adult.X_train[rest], signs[rest], "f1", algorithm="cross_entropy", validation=None, steps=500, seed=0
)  # fmt: skip
scores, test_scores = (model.decision_function(X) for X in (adult.X_train[held], adult.X_test))


def f1(some_scores, some_signs, threshold):
    return metrics.score("f1", metrics.confusion_at_threshold(some_scores, some_signs, threshold))


# %%
# Draw 300 of the rows held out, choose both thresholds by them, and look at F1 on the 16,281 test rows: a hundred
# times.

ROWS, TIMES = 300, 100
rng = np.random.default_rng(0)
found = {"best": [], "steady": []}
for _ in range(TIMES):
    few = rng.choice(len(held), ROWS, replace=False)
    chosen = scores[few], signs[held][few]
    found["best"].append(metrics.best_threshold("f1", *chosen)[0])
    found["steady"].append(metrics.steady_threshold("f1", *chosen)[0])
reached = {name: [f1(test_scores, test_signs, cut) for cut in cuts] for name, cuts in found.items()}
at_half = f1(test_scores, test_signs, 0.0)
print(f"probability 1/2: {at_half:.3f}")
for name, values in reached.items():
    print(f"{name:15}: {np.mean(values):.3f} on average, {np.quantile(values, 0.05):.3f} or less in one of twenty")

plt.style.use("tableau-colorblind10")
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(3, 2), layout="constrained")
cuts = np.linspace(-3, 2, 201)
left.plot(cuts, [f1(scores[few], signs[held][few], cut) for cut in cuts], label=f"{ROWS} rows held out")
left.plot(cuts, [f1(test_scores, test_signs, cut) for cut in cuts], linewidth=2, label="test rows")
for name, line in (("best", "--"), ("steady", "-.")):
    left.axvline(found[name][-1], color="0.3", linestyle=line, label=f"{name} threshold")
left.set(xlabel="threshold on the score", ylabel="F1", ylim=(0.4, 0.75), title="The last of the draws")
left.legend(loc="lower left")
right.boxplot(list(reached.values()), widths=0.5)
right.axhline(at_half, color="0.3", linestyle=":", label="probability 1/2")
right.set(ylabel="F1 on the test rows", title=f"{TIMES} draws of {ROWS} rows")
right.set_xticks([1, 2], list(reached))
right.legend()
