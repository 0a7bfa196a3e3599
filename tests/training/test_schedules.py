"""Learning-rate schedules: their values at chosen steps."""

from __future__ import annotations

import math
import re

import pytest

from aesara_nondecomp.training import schedules

STEPS = 100


def test_constant_is_one():
    assert [schedules.constant()(step) for step in (0, 7, 10**6)] == [1.0, 1.0, 1.0]


def test_step_decay_multiplies_every_so_many_steps():
    schedule = schedules.step_decay(10, factor=0.5)
    assert [schedule(step) for step in (0, 9, 10, 19, 20, 39)] == [1.0, 1.0, 0.5, 0.5, 0.25, 0.125]


def test_cosine_goes_from_one_by_the_mean_to_its_final_value_and_stays():
    schedule = schedules.cosine(STEPS, final=0.2)
    assert [schedule(step) for step in (0, 50, 100, 1000)] == pytest.approx([1.0, 0.6, 0.2, 0.2])
    assert schedule(25) == pytest.approx(0.2 + 0.8 * (1 + math.sqrt(0.5)) / 2)
    values = [schedule(step) for step in range(STEPS + 1)]
    assert values == sorted(values, reverse=True)


def test_inverse_root_is_one_over_the_root_of_the_number_of_the_step():
    assert [schedules.inverse_root()(step) for step in (0, 3, 99)] == pytest.approx([1.0, 0.5, 0.1])


@pytest.mark.parametrize(
    ("name", "halfway"),
    [("constant", 1.0), ("step", 0.1), ("cosine", 0.5), ("inverse_root", 1 / math.sqrt(51))],
)
def test_a_name_lays_its_schedule_over_the_run(name, halfway):
    schedule = schedules.get(name, STEPS)
    assert schedule(0) == 1.0
    assert schedule(50) == pytest.approx(halfway)


@pytest.mark.parametrize("steps", [2, 5, 99, 100])
def test_step_divides_the_rate_once_within_the_run(steps):
    schedule = schedules.get("step", steps)
    values = [schedule(step) for step in range(steps)]
    assert set(values) == {1.0, 0.1} and 0 <= values.count(1.0) - values.count(0.1) <= 1


def test_every_schedule_serves_a_run_of_one_step():
    for name in ("constant", "step", "cosine", "inverse_root"):
        assert schedules.get(name, 1)(0) == 1.0


def test_a_function_is_taken_as_it_is():
    def warm_up(step):
        return min(1.0, (step + 1) / 10)

    assert schedules.get(warm_up, STEPS) is warm_up


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="unknown schedule 'cosin'. Did you mean 'cosine'"):
        schedules.get("cosin", STEPS)


@pytest.mark.parametrize("wrong", [None, math.nan, math.inf, -0.2, "a", [1.0]])
def test_a_factor_is_checked_at_each_step(wrong):
    def schedule(step):
        return 1.0 if step < 6 else wrong

    assert schedules.factor_at(schedule, 5) == 1.0
    message = f"schedule must return a finite number of at least 0, got {wrong!r} at step 6 (from 0)"
    with pytest.raises(ValueError, match=re.escape(message)):
        schedules.factor_at(schedule, 6)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: schedules.step_decay(0), "every must be a whole number of at least 1, got 0"),
        (lambda: schedules.step_decay(5, factor=0.0), r"factor must lie in \(0, 1\], got 0.0"),
        (lambda: schedules.step_decay(5, factor=1.5), "factor must lie in"),
        (lambda: schedules.cosine(0), "total must be a whole number"),
        (lambda: schedules.cosine(5, final=2.0), r"final must lie in \[0, 1\], got 2.0"),
    ],
)
def test_settings_out_of_range_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
