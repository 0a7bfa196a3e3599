"""What rivals choose on validation rows, the values of probabilities, and the rows that each seed gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from benchmarks.paper.runner import one_thread
from benchmarks.rivals import boosting, encodings, methods
from benchmarks.rivals.choice import Candidate, calibration_error, choose, log_loss, values_of
from benchmarks.rivals.sets import DataSet, Part, Table, optional, split

Y_HELD = np.array([0, 0, 1, 0, 1])
RISING = np.array([0.1, 0.2, 0.3, 0.4, 0.45])
"""Best for F1 above 0.25: two hits and one false alarm, 4 / 5. Nothing lies above 1/2."""
FLAT = np.array([0.6, 0.1, 0.1, 0.1, 0.7])
"""Best for F1 above 0.65: one hit, 2 / 3. Above 1/2: one hit and one false alarm, 1 / 2."""


# -- choices ---------------------------------------------------------------------------------------------------------


def test_a_tuned_rival_takes_the_candidate_and_threshold_with_the_best_validation_value():
    chosen = choose([Candidate(FLAT, FLAT), Candidate(RISING, RISING)], "f1", Y_HELD, tuned=True)
    assert chosen.candidate.held is RISING
    assert chosen.cut == pytest.approx(0.25) and chosen.value == pytest.approx(0.8)


def test_without_a_threshold_the_candidate_is_chosen_at_its_own_cut():
    chosen = choose([Candidate(RISING, RISING), Candidate(FLAT, FLAT)], "f1", Y_HELD, tuned=False)
    assert chosen.candidate.held is FLAT and chosen.cut == 0.5 and chosen.value == pytest.approx(0.5)


def test_the_test_rows_are_cut_where_the_validation_rows_said():
    test, y_test = np.array([0.2, 0.26, 0.9, 0.3]), np.array([0, 0, 1, 1])
    values = values_of([Candidate(RISING, test)], ["f1", "min"], Y_HELD, y_test, tuned=True)
    assert values["f1"] == pytest.approx(4 / 5)  # one false alarm, at 0.26
    assert values["min"] == pytest.approx(1 / 2)  # min is best above 0.25 too: rates 1 and 2 / 3
    assert values["log_loss"] == pytest.approx(-sum(map(math.log, (0.8, 0.74, 0.9, 0.3))) / 4)


def test_the_calibration_error_weighs_the_gap_of_each_bin_by_its_rows():
    probabilities, y = np.array([0.01, 0.05, 0.5, 1.0]), np.array([0, 1, 1, 1])
    # Bins [0, 1/15) with two rows, mean 0.03 and share 0.5; [7/15, 8/15) with one; the last with one.
    assert calibration_error(probabilities, y) == pytest.approx(2 / 4 * 0.47 + 1 / 4 * 0.5)


def test_a_certain_error_has_a_finite_log_loss():
    assert log_loss(np.array([0.0]), np.array([1])) == pytest.approx(-math.log(np.finfo(np.float32).eps))


# -- rows ------------------------------------------------------------------------------------------------------------


def table(rows=1000, groups=None):
    y = (np.arange(rows) % 10 == 0).astype(np.uint8)
    return Table(np.arange(rows, dtype=np.float32)[:, None], y, groups)


def test_a_split_is_stratified_capped_and_the_same_again():
    part, again = (split(table(), DataSet(table, most_rows=100), 7) for _ in range(2))
    assert (len(part.y), part.y.sum(), len(part.y_test), part.y_test.sum()) == (100, 10, 300, 30)
    assert np.array_equal(part.X, again.X) and np.array_equal(part.X_test, again.X_test)
    assert not np.array_equal(part.X_test, split(table(), DataSet(table, most_rows=100), 8).X_test)


def test_only_training_labels_are_flipped():
    clean, noisy = (split(table(), DataSet(table, noise=noise), 7) for noise in (0.0, 0.1))
    assert np.array_equal(clean.X, noisy.X) and np.array_equal(clean.y_test, noisy.y_test)
    assert np.sum(clean.y != noisy.y) == 70


def test_groups_stay_in_one_part_through_both_splits():
    part = split(table(groups=np.arange(1000) // 20), DataSet(table), 7)
    rows = part.held_out(7)
    groups = [set((X[:, 0] // 20).tolist()) for X in (rows.X, rows.X_held, rows.X_test)]
    assert not (groups[0] & groups[1] or groups[0] & groups[2] or groups[1] & groups[2])


def test_texts_and_data_frames_are_split_row_by_row():
    texts = split(table()._replace(X=[str(row) for row in range(1000)]), DataSet(table), 7)
    assert [float(text) for text in texts.X] == split(table(), DataSet(table), 7).X[:, 0].tolist()


# -- rivals ----------------------------------------------------------------------------------------------------------


def test_a_missing_package_is_named_with_its_extra():
    with pytest.raises(ValueError, match=r"needs no_such_library: pip install 'aesara-nondecomp\[rivals\]'"):
        optional("no_such_library.part")


def test_the_configurations_lie_in_their_ranges_and_are_ten():
    assert len(boosting.CONFIGURATIONS) == 10
    for each in boosting.CONFIGURATIONS:
        assert 15 <= each.leaves <= 127 and 0.015 <= each.rate <= 0.15 and 0.5 <= each.columns <= 1
        assert 0.7 <= each.rows <= 1 and 0 <= each.l2 <= 10 and 5 <= each.least_rows <= 50


def test_the_focal_loss_ascends_the_negative_slope_of_its_loss():
    scores, y = np.array([-2.0, -0.3, 0.4, 3.0]), np.array([1, -1, 1, -1])

    def loss(s):
        p = expit(y * s)
        return np.mean(-((1 - p) ** 2) * np.log(p))

    step = 1e-6 * np.eye(4)
    slopes = [(loss(scores + e) - loss(scores - e)) / 2e-6 for e in step]
    assert methods.FocalLoss().coefficients(scores, y) == pytest.approx(-np.array(slopes), rel=1e-5)


def test_a_data_frame_becomes_numbers_without_gaps_by_the_rows_trained_on():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    colours = pandas.Categorical(["red", "blue", None, "green"], categories=["blue", "green", "red"])
    frame = pandas.DataFrame({"age": [1.0, 3.0, np.nan, 5.0], "colour": colours})
    first, last = frame.iloc[:3], frame.iloc[3:]
    rows = encodings.as_numbers(methods.Tuning(first, np.array([0, 1, 0]), last, np.array([1]), last))
    assert np.isfinite(rows.X).all() and rows.X.shape == (3, 4)  # the missing category is one, as in scikit-learn
    assert rows.X_held[0, 1:].tolist() == [0, 0, 0]  # green was not seen
    filled = encodings.without_missing_categories(methods.Tuning(first, None, last, None, last))
    assert filled.X["colour"].tolist() == ["red", "blue", "missing"]


@pytest.mark.parametrize("name", ["lightgbm", *(f"{library}_tuned" for library in boosting.LIBRARIES)])
def test_boosted_trees_separate_what_can_be_separated(name, monkeypatch):
    for package in (methods.RIVALS[name].package, "threadpoolctl"):
        pytest.importorskip(package, minversion="1.7" if package == "sklearn" else None)
    monkeypatch.setattr(boosting, "TREES", 20)
    monkeypatch.setattr(boosting, "CONFIGURATIONS", boosting.CONFIGURATIONS[:1])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)).astype(np.float32)
    y = (X[:, 0] > 0.5).astype(np.uint8)
    with one_thread():
        values, seconds = methods.rival_values(name, Part(X[:400], y[:400], X[400:], y[400:]), ["f1"], 0)
    assert list(values) == [name, f"{name}_at_half"] and seconds > 0
    assert values[name]["f1"] > 0.9
