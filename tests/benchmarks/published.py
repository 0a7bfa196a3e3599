"""Small made-up files in the formats of KDD Cup 2008 and of CMU's protein pairs."""

from __future__ import annotations

import numpy as np

N_FEATURES = 117


def write_kddcup08(folder, labels, patients):
    """Features.txt and Info.txt as the organisers' read-me describes them; every id differs from row to row."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(len(labels), N_FEATURES)), 4)
    np.savetxt(folder / "Features.txt", X, fmt="%.4f", delimiter="\t")
    lines = [
        f"{label:+d} {finding} {finding} {9000 + row} {patient} {row % 2} {row // 2 % 2} {100 + row} {200 + row} 5 6"
        for row, (label, patient) in enumerate(zip(labels, patients))
        for finding in [7000 + row if label > 0 else 0]
    ]
    (folder / "Info.txt").write_text("\n".join(lines) + "\n")
    return X


def write_ppi(folder, n_pos, n_neg, missing=()):
    folder.mkdir(parents=True)
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(n_pos + n_neg, 6)), 3)
    for cell in missing:
        X[cell] = -100.0
    for file, part, label in (
        ("dipsPosPair.feature", X[:n_pos], 1), ("dipsRandpairSub23w.feature", X[n_pos:], 0),
    ):  # fmt: skip
        lines = [",".join([*(f"{value:g}" for value in row), str(label)]) for row in part]
        (folder / file).write_text("\n".join(lines) + "\n")
    return X
