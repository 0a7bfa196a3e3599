"""Part of `make lint`: g++ has no warning about the C++ of the Ops: each header, as the Ops use it, and the library."""

from __future__ import annotations

import itertools
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from aesara_nondecomp import ops
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.ops.dense import Dense
from aesara_nondecomp.ops.fused import FusedOp
from aesara_nondecomp.ops.optimisers import Adam
from aesara_nondecomp.ops.update import rule_macros

FOLDER = Path(ops.__file__).parent / "cpp"
# What Aesara's modules have before any header of ours, and the macros that the Ops write.
PRELUDE = f"#include <Python.h>\n#include <numpy/arrayobject.h>\n{Dense('relu').c_macros()}{rule_macros(Adam())}"
COMMAND = [
    "g++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION", f"-I{FOLDER}",
    "-isystem", sysconfig.get_path("include"), "-isystem", np.get_include(), "-x", "c++",
]  # fmt: skip
# With the private OpenBLAS, whose functions have other names, and without.
OPENBLAS = [flag for flag in aesara.config.blas__ldflags.split() if flag.startswith("-D")]


def functions(of: type = FusedOp) -> Iterator[str]:
    """The C++ functions of all Ops."""
    for op in of.__subclasses__():
        if hasattr(op, "function"):
            yield op.function
        yield from functions(op)


def instantiated() -> str:
    """All headers, and every function for every float type of its arguments."""
    lines = [f'#include "{header.name}"' for header in sorted(FOLDER.glob("*.h"))]
    pointers = ", ".join(f"(void *) &{function}" for function in functions())
    for number, result in itertools.product(("npy_float", "npy_double"), repeat=2):
        types = f"typedef {number} number; typedef {result} result;"
        lines.append(f"namespace {number}_to_{result} {{ {types} void *all[] = {{{pointers}}}; }}")
    return "\n".join(lines)


# As setup.py defines them.
LIBRARY = [
    '-DSOURCES=""',
    "-DPy_LIMITED_API=0x03090000",
    "-DNPY_TARGET_VERSION=NPY_1_22_API_VERSION",
    "-mavx2",
    "-mfma",
]


def warnings_about(text: str, flags: list[str], prelude: str = PRELUDE) -> str:
    checked = subprocess.run([*COMMAND, *flags, "-"], input=prelude + text, capture_output=True, text=True)
    return checked.stderr


def main() -> int:
    alone = [(f'#include "{header.name}"\n', []) for header in sorted(FOLDER.glob("*.h"))]
    together = [(instantiated(), flags) for flags in ([], OPENBLAS)]
    with ThreadPoolExecutor() as pool:
        library = pool.submit(warnings_about, '#include "library_avx2.cpp"\n', LIBRARY, prelude="")
        found = [*pool.map(warnings_about, *zip(*alone, *together)), library.result()]
    problems = dict.fromkeys(filter(None, found))
    print(*problems, sep="\n", end="")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
