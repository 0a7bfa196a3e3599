"""
What each measure does to the predictions
=========================================

One data set, six measures: each moves the network to another point of the plane of true positive and true negative
rate.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, measures, metrics

plt.style.use("tableau-colorblind10")
adult = data.load("adult")
prior = float(np.mean(adult.y_test))
MEASURES = {
    "accuracy": "accuracy",
    "kld": "KLD",
    "f1": "F1",
    measures.FBeta(2): "F2",
    "qmean": "Q-mean",
    "min": "min(TPR, TNR)",
}

found = {}
for name in MEASURES:
    model = an.fit(adult.X_train, adult.y_train, name, validation=0.2, steps=300, seed=0)
    found[name] = model.confusion_matrix(adult.X_test, adult.y_test)
    if name == "f1":
        scores = model.decision_function(adult.X_test)

# %%
# The dark line is what the network trained for F1 could reach by moving its threshold, and the grey lines are points of
# equal F1. A measure that counts rows, such as accuracy, gives up positives, since they are few. F1 and KLD predict
# about as many positives as there are. Q-mean and min treat both classes alike, and predict far more.

order = np.argsort(-scores)
positive = adult.y_test[order] > 0
tpr, tnr = np.cumsum(positive) / positive.sum(), 1 - np.cumsum(~positive) / (~positive).sum()
P, N = np.meshgrid(np.linspace(0.01, 1, 200), np.linspace(0.01, 1, 200))
figure, axis = plt.subplots(figsize=(7, 5.6), layout="constrained")
f1 = 2 * prior * P / (prior * P + (1 - prior) * (1 - N) + prior)
lines = axis.contour(N, P, f1, levels=np.arange(0.5, 0.8, 0.05), colors="0.75", linewidths=0.8)
axis.clabel(lines, fmt="F1 %.2f", fontsize=8)
axis.plot(tnr, tpr, color="0.35", linewidth=1.5, label="one network, every threshold")
for (name, label), marker in zip(MEASURES.items(), "osD^vP"):
    of = found[name]
    axis.plot(of.tnr, of.tpr, marker, markersize=9, label=f"{label}: {of.predicted_prevalence:.0%} predicted positive")
axis.set(xlim=(0.6, 1), ylim=(0.45, 1), xlabel="true negative rate", ylabel="true positive rate")
axis.set_title(f"Adult, test rows: {prior:.0%} are positive")
axis.legend(loc="lower left")

# %%
# The same as a table, a row for each network: Q-mean and min are so near that either serves the other.

print("trained for     " + "".join(f"{label:>14}" for label in MEASURES.values()))
for trained, of in found.items():
    print(f"{MEASURES[trained]:16}" + "".join(f"{metrics.score(name, of):14.4f}" for name in MEASURES))
