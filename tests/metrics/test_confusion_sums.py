"""Sums over cells of a batch, and the running confusion matrix, against the golden case and by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp.metrics import ConfusionSums, RunningConfusion, class_sums, confusion_sums

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_cells.json").read_text())["reward_op"]


def sums_of(hard, weight=None, soft=None):
    """Confusion sums of given counts."""
    hard = np.asarray(hard, float)
    weight = hard.sum(axis=1) if weight is None else np.asarray(weight, float)
    logistic = np.zeros(len(hard))
    return ConfusionSums(np.column_stack([hard if soft is None else soft, hard, logistic, weight]))


def test_sums_of_the_golden_batch_are_the_golden_ones():
    sums = confusion_sums(GOLDEN["scores"], GOLDEN["cell"], [0, 1, 2], GOLDEN["weight"])
    np.testing.assert_allclose(sums.soft, GOLDEN["soft"], rtol=1e-12)
    np.testing.assert_allclose(sums.hard, GOLDEN["hard"], rtol=1e-12)
    np.testing.assert_allclose(sums.soft.sum(axis=1), sums.weight, rtol=1e-12)
    weights = np.array(GOLDEN["gains"]), np.array(GOLDEN["logs"])
    objective = np.vdot(weights[0], sums.soft) + np.vdot(weights[1], sums.logistic)
    assert objective / sums.weight.sum() == pytest.approx(GOLDEN["objective"], rel=1e-12)


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_two_classes_give_the_class_sums(temperature):
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=30), np.where(rng.random(30) < 0.4, 1.5, -0.5)
    expected = class_sums(f, y, temperature)
    two = np.stack([np.zeros(30), f], axis=1)
    sums = confusion_sums(two, (y > 0).astype(int), [0, 1], abs(y), temperature=temperature)
    rates = *sums.soft.diagonal()[::-1], *sums.logistic[::-1], *sums.hard.diagonal()[::-1], *sums.weight[::-1]
    np.testing.assert_allclose(rates, expected, rtol=1e-12)


def test_the_shift_moves_the_logistic_reward_alone():
    rng = np.random.default_rng(1)
    scores, cell, shift = rng.normal(size=(20, 3)), rng.integers(0, 3, 20), np.array([0.5, -1.0, 0.0])
    plain, shifted, moved = (confusion_sums(scores + added, cell, [0, 1, 2], shift=given)
                             for added, given in ((0, None), (0, shift), (shift, None)))  # fmt: skip
    np.testing.assert_allclose(shifted.logistic, moved.logistic, rtol=1e-12)
    np.testing.assert_array_equal(shifted.table[:, :6], plain.table[:, :6])


def test_batches_add_up_and_padding_is_left_out():
    rng = np.random.default_rng(2)
    scores, cell, weight = rng.normal(size=(20, 3)), rng.integers(0, 4, 20), rng.random(20)
    target = [0, 1, 2, 2]
    halves = [confusion_sums(scores[k::2], cell[k::2], target, weight[k::2]) for k in (0, 1)]
    whole = confusion_sums(scores, cell, target, weight)
    np.testing.assert_allclose((halves[0] + halves[1]).table, whole.table, rtol=1e-12)
    padded = confusion_sums(
        np.vstack([scores, np.full((3, 3), np.nan)]), [*cell, -1, -1, -1], target, [*weight, 9, 9, 9]
    )
    np.testing.assert_array_equal(padded.table, whole.table)
    assert confusion_sums(np.zeros((0, 3)), [], target).table.tolist() == np.zeros((4, 8)).tolist()


def test_running_rates_of_a_cell_forget_only_when_the_cell_comes():
    running = RunningConfusion(2, 2, forgetting=0.5)
    np.testing.assert_array_equal(running.rates(), 0.5)
    running.add(sums_of([[3, 1], [0, 0]]))
    np.testing.assert_array_equal(running.rates(), [[0.75, 0.25], [0.5, 0.5]])
    running.add(sums_of([[0, 0], [1, 1]]))  # without the first cell, which keeps its sums
    running.add(sums_of([[0, 2], [0, 0]]))
    np.testing.assert_allclose(running.rates(), [[1.5 / 4, 2.5 / 4], [0.5, 0.5]])
    np.testing.assert_allclose(running.weight, [4, 2])


def test_soft_counts_are_followed_where_asked_for():
    running = RunningConfusion(2, 2, "probability")
    running.add(sums_of([[2, 0], [0, 2]], soft=[[1.5, 0.5], [0.8, 1.2]]))
    np.testing.assert_allclose(running.rates(), [[0.75, 0.25], [0.4, 0.6]])


def test_a_running_confusion_is_resumed_from_its_state():
    first, second = (RunningConfusion(2, 2, forgetting=0.7) for _ in range(2))
    first.add(sums_of([[3, 1], [2, 2]]))
    second.restore(json.loads(json.dumps(first.state())))
    for running in (first, second):
        running.add(sums_of([[1, 1], [0, 5]]))
    np.testing.assert_array_equal(first.rates(), second.rates())


def test_sums_that_are_not_finite_or_of_other_cells_are_refused_and_change_nothing():
    running = RunningConfusion(2, 2)
    running.add(sums_of([[3, 1], [2, 2]]))
    before = running.state()
    with pytest.raises(ValueError, match="must be finite"):
        running.add(sums_of([[np.nan, 1], [2, 2]]))
    with pytest.raises(ValueError, match=r"\(m, K\) = \(2, 2\)"):
        running.add(sums_of(np.ones((3, 2))))
    assert running.state() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": [1.0, 2.0]}, r"scores must have shape \(b, K\)"),
        ({"scores": [[1.0], [2.0]]}, r"scores must have shape \(b, K\)"),
        ({"scores": [[1.0, np.nan], [0, 1]]}, "scores must be finite"),
        ({"cell": [0]}, "cell must hold whole numbers"),
        ({"cell": [0.0, 1.0]}, "cell must hold whole numbers"),
        ({"cell": [0, 2]}, "cell must hold numbers from -1 to 1"),
        ({"cell": [0, -2]}, "cell must hold numbers from -1 to 1"),
        ({"target": [0, 2]}, "target must hold numbers from 0 to 1"),
        ({"weight": [1, -1]}, "weight must be finite and at least 0"),
        ({"weight": [1]}, "weight must have shape"),
        ({"shift": [1, 2, 3]}, "shift must have shape"),
        ({"temperature": 0}, "temperature must be"),
    ],
)
def test_what_is_no_batch_is_refused(change, message):
    given = {"scores": [[1.0, 2.0], [0.0, 1.0]], "cell": [0, 1], "target": [0, 1], **change}
    with pytest.raises(ValueError, match=message):
        confusion_sums(**given)


def test_wrong_options_of_a_running_confusion_are_refused():
    with pytest.raises(ValueError, match="reward must be"):
        RunningConfusion(2, 2, "logistic")
    with pytest.raises(ValueError, match="forgetting must lie"):
        RunningConfusion(2, 2, forgetting=0)
