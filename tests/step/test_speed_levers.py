"""What makes the package fast changes no result: each lever against the plain way, and that it is in force."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import data, measures
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.step import scoring
from benchmarks import gemm_floor, speed, time_to_target

rng = np.random.default_rng(5)
CATALOGUE = measures.defaults()


@pytest.fixture(scope="module")
def functions():
    return an.TrainFunctions(an.mlp(6, (4,), seed=0))


def test_intermediate_arrays_are_kept_and_results_are_not_overwritten(functions):
    X = rng.normal(size=(9, 6)).astype("float32")
    first = functions.scores(X)
    kept = first.copy()
    assert not functions._scores.vm.allow_gc
    functions.scores(-X)
    np.testing.assert_array_equal(first, kept)


def test_networks_of_other_depths_and_widths_share_the_compiled_modules(functions, monkeypatch):
    y = np.array([1, -1, 1], dtype="float32")
    functions.ascend(np.ones((3, 6), dtype="float32"), y)

    def refuse(*args, **kwargs):
        raise AssertionError("a module was compiled")

    monkeypatch.setattr(aesara.link.c.cmodule.GCC_compiler, "compile_str", refuse)
    deeper = an.TrainFunctions(an.mlp(5, (4, 3, 2), seed=0))
    deeper.set_objective((1.0, 1.0, 1.0, 1.0), 0.1)
    sums, norm = deeper.ascend(np.ones((3, 5), dtype="float32"), y)
    assert (sums.n_pos, sums.n_neg) == (2, 1) and norm > 0


def test_scores_by_chunks_are_those_of_all_rows_at_once(functions, monkeypatch):
    X = rng.normal(size=(23, 6)).astype("float32")
    whole = functions.scores(X)
    monkeypatch.setattr(scoring, "SCORING_ROWS", 5)
    np.testing.assert_allclose(functions.scores(X), whole, rtol=1e-5)


def test_standardising_leaves_the_callers_rows_alone():
    X = rng.normal(size=(50, 3))
    before = X.copy()
    scaled = data.Standardiser.fit(X).transform(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("clip", [0.1, 10.0, np.inf])
def test_standardising_by_slices_is_the_formula_in_float64_to_the_last_bit(monkeypatch, dtype, clip):
    X = (1000 + 300 * rng.normal(size=(23, 3))).astype(dtype)
    scaling = data.Standardiser.fit(X, clip=clip)
    expected = np.clip((X.astype("float64") - scaling.mean_) / scaling.scale_, -clip, clip)
    expected = expected.astype("float64" if dtype == "float64" else "float32")
    for entries in (1, 15, 2**15):
        monkeypatch.setattr(data.scaling, "_CACHED_ENTRIES", entries)
        np.testing.assert_array_equal(scaling.transform(X), expected)


@pytest.mark.parametrize("measure", [m for m in CATALOGUE if m.takes_floats], ids=str)
@pytest.mark.parametrize("eps", [0.0, 0.01])
def test_a_measure_of_floats_is_its_value_in_an_array(measure, eps):
    grid = [0.0, 0.25, 0.6, 1.0]
    of_floats = [[measure.value(P, N, 0.3, eps) for N in grid] for P in grid]
    of_arrays = measure.value(np.array(grid)[:, None], np.array(grid), 0.3, eps)
    np.testing.assert_allclose(of_floats, of_arrays, rtol=1e-15)
    assert all(type(value) is float for row in of_floats for value in row)


def test_the_measures_that_dame_and_denim_ask_at_every_step_take_floats():
    asked = [m for m in CATALOGUE if isinstance(m, (measures.Pseudolinear, measures.PseudoConcave))]
    assert all(m.takes_floats for m in [*asked, measures.get("kld"), measures.get("nss")])


@pytest.mark.skipif(not aesara.config.blas__ldflags, reason="no BLAS is linked")
@pytest.mark.parametrize("trans_a", [False, True])
@pytest.mark.parametrize("trans_b", [False, True])
def test_the_floor_multiplies_what_it_says(trans_a, trans_b):
    a, b, out = (rng.normal(size=shape).astype("float32") for shape in ((7, 4), (4, 3), (7, 3)))
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


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="other processors are left as they are")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_fitted_row_leaves_no_denormal_numbers_in_the_optimiser_and_none_are_flushed_elsewhere(dtype):
    settled = {"float32": 95.0, "float64": 730.0}[dtype]  # exp of minus this is denormal
    functions = an.TrainFunctions(an.linear(2, seed=0, dtype=dtype))
    functions.initialise(parameters=[np.array([[settled], [0.0]], dtype), np.zeros(1, dtype)])
    functions.set_objective((1.0, 1.0, 1.0, 1.0), 0.1)
    functions.ascend(np.array([[1, 1]], dtype), np.ones(1, dtype))
    slots = [value for name, value in functions.state().items() if name.startswith("slots")]
    assert len(slots) == 4 and not any(value.any() for value in slots)
    assert np.array(1e-40, "float32") / np.float32(2) > 0
    assert np.array(1e-310) / 2 > 0
