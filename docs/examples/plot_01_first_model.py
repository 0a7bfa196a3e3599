"""
A first model
=============

Train a network for F1 on Adult, UCI's table of numbers, categories and missing cells, and look at what it does.
"""

import matplotlib.pyplot as plt
import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import data, history

adult = data.load("adult")
model = an.fit(adult.X_train, adult.y_train, measure="f1", validation=0.2, seed=0)
print(f"F1 on the test rows: {model.value(adult.X_test, adult.y_test):.3f}")
confusion = model.confusion_matrix(adult.X_test, adult.y_test)

# %%
# The confusion matrix says how: F1 accepts about as many false alarms as it takes to find most of the positives.

cells = np.array([[confusion.TN, confusion.FP], [confusion.FN, confusion.TP]])
figure, axis = plt.subplots(figsize=(4.2, 3.8), layout="constrained")
axis.imshow(cells / cells.sum(axis=1, keepdims=True), cmap="Blues", vmin=0, vmax=1.6)
for (row, column), count in np.ndenumerate(cells):
    axis.text(column, row, f"{count:,}", ha="center", va="center", fontsize=13)
names = ["up to 50K", "above 50K"]
axis.set(xticks=[0, 1], xticklabels=names, yticks=[0, 1], yticklabels=names, xlabel="predicted", ylabel="true")
axis.set_title(f"{confusion.predicted_prevalence:.0%} predicted positive, {confusion.prevalence:.0%} are")

# %%
# `plot_history` draws the run: the measure on the rows held out, the class rates of the batches, the level v that DAME
# raises, and the gradient.

figure = history.plot_history(model)
plt.figure(figure)  # shown here; `plot_history(model, "run.png")` writes a file

# %%
# Any other measure of the same predictions, beside what one label for all rows would get:

for name in ("f1", "min", "qmean", "balanced_accuracy", "kld"):
    trivial = an.measures.get(name).trivial(confusion.prevalence)
    print(f"{name:18} {model.value(adult.X_test, adult.y_test, name):.4f}   one label for all rows {trivial:.4f}")
