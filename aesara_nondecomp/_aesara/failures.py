"""One line for what fails around Aesara: packages that do not fit together, a folder that is full or protected.

This module uses the standard library alone and never imports Aesara.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aesara_nondecomp._aesara.import_hook import forget_aesara

_NO_ROOM = ("No space left on device", "Disk quota exceeded", "Read-only file system", "Permission denied")


@contextmanager
def explained_import() -> Iterator[None]:
    """Turn whatever ends the import of Aesara into one ImportError that names the versions, also at a second attempt.

    Yields
    ------
    None

    Raises
    ------
    ImportError
        If the block fails.
    """
    imported_before = "aesara" in sys.modules
    try:
        yield
    except Exception as error:
        if not imported_before:
            forget_aesara()
        remedy = "Install versions that fit: pip install --force-reinstall aesara-nondecomp, in a fresh environment"
        if _concerns_a_folder(error):
            remedy = _remedy_for_folders()
        raise ImportError(f"Aesara does not start ({_summary(error)}) with {_versions()}. {remedy}.") from error


@contextmanager
def explained_compilation(folder: str) -> Iterator[None]:
    """Turn the pages of a compiler that cannot write its files into one OSError; other errors pass.

    Parameters
    ----------
    folder : str
        Where Aesara keeps what it compiles.

    Yields
    ------
    None

    Raises
    ------
    OSError
        If the block fails for want of room or of permission.
    """
    try:
        yield
    except Exception as error:
        reason = next((text for text in _NO_ROOM if text in str(error)), None)
        if reason is None:
            raise
        places = f"{folder!r} or {_temporary_folder()!r}"
        raise OSError(f"compiled code cannot be written ({reason}) to {places}. {_remedy_for_folders()}.") from None


def cache_folder(config: Any) -> str:
    """Where Aesara keeps what it compiles; it makes the folder when it is asked for.

    Parameters
    ----------
    config : object
        That of Aesara.

    Returns
    -------
    str

    Raises
    ------
    OSError
        If the folder cannot be made.
    """
    try:
        return str(config.compiledir)
    except ValueError as error:
        told = " ".join(str(error).split())
        raise OSError(f"there is no cache for compiled code. {told} {_remedy_for_folders()}.") from None


def _concerns_a_folder(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, OSError) or "compiledir" in text or any(reason in text for reason in _NO_ROOM)


def _remedy_for_folders() -> str:
    return (
        "Make room there, or choose folders that can be written to: AESARA_FLAGS=base_compiledir=FOLDER for the cache, "
        "TMPDIR=FOLDER for temporary files"
    )


def _temporary_folder() -> str:
    """Where a compiler writes, which unlike `tempfile` does not look for another folder where that one is full."""
    return os.environ.get("TMPDIR") or tempfile.gettempdir()


def _summary(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _versions() -> str:
    packages = [f"{name} {_version(name)}" for name in ("aesara", "numpy", "scipy")]
    return ", ".join([f"Python {platform.python_version()}", *packages])


def _version(package: str) -> str:
    import importlib.metadata  # slow, and seldom needed

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
