"""Aesara's configuration, completed before Aesara's first import.

Aesara reads its settings once, during its import, from the environment variable `AESARA_FLAGS` and from the user's
`.aesararc`. By default it multiplies matrices through NumPy's C API (small steps take about twice as long as with a
linked BLAS), in float64, and on Python 3.12 it cannot even be imported, because the *default* of `blas__ldflags` needs
`numpy.distutils`. So `configure` sets what the user has not set.

This module uses the standard library alone and never imports NumPy or Aesara.
"""

from __future__ import annotations

import importlib.machinery
import os
import stat
import sys
import warnings

# scipy-openblas32 prefixes its symbols with "scipy_", so that it can live in one process with the libraries
# inside NumPy and SciPy. The preprocessor maps the routines that Aesara's C code and our own Ops call.
_BLAS_ROUTINES = tuple(
    precision + routine
    for precision in "sd"
    for routine in ("gemm", "gemv", "ger", "dot", "axpy", "scal", "copy", "nrm2", "asum", "syrk", "trsm")
)
# Our own Ops use these to keep small products on one thread (see ops/blas.py).
_THREAD_CONTROLS = ("openblas_set_num_threads", "openblas_get_num_threads")
_PREFIXED = " ".join(
    f"-D{symbol}=scipy_{symbol}" for symbol in [*(f"{name}_" for name in _BLAS_ROUTINES), *_THREAD_CONTROLS]
)
# What the OpenBLAS inside SciPy's wheels is called, and its symbols: from SciPy 1.13 on it has the prefix too.
_BUNDLED = {"libscipy_openblas-": _PREFIXED, "libopenblas": ""}


def configure() -> None:
    """Complete `AESARA_FLAGS` with this package's settings: float32 and a fast BLAS.

    The user's own settings win: a flag set in `AESARA_FLAGS` or in the `.aesararc` is left alone. A second call
    changes nothing. After Aesara's import its settings are fixed, so nothing is changed then, and a `UserWarning` says
    so if Aesara runs without a BLAS.
    """
    chosen = flags_of_the_user()
    if "aesara" in sys.modules:
        _warn_if_too_late(chosen)
        return
    ours = {"floatX": "float32", "blas__ldflags": blas_flags()}
    if not chosen & {"base_compiledir", "compiledir"}:
        ours.update(_cache_flags())
    add_flags({name: value for name, value in ours.items() if name.lower() not in chosen})


def _cache_flags() -> dict[str, str]:
    """A folder below that of temporary files for what Aesara compiles, where it cannot be in the home folder."""
    home = os.path.join(os.environ.get("HOME") or os.path.expanduser("~"), ".aesara")
    if sys.platform == "win32" or _can_be_written(home):
        return {}
    import tempfile

    try:
        folder = os.path.join(tempfile.gettempdir(), f"aesara_nondecomp-{os.getuid()}")
        os.makedirs(folder, 0o700, exist_ok=True)
        found = os.lstat(folder)
        if found.st_uid != os.getuid() or found.st_mode & 0o022 or not stat.S_ISDIR(found.st_mode):
            folder = tempfile.mkdtemp()  # the name is taken: code from a folder of somebody else must not be run
    except OSError:
        return {}  # then the import of Aesara fails, and says so
    warnings.warn(
        f"Aesara's cache cannot be written to {home!r}, so it is {folder!r} until the temporary files are removed. "
        "Choose a folder that stays: AESARA_FLAGS=base_compiledir=FOLDER.",
        stacklevel=4,
    )
    return {"base_compiledir": folder}


def _can_be_written(folder: str) -> bool:
    """Whether a folder that is there or not can be written to, as far as its permissions show."""
    folder = os.path.abspath(folder)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def add_flags(flags: dict[str, str]) -> None:
    """Append flags to `AESARA_FLAGS`, where a later entry overrides an earlier one.

    Parameters
    ----------
    flags : dict of str to str
        Values by name.
    """
    entries = [os.environ.get("AESARA_FLAGS", "").strip(",")]
    entries += [f"{name}={_escape(value)}" for name, value in flags.items()]
    os.environ["AESARA_FLAGS"] = ",".join(entry for entry in entries if entry)


def compiler_problem() -> str | None:
    """Why Aesara cannot compile C code on this machine.

    Returns
    -------
    str or None
        Names the missing part and how to install it; None if Aesara can compile, or if the user chose the compiler.
    """
    import shutil
    import sysconfig

    if "cxx" in flags_of_the_user():
        return None
    compilers = ("g++", "clang++") if sys.platform == "darwin" else ("g++",)
    if not any(shutil.which(name) for name in compilers):
        return "no C++ compiler was found on PATH (install g++, for example `apt-get install g++`)"
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return "Python.h is missing (install Python's headers, for example `apt-get install python3-dev`)"
    return None


def blas_flags() -> str:
    """Linker flags of the fastest BLAS that pip installed.

    Returns
    -------
    str
        For `blas__ldflags`: those of scipy-openblas32's OpenBLAS, else of the one inside SciPy's Linux wheels, else
        "", so that Aesara calls BLAS through NumPy's C API.
    """
    flags = _scipy_openblas32_flags() or _bundled_with_scipy_flags()
    # Aesara splits its linker flags at white space and does not parse quotes.
    return flags if flags is not None and not _has_blank_path(flags) else ""


def flags_of_the_user() -> set[str]:
    """Names of the flags that are set somewhere, in lower case because `.aesararc` ignores case."""
    return {name.lower() for name in _names_in_environment() | _names_in_files()}


def _names_in_environment() -> set[str]:
    text = os.environ.get("AESARA_FLAGS", "")
    if not text:
        return set()
    import shlex

    # As Aesara parses the variable: commas separate entries, and a backslash or quotes protect a comma.
    entries = shlex.shlex(text, posix=True)
    entries.whitespace = ","
    entries.whitespace_split = True
    return {entry.split("=", 1)[0].strip() for entry in entries}


def _names_in_files() -> set[str]:
    paths = [os.path.expanduser(path) for path in os.environ.get("AESARARC", "~/.aesararc").split(os.pathsep)]
    paths = [path for path in paths if os.path.isfile(path)]
    if not paths:
        return set()
    import configparser

    files = configparser.RawConfigParser()
    files.read(paths)
    return {
        option if section == "global" else f"{section}__{option}"
        for section in files.sections()
        for option in files.options(section)
    }


def _warn_if_too_late(chosen: set[str]) -> None:
    config: object = getattr(sys.modules["aesara"], "config", None)
    if "blas__ldflags" in chosen or getattr(config, "blas__ldflags", None):
        return
    warnings.warn(
        "Aesara was imported before aesara_nondecomp, so it runs without a linked BLAS, which is slower. "
        "Import aesara_nondecomp first.",
        stacklevel=3,
    )


def _scipy_openblas32_flags() -> str | None:
    package = _folder_of("scipy_openblas32")
    if package is None or sys.platform == "win32":
        return None
    return f"-L{os.path.join(package, 'lib')} -lscipy_openblas {_PREFIXED}"


def _bundled_with_scipy_flags() -> str | None:
    package = _folder_of("scipy")
    folder = os.path.join(os.path.dirname(package), "scipy.libs") if package else ""
    if not os.path.isdir(folder):
        return None
    for start, symbols in _BUNDLED.items():
        names = [name for name in os.listdir(folder) if name.startswith(start) and ".so" in name]
        if names:
            return f"-L{folder} -l:{names[0]} {symbols}".rstrip()
    return None


def _folder_of(package: str) -> str | None:
    """The folder of an installed package, found without importing it."""
    spec = importlib.machinery.PathFinder.find_spec(package)
    return os.path.dirname(spec.origin) if spec is not None and spec.origin else None


def _has_blank_path(flags: str) -> bool:
    return any(not part.startswith("-") for part in flags.split())


def _escape(value: str) -> str:
    """Escape what Aesara's parser, `shlex` with commas for blanks, would interpret."""
    return value.translate({ord(special): f"\\{special}" for special in "\\,'\"#"})
