"""Names loaded on first use, and names of release 0.1 that still work."""

from __future__ import annotations

import functools
import importlib.machinery
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Callable, NamedTuple, TypeVar

PACKAGE = "aesara_nondecomp"
Function = TypeVar("Function", bound=Callable[..., Any])

# Top-level modules of 0.1, which scripts and pickles import, and where they are now; without "aesara_nondecomp.".
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
    """Make the ``__getattr__`` and ``__dir__`` of a module whose names are loaded on first use.

    Parameters
    ----------
    package : str
        Dotted name of the module.
    homes : mapping of str to str
        For each name the module that defines it, or that it names; relative to this package.
    former : mapping of str to str, optional
        For each name of 0.1 the present one in the same module. Using one gives a DeprecationWarning.

    Returns
    -------
    getattr : callable
        The module's ``__getattr__``.
    dir : callable
        The module's ``__dir__``.
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


class Joined(NamedTuple):
    """What several keywords of 0.1 have become.

    Attributes
    ----------
    name : str
        The present keyword.
    make : callable
        Takes the value of the present keyword, if it was given too, and the former ones by name; returns its value.
    """

    name: str
    make: Callable[..., Any]


def named_keywords(
    *,
    joined: Mapping[str, Joined] | None = None,
    gone: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, str] | None = None,
    **renamed: str,
) -> Callable[[Function], Function]:
    """Make a decorator that accepts former keywords with a DeprecationWarning and suggests names for unknown ones.

    Parameters
    ----------
    joined : mapping of str to Joined, optional
        For former keywords of which several are one object now.
    gone : mapping of str to str, optional
        For former keywords that cannot be translated, what to use.
    elsewhere : mapping of str to str, optional
        For keywords of other libraries, what to use here.
    **renamed : str
        For each other keyword of 0.1 its present name.

    Returns
    -------
    callable
        The decorator. The decorated function raises a TypeError for an unknown keyword, and for two spellings of one.
    """
    joined, gone, elsewhere = dict(joined or {}), dict(gone or {}), dict(elsewhere or {})

    def decorate(function: Function) -> Function:
        import inspect  # slow, and the command line starts with this module

        known = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
        name = function.__qualname__.removesuffix(".__init__")

        def check(old: str) -> None:
            if old in gone:
                raise TypeError(f"{name} has no parameter {old!r} any more: {gone[old]}")
            if old in renamed or old in joined:
                return
            if old in elsewhere:
                raise TypeError(f"{name} has no parameter {old!r}: {elsewhere[old]}")
            from aesara_nondecomp._checks import suggestion  # imports NumPy, and this module comes first

            raise TypeError(f"{name} has no parameter {old!r}. {suggestion(old, known)}")

        def translate(keywords: dict[str, Any], former: Sequence[str]) -> dict[str, Any]:
            present = {key: value for key, value in keywords.items() if key not in former}
            for old in former:
                new = renamed.get(old) or joined[old].name
                if old in renamed and new in present:
                    raise TypeError(f"{name} got both {new!r} and its former spelling {old!r}. Keep the first.")
                warn_renamed(f"the parameter {old!r} of {name}", repr(new), stacklevel=4)
                if old in renamed:
                    present[new] = keywords[old]
            for new, make in {joined[old] for old in former if old in joined}:
                values = {old: keywords[old] for old in former if old in joined and joined[old].name == new}
                present[new] = make(present.get(new), **values)
            return present

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            former = [keyword for keyword in keywords if keyword not in known]
            for old in former:
                check(old)
            return function(*args, **(translate(keywords, former) if former else keywords))

        return checked  # type: ignore[return-value]

    return decorate


def former_attribute(old: str, new: str) -> Any:
    """A property for an attribute of 0.1: the present one at the dotted path `new`, with a DeprecationWarning."""

    def get(owner: Any) -> Any:
        warn_renamed(f"{type(owner).__name__}.{old}", new)
        return functools.reduce(getattr, new.split("."), owner)

    return property(get, doc=f"The former name of `{new}`.")


def warn_renamed(old: str, new: str, stacklevel: int = 3) -> None:
    """Issue a DeprecationWarning, at the caller's line, that a name of 0.1 has another spelling."""
    warnings.warn(f"{old} is now spelled {new}", DeprecationWarning, stacklevel=stacklevel)


class FormerModules:
    """Import modules of 0.1 from where they are now; both names refer to the same module object."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a former module, or None for any other name."""
        package, _, name = fullname.partition(".")
        known = package == PACKAGE and name in FORMER_MODULES
        return importlib.machinery.ModuleSpec(fullname, self) if known else None  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module under its present name."""
        module = import_module(f"{PACKAGE}.{FORMER_MODULES[spec.name.partition('.')[2]]}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put back the module's own spec, which the import system has replaced; nothing is executed again."""
        spec = module.__spec__
        assert spec is not None
        module.__spec__ = spec.loader_state


def find_former_modules() -> None:
    """Keep ``import aesara_nondecomp.rates`` and the like working."""
    if not any(isinstance(finder, FormerModules) for finder in sys.meta_path):
        sys.meta_path.append(FormerModules())
