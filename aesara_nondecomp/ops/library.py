"""The Ops compiled beforehand, for machines without a compiler: Aesara would run their NumPy implementations there.

When the package is installed, setup.py compiles cpp/library.cpp into an extension module, `_library`. It has a function
for every Op in this package, found by a key, which is a hash of all that the Op itself adds to the sources. So an Op of
an activation or an optimiser of the user's own is not found, and runs by NumPy; and a library of other sources is not
used at all.

The library is linked to no BLAS. It is given the addresses of scipy-openblas32's routines, those that compiled modules
call, or else of SciPy's.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import missing_compiler
from aesara_nondecomp.ops import headers

_PRODUCTS = ("sgemm", "dgemm", "sgemv", "dgemv")


def bind(op: Any, node: Any) -> Callable[[list[Any], list[Any]], None] | None:
    """Bind the library's function of an Op to a node.

    Parameters
    ----------
    op : FusedOp
        The Op.
    node : Apply
        The Op with its inputs and outputs.

    Returns
    -------
    callable or None
        Takes the storage of the inputs and of the outputs; None if the library has no such function.
    """
    found = _load()
    if isinstance(found, str):
        return None
    try:
        own_key = key(op, node)
    except KeyError:  # a type that the C++ does not have
        return None
    types = (tuple((np.dtype(v.dtype).num, v.ndim) for v in variables) for variables in (node.inputs, node.outputs))
    bound = found.bind(own_key, tuple(op.library_numbers()), *types)
    return None if bound is None else partial(found.run, bound)


def key(op: Any, node: Any) -> str:
    """Compute by what name the library knows the function of a node.

    Parameters
    ----------
    op : FusedOp
        The Op.
    node : Apply
        The Op with its inputs and outputs.

    Returns
    -------
    str
        A hash of the lines before the Op's header, and of the function's body.
    """
    return hashlib.sha256(f"{op.library_macros()}{op.library_body(node)}".encode()).hexdigest()[:32]


def problem() -> str | None:
    """Why the library cannot be used here.

    Returns
    -------
    str or None
        The reason, with what to do; None if it can.
    """
    found = _load()
    return found if isinstance(found, str) else None


@cache
def _load() -> Any:
    """The extension module, or why there is none; then, if there is no compiler either, with a warning."""
    try:
        return _opened()
    except (ImportError, OSError) as error:
        reason = " ".join(str(error).split())  # NumPy's, of a library built with another NumPy, has many lines
        why = f"the library of compiled Ops cannot be used ({reason}; install aesara-nondecomp again)"
    if missing_compiler is not None:
        warnings.warn(f"Steps run by NumPy, four to five times slower: {missing_compiler}, and {why}.", stacklevel=2)
    return why


def _opened() -> Any:
    module = importlib.import_module("aesara_nondecomp.ops._library")
    if module.runs_avx2():
        with contextlib.suppress(ImportError):  # where only the other could be built
            module = importlib.import_module("aesara_nondecomp.ops._library_avx2")
    if module.sources != headers.digest():
        raise ImportError("it was built from other sources")
    module.use_blas(*_blas())
    return module


def _blas() -> list[int]:
    """Addresses of the products and of OpenBLAS's thread controls; of the latter 0, if they are not ours to set."""
    try:
        import scipy_openblas32
    except ImportError:
        from scipy.linalg import cython_blas

        return [_address_in(cython_blas.__pyx_capi__[name]) for name in _PRODUCTS] + [0, 0]
    library = ctypes.CDLL(f"{scipy_openblas32.get_lib_dir()}/{scipy_openblas32.get_library(fullname=True)}")
    controls = [f"scipy_openblas_{verb}_num_threads" for verb in ("set", "get")]
    names = [*(f"scipy_{name}_" for name in _PRODUCTS), *controls]
    return [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names]


def _address_in(capsule: Any) -> int:
    name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    address: int = address_of(capsule, name_of(capsule))
    return address
