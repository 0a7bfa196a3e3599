"""Archives on disk: .npz files of plain arrays with a JSON header, without pickle; and measures in such headers.

An archive is a zip of .npy members. One of them, "header", is JSON text as bytes. It names the kind of file and the
version of its format, and holds a checksum over everything else, by which truncated or altered files are recognised.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import platform
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp._files import replacing
from aesara_nondecomp.data.files import PathLike, existing_file

# For each kind of file the versions that can be read, in order; files are written in the last one.
VERSIONS = {"model": (1, 2, 3), "checkpoint": (3,)}


def write_archive(path: PathLike, kind: str, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an archive completely or not at all, see `replacing`.

    Parameters
    ----------
    path : path-like
        The file, in a folder that exists; no suffix is added, and an existing file is replaced. A link is followed; a
        pipe or a device gets the bytes at once.
    kind : {"model", "checkpoint"}
        What the file holds.
    header : mapping of str to object
        Values that JSON can hold. "format", "version", "libraries" and "checksum" are added.
    arrays : mapping of str to array
        Numbers, booleans or text, not objects; "header" is not available as a name.

    Raises
    ------
    TypeError
        If JSON cannot hold a value of the header.
    ValueError
        If an array holds objects, which only a pickle could store.
    OSError
        If the file cannot be written; a former one is left as it was.
    """
    arrays = {name: np.asanyarray(value) for name, value in arrays.items()}
    objects = sorted(name for name, value in arrays.items() if value.dtype.hasobject)
    require(not objects, f"a {kind} file holds plain arrays, no objects", objects)
    full = {**header, "format": _format(kind), "version": VERSIONS[kind][-1], "libraries": _libraries()}
    full["checksum"] = _checksum(full, arrays)
    text = np.frombuffer(json.dumps(full).encode(), dtype=np.uint8)
    with replacing(path) as file:
        _write_members(file, {"header": text, **arrays})


def read_archive(path: PathLike, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read an archive of any version that this release knows.

    Parameters
    ----------
    path : path-like
        The file.
    kind : {"model", "checkpoint"}
        As given to `write_archive`.

    Returns
    -------
    header : dict of str to object
        As written, with "format", "version" and "libraries"; "version" tells the reader whether to convert the rest.
    arrays : dict of str to array
        As written.

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none.
    ValueError
        If it is not an archive of that kind, of another version, truncated or altered.
    """
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise _unusable(path, kind, "it is a pipe or a device, not a file")
    content = existing_file(path).read_bytes()
    try:
        arrays = _members(content)
        header = json.loads(arrays.pop("header").tobytes())
        found, written_in = header["format"], header["version"]
    except MemoryError:  # the file may be whole
        raise
    except Exception:  # zip and npy readers fail in many ways on bytes that they did not write
        raise _unusable(path, kind, "it cannot be read as one: it is cut short, damaged, or something else") from None
    if found != _format(kind):
        raise _unusable(path, kind, f"it calls itself {found!r}")
    if type(written_in) is not int or written_in not in VERSIONS[kind]:
        raise _unusable(path, kind, _why_not_readable(kind, written_in))
    if header.pop("checksum", None) != _checksum(header, arrays):
        raise _unusable(path, kind, "its checksum does not fit: it was altered or damaged")
    return header, arrays


@contextmanager
def usable(path: PathLike, kind: str) -> Iterator[None]:
    """Turn an error in using what `read_archive` returned, of any type, into the one ValueError of unusable files.

    Parameters
    ----------
    path : path-like
        The file.
    kind : {"model", "checkpoint"}
        As given to `read_archive`.

    Yields
    ------
    None

    Raises
    ------
    ValueError
        If the block fails: a file may have a fitting checksum and have been made by hand.
    """
    try:
        yield
    except (ImportError, MemoryError):  # not the fault of the file
        raise
    except Exception as error:
        why = str(error) if isinstance(error, ValueError) else f"{type(error).__name__} {error}"
        raise _unusable(path, kind, f"it holds what no {kind} holds: {why[:200].rstrip('.')}") from error


def describe_measure(measure: Any) -> dict[str, Any]:
    """Describe a measure in values that JSON can hold, for `restore_measure`.

    Parameters
    ----------
    measure : measures.Measure or measures.multiclass.MulticlassMeasure
        Any measure.

    Returns
    -------
    dict
        "name", and "parameters", which is None for a measure that is not in the catalogue; of several classes
        "several" too.
    """
    kind = {} if isinstance(measure, measures.Measure) else {"several": True}
    values: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    if is_dataclass(measure):
        values = {f.name: getattr(measure, f.name) for f in fields(measure)}
        changed = {f.name: values[f.name] for f in fields(measure) if values[f.name] != f.default}
    for parameters in ({}, changed, values):
        try:
            if _catalogue(kind).get(measure.name, **parameters) == measure:
                return {"name": measure.name, "parameters": parameters, **kind}
        except (ValueError, TypeError):
            continue
    return {"name": measure.name, "parameters": None, **kind}


def _catalogue(description: Mapping[str, Any]) -> Any:
    """The catalogue that a described measure is in."""
    return measures.multiclass if description.get("several") is True else measures


def restore_measure(description: Mapping[str, Any], given: Any = None) -> Any:
    """Restore a measure described by `describe_measure`.

    Parameters
    ----------
    description : mapping of str to object
        The description.
    given : measures.Measure, measures.multiclass.MulticlassMeasure or str, optional
        The same measure again, needed for one that is not in the catalogue.

    Returns
    -------
    measures.Measure or measures.multiclass.MulticlassMeasure

    Raises
    ------
    ValueError
        If the measure is not in the catalogue and none is given, or the given one is not the stored one.
    """
    name, stored = description["name"], stored_measure(description)
    if given is not None:
        found = _catalogue(description).get(given)
        same = found.name == name if stored is None else found == stored
        require(same, f"the stored measure is {name if stored is None else str(stored)!r}: pass that one", str(found))
        return found
    if stored is None:
        raise ValueError(f"{name!r} is a measure of your own; a file keeps its name only. Pass it as `measure`.")
    return stored


def stored_measure(description: Mapping[str, Any]) -> Any:
    """The measure that `describe_measure` described.

    Parameters
    ----------
    description : mapping of str to object
        The description.

    Returns
    -------
    measures.Measure, measures.multiclass.MulticlassMeasure or None
        None for a measure that is not in the catalogue.

    Raises
    ------
    ValueError
        If the catalogue has no such measure, or not with such parameters.
    """
    name, parameters = description["name"], description["parameters"]
    require(isinstance(name, str), "a measure has a name", name)
    return None if parameters is None else _catalogue(description).get(name, **parameters)


def stored_constraints(header: Mapping[str, Any]) -> tuple[measures.Constraint, ...]:
    """The constraints of a model file.

    Parameters
    ----------
    header : mapping of str to object
        Of the file; without any in files of releases that knew none.

    Returns
    -------
    tuple of measures.Constraint

    Raises
    ------
    ValueError
        If they are not a list of what `Constraint.as_dict` returns.
    """
    stored = header.get("constrained_by", [])
    listed = isinstance(stored, list) and all(isinstance(each, dict) for each in stored)
    require(listed, "constrained_by must be a list of constraints", stored)
    return tuple(measures.Constraint(**each) for each in stored)


def _write_members(file: IO[bytes], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write what `np.savez` writes, and leave nothing open behind an error, which would be reported a second time."""
    archive = zipfile.ZipFile(file, "w")
    try:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, value, allow_pickle=False)  # type: ignore[no-untyped-call, unused-ignore]
        archive.close()
    except BaseException:
        archive.fp = None  # of what is given up nothing is closed: a member that Ctrl-C left open would be an error
        raise


def _members(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz; each member is read whole first, so that its zip checksum guards its shape.

    They are written without compression, so all of them together take no more memory than the file. One that says
    otherwise would take any amount of it.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        plain = all(entry.compress_type == zipfile.ZIP_STORED for entry in entries)
        size = sum(entry.file_size for entry in entries)
        require(plain and size <= len(content), "members must be as large as they are stored", size)
        arrays = {entry.filename.removesuffix(".npy"): _array(archive.read(entry)) for entry in entries}
    require(len(arrays) == len(entries), "each member must have a name of its own", len(entries))
    return arrays


def _array(member: bytes) -> NDArray[Any]:
    """The array of an .npy member, which must be as large as its shape says, before memory is taken for it."""
    stream = io.BytesIO(member)
    version = np.lib.format.read_magic(stream)  # type: ignore[no-untyped-call, unused-ignore]
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
    shape, _, dtype = read_header(stream)  # type: ignore[no-untyped-call, unused-ignore]
    size = math.prod(shape) * dtype.itemsize
    require(size == len(member) - stream.tell(), "a member must hold its array and nothing else", size)
    return np.asarray(np.load(io.BytesIO(member), allow_pickle=False))


def _checksum(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        value = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {value.dtype.str} {np.shape(arrays[name])}".encode())
        digest.update(value.tobytes())
    return digest.hexdigest()


def _format(kind: str) -> str:
    return f"aesara_nondecomp {kind}"


def _why_not_readable(kind: str, version: Any) -> str:
    known = VERSIONS[kind]
    if isinstance(version, int) and version > known[-1]:
        return f"it was written by a newer release, in version {version}, and this one reads up to {known[-1]}: upgrade"
    if kind == "checkpoint":
        return f"checkpoints of version {version} cannot be resumed: start afresh, with another path or without resume"
    return f"its version must be one of {', '.join(map(str, known))}, got {version!r}"


def _libraries() -> dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__, "aesara": version("aesara")}


def _unusable(path: PathLike, kind: str, why: str) -> ValueError:
    return ValueError(f"a {kind} file of aesara_nondecomp is needed, but {os.fspath(path)!r} is not usable: {why}.")
