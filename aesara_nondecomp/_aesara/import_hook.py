"""Import hook for Aesara's modules: NumPy 2 compatibility and lazy SciPy.

Aesara 2.9 was written for NumPy 1, and it imports much that a training step does not need. Its modules are executed
with an ``import`` of their own, so that no other module of the process sees a difference:

- `numpy` is NumPy with the names that NumPy 2 dropped (see `numpy2`);
- a part of SciPy is imported when one of its functions is called (`scipy.stats` takes about a second, `scipy.sparse` a
  quarter);
- setuptools' distutils is replaced by the standard library (see `distutils`);
- `mpi4py` is missing unless the process has imported it already, as its import starts MPI.

A hook on `sys.meta_path` does so for every module of Aesara, whoever imports it and whenever.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import sys
import types
import warnings
from collections.abc import Mapping, Sequence
from typing import Any


class _LazyModule(types.ModuleType):
    """A module that is imported when one of its names is looked up."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.__name__), name)


class _LazyFunctions(types.ModuleType):
    """A module of functions that is imported when one of them is called."""

    def __getattr__(self, name: str) -> Any:
        if name == "fblas":
            raise AttributeError("SciPy has had no scipy.linalg.blas.fblas since 0.12; Aesara then takes its parent")
        return lambda *given, **named: getattr(importlib.import_module(self.__name__), name)(*given, **named)


class _LazyClass(type):
    """Stands for a class of `scipy.sparse`, which has no objects before it is imported."""

    def _own(cls) -> Any:
        return getattr(sys.modules.get("scipy.sparse"), cls.__name__, ())

    def __instancecheck__(cls, thing: object) -> bool:
        return isinstance(thing, cls._own())

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls._own())

    def __call__(cls, *given: Any, **named: Any) -> Any:
        return getattr(importlib.import_module("scipy.sparse"), cls.__name__)(*given, **named)


_SCIPY = _LazyModule("scipy")
vars(_SCIPY).update({part: _LazyModule(f"scipy.{part}") for part in ("linalg", "sparse", "special", "stats")})
vars(_SCIPY.linalg)["blas"] = _LazyFunctions("scipy.linalg.blas")
_SPARSE = ("spmatrix", "csr_matrix", "csc_matrix", "bsr_matrix")  # of which Aesara makes tables when it is imported
vars(_SCIPY.sparse).update({name: _LazyClass(name, (), {}) for name in _SPARSE})


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> types.ModuleType:
    """The ``__import__`` of Aesara's modules."""
    from aesara_nondecomp._aesara import distutils, numpy2

    package = name.partition(".")[0] if level == 0 else ""
    if package == "numpy" and numpy2.needed():
        return numpy2.imported(name, bool(fromlist))
    if package == "scipy" and not fromlist:
        return _SCIPY
    if name.startswith("setuptools._distutils"):
        return distutils
    if package == "mpi4py" and "mpi4py.MPI" not in sys.modules:
        raise ImportError("Aesara does not start MPI; import mpi4py.MPI before aesara_nondecomp if it should")
    return builtins.__import__(name, globals, locals, fromlist or (), level)


_BUILTINS = {**vars(builtins), "__import__": _import}


class _Loader(importlib.machinery.SourceFileLoader):
    """Executes a module of Aesara with `_import` and without warnings, and mends what NumPy 2 broke in it."""

    def exec_module(self, module: types.ModuleType) -> None:
        from aesara_nondecomp._aesara import numpy2

        module.__dict__["__builtins__"] = _BUILTINS
        if numpy2.needed() and module.__name__ == "aesara":
            numpy2.use_a_cache_of_its_own()
        with warnings.catch_warnings():
            # Deprecations in Aesara and its dependencies, on which a user of this package cannot act.
            warnings.simplefilter("ignore")
            super().exec_module(module)
        if numpy2.needed():
            numpy2.mend(module)


class _Finder:
    """Finds the modules of Aesara and nothing else."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "aesara" and not name.startswith("aesara."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def forget_aesara() -> None:
    """Remove what a failed import of Aesara has left, which would fail again as "partially initialized module"."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "aesara"]:
        del sys.modules[name]


def install() -> None:
    """Let every later import of a module of Aesara go through the hook; a second call changes nothing."""
    if "aesara" not in sys.modules:
        forget_aesara()  # what an import without the hook has left, which fails under NumPy 2
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
