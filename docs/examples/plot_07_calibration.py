"""
Predictions follow the measure, probabilities do not
====================================================

`predict` serves the measure, and `predict_proba` is calibrated on rows that were not trained on. So a row of
probability 0.4 may well be predicted positive: by F1 that is right.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data

adult = data.load("adult")
model = an.fit(adult.X_train, adult.y_train, "f1", validation=0.2, seed=0)
shares = model.predict_proba(adult.X_test)[:, 1]
raw = 1 / (1 + np.exp(-model.decision_function(adult.X_test)))  # the sigmoid of the score is no probability here
bins = np.linspace(0, 1, 11)


def reliability(probabilities):
    """Mean probability and share of positives in each of ten bins."""
    of = np.clip(np.digitize(probabilities, bins) - 1, 0, 9)
    used = [k for k in range(10) if np.sum(of == k) >= 20]
    return np.array([(probabilities[of == k].mean(), adult.y_test[of == k].mean()) for k in used]).T


# %%
# The dashed line is where `predict` turns to positive.

plt.style.use("tableau-colorblind10")
cut = shares[model.predict(adult.X_test) == 1].min()
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.plot([0, 1], [0, 1], color="0.7")
left.plot(*reliability(shares), "o-", label="predict_proba")
left.plot(*reliability(raw), "s--", label="sigmoid of the score")
left.set(xlabel="probability, mean of the bin", ylabel="share of positives", title="Calibration on the test rows")
left.legend()
for label, name, filled in ((0, "negative", True), (1, "positive", False)):
    right.hist(shares[adult.y_test == label], bins=40, histtype="stepfilled" if filled else "step", linewidth=2,
               alpha=0.6 if filled else 1, label=name)  # fmt: skip
right.axvline(cut, color="0.2", linestyle="--", label=f"predicted positive from {cut:.2f}")
right.set(xlabel="predict_proba", ylabel="test rows", yscale="log", title="Both classes")
right.legend()
print(f"predicted positive from a probability of {cut:.3f}")
