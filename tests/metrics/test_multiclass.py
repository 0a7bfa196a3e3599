"""Macro and micro averages against scikit-learn and hand counts; bootstrap intervals against resampled rows."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp.metrics import bootstrap as bootstrap_module
from aesara_nondecomp.metrics import multiclass
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.confusion import ConfusionMatrix, confusion_matrix, score
from aesara_nondecomp.metrics.multiclass import averaged_value, one_vs_rest_confusions

RNG = np.random.default_rng(0)
TRUE, PREDICTED = RNG.integers(0, 4, 200), RNG.integers(0, 4, 200)
LABELS, PREDICTED_LABELS = RNG.random((100, 3)) < 0.3, RNG.random((100, 3)) < 0.4


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_f1_and_jaccard_agree_with_scikit_learn(average):
    sklearn_metrics = pytest.importorskip("sklearn.metrics", reason="the oracle")
    pairs = [(TRUE, PREDICTED), (LABELS.astype(int), PREDICTED_LABELS.astype(int))]
    for true, predicted in pairs:
        for name, oracle in (("f1", sklearn_metrics.f1_score), ("jaccard", sklearn_metrics.jaccard_score)):
            assert averaged_value(name, true, predicted, average) == pytest.approx(
                oracle(true, predicted, average=average)
            )


def test_the_confusion_matrices_of_classes_share_one_number_of_rows():
    matrices = one_vs_rest_confusions(TRUE, PREDICTED)
    assert list(matrices) == [0, 1, 2, 3]
    assert {matrix.n for matrix in matrices.values()} == {200}
    assert sum(matrix.TP for matrix in matrices.values()) == np.sum(TRUE == PREDICTED)


@pytest.mark.parametrize(("true", "predicted", "message"), [
    ([0, 1, 1], ["0", "1", "1"], r"must all be of one kind, got \['int', 'str'\]"),
    ([0.0, float("nan")], [0.0, 1.0], "must not be missing"),
    (["a", None], ["a", "b"], "must not be missing"),
])  # fmt: skip
def test_labels_of_unlike_kinds_and_missing_ones_are_refused(true, predicted, message):
    with pytest.raises(ValueError, match=message):
        averaged_value("accuracy", true, predicted)


def test_micro_is_the_value_of_the_summed_counts():
    true, predicted = np.array(["a", "b", "c", "a"]), np.array(["a", "b", "b", "a"])
    # a: 2 hits; b: 1 hit, 1 false positive; c: 1 miss.
    assert averaged_value("min", true, predicted, "micro") == score("min", ConfusionMatrix(3, 1, 1, 7))
    assert averaged_value("min", true, predicted, "macro") == pytest.approx((1 + 2 / 3 + 0) / 3)


def test_an_error_keeps_its_own_orientation():
    assert averaged_value("ae", [0, 1, 2, 2], [0, 1, 2, 1]) == pytest.approx((0 + 0.25 + 0.25) / 3)


@pytest.mark.parametrize("call, message", [
    (lambda: averaged_value("f1", [0, 1], [0, 1], "mean"), "unknown average 'mean'"),
    (lambda: averaged_value("f1", [0, 1], [0, 1, 1]), r"share one shape .*\(2,\), got \(3,\)"),
    (lambda: averaged_value("f1", [[0, 2]], [[0, 1]]), r"0 and 1 only, got \[2\]"),
    (lambda: averaged_value("f1", [], []), "share one shape"),
    (lambda: bootstrap(ConfusionMatrix(0, 0, 0, 0)), "at least one row"),
    (lambda: bootstrap(ConfusionMatrix(0.5, 1, 1, 1)), "whole counts are needed"),
    (lambda: bootstrap(ConfusionMatrix(1, 1, 1, 1), confidence_level=1), "confidence_level must lie"),
    (lambda: bootstrap(ConfusionMatrix(1, 1, 1, 1), n_resamples=0), "n_resamples must be"),
])  # fmt: skip
def test_unusable_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_intervals_agree_with_resampled_rows():
    """The other route: draw rows, count, score; ends within the noise of 2000 draws."""
    rng = np.random.default_rng(1)
    signs = np.where(rng.random(300) < 0.3, 1, -1)
    predicted = np.where(rng.random(300) < 0.8, signs, -signs)
    values = []
    for _ in range(2000):
        drawn = rng.integers(0, 300, 300)
        values.append(score("f1", confusion_matrix(signs[drawn], predicted[drawn])))
    found = bootstrap(confusion_matrix(signs, predicted), ["f1"], n_resamples=2000, seed=0)["f1"]
    assert found == pytest.approx(np.quantile(values, [0.025, 0.975]).tolist(), abs=0.012)


def test_equal_seeds_give_equal_intervals_and_all_measures_have_one():
    matrix = ConfusionMatrix(8, 2, 1, 9)
    first, second = (bootstrap(matrix, n_resamples=50, seed=3) for _ in range(2))
    assert first == second
    assert all(low <= high for low, high in first.values()) and len(first) == 25


def test_a_measure_that_no_draw_defines_has_no_interval():
    with pytest.warns(UserWarning, match="5 positive and 0 negative rows"):
        assert np.isnan(bootstrap(ConfusionMatrix(5, 0, 0, 0), ["min"], n_resamples=10)["min"]).all()


def test_the_former_spellings_give_the_same_with_a_warning():
    matrix = ConfusionMatrix(8, 2, 1, 9)
    with pytest.warns(DeprecationWarning, match="bootstrap_intervals is now spelled bootstrap"):
        assert bootstrap_module.bootstrap_intervals is bootstrap
    with pytest.warns(DeprecationWarning) as caught:
        former = bootstrap(matrix, chosen=["f1"], draws=50, level=0.8)
    said = "".join(str(warning.message) for warning in caught)
    assert all(f"is now spelled {name!r}" in said for name in ("measures", "n_resamples", "confidence_level"))
    assert former == bootstrap(matrix, ["f1"], n_resamples=50, confidence_level=0.8)
    with pytest.warns(DeprecationWarning, match="one_vs_rest_tables is now spelled one_vs_rest_confusions"):
        assert multiclass.one_vs_rest_tables is one_vs_rest_confusions
