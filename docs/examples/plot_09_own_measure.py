"""
A measure of your own
=====================

A function of the true positive rate P, the true negative rate N and the prior makes a measure, together with its
supergradient. That it is concave is checked. (`symbolic_measure` derives the supergradient from one Aesara expression.)
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures


def value(P, N, prior):
    """Q-mean in which the error rate of the positives counts three times."""
    return 1 - ((3 * (1 - P) ** 2 + (1 - N) ** 2) / 4) ** 0.5


def supergradient(P, N, prior):
    distance = max(1 - value(P, N, prior), 1e-9)
    return 0.75 * (1 - P) / distance, 0.25 * (1 - N) / distance


costly = measures.concave("costly_qmean", value, supergradient)

adult = data.load("adult")
found = {}
for label, measure in (("Q-mean", "qmean"), ("positives count three times", costly)):
    model = an.fit(adult.X_train, adult.y_train, measure, validation=0.2, steps=500, seed=0)
    found[label] = model.confusion_matrix(adult.X_test, adult.y_test)
    print(f"{label:28} TPR {found[label].tpr:.3f}   TNR {found[label].tnr:.3f}")

# %%
# The contours are those of the new measure; the network that was trained for it stands on the higher one.

plt.style.use("tableau-colorblind10")
grid = np.linspace(0, 1, 101)
levels = [[costly.value(P, N, 0.24) for N in grid] for P in grid]
figure, axis = plt.subplots(figsize=(6, 4.8), layout="constrained")
lines = axis.contour(grid, grid, levels, levels=np.arange(0.5, 1, 0.05), cmap="viridis")
axis.clabel(lines, fmt="%.2f", fontsize=8)
for (label, of), marker in zip(found.items(), "oD"):
    axis.plot(of.tnr, of.tpr, marker, markersize=10, label=label)
axis.set(xlim=(0.5, 1), ylim=(0.5, 1), xlabel="true negative rate", ylabel="true positive rate",
         title="Adult, test rows")  # fmt: skip
axis.legend(loc="lower left")
