"""Which instructions the compiler may use here, found once for a processor and not once for a process.

Aesara asks the compiler for the flags that stand for this processor, and compiles and runs a program to see that they
work: a third of a second whenever a process first compiles, or takes from the cache, a function. Its own answer is
kept here beside its compiled modules, by compiler and processor, as machines may share that folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from aesara_nondecomp._aesara.imports import aesara

_FILE = "aesara_nondecomp_march_flags.json"
_ABOUT = ("model name", "cpu family", "flags", "CPU ", "Features")  # the last two on ARM


def cache_march_flags() -> None:
    """Tell Aesara the flags that it found for this processor before, or let it find and keep them."""
    compiler = aesara.link.c.cmodule.GCC_compiler
    if compiler.march_flags is not None or not aesara.config.cxx or "-march=" in aesara.config.gcc__cxxflags:
        return  # settled by now, there is no compiler, or the user has chosen
    processor = _processor()
    if processor is None:
        return  # Aesara then asks in each process
    file = Path(aesara.config.compiledir) / _FILE
    known = _read(file)
    if processor in known:
        compiler.march_flags = known[processor]
        return
    compiler.compile_args()
    found: list[str] | None = compiler.march_flags  # None where Aesara does not know the compiler
    if found is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written to
            _write(file, {**known, processor: found})


def _read(file: Path) -> dict[str, list[str]]:
    """What is kept; nothing, where the file is missing or damaged."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    entries = known.items() if isinstance(known, dict) else ()
    return {name: flags for name, flags in entries if isinstance(flags, list) and all(type(f) is str for f in flags)}


def _write(file: Path, known: dict[str, list[str]]) -> None:
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(known), encoding="utf-8")
        os.replace(partial, file)
    finally:
        partial.unlink(missing_ok=True)


def _processor() -> str | None:
    """A digest of the compiler's version and the processor's name and abilities; None where the system hides them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    about = sorted({line for line in lines if line.startswith(_ABOUT)})
    told = "\n".join([aesara.link.c.cmodule.GCC_compiler.version_str(), *about])
    return hashlib.sha256(told.encode()).hexdigest() if about else None
