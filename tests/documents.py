"""Code blocks of the documents, and how a test runs them as they are written."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONAL = ("lightgbm", "mpi4py", "pandas", "sklearn", "torch")  # imported by examples themselves


class Block(NamedTuple):
    """A fenced block of a document."""

    document: str
    line: int
    """Of its first line of code, from 1."""
    language: str
    code: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(document: str, language: str = "python") -> list[Block]:
    """The fenced blocks in one language ("" for commands) of a document, in its order."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [Block(document, text[: fence.start(2)].count("\n") + 1, *fence.groups()) for fence in FENCE.finditer(text)]
    return [block for block in found if block.language == language]


def run(block: Block, names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Execute a block as a module of its own, with some names given; skips the test where an extra is missing.

    Lines in a traceback are those of the document.
    """
    module = ModuleType("example")
    vars(module).update({name: value for name, value in (names or {}).items() if not name.startswith("__")})
    code = compile("\n" * (block.line - 1) + block.code, ROOT / block.document, "exec")
    sys.modules[module.__name__] = module  # Aesara pickles classes that a graph depends on, by the name of their module
    try:
        exec(code, vars(module))
    except ImportError as error:
        extra = "pip install 'aesara-nondecomp[" in str(error)
        if extra or isinstance(error, ModuleNotFoundError) and error.name in OPTIONAL:
            pytest.skip(f"{block} needs more: {error}")
        raise
    finally:
        del sys.modules[module.__name__]
    return vars(module)
