"""Drivers of K classes: golden duals, two classes against the binary drivers, rewards, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import drivers as binary
from aesara_nondecomp.drivers.multiclass import DAME, DENIM, DUPLE, FixedGains
from aesara_nondecomp.drivers.multiclass.base import spread
from aesara_nondecomp.drivers.multiclass.duple import capped_softmax
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics import ConfusionSums, class_sums, confusion_sums

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden_cells.json").read_text())
CELLS = Cells([0.6, 0.3, 0.1])
PRIOR = 0.3
TWO = Cells([1 - PRIOR, PRIOR])
EPS = 0.01


def with_recalls(*recalls):
    """Confusion sums of 100 rows a cell, of which the errors are spread evenly."""
    r = np.array(recalls)
    R = np.diag(r) + (1 - r)[:, None] * (1 - np.eye(r.size)) / (r.size - 1)
    return ConfusionSums(np.column_stack([100 * R, 100 * R, np.zeros(r.size), np.full(r.size, 100.0)]))


def batches(n=6, rows=40):
    """Scores and labels -1, +1 of several batches; the third has no positives."""
    rng = np.random.default_rng(0)
    for k in range(n):
        y = np.where(rng.random(rows) < PRIOR, 1.0, -1.0)
        yield rng.normal(size=rows) + 0.8 * y, np.full(rows, -1.0) if k == 2 else y


def both_sums(f, y):
    """The batch as a binary driver sees it, and as one of K classes."""
    two = np.stack([np.zeros_like(f), f], axis=1)
    return class_sums(f, y), confusion_sums(two, (y > 0).astype(int), [0, 1])


def follow(driver, one):
    """Weights of (P, N) along the batches: those of a binary driver, or own gains less those of the other class."""
    found = []
    for f, y in batches():
        of_classes, of_cells = both_sums(f, y)
        sums = of_classes if one == "binary" else of_cells
        if driver.needs_refresh():
            driver.refresh(sums)
        driver.observe(sums)
        if one == "binary":
            found.append(driver.weights()[:2])
        else:
            G = driver.dual_gains()
            found.append((G[1, 1] - G[1, 0], G[0, 0] - G[0, 1]))
    return np.array(found)


# -- duals ---------------------------------------------------------------------------------------------------------


def test_steps_of_the_minimum_have_the_golden_duals():
    case = GOLDEN["min_dual_rate_.05"]
    driver = DUPLE("min_recall", CELLS, forgetting=1e-300)  # the golden sequence takes each batch's own recalls
    driver.refresh(with_recalls(0.5, 0.5, 0.5))
    assert driver.dual_gains().diagonal() == pytest.approx([1 / 3] * 3)
    for recalls, alpha in zip(case["batch_recalls"], case["alpha"]):
        driver.observe(with_recalls(*recalls))
        np.testing.assert_allclose(driver.dual_gains().diagonal(), alpha, rtol=1e-12)
        np.testing.assert_allclose(driver.duals()["alpha"], alpha, rtol=1e-12)


SAME = [("qmean", {}), ("hmean", {}), ("gmean", {}), ("bakld", {"eps": EPS}), ("kld", {"eps": EPS})]


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize(("measure", "given"), SAME)
def test_duple_of_two_classes_has_the_duals_of_the_binary_one(measure, given, counts):
    """Equivalence (a)."""
    one = binary.DUPLE(measure, PRIOR, counts=counts, **given)
    other = DUPLE(measure, TWO, counts=counts, **given)
    np.testing.assert_allclose(follow(other, "cells"), follow(one, "binary"), rtol=1e-10)


def test_steps_of_the_minimum_of_two_classes_are_those_of_the_binary_driver():
    one, other = binary.DUPLE("min", PRIOR, counts=True, dual="step"), DUPLE("min_recall", TWO)
    np.testing.assert_allclose(follow(other, "cells"), follow(one, "binary"), rtol=1e-12)


@pytest.mark.parametrize("counts", [True, False])
def test_denim_of_two_classes_has_the_duals_of_the_binary_one(counts):
    one, other = binary.DENIM("bakld", PRIOR, counts=counts, eps=EPS), DENIM("bakld", TWO, counts=counts, eps=EPS)
    np.testing.assert_allclose(follow(other, "cells"), follow(one, "binary"), rtol=1e-9)
    np.testing.assert_allclose(other.q, one.q, rtol=1e-10)


def test_dame_on_micro_f1_of_two_classes_has_the_level_of_the_binary_one():
    one, other = binary.DAME("f1", PRIOR, counts=True), DAME(multiclass.get("micro_f1", negative=0), TWO)
    weights, gains = follow(one, "binary"), follow(other, "cells")
    assert other.duals()["v"] == pytest.approx([one.v], rel=1e-12)
    np.testing.assert_allclose(gains[:, 0] / gains[:, 1], weights[:, 0] / weights[:, 1], rtol=1e-12)


def test_denim_with_a_linear_outer_function_visits_the_gains_of_duple():
    """Equivalence (f)."""
    rng = np.random.default_rng(3)
    both = DENIM("bakld", CELLS, forgetting=0.9, eps=EPS), DUPLE("bakld", CELLS, eps=EPS)
    for step in range(5):
        sums = with_recalls(*rng.uniform(0.3, 0.9, 3))
        for driver in both:
            (driver.refresh if step == 0 else driver.observe)(sums)
        np.testing.assert_allclose(both[0].dual_gains(), both[1].dual_gains(), rtol=1e-12)


@pytest.mark.parametrize("measure", ["kappa", "qwk", multiclass.get("micro_f1", negative=(0,))], ids=str)
def test_the_level_is_the_running_value(measure):
    driver = DAME(measure, CELLS, forgetting=1.0)
    sums = [with_recalls(0.9, 0.2, 0.5), with_recalls(0.5, 0.8, 0.5)]
    driver.refresh(sums[0])
    driver.observe(sums[1])
    R = (sums[0] + sums[1]).hard / 200
    v = multiclass.get(measure).value(R, CELLS)
    assert driver.duals()["v"] == pytest.approx([v], rel=1e-12)
    np.testing.assert_allclose(driver.dual_gains(), driver.measure.level_gains(v, CELLS), rtol=1e-12)


def test_dame_on_macro_f1_ascends_its_gradient_at_the_running_rates():
    driver = DAME("macro_f1", CELLS)
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    expected = multiclass.get("macro_f1").gains(driver.rates.rates(), CELLS)
    np.testing.assert_allclose(driver.dual_gains(), expected, rtol=1e-12)
    assert len(driver.duals()["v"]) == 3


def test_a_batch_without_a_cell_leaves_its_running_rate():
    driver = DUPLE("qmean", CELLS)
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    part = with_recalls(0.7, 0.4, 0.1).table.copy()
    part[2] = 0
    driver.observe(ConfusionSums(part))
    np.testing.assert_allclose(driver.rates.rates()[2], [0.25, 0.25, 0.5])
    assert np.isfinite(driver.gains().logs).all()


def test_a_classifier_that_predicts_one_class_alone_gets_finite_gains_for_the_others():
    """Weights of zero give class 0 everywhere: recalls (1, 0, 0)."""
    for measure in ("min_recall", "gmean", "hmean", "qmean", "mean_recall"):
        driver = DUPLE(measure, CELLS)
        driver.refresh(with_recalls(1.0, 0.0, 0.0))
        driver.observe(with_recalls(1.0, 0.0, 0.0))
        step = driver.gains()
        assert np.isfinite(step.shift).all() and np.isfinite(step.logs).all()
        assert step.shift[0] >= step.shift[1:].max()  # a score of class 0 must be larger to be right


# -- rewards -------------------------------------------------------------------------------------------------------


def test_the_logistic_reward_has_the_duals_for_its_weights():
    driver = DUPLE("qmean", CELLS, reward="logistic")
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    step, alpha = driver.gains(), driver.dual_gains().diagonal()
    np.testing.assert_allclose(step.logs, alpha)
    assert not step.gains.any() and not step.shift.any()
    capped = DUPLE("qmean", CELLS, reward="logistic", cap=0.1)
    capped.refresh(with_recalls(0.9, 0.2, 0.5))
    np.testing.assert_allclose(capped.gains().logs, alpha * 0.1 / alpha.sum())


def test_the_adjusted_reward_of_the_mean_recall_is_logit_adjustment():
    driver, baseline = DUPLE("mean_recall", CELLS), FixedGains(CELLS, "logit_adjusted").gains()
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    step = driver.gains()
    np.testing.assert_allclose(step.logs, baseline.logs)
    np.testing.assert_allclose(np.diff(step.shift), np.diff(baseline.shift))


def test_the_adjusted_reward_shifts_scores_by_the_class_gain_per_row():
    driver = DUPLE("qmean", CELLS)
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    a = driver.dual_gains().diagonal() / CELLS.shares
    np.testing.assert_allclose(driver.gains().shift, -np.log(a / a.mean()))
    np.testing.assert_allclose(driver.gains().logs, CELLS.shares)


def test_the_adjusted_reward_of_cells_weights_rows_within_a_class_by_their_cells():
    groups = Cells([0.4, 0.2, 0.3, 0.1], [0, 0, 1, 1])
    driver = DUPLE("min_recall", groups)
    part = with_recalls(0.9, 0.2, 0.5, 0.6).table[:, [0, 1, 4, 5, 8, 9]].copy()
    part[:, :2] = part[:, 2:4] = 100 * np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.4, 0.6]])
    driver.refresh(ConfusionSums(part))
    driver.observe(ConfusionSums(part))
    alpha, step = driver.dual_gains()[np.arange(4), groups.target], driver.gains()
    # Weight of a row's loss times what a row of its class is worth is what a row of its cell is worth.
    worth = np.exp(-step.shift)[groups.target] * step.logs / groups.shares
    np.testing.assert_allclose(worth / worth[0], (alpha / groups.shares) / (alpha / groups.shares)[0], rtol=1e-12)


def test_the_probability_reward_is_scaled_and_anchored():
    driver = DAME("qwk", CELLS, anchor_share=0.25)
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    step, G = driver.gains(), driver.dual_gains()
    np.testing.assert_allclose(spread(step.gains), 0.75)
    np.testing.assert_allclose(step.gains, 0.75 * G / spread(G))
    np.testing.assert_allclose(step.logs, 0.25 / 3)
    plain = DUPLE("qmean", CELLS, reward="probability", anchor="cross_entropy")
    plain.refresh(with_recalls(0.9, 0.2, 0.5))
    np.testing.assert_allclose(plain.gains().logs, 0.5 * CELLS.shares)


def test_the_spread_of_diagonal_gains_is_the_sum_of_the_duals():
    G = np.diag([0.2, 0.5, 0.7])
    assert spread(G) == pytest.approx(1.4)
    assert spread(G + np.array([[3.0], [-1.0], [0.5]])) == pytest.approx(1.4)


def test_weights_of_a_mean_of_the_worst_are_the_nearest_distribution_below_its_bound():
    rng = np.random.default_rng(4)
    for h in (1, 2, 3, 5):
        log_weights = rng.normal(size=5)
        found = capped_softmax(log_weights, 1 / h)
        assert found.sum() == pytest.approx(1) and found.max() <= 1 / h + 1e-12

        def divergence(a, log_weights=log_weights):
            return np.sum(a * (np.log(a) - log_weights))

        for other in rng.dirichlet(np.ones(5), size=500):
            t = rng.random() * min(1.0, (1 / h - 0.2) / (other.max() - 0.2))  # towards it from the uniform one
            assert divergence(found) <= divergence(0.2 + t * (other - 0.2)) + 1e-12
            if h < 5:
                near = 0.999 * found + 0.001 * (0.2 + t * (other - 0.2))
                assert divergence(found) <= divergence(near) + 1e-12


def test_weights_below_a_bound_keep_their_proportions_however_small_they_are():
    found = capped_softmax(np.array([-801.0, 0.0, -800.0, -800.0]), 0.5)
    rest = np.array([np.exp(-1), 1, 1])
    np.testing.assert_allclose(found[1], 0.5)
    np.testing.assert_allclose(found[[0, 2, 3]], 0.5 * rest / rest.sum())


@pytest.mark.parametrize("dual_rate", [0.5, 1e4])
def test_duals_of_a_mean_of_the_worst_stay_finite_in_long_runs(dual_rate):
    driver = DUPLE(multiclass.get("mean_of_worst", h=2), Cells(np.full(4, 0.25)), dual_rate=dual_rate)
    for _ in range(1700):
        driver.observe(with_recalls(0.0, 1.0, 1.0, 1.0))
    np.testing.assert_allclose(driver.dual_gains().diagonal(), [0.5, 1 / 6, 1 / 6, 1 / 6])


def test_the_mean_of_the_two_worst_moves_weight_to_them():
    driver = DUPLE(multiclass.get("mean_of_worst", h=2), Cells(np.full(4, 0.25)), dual_rate=1.0)
    for _ in range(60):
        driver.observe(with_recalls(0.9, 0.3, 0.2, 0.8))
    np.testing.assert_allclose(driver.dual_gains().diagonal(), [0, 0.5, 0.5, 0], atol=1e-10)


# -- state and errors ----------------------------------------------------------------------------------------------


def every_driver():
    return [DUPLE("min_recall", CELLS), DUPLE("gmean", CELLS), DAME("qwk", CELLS), DAME("macro_f1", CELLS),
            DENIM("bakld", CELLS, eps=EPS)]  # fmt: skip


@pytest.mark.parametrize("place", range(5))
def test_a_driver_is_resumed_from_its_state_as_json(place):
    first, second = every_driver()[place], every_driver()[place]
    first.refresh(with_recalls(0.9, 0.2, 0.5))
    first.observe(with_recalls(0.5, 0.6, 0.1))
    second.restore(json.loads(json.dumps(first.state())))
    assert not second.needs_refresh()
    for driver in (first, second):
        driver.observe(with_recalls(0.2, 0.4, 0.3))
    for one, other in zip(first.gains(), second.gains()):
        np.testing.assert_array_equal(one, other)
    assert json.loads(json.dumps(first.duals())) == second.duals()


@pytest.mark.parametrize("place", range(5))
def test_sums_that_are_not_finite_are_refused_and_change_nothing(place):
    driver = every_driver()[place]
    driver.refresh(with_recalls(0.9, 0.2, 0.5))
    before, bad = driver.state(), with_recalls(0.9, 0.2, 0.5).table.copy()
    bad[1, 1] = np.nan
    with pytest.raises(ValueError, match="confusion sums must be finite"):
        driver.observe(ConfusionSums(bad))
    assert driver.state() == before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DUPLE("qwk", CELLS), "Use 'dame'"),
        (lambda: DAME("qmean", CELLS), "Use 'duple'"),
        (lambda: DENIM("kld", CELLS), "Use 'duple'"),
        (lambda: DAME("mcc", CELLS), "only be reported"),
        (lambda: DUPLE("f1", CELLS), "'macro_f1'"),
        (lambda: DUPLE("qmean", [0.5, 0.5]), "cells must be"),
        (lambda: DUPLE("qmean", Cells([0.5, 0.5, 0.0])), "must have rows"),
        (lambda: DUPLE("qmean", Cells([0.5, 0.5], n_classes=3)), "must have rows"),
        (lambda: DUPLE("kld", CELLS), "needs eps > 0"),
        (lambda: DUPLE("kld", CELLS, eps=EPS, reward="adjusted"), "needs reward='probability'"),
        (lambda: DUPLE("qmean", CELLS, reward="sigmoid"), "reward must be 'probability'"),
        (lambda: DUPLE("qmean", CELLS, reward="probability", anchor_share=0), "anchor_share must lie strictly between"),
        (lambda: DUPLE("qmean", CELLS, anchor="none"), "anchor must be"),
        (lambda: DUPLE("qmean", CELLS, cap=3), "cap needs reward='logistic'"),
        (lambda: DUPLE("qmean", CELLS, dual_rate=0.1), "dual_rate needs min_recall"),
        (lambda: DUPLE("min_recall", CELLS, dual_rate=0), "dual_rate must be"),
        (lambda: DUPLE("qmean", CELLS, counts=1), "counts must be True or False"),
        (lambda: DUPLE("qmean", CELLS, counts=None), "counts must be True or False"),
        (lambda: DUPLE("qmean", CELLS, forgetting=2), "forgetting must lie"),
        (lambda: DUPLE("qmean", CELLS, eps=-1), "eps must be"),
        (lambda: FixedGains(CELLS, "focal"), "kind must be"),
    ],
)
def test_wrong_options_are_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=message):
        make()
