"""The C++ of the Ops: the headers in `ops/cpp`, as the text that Aesara compiles.

Aesara knows the code of an Op as text.  So the quoted includes of a header are replaced by the headers themselves, each
once, and a compiled module needs no folder of headers.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import cache

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


def _expanded(name: str, seen: set[str]) -> str:
    if name in seen:
        return ""
    seen.add(name)
    text = (importlib.resources.files(__package__) / "cpp" / name).read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda include: _expanded(include[1], seen), text)
