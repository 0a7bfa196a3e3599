"""What Aesara 2.9 takes from NumPy 1, for Aesara's modules alone, where NumPy is newer.

In Python these are names that NumPy 2 dropped; in the C that Aesara generates, members and macros, which the header
`numpy2.h` defines before all that is compiled. Two parts of Aesara have no C under NumPy 2 and run their own Python
code: the gradient of ``x[indices]`` and the loop of a scan.
"""

from __future__ import annotations

import importlib
import types
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from aesara_nondecomp._aesara import setup

# Aesara's default and the version of NumPy.
_COMPILEDIR = "compiledir_%(short_platform)s-%(processor)s-%(python_version)s-%(python_bitwidth)s-numpy2"
HEADER = Path(__file__).with_name("numpy2.h")


@cache
def needed() -> bool:
    """Whether NumPy is of version 2 or later."""
    return int(np.__version__.split(".")[0]) >= 2


def imported(name: str, has_names: bool) -> types.ModuleType:
    """What an import of NumPy gives in a module of Aesara.

    Parameters
    ----------
    name : str
        "numpy" or a module in it, as NumPy 1 called it.
    has_names : bool
        Whether names of the module are imported (``from numpy.core import multiarray``) and not the module.

    Returns
    -------
    module
        With names, the module itself; else NumPy as it was.
    """
    module = importlib.import_module(name.replace("numpy.core", "numpy._core"))
    return _numpy1() if name == "numpy" or not has_names else module


class _Casts(dict[Any, Callable[[Any], Any]]):
    """``np.cast``: from a dtype to a function that converts to it."""

    def __missing__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda value: np.asarray(value, dtype=getattr(dtype, "dtype", dtype))


def _obj2sctype(dtype: Any, default: Any = None) -> Any:
    try:
        return np.dtype(dtype).type
    except TypeError:
        return default


@cache
def _numpy1() -> types.ModuleType:
    """NumPy with the names that version 2 dropped and Aesara uses."""
    module = types.ModuleType("numpy", np.__doc__)
    core = importlib.import_module("numpy._core")
    exceptions = importlib.import_module("numpy.exceptions")
    for name in ("multiarray", "numeric", "_multiarray_umath"):
        importlib.import_module(f"numpy._core.{name}")
    gone = {
        "obj2sctype": _obj2sctype,
        "sctype2char": lambda dtype: np.dtype(dtype).char,
        "cast": _Casts(),
        "AxisError": exceptions.AxisError,
        "ComplexWarning": exceptions.ComplexWarning,
        "MAXDIMS": 32,  # says "all axes" to Aesara's C code; see the header
        "core": core,
        "__getattr__": lambda name: getattr(np, name),
    }
    vars(module).update({**vars(np), **gone})
    return module


def use_a_cache_of_its_own() -> None:
    """Keep what is compiled for NumPy 2 apart: a part of it has no key that tells the versions of NumPy apart."""
    flags = {"compiledir_format": _COMPILEDIR}
    setup.add_flags({name: value for name, value in flags.items() if name not in setup.flags_of_the_user()})


def mend(module: types.ModuleType) -> None:
    """Change what does not run under NumPy 2 in a module of Aesara that was just executed.

    Parameters
    ----------
    module : module
        Any one of Aesara's; most need nothing.
    """
    if module.__name__ == "aesara.link.c.cmodule":
        _mend_compiler(module)
    elif module.__name__ == "aesara.tensor.subtensor":
        module.AdvancedIncSubtensor1.c_code = _without_c


def _mend_compiler(module: Any) -> None:
    """Compile with the header, and do not try what cannot be compiled."""
    compiler = module.GCC_compiler
    compile_args, compile_str = compiler.compile_args, compiler.compile_str
    # Arguments are part of a module's key in the cache, so a new header means new modules.
    ours = ["-include", str(HEADER), f"-DAESARA_NONDECOMP_NUMPY2_HEADER={zlib.crc32(HEADER.read_bytes())}"]

    def with_header(*given: Any, **named: Any) -> list[str]:
        return [*compile_args(*given, **named), *ours]

    def but_no_old_cython(module_name: str, *given: Any, **named: Any) -> Any:
        if module_name == "scan_perform":
            raise module.MissingGXX("the C of a scan's loop was written by a Cython that does not know NumPy 2")
        return compile_str(module_name, *given, **named)

    compiler.compile_args = staticmethod(with_header)
    compiler.compile_str = staticmethod(but_no_old_cython)


def _without_c(*given: Any, **named: Any) -> str:
    raise NotImplementedError("NumPy 2 has no PyArray_MapIterArray")
