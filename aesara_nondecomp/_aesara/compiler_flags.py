"""The compiler flags for this processor, found once per processor and not once per process.

Aesara asks the compiler for the flags of the processor, and compiles and runs a program to test them. That takes a
third of a second in each process that compiles a function or loads one from the cache. The result is cached beside
Aesara's compiled modules, by compiler and processor, as several machines may share that folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._files import replacing

_FILE = "aesara_nondecomp_march_flags.json"
_ABOUT = ("model name", "cpu family", "flags", "CPU ", "Features")  # the last two on ARM


def cache_march_flags() -> None:
    """Give Aesara the cached flags of this processor, or let it find them and cache them."""
    compiler = aesara.link.c.cmodule.GCC_compiler
    if compiler.march_flags is not None or not aesara.config.cxx or "-march=" in aesara.config.gcc__cxxflags:
        return  # they are known already, there is no compiler, or the user has chosen
    processor = _processor()
    if processor is None:
        return  # then Aesara asks in each process
    file = Path(aesara.config.compiledir) / _FILE
    known = _read(file)
    if processor in known:
        compiler.march_flags = known[processor]
        return
    compiler.compile_args()
    found: list[str] | None = compiler.march_flags  # None for a compiler that Aesara does not know
    if found is not None:
        with contextlib.suppress(OSError):  # the cache may be read-only
            _write(file, {**known, processor: found})


def _read(file: Path) -> dict[str, list[str]]:
    """The cached flags by processor; empty if the file is missing or damaged."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = known.items() if isinstance(known, dict) else ()
    return {name: flags for name, flags in entries if isinstance(flags, list) and all(type(f) is str for f in flags)}


def _write(file: Path, known: dict[str, list[str]]) -> None:
    with replacing(file, text=True) as written:
        written.write(json.dumps(known))


def _processor() -> str | None:
    """A digest of the compiler's version and the processor's name and features; None if the system hides them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    about = sorted({line for line in lines if line.startswith(_ABOUT)})
    description = "\n".join([aesara.link.c.cmodule.GCC_compiler.version_str(), *about])
    return hashlib.sha256(description.encode()).hexdigest() if about else None
