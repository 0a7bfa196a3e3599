"""
Direct training beside cross-entropy
====================================

The same network, batches, optimiser and steps, three objectives: DUPLE on min(TPR, TNR), cross-entropy and
class-weighted cross-entropy, all cut at a score of 0. Cross-entropy needs a tuned threshold to catch up.
"""

import matplotlib.pyplot as plt

import aesara_nondecomp as an
from aesara_nondecomp import data

adult = data.load("a9a")  # Adult as 123 binary columns
STEPS, EVERY = 500, 25
ALGORITHMS = {"duple": "DUPLE", "cross_entropy": "cross-entropy", "class_weighted": "class-weighted"}


def evaluated(algorithm):
    """Steps and values of min(TPR, TNR) on the test rows, and the trained model."""
    stopping = an.EarlyStopping((adult.X_test, adult.y_test), every=EVERY, patience=None, tune_threshold=False)
    model = an.fit(
        adult.X_train, adult.y_train, "min", algorithm=algorithm, network="mlp", optimizer="adam", schedule="constant",
        steps=STEPS, validation=stopping, seed=0,
    )  # fmt: skip
    return [evaluation.step for evaluation in model.evaluations], [e.value for e in model.evaluations], model


# %%
# The test rows are only watched here: a curve per step shows them, and nothing is chosen by them.

plt.style.use("tableau-colorblind10")
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
models = {}
for (algorithm, label), line in zip(ALGORITHMS.items(), ("-", "--", "-.")):
    steps, values, models[algorithm] = evaluated(algorithm)
    axis.plot(steps, values, line, linewidth=2, label=label)
    print(f"{label:16} after {STEPS} steps: {values[-1]:.3f}")

# %%
# With a threshold from a fifth of the training rows, cross-entropy is level: the advantage of direct training is that
# it needs no such rows. A plain call of `fit` does both.

tuned = an.fit(
    adult.X_train, adult.y_train, "min", algorithm="plug_in", network="mlp", steps=STEPS, validation=0.2, seed=0
)
value = tuned.value(adult.X_test, adult.y_test)
print(f"cross-entropy with a tuned threshold: {value:.3f}")
axis.axhline(value, color="0.5", linestyle=":", label="cross-entropy, tuned threshold")
axis.set(xlabel="step", ylabel="min(TPR, TNR) on the test rows", title="a9a, a network 64-64", ylim=(0, 0.9))
axis.legend(loc="lower right")
