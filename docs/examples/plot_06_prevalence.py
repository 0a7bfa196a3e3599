"""
Counting under a shifted prevalence
===================================

How many rows are positive? Counting predictions is right only where the share is that of the training rows. The
adjusted counts and expectation maximisation (SLD) follow a shift.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data
from aesara_nondecomp.metrics import prevalence_shift

adult = data.load("adult")
model = an.fit(adult.X_train, adult.y_train, "qmean", validation=0.2, seed=0)  # its held-out rows give the error rates
signs = np.where(adult.y_test > 0, 1, -1)
shift = prevalence_shift.prevalence_shift(
    model.network_scores(adult.X_test),
    signs,
    prevalence_shift.estimators(model.require_quantifier(), float(np.mean(adult.y_train))),
    sample_size=500,
    repeats=20,
)

# %%
# Each point is the mean of 20 test sets of 500 rows, drawn from the test rows at the prevalence below.

LABELS = {
    "cc": "classify and count",
    "acc": "adjusted count",
    "pcc": "probabilistic count",
    "pacc": "adjusted probabilistic count",
    "sld": "expectation maximisation",
}
plt.style.use("tableau-colorblind10")
figure, axis = plt.subplots(figsize=(6.6, 5.4), layout="constrained")
grid = np.unique(shift.prevalences)
axis.plot([0, 1], [0, 1], color="0.7", label="truth")
for (name, label), marker in zip(LABELS.items(), "osD^v"):
    of_each = [shift.estimates[name][shift.prevalences == prevalence].mean() for prevalence in grid]
    axis.plot(grid, of_each, marker=marker, markersize=4, linewidth=1.2, label=label)
axis.set(xlabel="true share of positives", ylabel="estimate, mean of 20 test sets", title="Adult, a network for Q-mean")
axis.legend()

# %%
# Mean errors over all test sets; a constant guess of the training share is the baseline to beat.

for name, errors in shift.errors().items():
    print(f"{name:15} absolute error {errors['ae']:.3f}   KLD {errors['kld']:.4f}")
