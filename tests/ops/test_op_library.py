"""The library of compiled Ops: complete, up to date, equal to NumPy, and what runs where there is no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import processes
import pytest
from op_oracles import assert_same, by_library, by_perform, layer_values, narrowest, symbolic_like

from aesara_nondecomp.ops import ACTIVATIONS, FusedUpdate, headers, library, library_entries, prefetch_rows
from aesara_nondecomp.ops.cell_rewards import CellRewards
from aesara_nondecomp.ops.dense import Dense
from aesara_nondecomp.ops.embedding import Rows
from aesara_nondecomp.ops.fused import FusedOp
from aesara_nondecomp.ops.lstm import LSTM
from aesara_nondecomp.ops.optimisers import SGD, Adam, Momentum
from aesara_nondecomp.ops.rewards import CellRewardSums
from aesara_nondecomp.ops.update import RuleOp

ROOT = Path(__file__).parents[2]
# Of 3 rows with 4 tokens each, 5 columns, 4 units, 2 periodic columns of 3 frequencies and 2 outputs, and 9 embeddings.
LAYER = [(7, 5), (5, 4), (4,)]
SEQUENCE = [(12, 5), (3, 4), (5, 16), (4, 16)]
SHAPES = {
    "Dense": LAYER,
    "CheckedDense": LAYER,
    "InputGradient": [(7, 4), (7, 4), (5, 4)],
    "WeightGradient": [(7, 4), (7, 4), (7, 5)],
    "Dropout": [(7, 5), (7, 5), ()],
    "AllFinite": [(7, 5)],
    "Standardise": [(7, 5), (5,), (5,), ()],
    "RewardSums": [(7,), (7,), (4,), ()],
    "CellRewardSums": [(7,), (7,), (7,), (6, 2), ()],
    "CellRewards": [(7, 5), (7,), (7,), (4,), (4, 5), (4,), (5,), ()],
    "Periodic": [(7, 5), (2,), (2, 3), (2, 3), (2, 3, 2), (2, 2), (1,), (1,), (1,)],
    "PeriodicGradient": [(7, 10), (7, 5), (2,), (2, 3), (2, 3), (2, 3, 2)],
    "Rows": [(9, 5), (3, 4)],
    "LSTM": [*SEQUENCE, (16,)],
    "LSTMGradient": [(3, 4), *SEQUENCE, (12, 4), (12, 4), (12, 16)],
    "AttentionPool": [(12, 1), (12, 4), (3, 4)],
    "AttentionGradient": [(3, 4), (3, 4), (12, 4)],
    "PrefetchRows": [(9, 5), (4,), (4, 5), ()],
    "FusedUpdate": [(), (), (), (1,), *[(6, 3)] * 5],
    "RowUpdate": [(), (), (), (1,), (3, 4), (12, 5), (9, 5), (9, 5), (9,), *[(9, 5)] * 2],
}  # fmt: skip
NODES = list({library.key(node.op, node): node for node in library_entries.nodes()}.values())


def values_for(node):
    """Inputs of a node: those of `_drawn`, with cells of the classes of their rows."""
    values = list(_drawn(node))
    if type(node.op) is CellRewardSums:
        values[2] = np.asarray(values[2] // 2 * 2 + (values[1] > 0), "int32")
    return values


def _drawn(node):
    """Positive scalars, weights and optimiser slots, indices from 0 to 3 or 4, all else normal."""
    rng = np.random.default_rng(3)
    positive = isinstance(node.op, (RuleOp, CellRewards))
    for variable, shape in zip(node.inputs, SHAPES[type(node.op).__name__]):
        if "int" in variable.dtype:
            yield np.asarray(rng.integers(0, 4 if type(node.op) is CellRewards else 5, size=shape), variable.dtype)
        else:
            drawn = np.asarray(rng.normal(size=shape), variable.dtype)
            yield np.asarray(np.abs(drawn) / 4 if positive or not shape else drawn)


def operators(of=FusedOp):
    """All classes of Ops that have a C++ function."""
    for op in of.__subclasses__():
        if hasattr(op, "function"):
            yield op
        yield from operators(op)


def name_of(node):
    return f"{node.op}-{'-'.join(dict.fromkeys(v.dtype for v in (*node.inputs, *node.outputs)))}"


# -- complete and up to date --------------------------------------------------------------------------------------


def test_the_library_is_built_from_the_present_sources():
    assert library.problem() is None, "run: pip install --no-deps -e ."


def test_the_entries_are_those_of_the_present_ops():
    entries = (headers.FOLDER / "entries.inc").read_text(encoding="utf-8")
    assert entries == library_entries.text() + "\n", f"as it says: {library_entries.__doc__}"


def test_every_op_has_an_entry():
    assert {type(node.op) for node in NODES} == {*operators()}


@pytest.fixture(params=["_library", "_library_avx2"])
def each_processor(request, monkeypatch):
    """The library as it is built for each kind of processor, if this one runs it."""
    if request.param == "_library_avx2" and not import_module("aesara_nondecomp.ops._library").runs_avx2():
        pytest.skip("this processor has no AVX2")
    module = import_module(f"aesara_nondecomp.ops.{request.param}")
    module.use_blas(*library._blas())
    monkeypatch.setattr(library, "_load", lambda: module)


@pytest.mark.usefixtures("each_processor")
@pytest.mark.parametrize("node", NODES, ids=name_of)
def test_a_function_of_the_library_equals_numpy(node):
    arrays = list(values_for(node))
    found, expected = (run(node.op, *(array.copy() for array in arrays)) for run in (by_library, by_perform))
    defined = 3 if type(node.op) is LSTM else len(found)  # the gates of masked tokens are not
    assert_same(found[:defined], expected[:defined], narrowest(arrays))


def test_a_call_that_returns_none_takes_no_reference_to_it_away():
    found = library._load()
    before = sys.getrefcount(None)  # a constant from Python 3.12 on
    assert all(found.bind("no such key", (), (), ()) is None for _ in range(1000))
    assert abs(sys.getrefcount(None) - before) < 100


def test_rows_are_prefetched_by_the_library():
    x, indices = np.random.default_rng(0).normal(size=(9, 5)), np.array([3, -1, 8], "int64")
    buffer, nothing, wanted = np.full((3, 5), np.nan), np.empty(0, "int64"), np.asarray(1, "int8")
    assert by_library(prefetch_rows, x, indices, buffer, wanted) == [True]
    assert by_library(prefetch_rows, x, nothing, buffer, wanted) == [False]
    np.testing.assert_array_equal(buffer, [x[3], np.zeros(5), x[8]])


# -- what is not in it ---------------------------------------------------------------------------------------------


def bound(op, *arrays):
    return library.bind(op, op.make_node(*symbolic_like(*arrays)))


def update_arrays(rule, dtype="float64"):
    own = [np.full(3, 0.5, dtype) for _ in range(3 + len(rule.slots))]
    return [*(np.asarray(value) for value in (0.1, 0.9, 2.0)), np.array([0.3]), *own]


@pytest.mark.parametrize("rule", [Momentum(0.0), Momentum(0), Momentum(np.float32(0.3)), Adam(0.5, 0.8, 1e-3)])
def test_the_constants_of_an_optimiser_are_read_at_run_time(rule):
    op = FusedUpdate(rule, 0)
    found, expected = (run(op, *update_arrays(rule)) for run in (by_library, by_perform))
    assert_same(found, expected, "float64")


def test_an_optimiser_of_the_users_own_is_not_in_the_library():
    class Halved(SGD):
        def c_step(self):
            return "p += lr / 2 * (g - decay * p);"

    class Renamed(SGD):
        """Another name for the same rule."""

    assert bound(FusedUpdate(Halved(), 0), *update_arrays(SGD())) is None
    assert bound(FusedUpdate(Renamed(), 0), *update_arrays(SGD())) is not None


def test_an_activation_of_the_users_own_is_not_in_the_library_and_the_others_stay_there(monkeypatch):
    monkeypatch.setitem(ACTIVATIONS, "another", ACTIVATIONS["tanh"])
    assert bound(Dense("another"), *layer_values("float32")) is None
    assert bound(Dense("relu"), *layer_values("float32")) is not None
    monkeypatch.setitem(ACTIVATIONS, "relu", replace(ACTIVATIONS["relu"], c_value="z < 1 ? 0 : z"))
    assert bound(Dense("relu"), *layer_values("float32")) is None


def test_numbers_of_other_types_are_not_in_the_library():
    assert bound(Rows(), np.zeros((3, 2), "float16"), np.zeros((1, 1), "int32")) is None


def test_a_library_of_other_sources_is_refused(monkeypatch):
    monkeypatch.setattr(headers, "digest", lambda: "another")
    with pytest.raises(ImportError, match="built from other sources"):
        library._opened()


# -- memory and errors ---------------------------------------------------------------------------------------------


def test_an_output_is_written_again_unless_it_is_held_elsewhere():
    arrays = layer_values("float32")
    call, storage = bound(Dense("relu"), *arrays), [[None]]
    cells = [[array] for array in arrays]
    call(cells, storage)
    address = storage[0][0].ctypes.data
    call(cells, storage)
    assert storage[0][0].ctypes.data == address
    held, before = storage[0][0], storage[0][0].copy()
    cells[0][0] = -arrays[0]
    call(cells, storage)
    assert storage[0][0] is not held
    np.testing.assert_array_equal(held, before)


def test_an_input_is_never_written_as_an_output():
    x = np.eye(4, dtype="float32")
    cell = [np.ones((4, 4), "float32")]
    bound(Dense("identity"), x, x, x[0])([cell, [x], [np.zeros(4, "float32")]], [cell])
    np.testing.assert_array_equal(cell[0], np.ones((4, 4)))


@pytest.mark.parametrize("wrong", [
    np.zeros((7, 5)), np.zeros(5, "float32"), np.zeros((7, 5), ">f4"), None, "rows",
    np.frombuffer(b"\0" * 141, "float32", 35, offset=1).reshape(7, 5),
], ids=["dtype", "dimensions", "byte order", "nothing", "no array", "not aligned"])  # fmt: skip
def test_an_array_of_another_kind_is_refused_and_nothing_is_written(wrong):
    arrays, out = layer_values("float32"), np.full((7, 4), 2, "float32")
    storage = [[out]]
    with pytest.raises(TypeError, match="input 0"):
        bound(Dense("relu"), *arrays)([[wrong], [arrays[1]], [arrays[2]]], storage)
    assert storage[0][0] is out
    np.testing.assert_array_equal(out, 2)


def test_sizes_that_do_not_fit_are_the_error_of_the_op():
    x, W, b = layer_values("float32")
    with pytest.raises(ValueError, match="dense needs 5 columns"):
        by_library(Dense("relu"), x[:, :3], W, b)


def test_products_are_right_by_the_blas_inside_scipy(monkeypatch):
    x, W, b = layer_values("float64")
    layers = [tuple(v.astype(dtype) for v in (x, W[:, :h], b[:h])) for dtype in ("float32", "float64") for h in (4, 1)]
    module = library._opened()
    monkeypatch.setitem(sys.modules, "scipy_openblas32", None)
    try:
        module.use_blas(*library._blas())
        for arrays in layers:
            assert_same(by_library(Dense("tanh"), *arrays), by_perform(Dense("tanh"), *arrays), narrowest(arrays))
    finally:
        monkeypatch.undo()
        library._opened()


# -- without a compiler --------------------------------------------------------------------------------------------

STEPS = """
import numpy as np, aesara_nondecomp as an
rng = np.random.default_rng(0)
X = rng.normal(size=(64, 5)).astype("float32")
functions = an.TrainFunctions(an.mlp(5, (8,), seed=0))
for _ in range(3):
    functions.ascend(X, np.where(X[:, 0] > 0, 1, -1).astype("float32"))
assert functions.scores(X).shape == (64,)
"""
HIDDEN = "import sys; sys.modules['aesara_nondecomp.ops._library'] = None\n"


def without_a_compiler(*arguments, folder):
    """What Python says where PATH is a folder without a compiler, and Aesara's cache an empty one."""
    inherited = {name: value for name, value in os.environ.items() if name != "AESARA_FLAGS"}
    own = {
        "PATH": str(folder),
        "AESARA_FLAGS": f"base_compiledir={folder / 'cache'}",
        "PYTHONPATH": processes.PYTHONPATH,
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, env={**inherited, **own}, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_steps_run_by_the_library_in_silence_and_compile_nothing(tmp_path):
    ran = without_a_compiler("-W", "error", "-c", STEPS, folder=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert [*tmp_path.rglob("*.so")] == []


def test_without_the_library_one_warning_says_what_to_install(tmp_path):
    ran = without_a_compiler("-c", HIDDEN + STEPS, folder=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr.count("UserWarning") == 1
    assert "install g++" in ran.stderr and "install aesara-nondecomp again" in ran.stderr


def test_the_golden_trajectories_are_walked_without_a_compiler(tmp_path):
    test = "tests/training/test_golden_trajectories.py"
    ran = without_a_compiler("-m", "pytest", "-q", "-p", "no:cacheprovider", test, folder=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert [*tmp_path.rglob("*.so")] == []
