"""The parameters that `fit` had in 0.1, in terms of those it has now; each use is warned of."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from aesara_nondecomp._checks import suggestion
from aesara_nondecomp._names import warn_renamed
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.recipes import with_preset

Function = TypeVar("Function", bound=Callable[..., Any])

RENAMED = {
    "optimiser": "optimizer",
    "standardise": "standardize",
    "recipe": "algorithm",
    "functions": "network",
    "hidden": "network",
}
# Several former parameters that became one object: the present name, and what makes it of the former values.
JOINED: dict[str, tuple[str, Callable[..., Any]]] = {
    "preset": ("algorithm", lambda algorithm="auto", preset="default": with_preset(algorithm or "auto", preset)),
    "checkpoint_every": ("checkpoint", lambda checkpoint, **options: _checkpoint(checkpoint, **options)),
    "resume": ("checkpoint", lambda checkpoint, **options: _checkpoint(checkpoint, **options)),
    "evaluate_every": ("validation", lambda validation, **options: _early_stopping(validation, **options)),
    "patience": ("validation", lambda validation, **options: _early_stopping(validation, **options)),
}
GONE = {
    "temperature": "it is a field of a recipe: algorithm=recipe_for(...)._replace(temperature=...)",
    "normalise": "it is a field of a recipe: algorithm=recipe_for(...)._replace(normalize=...)",
    "initial": "train on from a model: network=dataclasses.replace(model, parameters=...)",
    "feature_names": "give a data frame, whose columns have names",
}


def translate_former_parameters(function: Function) -> Function:
    """A decorator: keywords of 0.1 are accepted with a DeprecationWarning, unknown ones refused with the nearest."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def translated(*args: Any, **keywords: Any) -> Any:
        former = [name for name in keywords if name not in known]
        for name in former:
            if name in GONE:
                raise TypeError(f"fit has no parameter {name!r} any more: {GONE[name]}")
            if name not in RENAMED and name not in JOINED:
                raise TypeError(f"fit has no parameter {name!r}. {suggestion(name, known)}")
        return function(*args, **(_translated(keywords, former) if former else keywords))

    return translated  # type: ignore[return-value]


def _translated(keywords: dict[str, Any], former: list[str]) -> dict[str, Any]:
    present = {name: value for name, value in keywords.items() if name not in former}
    given = {name: keywords[name] for name in former if keywords[name] is not None}
    for name, value in given.items():
        new = RENAMED.get(name) or JOINED[name][0]
        warn_renamed(f"the parameter {name!r} of fit", repr(new), stacklevel=4)
        if name in RENAMED:
            if present.get(new) is not None:
                raise TypeError(f"fit got both {new!r} and its former spelling {name!r}. Keep the first.")
            present[new] = value
    for new in dict.fromkeys(JOINED[name][0] for name in given if name in JOINED):
        options = {name: value for name, value in given.items() if name in JOINED and JOINED[name][0] == new}
        make = JOINED[next(iter(options))][1]
        present[new] = make(present.get(new), **options)
    return present


def _checkpoint(path: Any, checkpoint_every: int | None = None, resume: bool = False) -> Checkpoint | None:
    if path is None:
        if resume:
            raise ValueError("resume needs a checkpoint to go on from: give its path as `checkpoint`")
        return None
    return Checkpoint(path, 500 if checkpoint_every is None else checkpoint_every, resume)


def _early_stopping(validation: Any, evaluate_every: int | None = None, patience: int | None = None) -> EarlyStopping:
    if validation is None:
        raise ValueError("evaluate_every and patience need `validation`: a share of the rows or (X, y)")
    return EarlyStopping(validation, evaluate_every, patience)
