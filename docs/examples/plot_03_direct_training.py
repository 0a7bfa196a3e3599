"""
Direct training beside cross-entropy
====================================

The same network, batches, optimiser and steps, three objectives: DUPLE on min(TPR, TNR), cross-entropy and
class-weighted cross-entropy, all thresholded at a score of 0. Cross-entropy needs a tuned threshold to catch up.
"""

import matplotlib.pyplot as plt

import aesara_nondecomp as an
from aesara_nondecomp import data

adult = data.load("a9a")  # Adult as 123 binary columns
STEPS, EVERY = 500, 25
ALGORITHMS = {"duple": "DUPLE", "cross_entropy": "cross-entropy", "class_weighted": "class-weighted"}


def evaluated(algorithm):
    """Steps and values of min(TPR, TNR) on the test rows."""
    stopping = an.EarlyStopping((adult.X_test, adult.y_test), every=EVERY, patience=None, tune_threshold=False)
    model = an.fit(
        adult.X_train, adult.y_train, "min", algorithm=algorithm, network="mlp", optimizer="adam", schedule="constant",
        steps=STEPS, validation=stopping, seed=0,
    )  # fmt: skip
    return [e.step for e in model.evaluations], [e.value for e in model.evaluations]


# %%
# The test rows are only watched here, and nothing is chosen by them. The dotted line is cross-entropy with a threshold
# from a fifth of the training rows: it is level or ahead, and the advantage of direct training is that it needs no such
# rows. A plain call of `fit` does both.

runs = {label: evaluated(algorithm) for algorithm, label in ALGORITHMS.items()}
tuned = an.fit(
    adult.X_train, adult.y_train, "min", algorithm="plug_in", network="mlp", steps=STEPS, validation=0.2, seed=0
)
level = tuned.value(adult.X_test, adult.y_test)

plt.style.use("tableau-colorblind10")
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (label, (steps, values)), line in zip(runs.items(), ("-", "--", "-.")):
    axis.plot(steps, values, line, linewidth=2, label=label)
    print(f"{label:32} {values[-1]:.3f} after {STEPS} steps")
axis.axhline(level, color="0.4", linestyle=":", label="cross-entropy, tuned threshold")
print(f"{'cross-entropy, tuned threshold':32} {level:.3f}")
axis.set(xlabel="step", ylabel="min(TPR, TNR) on the test rows", title="a9a, a network 64-64", ylim=(0.5, 0.85))
axis.legend(loc="center right")
