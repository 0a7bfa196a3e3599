"""The prevalence benchmark: both sides see the same test sets, and a verdict is the ratio of the mean errors."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("sklearn")

from aesara_nondecomp.metrics import prevalence_shift  # noqa: E402
from benchmarks.__main__ import main  # noqa: E402
from benchmarks.rivals.sets import part_of, signs_of  # noqa: E402


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("prevalence") / "found.json"
    status = main(["prevalence", "--sets", "breast_cancer", "--seeds", "1", "--json", str(path)])
    return status, json.loads(path.read_text())


def test_the_rivals_acc_error_is_that_of_its_counts_on_the_same_test_sets(found):
    from sklearn.ensemble import HistGradientBoostingClassifier

    part = part_of("breast_cancer", None, 100)
    tuning = part.held_out(100)
    trees = HistGradientBoostingClassifier(random_state=100).fit(tuning.X, tuning.y)
    held, test = trees.predict_proba(tuning.X_held)[:, 1], trees.predict_proba(part.X_test)[:, 1]
    f1_at = {
        cut: 2 * np.sum((held > cut) & (tuning.y_held == 1)) / np.sum((held > cut) + tuning.y_held) for cut in held
    }
    best = max(f1_at.values())
    cuts = [cut for cut, value in f1_at.items() if value == best]
    tpr, fpr = (np.mean(held[tuning.y_held == label] > cuts[0]) for label in (1, 0))
    samples = prevalence_shift.artificial_prevalences(signs_of(part.y_test), 500, seed=100)
    errors = [
        abs(np.clip((np.mean(test[sample.rows] > cuts[0]) - fpr) / (tpr - fpr), 0, 1) - sample.prevalence)
        for sample in samples
    ]
    acc = next(cell for cell in found[1]["cells"] if cell["method"] == "acc")
    assert acc["hist_gradient_boosting"] == pytest.approx([np.mean(errors)], abs=0.01)  # the cut is between two scores


def test_a_verdict_is_the_ratio_of_the_mean_errors_and_sets_the_status(found):
    status, figures = found
    for verdict in figures["against"]:
        (cell,) = (cell for cell in figures["cells"] if cell["method"] == verdict["method"])
        assert verdict["ratio"] == pytest.approx(cell["fit"][0] / cell["hist_gradient_boosting"][0], abs=1e-3)
        assert verdict["holds"] == (verdict["ratio"] <= 1.1)
    assert status == (0 if all(verdict["holds"] for verdict in figures["against"]) else 1)
