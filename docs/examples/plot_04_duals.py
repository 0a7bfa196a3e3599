"""
The duals at work
=================

DUPLE maximises a concave measure of the class rates by a game: the network ascends a weighted sum of the two class
means, and the weights, the duals, follow the supergradient of the measure at the running rates.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, history

letter = data.load("letter")  # the letter N against the others: one row in 26 is positive
SPAN = 15
MEASURES = {"min": "min(TPR, TNR)", "qmean": "Q-mean", "gmean": "G-mean"}
runs = {
    name: an.fit(letter.X_train, letter.y_train, name, steps=300, validation=None, seed=0).history for name in MEASURES
}

# %%
# The class that lags behind gets the larger dual. For min that is all there is: the worse class gets all the weight,
# so its duals jump when the rates cross. Q-mean and G-mean share the weight out.

plt.style.use("tableau-colorblind10")
figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), sharex=True, sharey="row", layout="constrained")
for (name, label), (above, below) in zip(MEASURES.items(), axes.T):
    steps = [step.step for step in runs[name]]
    for k, (rate, line) in enumerate((("TPR", "-"), ("TNR", "--"))):
        rates = history.running_mean([step.hard_rates[k] for step in runs[name]], SPAN)
        above.plot(steps, rates, line, label=rate)
    for dual, line in zip(sorted(runs[name][-1].duals), ("-", "--")):
        values = np.array([step.duals.get(dual, np.nan) for step in runs[name]], dtype=float)
        below.plot(steps, values, line, linewidth=1, label=dual)
    above.set_title(label)
    below.set_xlabel("step")
axes[0, 0].set_ylabel(f"rate, mean of {SPAN} batches")
axes[1, 0].set_ylabel("dual")
axes[1, 0].set_ylim(-0.05, 1.6)
axes[0, 0].legend()
axes[1, 0].legend()
