"""Makes the files in this folder; run it with version 0.1.0 installed: `python tests/data/0.1.0/make.py`.

The files are kept as that version wrote them, so that later versions are tested against real former files. Each
model `NAME.npz` has a `NAME.json` beside it: raw inputs, and the labels and scores that 0.1.0 itself predicted.

Written by commit 66ccaab of this repository, on Linux x86-64 with Python 3.11 and Aesara 2.9.4.
"""

import csv
import json
import sys
from functools import partial
from pathlib import Path

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import networks
from aesara_nondecomp.arguments import TEXT_NETWORKS
from aesara_nondecomp.cli import main
from aesara_nondecomp.data import read_csv_columns
from aesara_nondecomp.quantification import METHODS, Quantifier
from aesara_nondecomp.tabular import Preparation

FOLDER = Path(__file__).parent


def write_expected(name, model, X, inputs, **more):
    """Inputs, labels and scores as JSON, which keeps floats exactly."""
    expected = {
        "measure": str(model.measure),
        "threshold": model.threshold,
        "best_step": model.best_step,
        "feature_names": model.feature_names,
        "prior": model.prior,
        "classes": list(model.classes),
        "labels": model.predict(X).tolist(),
        "scores": model.decision_function(X).tolist(),
        "inputs": inputs,
    }
    (FOLDER / f"{name}.json").write_text(json.dumps({**expected, **more}, indent=1) + "\n", encoding="utf-8")


def write_table(path, rng, n, labelled):
    """A CSV file of numbers, a category and gaps; without labels, one row has a category not seen in training."""
    age, dose = rng.normal(40, 10, n), rng.gamma(2.0, 3.0, n)
    colour = rng.choice(["red", "green", "blue"], n)
    sick = age / 10 + 3 * (colour == "red") + rng.standard_normal(n) > 5.5
    if not labelled:
        colour[3] = "mauve"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["age", "colour", "dose", *(["state"] if labelled else [])])
        for k in range(n):
            cells = [f"{age[k]:.4f}", colour[k], f"{dose[k]:.4f}"]
            if k % 7 == 0:
                cells[k % 3] = ["?", "", "NA"][k % 3]
            writer.writerow([*cells, *([("well", "sick")[int(sick[k])]] if labelled else [])])


def make_table():
    """By the command line: an encoder of raw columns, a tuned threshold, and a quantifier in the model file."""
    rng = np.random.default_rng(0)
    write_table(FOLDER / "train.csv", rng, 300, labelled=True)
    write_table(FOLDER / "table.csv", rng, 40, labelled=False)
    path = FOLDER / "table.npz"
    status = main(
        ["train", str(FOLDER / "train.csv"), "--target", "state", "--positive", "sick", "--measure", "f1", "--hidden",
         "6", "--steps", "200", "--tune-threshold", "--out", str(path), "--quiet"]
    )  # fmt: skip
    assert status == 0
    (FOLDER / "train.csv").unlink()
    model = an.load_model(path)
    X = Preparation.from_dict(model.extra["preparation"]).transform(read_csv_columns(FOLDER / "table.csv"))
    quantifier = Quantifier.from_dict(model.extra["quantifier"])
    scores = model.decision_function(X)
    probabilities = quantifier.posteriors(scores).tolist()
    prevalence = {method: quantifier.prevalence(scores, method) for method in METHODS}
    write_expected("table", model, X, "table.csv", probabilities=probabilities, prevalence=prevalence)


def make_text():
    """By `fit` on short texts: a vocabulary in the model file. The usual network, but small enough to keep here."""
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.4
    words = ["today", "was", "a", "day", "with", "rain"]
    texts = [" ".join([*rng.permutation([*words, "great" if good else "awful"])]) for good in y]
    TEXT_NETWORKS["attention"] = partial(networks.attention, embedding=8, hidden=8, alignment=8, decoder=8)
    model = an.fit(texts, np.where(y, "good", "bad"), "kld", network="attention", steps=100, batch_size=50, seed=0)
    model.save(FOLDER / "text.npz")
    inputs = [*texts[:8], "A GREAT day!", "never heard of it", ""]
    write_expected("text", model, inputs, inputs)


def make_dense():
    """By `fit` on a float32 matrix whose columns need standardisation, with validation rows and a tuned threshold."""
    rng = np.random.default_rng(2)
    X = (rng.standard_normal((300, 4)) * [1, 50, 0.1, 3] + [0, 200, 0, 1]).astype(np.float32)
    y = (X[:, 0] + (X[:, 1] - 200) / 50 + 0.5 * rng.standard_normal(300) > 1).astype(int)
    names = ["a", "b", "c", "d"]
    model = an.fit(X[:200], y[:200], "min", hidden=(6,), steps=100, batch_size=64, feature_names=names,
                   validation=(X[200:], y[200:]), evaluate_every=10, seed=0)  # fmt: skip
    model.tune_threshold(X[200:], y[200:])
    model.save(FOLDER / "dense.npz")
    write_expected("dense", model, X[:30], X[:30].tolist())


if __name__ == "__main__":
    assert an.__version__ == "0.1.0", an.__version__
    for make in (make_table, make_text, make_dense):
        make()
        print(make.__doc__, file=sys.stderr)
