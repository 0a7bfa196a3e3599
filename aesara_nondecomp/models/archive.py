"""Archives on disk: .npz files of plain arrays with a JSON header, never pickle; and what goes into their headers.

An archive is a zip of .npy members, one of which, "header", is JSON text as bytes.  The header names the kind of
file, its version, and a checksum over everything else, so that a truncated, altered or foreign file is told apart.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require

VERSION = 1


def write_archive(path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write an archive whole or not at all: under a temporary name in the same folder, then renamed.

    Parameters
    ----------
    path : str or Path. Taken as it is: no ending is added.
    kind : str. What the file holds, such as "model".
    header : mapping of values that JSON can hold
    arrays : mapping of str to array. Numbers, booleans or text, no objects; no name may be "header".

    Raises
    ------
    TypeError
        If JSON cannot hold a value of the header.
    ValueError
        If an array holds objects, which only a pickle could keep.
    """
    path, arrays = Path(path), {name: np.asanyarray(value) for name, value in arrays.items()}
    objects = sorted(name for name, value in arrays.items() if value.dtype.hasobject)
    require(not objects, f"a {kind} file holds plain arrays, no objects", objects)
    full = {**header, "format": _format(kind), "version": VERSION, "libraries": _libraries()}
    full["checksum"] = _checksum(full, arrays)
    text = np.frombuffer(json.dumps(full).encode(), dtype=np.uint8)
    partial = path.with_name(path.name + ".partial")
    try:
        with open(partial, "wb") as file:
            np.savez(file, header=text, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def read_archive(path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of an archive.

    Parameters
    ----------
    path : str or Path
    kind : str. As given to `write_archive`.

    Raises
    ------
    OSError
        If the file cannot be read, FileNotFoundError if there is none.
    ValueError
        If it is no such archive, of a newer version, truncated or altered.
    """
    content = Path(path).read_bytes()
    try:
        arrays = _members(content)
        header = json.loads(arrays.pop("header").tobytes())
        found, written_as = header["format"], header["version"]
    except Exception:  # zip and npy readers fail in many ways on bytes that they did not write
        raise _unusable(path, kind, "it cannot be read as one: it is cut short, damaged, or something else") from None
    if found != _format(kind):
        raise _unusable(path, kind, f"it calls itself {found!r}")
    if written_as != VERSION:
        raise _unusable(path, kind, f"it is of version {written_as!r}, and this release reads version {VERSION}")
    if header.pop("checksum", None) != _checksum(header, arrays):
        raise _unusable(path, kind, "its checksum does not fit: it was altered or damaged")
    return header, arrays


def describe_measure(measure: measures.Measure) -> dict[str, Any]:
    """A measure as {"name", "parameters"}; parameters None for one that is not of the catalogue (a user's own)."""
    values: dict[str, Any] = {}
    if is_dataclass(measure):
        values = {f.name: getattr(measure, f.name) for f in fields(measure)}
    for parameters in ({}, values):
        try:
            if measures.get(measure.name, **parameters) == measure:
                return {"name": measure.name, "parameters": parameters}
        except (ValueError, TypeError):
            continue
    return {"name": measure.name, "parameters": None}


def restore_measure(description: Mapping[str, Any], given: measures.Measure | None = None) -> measures.Measure:
    """The measure that `describe_measure` described; one of the user's own must be `given` again.

    Raises
    ------
    ValueError
        If it is a user's own measure and none is given, or another than the stored one is.
    """
    name, parameters = description["name"], description["parameters"]
    stored = None if parameters is None else measures.get(name, **parameters)
    if given is not None:
        given = measures.get(given)
        same = given.name == name if stored is None else given == stored
        require(same, f"the stored measure is {name if stored is None else str(stored)!r}: pass that one", str(given))
        return given
    if stored is None:
        raise ValueError(f"{name!r} is a measure of your own; a file keeps its name only. Pass it as `measure`.")
    return stored


def _members(content: bytes) -> dict[str, np.ndarray]:
    """The arrays of an .npz; each member is read whole first, so that its zip checksum guards its shape."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return {
        name.removesuffix(".npy"): np.load(io.BytesIO(member), allow_pickle=False) for name, member in members.items()
    }


def _checksum(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {value.dtype.str} {np.shape(arrays[name])}".encode())
        digest.update(value.tobytes())
    return digest.hexdigest()


def _format(kind: str) -> str:
    return f"aesara_nondecomp {kind}"


def _libraries() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__, "aesara": version("aesara")}


def _unusable(path, kind: str, why: str) -> ValueError:
    return ValueError(f"a {kind} file of aesara_nondecomp is needed, but {os.fspath(path)!r} is not usable: {why}.")
