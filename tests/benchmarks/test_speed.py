"""The parts of the speed benchmarks that could mislead: the floor's products, the turns, and the peer's threshold."""

import numpy as np
import pytest

from aesara_nondecomp._aesara.imports import aesara
from benchmarks import gemm_floor, speed, time_to_target

RNG = np.random.default_rng(5)


@pytest.mark.skipif(not aesara.config.blas__ldflags, reason="no BLAS is linked")
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_the_floor_multiplies_what_it_says(trans_a, trans_b):
    a, b, out = (RNG.normal(size=shape).astype("float32") for shape in ((7, 4), (4, 3), (7, 3)))
    left, right = (np.ascontiguousarray(x.T) if trans else x for x, trans in ((a, trans_a), (b, trans_b)))
    gemm_floor.product(left, right, out, trans_a, trans_b)()
    np.testing.assert_allclose(out, a @ b, rtol=1e-4)


def test_contestants_take_turns_and_each_round_begins_with_another(monkeypatch):
    monkeypatch.setattr(speed, "_repeats", lambda run: 1)
    monkeypatch.setattr(speed, "WARM_BLOCKS", 1)
    calls = []
    times = speed.interleaved({name: lambda name=name: calls.append(name) for name in "ab"}, rounds=3)
    assert "".join(calls) == "aabbbbaaaabb"  # each once to warm up, once on the clock
    assert [len(values) for values in times.values()] == [3, 3]


def labelled_scores(n, seed):
    own = np.random.default_rng(seed)
    signs = np.where(own.random(n) < 0.1, 1, -1)
    return own.normal(size=n) + signs, signs


@pytest.mark.parametrize("seed", range(20))
def test_the_tuned_threshold_of_the_peer_is_the_best_of_all(seed):
    scores, y = labelled_scores(200, seed)
    best = max(time_to_target.worse_rate(scores, y, threshold) for threshold in scores)
    assert time_to_target.worse_rate(scores, y, time_to_target.best_threshold(scores, y)) == best
