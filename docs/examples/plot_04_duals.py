"""
The duals at work
=================

DUPLE maximises a concave measure of the class rates by a game: the network ascends a weighted sum of the two class
means, and the weights, the duals alpha and beta, are the supergradient of the measure at the running rates.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, history, measures

adult = data.load("a9a")
prior = float(np.mean(adult.y_train))
MEASURES = {"min": "min(TPR, TNR)", "qmean": "Q-mean", "gmean": "G-mean"}
runs = {
    name: an.fit(
        adult.X_train, adult.y_train, name, algorithm="paper_duple", steps=120, validation=None, seed=0
    ).history
    for name in MEASURES
}

# %%
# The colour is the positives' part of the weights, alpha / (alpha + beta), at each pair of rates. For min it is all or
# nothing: the worse class gets all the weight. Q-mean and G-mean share it out. The line is the way of a run, by the
# paper's listing, from its first steps to the cross.

plt.style.use("tableau-colorblind10")
figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), sharey=True, layout="constrained")
grid = np.linspace(0.005, 0.995, 100)
for (name, label), axis in zip(MEASURES.items(), axes):
    measure = measures.get(name)
    duals = np.array([[measure.supergradient(P, N, prior) for N in grid] for P in grid])
    shares = duals[..., 0] / duals.sum(axis=-1)
    colours = axis.pcolormesh(grid, grid, shares, cmap="PuOr", vmin=0, vmax=1, shading="nearest")
    tpr, tnr = (history.running_mean([step.soft_rates[k] for step in runs[name]], 10) for k in (0, 1))
    axis.plot(tnr, tpr, color="black", linewidth=1.2)
    axis.plot(tnr[-1], tpr[-1], "P", color="black", markersize=9)
    axis.set(xlabel="true negative rate", title=label, aspect="equal")
axes[0].set_ylabel("true positive rate")
figure.colorbar(colours, ax=axes, label="weight of the positives")

# %%
# The last duals of each run:

for name, label in MEASURES.items():
    print(f"{label:14}", {dual: round(value, 3) for dual, value in runs[name][-1].duals.items()})
