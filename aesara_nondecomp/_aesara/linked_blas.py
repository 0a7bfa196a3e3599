"""The BLAS that the Ops call: where it is, and what OpenBLAS says of itself."""

from __future__ import annotations

import ctypes
import glob
import os


def library_path(ldflags: str) -> str | None:
    """The file of the library behind linker flags.

    Parameters
    ----------
    ldflags : str
        Such as Aesara's `blas__ldflags`.

    Returns
    -------
    str or None
        None if there is no such file.
    """
    parts = ldflags.split()
    folders = [part[2:] for part in parts if part.startswith("-L")]
    names = [part[2:] for part in parts if part.startswith("-l")]
    patterns = [name[1:] if name.startswith(":") else f"lib{name}.*" for name in names]
    places = [os.path.join(folder, pattern) for folder in folders for pattern in patterns]
    return next((path for place in places for path in glob.glob(place)), None)


def ask_openblas(path: str) -> tuple[str, int] | None:
    """Description and number of threads by OpenBLAS itself.

    Parameters
    ----------
    path : str
        Of a shared library.

    Returns
    -------
    tuple of (str, int), or None
        None for a library without these functions.
    """
    library = ctypes.CDLL(path)
    for prefix in ("scipy_", ""):
        describe = getattr(library, f"{prefix}openblas_get_config", None)
        count = getattr(library, f"{prefix}openblas_get_num_threads", None)
        if describe is not None and count is not None:
            describe.restype = ctypes.c_char_p
            return describe().decode(), count()
    return None


def threads_of_steps(ldflags: str) -> int:
    """How many threads a step may take: those of a private OpenBLAS, which follow OMP_NUM_THREADS.

    Parameters
    ----------
    ldflags : str
        Aesara's `blas__ldflags`.

    Returns
    -------
    int
        1 with any other BLAS, whose threads belong to other libraries of the process too.
    """
    path = library_path(ldflags) if "openblas_set_num_threads" in ldflags else None
    asked = ask_openblas(path) if path else None
    return asked[1] if asked else 1
