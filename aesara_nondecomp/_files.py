"""Write files whole or not at all: beside their place, under a name of their own, and then renamed."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from aesara_nondecomp._checks import require

_TEXT: tuple[str, dict[str, Any]] = "", {"encoding": "utf-8", "newline": ""}
_BYTES: tuple[str, dict[str, Any]] = "b", {}


@contextmanager
def replacing(path: str | os.PathLike[str], *, text: bool = False) -> Iterator[Any]:
    """Open a file that takes the place of the one at `path` when all of it is on the disk.

    After an error, such as that of a full disk, the former file is there as it was. A link is followed, and the mode
    and the owner of a former file are kept. A pipe or a device, such as /dev/null, gets what is written at once.
    """
    check_writable(path)
    kind, options = _TEXT if text else _BYTES
    if is_stream(path):
        with open(path, f"w{kind}", **options, opener=_open_stream) as file:
            yield file if text else _Stream(file)
        return
    target = Path(os.path.realpath(path))
    former = target.stat() if target.exists() else None
    mode = 0o666 if former is None else stat.S_IMODE(former.st_mode)
    partial = target.with_name(f".{target.name[:50]}.{secrets.token_hex(8)}.partial")
    _remove_leftovers(target)
    try:
        with open(partial, f"x{kind}", **options, opener=lambda name, flags: os.open(name, flags, mode)) as file:
            if former is not None:
                _take_after(former, file.fileno(), partial)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = os.fspath(path)  # which the error of a full disk does not name
        raise


def _remove_leftovers(target: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left: no write lasts an hour."""
    for left in target.parent.glob(f".{glob.escape(target.name[:50])}.{'[0-9a-f]' * 16}.partial"):
        with suppress(OSError):  # another process may have removed it, or own it
            if time.time() - left.stat().st_mtime > 3600:
                left.unlink()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise an error unless `replacing` can write at a path, as far as that shows before the work."""
    require(isinstance(path, (str, os.PathLike)), "a path must be a str or path-like", path)  # 1 is standard output
    if is_stream(path):
        return
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, f"a file to write is needed, but the link leads back to itself: {str(path)!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to save {target.name!r} in")
    if target.is_dir():
        raise IsADirectoryError(f"a file to write is needed, not a folder, got {str(path)!r}")
    if target.exists() and not target.is_file():
        raise OSError(f"a file to write is needed, not a socket or a disk, got {str(path)!r}")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{str(path)!r} is write-protected: choose another file to write")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder {str(target.parent)!r} is write-protected: choose another one to write in")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether what is written to a path cannot be replaced: a pipe, a terminal or device, the process's own output."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    piped = stat.S_ISCHR(found.st_mode) or stat.S_ISFIFO(found.st_mode)
    return piped or _own_output(found) is not None


class _Stream:
    """A stream as a file without a position: that of a device such as /dev/null never moves."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write, self.flush = file.write, file.flush


def _open_stream(path: str, flags: int) -> int:
    """Open a stream; the process's own output is shared, as it may be a file that is written to already."""
    own = _own_output(os.stat(path))
    return os.open(path, flags & ~(os.O_CREAT | os.O_TRUNC)) if own is None else os.dup(own)


def _own_output(found: os.stat_result) -> int | None:
    """Standard output or standard error, where a file is one of them."""
    for descriptor in (1, 2):
        with suppress(OSError):  # it may be closed
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _take_after(former: os.stat_result, descriptor: int, partial: Path) -> None:
    """Give a new file the owner, the group and the mode of a former one, as far as this user may."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (former.st_uid, former.st_gid):
        for owner, group in ((-1, former.st_gid), (former.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(partial, owner, group)
    os.chmod(partial, stat.S_IMODE(former.st_mode))
