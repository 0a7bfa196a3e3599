"""Check the installation: compiler, library of compiled Ops, BLAS, Aesara and JAX.

`examine` returns the findings as plain data; ``python -m aesara_nondecomp doctor`` prints them.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import logging
import platform
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from aesara_nondecomp._aesara import setup
from aesara_nondecomp._aesara.failures import cache_folder, explained_compilation
from aesara_nondecomp._aesara.linked_blas import ask_openblas, library_path

_PACKAGES = ("aesara-nondecomp", "aesara", "numpy", "scipy", "scipy-openblas32")
_COMPILER, _LIBRARY, _NUMPY = "C++ that Aesara compiles", "the library of compiled Ops", "NumPy"


def examine() -> dict[str, Any]:
    """Examine the installation.

    The first run on a machine compiles one small function, which takes a few seconds.

    Returns
    -------
    dict of str to object
        "python", "platform", "packages", "compiler", "ops", "aesara", "blas" and "jax": strings, numbers, lists and
        dicts only, ready for JSON. "problems" lists what makes training slow or impossible, with remedies. If Aesara
        does not start, "problems" says so, and "compiler", "ops", "aesara" and "blas" are missing.
    """
    report: dict[str, Any] = {
        "python": {"version": platform.python_version(), "executable": sys.executable},
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in _PACKAGES},
    }
    compiler_problem = setup.compiler_problem()
    try:
        report.update(_examine_aesara())
        problems = _ops_problems(report["ops"], compiler_problem) or _blas_problems(report["blas"])
    except Exception as error:  # finding out about broken installations is the purpose
        problems = [_failure(error)]
    return {**report, "jax": jax_devices(), "problems": problems}


def gemm_gflops(rows: int = 1000, inner: int = 123, columns: int = 128, repeats: int = 200) -> float:
    """Measure the speed of a float32 matrix product in Aesara, including the overhead of the call.

    Parameters
    ----------
    rows : int, default 1000
        Rows of the left matrix and of the product; the defaults are a hidden layer on a mini-batch.
    inner : int, default 123
        Columns of the left matrix and rows of the right one.
    columns : int, default 128
        Columns of the right matrix and of the product.
    repeats : int, default 200
        Number of calls, at least 1; the fastest one counts.

    Returns
    -------
    float
        1e9 floating point operations per second, to one decimal.

    Raises
    ------
    RuntimeError
        If the product differs from NumPy's.
    """
    from aesara_nondecomp._aesara.imports import at

    rng = np.random.default_rng(0)
    left_value = rng.standard_normal((rows, inner), dtype=np.float32)
    right_value = rng.standard_normal((inner, columns), dtype=np.float32)
    left, right = at.fmatrix("left"), at.fmatrix("right")
    product = at.dot(left, right)
    values = {left: left_value, right: right_value}
    if not np.allclose(product.eval(values), left_value @ right_value, atol=1e-3):
        raise RuntimeError("Aesara's matrix product differs from NumPy's: the linked BLAS cannot be trusted.")
    seconds = min(_seconds(product.eval, values) for _ in range(repeats))
    return round(2e-9 * rows * inner * columns / seconds, 1)


def jax_devices() -> list[str] | str:
    """List the devices of JAX.

    Returns
    -------
    list of str or str
        Their names; "not installed", or why JAX does not start.
    """
    if importlib.util.find_spec("jax") is None:
        return "not installed"
    try:
        import jax

        return [str(device) for device in jax.devices()]
    except Exception as error:  # JAX raises many types when a driver or a version does not fit
        return f"does not start ({type(error).__name__}: {error})"


def _failure(error: Exception) -> str:
    """The failure of Aesara in one line; one about a folder or about versions has its remedy already."""
    told = " ".join(str(error).split())
    if isinstance(error, OSError) or told.startswith("Aesara does not start"):
        return told[0].upper() + told[1:]
    return f"Aesara fails here ({type(error).__name__}: {told}). Reinstall aesara-nondecomp."


def _examine_aesara() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a missing compiler is in the report already
        from aesara_nondecomp._aesara.imports import aesara
        from aesara_nondecomp.ops import library

        library_problem = library.problem()
    logging.getLogger("aesara").setLevel(logging.CRITICAL)  # what fails is in the report
    config = aesara.config
    run_by = _COMPILER if config.cxx else _NUMPY if library_problem else _LIBRARY
    folder = cache_folder(config)
    with explained_compilation(folder):
        gflops = gemm_gflops()
    return {
        "compiler": {"path": config.cxx or "none", "version": _compiler_version(config.cxx)},
        "ops": {"run_by": run_by, "library": library_problem or "ready"},
        "aesara": {"float_type": config.floatX, "mode": config.mode, "cache_folder": folder},
        "blas": {**_linked_blas("" if run_by == _NUMPY else config.blas__ldflags), "gemm_gflops": gflops},
    }


def _linked_blas(ldflags: str) -> dict[str, Any]:
    """The library behind the linker flags; of OpenBLAS also version and number of threads."""
    path = library_path(ldflags)
    version, threads = (ask_openblas(path) if path else None) or ("not known", None)
    return {"library": path or ldflags or "none (NumPy's C API)", "version": version, "threads": threads}


def _ops_problems(ops: dict[str, str], compiler_problem: str | None) -> list[str]:
    if ops["run_by"] != _NUMPY:
        return []
    reason = compiler_problem or "cxx is empty in Aesara's settings (install g++, or drop that setting)"
    return [f"Steps run by NumPy, four to five times slower: {reason}, and {ops['library']}."]


def _blas_problems(blas: dict[str, Any]) -> list[str]:
    if not blas["library"].startswith("none"):
        return []
    return [
        "Aesara is not linked to a BLAS, so small steps take about twice as long. Install scipy-openblas32 in a "
        "folder without blanks in its path, or set blas__ldflags in AESARA_FLAGS."
    ]


def _compiler_version(command: str) -> str:
    if not command:
        return "none"
    shown = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    return shown.splitlines()[0] if shown else "unknown"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _seconds(function: Any, argument: Any) -> float:
    start = time.perf_counter()
    function(argument)
    return time.perf_counter() - start
