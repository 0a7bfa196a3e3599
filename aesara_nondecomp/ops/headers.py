"""The C++ of the Ops: the headers in `ops/cpp`, as the text that Aesara compiles.

Aesara knows the code of an Op as text.  So the quoted includes of a header are replaced by the headers themselves, each
once, and a compiled module needs no folder of headers.

setup.py runs this file by itself, so it imports the standard library alone.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "cpp"
_INCLUDE = re.compile(r'^#include "(.+)"\n', re.MULTILINE)


@cache
def source(*names: str) -> str:
    """The text of some headers and of all that they include.

    Parameters
    ----------
    *names : str
        Files in `ops/cpp`.

    Returns
    -------
    str
        The headers in the order of inclusion, each once.
    """
    seen: set[str] = set()
    return "".join(_expanded(name, seen) for name in names)


def digest() -> str:
    """Compute the version of the whole folder, by which the library of compiled Ops is known to be up to date.

    Returns
    -------
    str
        Of the names and texts of its files.
    """
    files = sorted(path for path in FOLDER.iterdir() if path.suffix in (".h", ".inc", ".cpp"))
    return hashlib.sha256(repr([(path.name, path.read_text(encoding="utf-8")) for path in files]).encode()).hexdigest()


def _expanded(name: str, seen: set[str]) -> str:
    if name in seen:
        return ""
    seen.add(name)
    text = (FOLDER / name).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda include: _expanded(include[1], seen), text)
