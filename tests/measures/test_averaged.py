"""Averages over labels, against those of `metrics.multiclass` and of scikit-learn."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.metrics.label_confusion import LabelReport, label_confusions
from aesara_nondecomp.metrics.multiclass import averaged_value

RNG = np.random.default_rng(0)
TRUE, PREDICTED = RNG.random((200, 4)) < [0.1, 0.3, 0.5, 0.8], RNG.random((200, 4)) < 0.4


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_values_are_those_of_the_average_of_predictions(measure, average):
    found = Averaged(measure, average).from_confusions(label_confusions(TRUE, PREDICTED))
    assert found == pytest.approx(averaged_value(measure, TRUE, PREDICTED, average), rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_f1_is_that_of_scikit_learn(average):
    sklearn = pytest.importorskip("sklearn.metrics")
    found = Averaged.get(f"{average}_f1").from_confusions(label_confusions(TRUE, PREDICTED))
    assert found == pytest.approx(sklearn.f1_score(TRUE, PREDICTED, average=average), rel=1e-12)


def test_weights_count_as_repeated_rows():
    weight = RNG.integers(1, 4, 200)
    rows = np.repeat(np.arange(200), weight)
    found = label_confusions(TRUE, PREDICTED, weight)
    np.testing.assert_array_equal(found, label_confusions(TRUE[rows], PREDICTED[rows]))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("f1", Averaged("f1")),
        ("macro_f1", Averaged("f1", "macro")),
        ("micro_f1", Averaged("f1", "micro")),
        ("micro_min", Averaged("min", "micro")),
        (measures.get("fbeta", beta=2), Averaged(measures.get("fbeta", beta=2))),
        (Averaged("kld", "micro"), Averaged("kld", "micro")),
    ],
)
def test_a_name_says_the_measure_and_how_it_is_averaged(spec, expected):
    assert Averaged.get(spec) == expected and hash(Averaged.get(spec)) == hash(expected)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("min_recall", "unknown measure"),
        ("micro_f", "unknown measure 'f'"),
        ("worst_cell", "without groups"),
        (3, "measure"),
    ],
)
def test_what_is_no_measure_of_two_classes_is_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        Averaged.get(spec)


def test_an_error_is_oriented_so_that_larger_is_better():
    assert Averaged("kld").oriented(0.25) == -0.25 and Averaged("f1").oriented(0.25) == 0.25
    assert Averaged("kld").merit(float("nan")) == -np.inf


def test_the_table_has_a_row_for_each_label():
    report = LabelReport.of(Averaged("min"), label_confusions(TRUE, PREDICTED), ("a", "b", "c", "d"), np.zeros(4))
    own = report.rows[1]
    right = (TRUE & PREDICTED)[:, 1].sum()
    assert (own.label, own.rows, own.predicted) == ("b", TRUE[:, 1].sum(), PREDICTED[:, 1].sum())
    assert own.precision == pytest.approx(right / own.predicted) and own.recall == pytest.approx(right / own.rows)
    assert report.value == pytest.approx(np.mean([row.value for row in report.rows]))
    lines = str(report).splitlines()
    assert len(lines) == 6 and lines[0].split()[-2:] == ["min", "threshold"] and lines[-1].startswith("macro_min 0.")
