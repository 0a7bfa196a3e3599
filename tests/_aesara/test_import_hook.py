"""What Aesara's modules import: NumPy 1's names, SciPy late, MPI not at all; nobody else sees it."""

from __future__ import annotations

import importlib.util
import platform
import subprocess

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from test_setup import in_fresh_python

from aesara_nondecomp._aesara import numpy2
from aesara_nondecomp._aesara.imports import aesara, at

only_numpy2 = pytest.mark.skipif(not numpy2.needed(), reason="NumPy 1 is what Aesara was written for")


def says(code: str) -> str:
    finished: subprocess.CompletedProcess[str] = in_fresh_python(code)
    assert finished.stderr == ""
    return finished.stdout.strip()


@pytest.mark.parametrize(
    "code",
    [
        "import aesara_nondecomp, aesara; print(aesara.config.floatX)",
        "import aesara_nondecomp, aesara.tensor.nnet.batchnorm; print(aesara.config.floatX)",
        "import aesara_nondecomp._aesara.imports, aesara.tensor.signal.pool; print(aesara.config.floatX)",
    ],
    ids=["Aesara right after this package", "a part of Aesara", "a part of Aesara, late"],
)
def test_aesara_can_be_imported_after_this_package(code):
    assert says(code) == "float32"


@only_numpy2
def test_an_import_of_aesara_that_failed_before_does_no_harm():
    code = "try:\n import aesara\nexcept Exception:\n from aesara_nondecomp._aesara.imports import at\n"
    assert says(f"{code} print(at.dot(at.as_tensor([[2.0]]), [[3.0]]).eval())") == "[[6.]]"


@only_numpy2
def test_numpy_itself_keeps_its_new_names_only():
    code = (
        "import sys, numpy as np; before = set(vars(np)) | {m for m in sys.modules if m.startswith('numpy.core')}\n"
        "import aesara_nondecomp._aesara.imports\n"
        "after = set(vars(np)) | {m for m in sys.modules if m.startswith('numpy.core')}\n"
        "print(sorted(name for name in after - before if not hasattr(sys.modules.get('numpy.' + name), '__path__')))"
    )
    assert "cast" not in says(code)
    assert not {"cast", "obj2sctype", "MAXDIMS", "AxisError"} & set(vars(np))


@pytest.mark.parametrize("module", ["_aesara.imports", "training.fit"])
def test_neither_scipy_nor_mpi_is_imported_before_it_is_used(module):
    unwanted = "{'scipy', 'mpi4py', 'numpy.distutils'}"
    assert says(f"import sys, aesara_nondecomp.{module}; print({unwanted} & set(sys.modules))") == "set()"


def test_training_for_two_classes_loads_nothing_that_only_several_classes_need():
    code = (
        "import sys, aesara_nondecomp as an\n"
        "an.fit([[0.0], [1.0]] * 2, [0, 1] * 2, 'qmean', network='linear', validation=None, steps=1, seed=0)\n"
        "print(sorted(m for m in sys.modules if 'nondecomp' in m and ('multiclass' in m or 'class_' in m)))"
    )
    needed = ["aesara_nondecomp.metrics.class_rates", "aesara_nondecomp.training.class_labels"]
    assert says(code) == str(needed)


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py")
def test_mpi_can_be_imported_after_aesara():
    assert says("import aesara_nondecomp._aesara.imports, mpi4py.MPI; print(mpi4py.MPI.COMM_WORLD.size)") == "1"


def test_aesaras_use_of_scipys_statistics_still_works():
    x = at.dvector()
    np.testing.assert_allclose(at.chi2sf(x, 3.0).eval({x: [0.5, 2.0]}), scipy.stats.chi2.sf([0.5, 2.0], 3))
    drawn = at.random.halfnormal(0.0, 2.0, size=5, rng=aesara.shared(np.random.default_rng(4))).eval()
    np.testing.assert_allclose(
        drawn, scipy.stats.halfnorm.rvs(0, 2, size=5, random_state=np.random.default_rng(4)), rtol=1e-6
    )


def test_aesaras_sparse_matrices_still_work():
    dense = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])
    for matrix in (scipy.sparse.csr_matrix(dense), scipy.sparse.csc_matrix(dense)):
        product = aesara.sparse.dot(aesara.shared(matrix), at.as_tensor(dense.T))
        sums = aesara.sparse.sp_sum(aesara.as_symbolic(matrix), axis=1)
        with aesara.config.change_flags(mode="FAST_COMPILE", cxx=""):
            np.testing.assert_array_equal(product.eval(), dense @ dense.T)
            np.testing.assert_array_equal(sums.eval(), dense.sum(axis=1))
    made = aesara.sparse.csr_from_dense(at.as_tensor(dense))
    with aesara.config.change_flags(mode="FAST_COMPILE", cxx=""):
        np.testing.assert_array_equal(made.eval().toarray(), dense)


def test_aesaras_sparse_classes_are_those_of_scipy():
    code = (
        "import aesara_nondecomp._aesara.imports, numpy as np\n"
        "from aesara.sparse.type import SparseTensorType as Type\n"
        "csr = Type.format_cls['csr']\n"
        "before = [isinstance(np.ones(3), csr), issubclass(np.ndarray, csr)]\n"
        "import scipy.sparse as sp\n"
        "after = [isinstance(sp.csr_matrix((2, 2)), csr), isinstance(sp.csc_matrix((2, 2)), csr), type(csr((2, 2)))]\n"
        "print(before == [False, False], after == [True, False, sp.csr_matrix])"
    )
    assert says(code) == "True True"


def test_what_is_compiled_for_numpy_2_has_a_folder_of_its_own():
    assert str(aesara.config.compiledir).endswith("-numpy2") == numpy2.needed()


@pytest.mark.skipif(platform.machine() != "x86_64" or not aesara.config.cxx, reason="flags of an x86-64 compiler")
def test_what_is_compiled_is_for_this_processor():
    """The small programs by which Aesara tries the flags compile under NumPy 2 too."""
    compiler = aesara.link.c.cmodule.GCC_compiler
    assert any(flag.startswith("-march=") for flag in compiler.compile_args())


# -- C that the header makes compile under NumPy 2, against NumPy's own functions ------------------------------------

VALUES = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])
COMPLEX_VALUES = VALUES + 1j * VALUES[::-1]
MATRIX, COMPLEX = at.dmatrix("x"), at.zmatrix("z")
GRAPHS = {
    "largest": (at.max(MATRIX), VALUES.max()),
    "where the largest is": (at.argmax(MATRIX), VALUES.argmax()),
    "running sum": (at.cumsum(MATRIX), VALUES.cumsum()),
    "softmax": (at.special.softmax(MATRIX, axis=None), np.exp(VALUES) / np.exp(VALUES).sum()),
    "gradient of chosen rows": (at.grad(MATRIX[[0, 1, 0]].sum(), MATRIX), [[2.0] * 3, [1.0] * 3]),
    "scan": (aesara.scan(lambda row, sum_: row + sum_, MATRIX, at.zeros(3, "float64"))[0][-1], VALUES.sum(axis=0)),
    "complex": (COMPLEX * COMPLEX + COMPLEX, COMPLEX_VALUES * COMPLEX_VALUES + COMPLEX_VALUES),
    "size of complex": (abs(COMPLEX), abs(COMPLEX_VALUES)),
}


def test_aesaras_own_c_agrees_with_numpy():
    compute = aesara.function([MATRIX, COMPLEX], [graph for graph, _ in GRAPHS.values()])
    for name, got in zip(GRAPHS, compute(VALUES, COMPLEX_VALUES)):
        np.testing.assert_allclose(got, GRAPHS[name][1], err_msg=name)


def test_a_wrong_axis_is_refused():
    with pytest.raises(ValueError, match="axis .* is out of bounds"):
        at.sum(MATRIX, axis=5)
