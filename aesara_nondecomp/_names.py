"""Names that are loaded when they are first used, and the names of version 0.1 that still work."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Callable, TypeVar

from aesara_nondecomp._checks import suggestion

PACKAGE = "aesara_nondecomp"
Function = TypeVar("Function", bound=Callable[..., Any])

# Modules that stood loose in 0.1, by what is left of their dotted names; users' scripts import them.
FORMER_MODULES = {
    "checkpoints": "training.checkpoints",
    "compiled": "step.train_functions",
    "doctor": "cli.doctor",
    "fitting": "training.fit",
    "intervals": "metrics.bootstrap",
    "model": "models.model",
    "multiclass": "metrics.multiclass",
    "onnx_export": "models.onnx",
    "optimisers": "ops.optimisers",
    "persistence": "models.archive",
    "protocols": "metrics.prevalence_shift",
    "quantification": "metrics.quantification",
    "rates": "metrics.class_rates",
    "recipes": "training.recipes",
    "schedules": "training.schedules",
    "symbolic": "step.symbolic_measure",
    "tabular": "data.tabular",
    "validation": "training.early_stopping",
    "voting": "models.ensemble",
}


def lazy(
    package: str, homes: Mapping[str, str], former: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a module whose names are loaded when they are first used.

    Parameters
    ----------
    package : str
        Name of the module.
    homes : mapping of str to str
        From each name to the module that defines it, relative to this package; or to the module that it names.
    former : mapping of str to str, optional
        From each name of 0.1 to the present one in the same module; used with a DeprecationWarning.
    """
    former = former or {}

    def get(name: str) -> Any:
        if name in former:
            warn_renamed(f"{package}.{name}", former[name])
            return getattr(sys.modules[package], former[name])
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f"{PACKAGE}.{homes[name]}")
        return getattr(home, name, home)

    return get, lambda: sorted({*vars(sys.modules[package]), *homes})


def named_keywords(**former: str) -> Callable[[Function], Function]:
    """A decorator: former keywords are accepted with a DeprecationWarning, unknown ones refused with the nearest name.

    Parameters
    ----------
    **former : str
        From each keyword of 0.1 to its present name.

    Returns
    -------
    callable
        Decorates a function, which then raises a TypeError for an unknown keyword or for both spellings of one.
    """

    def decorate(function: Function) -> Function:
        known = inspect.signature(function).parameters
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            for old in [keyword for keyword in keywords if keyword not in known]:
                if old not in former:
                    raise TypeError(f"{name} has no parameter {old!r}. {suggestion(old, known)}")
                if former[old] in keywords:
                    raise TypeError(f"{name} got both {former[old]!r} and its former spelling {old!r}. Keep the first.")
                warn_renamed(f"the parameter {old!r} of {name}", repr(former[old]))
                keywords[former[old]] = keywords.pop(old)
            return function(*args, **keywords)

        return checked  # type: ignore[return-value]

    return decorate


def former_attribute(old: str, new: str) -> Any:
    """A property for an attribute of 0.1: the present one at the dotted path `new`, with a DeprecationWarning."""

    def get(owner: Any) -> Any:
        warn_renamed(f"{type(owner).__name__}.{old}", new)
        return functools.reduce(getattr, new.split("."), owner)

    return property(get, doc=f"The former name of `{new}`.")


def warn_renamed(old: str, new: str, stacklevel: int = 3) -> None:
    """Say once per line of the caller that a name of 0.1 has another spelling."""
    warnings.warn(f"{old} is now spelled {new}", DeprecationWarning, stacklevel=stacklevel)


class FormerModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of 0.1 where they are now; both names are of the same module object."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """The spec of a former module; None for any other."""
        package, _, name = fullname.partition(".")
        known = package == PACKAGE and name in FORMER_MODULES
        return importlib.util.spec_from_loader(fullname, self) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module under its present name."""
        module = import_module(f"{PACKAGE}.{FORMER_MODULES[spec.name.partition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run again; the import system has put the former name's spec on the module, which is undone."""
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def find_former_modules() -> None:
    """Let ``import aesara_nondecomp.rates`` and its like go on working."""
    if not any(isinstance(finder, FormerModules) for finder in sys.meta_path):
        sys.meta_path.append(FormerModules())
