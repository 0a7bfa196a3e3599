"""
How sure is a value?
====================

Bootstrap intervals of all measures on few test rows, beside what one label for all rows would get.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures, metrics
from aesara_nondecomp.metrics.bootstrap import bootstrap

letter = data.load("letter")
model = an.fit(letter.X_train, letter.y_train, "f1", validation=0.2, seed=0)
few = np.random.default_rng(0).choice(len(letter.y_test), 800, replace=False)
confusion = model.confusion_matrix(letter.X_test[few], letter.y_test[few])
NAMES = ("f1", "jaccard", "min", "gmean", "qmean", "balanced_accuracy", "accuracy")
intervals = bootstrap(confusion, NAMES)
print(confusion)

# %%
# Accuracy looks best, and its trivial answer is nearly as good: with one positive in 26 rows it says little.

plt.style.use("tableau-colorblind10")
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for row, name in enumerate(NAMES):
    low, high = intervals[name]
    axis.plot([low, high], [row, row], color="C0", linewidth=3, solid_capstyle="butt")
    axis.plot(
        metrics.score(name, confusion), row, "o", color="C0", markersize=8, label="value, 95 % interval" * (not row)
    )
    trivial = measures.get(name).trivial(confusion.prevalence)
    axis.plot(
        trivial, row, "x", color="C1", markersize=8, markeredgewidth=2, label="one label for all rows" * (not row)
    )
axis.set(yticks=range(len(NAMES)), yticklabels=NAMES, xlim=(-0.03, 1.03), xlabel="value",
         title=f"letter, {len(few)} test rows, {intervals.positives} of them positive")  # fmt: skip
axis.invert_yaxis()
axis.legend(loc="lower center")
