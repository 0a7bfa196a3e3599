"""Class sums against loops over single rows, and the running rates against their formulas."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from aesara_nondecomp.metrics.class_rates import ClassSums, RunningRates, class_sums, reward_slopes

RNG = np.random.default_rng(12)
SCORES = np.concatenate([2 * RNG.normal(size=30), [0.0, 0.0]])
SIGNED = np.concatenate([np.where(RNG.random(30) < 0.4, 1.0, -1.0) * RNG.uniform(0.5, 2.0, 30), [1.0, -1.0]])
SIGNED[3:6] = 0.0


def sums_of(pos: float, neg: float, n_pos: float, n_neg: float) -> ClassSums:
    """Sums whose three rewards are the same."""
    return ClassSums(pos, neg, pos, neg, pos, neg, n_pos, n_neg)


def rewards_of_row(f: float, sign: int, temperature: float) -> tuple[float, float, float]:
    """Sigmoid, logistic and count reward of one row, by the formulas of docs/algorithms.md 1.2."""
    u = sign * f
    predicted = 1 if f > 0 else -1
    return 1 / (1 + math.exp(-u / temperature)), 1 - math.log(1 + math.exp(-u)), float(predicted == sign)


@pytest.mark.parametrize("temperature", [1.0, 0.25, 4.0])
def test_class_sums_equal_a_loop_over_rows(temperature):
    expected = dict.fromkeys(ClassSums._fields, 0.0)
    for f, w in zip(SCORES, SIGNED):
        if w != 0:
            side = "pos" if w > 0 else "neg"
            rewards = rewards_of_row(f, 1 if w > 0 else -1, temperature)
            for reward, value in zip(("sigmoid", "logistic", "count"), rewards):
                expected[f"{reward}_{side}"] += abs(w) * value
            expected[f"n_{side}"] += abs(w)
    assert class_sums(SCORES, SIGNED, temperature)._asdict() == pytest.approx(expected)


def test_count_sums_are_the_true_positives_and_negatives():
    y = np.sign(SIGNED) + (SIGNED == 0)
    predicted = np.where(SCORES > 0, 1, -1)
    sums = class_sums(SCORES, y)
    assert sums.count_pos == np.sum((y == 1) & (predicted == 1))
    assert sums.count_neg == np.sum((y == -1) & (predicted == -1))


def test_surrogate_prevalence_is_the_mean_sigmoid_over_all_rows():
    """docs/algorithms.md 1.2: phat = p P + (1 - p)(1 - N) is "probabilistic classify and count"."""
    y = np.where(SIGNED > 0, 1.0, -1.0)
    P, N = class_sums(SCORES, y).rates("sigmoid")
    p = np.mean(y > 0)
    assert p * P + (1 - p) * (1 - N) == pytest.approx(np.mean(1 / (1 + np.exp(-SCORES))))


def test_sums_of_extreme_scores_are_finite():
    with np.errstate(all="raise", under="ignore"):
        sums = class_sums([1e4, -1e4, 1e4, -1e4], [1, 1, -1, -1])
    assert sums == pytest.approx((1, 1, 2 - 1e4, 2 - 1e4, 1, 1, 2, 2))


def test_slopes_of_rewards_equal_finite_differences():
    u, h = np.linspace(-6, 6, 41), 1e-6
    for temperature in (1.0, 0.5):
        by_reward = [np.array([rewards_of_row(x, 1, temperature) for x in u + sign * h]) for sign in (1, -1)]
        expected = (by_reward[0] - by_reward[1]) / (2 * h)
        for k, slope in enumerate(reward_slopes(u, temperature)):
            np.testing.assert_allclose(slope, expected[:, k], atol=1e-8)


def test_the_sums_of_two_batches_add_up_to_those_of_both():
    parts = class_sums(SCORES[:11], SIGNED[:11]) + class_sums(SCORES[11:], SIGNED[11:])
    assert parts == pytest.approx(class_sums(SCORES, SIGNED))


@pytest.mark.parametrize("shapes", [((4, 1), (4,)), ((4, 1), (4, 1)), ((4,), (4, 1)), ((4,), (3,)), ((), ())])
def test_scores_and_labels_of_other_shapes_are_refused(shapes):
    with pytest.raises(ValueError, match=r"of one shape \(b,\)"):
        class_sums(*(np.ones(shape) for shape in shapes))


ZERO_ONE = np.resize([1, 0, 0, 1], 32)


@pytest.mark.parametrize("y", [
    ZERO_ONE, ZERO_ONE.astype(bool), ZERO_ONE.astype("uint8"), ZERO_ONE.astype("float32"), ZERO_ONE[::-1] * 1.0,
    ZERO_ONE.tolist(), np.sort(ZERO_ONE), np.sort(ZERO_ONE)[::-1], np.ones(32, bool), np.full(32, 255, "uint8"),
    2.0 * ZERO_ONE,
], ids=lambda y: f"{np.asarray(y).dtype} {np.asarray(y)[:3]}")  # fmt: skip
def test_labels_of_another_coding_are_refused_and_not_taken_for_padding(y):
    with pytest.raises(ValueError, match=r"labels must be -1 or \+1, got .*Pass 2.0 \* y - 1.0 for labels in \{0, 1\}"):
        class_sums(SCORES, y)
    right = class_sums(SCORES, 2.0 * ZERO_ONE - 1.0)
    assert (right.n_pos, right.n_neg) == (16, 16)


@pytest.mark.parametrize("y, n_pos, n_neg", [
    ([1.0, 1.0, 0.0, 0.0], 2, 0), ([-1.0, -1.0, 0.0, 0.0], 0, 2), ([1, 1, 1, 1], 4, 0), ([0.0, -1.0, 0.0, -1.0], 0, 2),
    ([0.0] * 4, 0, 0), ([0] * 4, 0, 0), ([1, -1, 0, 0], 1, 1), (np.array([2, 0.5, 0, 0], "float32"), 2.5, 0),
])  # fmt: skip
def test_padding_is_no_class(y, n_pos, n_neg):
    sums = class_sums(SCORES[:4], y)
    assert (sums.n_pos, sums.n_neg) == (n_pos, n_neg)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_scores_and_labels_that_are_not_finite_are_refused(value):
    broken = SCORES.copy()
    broken[7] = value
    with pytest.raises(ValueError, match=f"scores must be finite, got {value} in row 7"):
        class_sums(broken, SIGNED)
    with pytest.raises(ValueError, match=f"labels must be finite, got {value} in row 7"):
        class_sums(SCORES, broken)


@pytest.mark.parametrize("field", ClassSums._fields)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_running_rates_refuse_sums_that_are_not_finite_and_stay_as_they_were(field, value):
    rates = RunningRates("sigmoid", 0.9)
    rates.add(sums_of(1.0, 2.0, 3.0, 4.0))
    before = rates.state()
    with pytest.raises(ValueError, match="class sums must be finite, got ClassSums"):
        rates.add(sums_of(1.0, 2.0, 3.0, 4.0)._replace(**{field: value}))
    assert rates.state() == before


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature must be a positive"):
        class_sums(SCORES, SIGNED, temperature)


def test_rates_are_class_means_and_undefined_for_a_missing_class():
    sums = ClassSums(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0, 0.0)
    assert sums.of("logistic") == (3.0, 4.0)
    P, N = sums.rates("count")
    assert P == 0.5
    assert math.isnan(N)


# -- running rates -----------------------------------------------------------------------------------------------

BATCHES = [sums_of(1.0, 5.0, 4.0, 8.0), sums_of(2.0, 3.0, 2.0, 4.0), sums_of(0.5, 6.0, 3.0, 9.0)]


def test_rates_without_forgetting_are_those_of_all_batches_together():
    running = RunningRates("sigmoid")
    for k, batch in enumerate(BATCHES):
        running.add(batch)
        together = [sum(column) for column in zip(*BATCHES[: k + 1])]
        assert running.rates() == pytest.approx((together[0] / together[6], together[1] / together[7]))


def test_forgetting_weighs_batches_geometrically():
    running = RunningRates("count", forgetting=0.5)
    for batch in BATCHES:
        running.add(batch)
    weights = (0.25, 0.5, 1.0)
    pos = sum(w * b.count_pos for w, b in zip(weights, BATCHES)) / sum(w * b.n_pos for w, b in zip(weights, BATCHES))
    neg = sum(w * b.count_neg for w, b in zip(weights, BATCHES)) / sum(w * b.n_neg for w, b in zip(weights, BATCHES))
    assert running.rates() == pytest.approx((pos, neg))


@pytest.mark.parametrize(("reward", "expected"), [("sigmoid", 0.1), ("logistic", 0.3), ("count", 0.5)])
def test_rates_follow_the_reward_they_were_made_for(reward, expected):
    running = RunningRates(reward)
    running.add(ClassSums(1.0, 0.0, 3.0, 0.0, 5.0, 0.0, 10.0, 1.0))
    assert running.rates()[0] == pytest.approx(expected)


def test_a_batch_without_a_class_leaves_its_sum_and_count_alone():
    running = RunningRates(forgetting=0.5)
    running.add(BATCHES[0])
    before = running.state()
    running.add(sums_of(0.0, 1.0, 0.0, 2.0))
    after = running.state()
    assert (after["sums"][0], after["counts"][0]) == (before["sums"][0], before["counts"][0])
    assert (after["sums"][1], after["counts"][1]) == (0.5 * 5.0 + 1.0, 0.5 * 8.0 + 2.0)


def test_rates_of_classes_not_seen_yet_are_one_half():
    running = RunningRates()
    assert running.rates() == (0.5, 0.5)
    running.add(sums_of(0.0, 1.0, 0.0, 4.0))
    assert running.rates() == (0.5, 0.25)
    running.reset()
    assert running.rates() == (0.5, 0.5)


def test_a_state_goes_through_json_and_continues_exactly():
    straight, other = RunningRates(forgetting=0.9), RunningRates(forgetting=0.9)
    for batch in BATCHES[:2]:
        straight.add(batch)
    kept = straight.state()
    other.restore(json.loads(json.dumps(kept)))
    for running in (straight, other):
        running.add(BATCHES[2])
    assert other.state() == straight.state()
    assert kept != straight.state(), "a state is a copy"


def test_options_out_of_range_are_refused():
    with pytest.raises(ValueError, match="Did you mean 'sigmoid'"):
        RunningRates("sigmod")
    for forgetting in (0.0, 1.1):
        with pytest.raises(ValueError, match=r"forgetting must lie in \(0, 1\]"):
            RunningRates(forgetting=forgetting)
