"""Data larger than memory: memory maps are read block by block, sparse matrices never made dense as a whole."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp import TrainFunctions, fit, mlp
from aesara_nondecomp.data import LazyRows, Standardiser, raw_rows

N_ROWS, D = 600, 4
RNG = np.random.default_rng(0)
Y = np.where(RNG.random(N_ROWS) < 0.3, 1, -1)
X = RNG.standard_normal((N_ROWS, D)) * [1, 10, 0.1, 1] + 0.5 * Y[:, None]
QUICK = {"steps": 60, "batch_size": 32, "seed": 3}


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


def mapped(X, tmp_path, order="C"):
    np.save(tmp_path / "X.npy", np.asarray(X, order=order))
    return np.load(tmp_path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("options", [{}, {"validation": 0.3}, {"sample_weight": np.arange(N_ROWS) % 3}], ids=str)
def test_a_memory_map_gives_the_model_of_the_array(dtype, order, options, functions, tmp_path):
    features = (100 * X).astype(dtype)
    in_memory = fit(features, Y, "qmean", network=functions, **QUICK, **options)
    streamed = fit(mapped(features, tmp_path, order), Y, "qmean", network=functions, **QUICK, **options)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(in_memory.parameters, streamed.parameters))
    scores = streamed.decision_function(mapped(features, tmp_path, order))
    assert np.array_equal(scores, in_memory.decision_function(features))


def test_the_papers_rounds_and_head_take_a_memory_map(functions, tmp_path):
    in_memory, streamed = (fit(features, Y, "f1", algorithm="paper", network=functions, **QUICK)
                           for features in (X, mapped(X, tmp_path)))  # fmt: skip
    assert all(a.tobytes() == b.tobytes() for a, b in zip(in_memory.parameters, streamed.parameters))


def test_a_memory_map_is_never_copied_as_a_whole(tmp_path):
    rows, columns = 160_000, 80
    whole = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype="float64", shape=(rows, columns))
    for start in range(0, rows, 10_000):
        whole[start : start + 10_000] = RNG.standard_normal((10_000, columns))
    del whole
    features, y = np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(rows) % 4 == 0
    functions = TrainFunctions(mlp(columns, (6,)))
    functions.compile()
    tracemalloc.start()
    model = fit(features, y, "f1", network=functions, steps=30, batch_size=256, seed=0, validation=0.2)
    model.predict(features)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < features.nbytes / 2


def test_a_memory_map_is_checked_like_any_features(tmp_path):
    broken = X.copy()
    broken[17, 2] = np.inf
    with pytest.raises(ValueError, match="finite in float64.*row 17, column 2"):
        fit(mapped(broken, tmp_path), Y)
    with pytest.raises(ValueError, match="the 4 columns seen in training, got 3"):
        raw_rows(mapped(X[:, :3], tmp_path), columns=4)
    with pytest.raises(ValueError, match="the 4 columns seen in training, got 3"):
        raw_rows(LazyRows(X[:, :3]), columns=4)
    with pytest.raises(ValueError, match="must be numbers"):
        raw_rows(mapped(X.astype(str), tmp_path))


def test_lazy_rows_are_the_rows_converted_and_scaled():
    scaling = Standardiser.fit(X)
    chosen = np.array([5, 3, 500])
    lazy = LazyRows(X).part(np.arange(0, N_ROWS, 2)).prepared("float32", scaling).part(chosen[:2])
    expected = scaling.transform(X[[10, 6]], "float32")
    assert lazy.shape == (2, D) and np.array_equal(lazy[:], expected) and np.array_equal(lazy[[1, 0]], expected[::-1])
    assert lazy[:].flags.c_contiguous and lazy[:].dtype == np.float32


def test_sparse_rows_are_standardised_where_the_training_rows_were(functions):
    model = fit(X, Y, "qmean", network=functions, **QUICK)
    assert np.array_equal(model.decision_function(scipy.sparse.csr_matrix(X)), model.decision_function(X))
    with pytest.raises(ValueError, match="standardising needs a dense array.*toarray"):
        fit(X, Y, "qmean", network=functions, validation=(scipy.sparse.csr_matrix(X), Y), **QUICK)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_a_sparse_matrix_gives_the_model_of_the_unscaled_array(kind, functions):
    sparse = np.where(RNG.random(X.shape) < 0.6, 0.0, X)
    dense = fit(sparse, Y, "qmean", network=functions, standardize=False, validation=0.3, **QUICK)
    matrix = scipy.sparse.coo_matrix(sparse).asformat(kind)
    model = fit(matrix, Y, "qmean", network=functions, validation=0.3, **QUICK)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(dense.parameters, model.parameters))
    assert np.array_equal(model.predict(scipy.sparse.csr_matrix(sparse)), dense.predict(sparse))


WIDE = """
import numpy as np, scipy.sparse
from aesara_nondecomp import fit
rng = np.random.default_rng(0)
rows, columns, per_row = 50_000, 20_000, 20
filled = rows * per_row
starts = np.arange(0, filled + 1, per_row)
X = scipy.sparse.csr_matrix((np.ones(filled), rng.integers(0, columns, filled), starts), (rows, columns))
y = np.asarray(X[:, :400].sum(axis=1)).ravel() > 0
model = fit(X, y, "f1", steps=5, batch_size=128, seed=0, validation=(X[:2000], y[:2000]))
share = model.predict(X).mean()
# Not ru_maxrss, which starts from the memory of the process that started this one.
print(share, next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_50_000_sparse_rows_of_20_000_columns_train_and_predict_in_less_than_a_gibibyte():
    done = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < 2**20
