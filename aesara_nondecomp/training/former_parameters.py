"""Translate the parameters that `fit` and `MeasureClassifier` had in 0.1 to the present ones."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp._names import Joined, named_keywords
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.foreign_parameters import OF_CLASSIFIER, OF_FIT, OF_METHOD_FIT
from aesara_nondecomp.training.recipes import with_preset


def _algorithm(algorithm: Any, preset: str | None) -> Any:
    return with_preset("auto" if algorithm is None else algorithm, preset or "default")


def _checkpoint(path: Any, checkpoint_every: int | None = None, resume: bool = False) -> Checkpoint | None:
    if path is None:
        if resume or checkpoint_every is not None:
            raise ValueError("resume and checkpoint_every need a `checkpoint`: the path of a file")
        return None
    return Checkpoint(path, 500 if checkpoint_every is None else checkpoint_every, resume)


def _early_stopping(validation: Any, evaluate_every: Any = None, patience: Any = None) -> EarlyStopping | None:
    if validation is None:
        if evaluate_every is not None or patience is not None:
            raise ValueError(
                "patience (and evaluate_every, now `every`) is a field of EarlyStopping: give "
                "validation=an.EarlyStopping(patience=3)"
            )
        return None
    return EarlyStopping(validation, evaluate_every, patience)


_PRESET, _KEPT, _STOPPED = (
    Joined("algorithm", _algorithm),
    Joined("checkpoint", _checkpoint),
    Joined("validation", _early_stopping),
)
SPELLINGS = {"optimiser": "optimizer", "standardise": "standardize"}

fit_parameters = named_keywords(
    joined={
        "preset": _PRESET,
        "checkpoint_every": _KEPT,
        "resume": _KEPT,
        "evaluate_every": _STOPPED,
        "patience": _STOPPED,
    },
    gone={
        "temperature": "it is a field of a recipe: algorithm=recipe_for(...)._replace(temperature=...)",
        "normalise": "it is a field of a recipe: algorithm=recipe_for(...)._replace(normalize=...)",
        "initial": "train on from a model: network=dataclasses.replace(model, parameters=...)",
        "feature_names": "give a data frame, whose columns have names",
    },
    elsewhere=OF_FIT,
    recipe="algorithm",
    functions="network",
    hidden="network",
    optimiser="optimizer",
    standardise="standardize",
)
classifier_parameters = named_keywords(
    joined={"preset": _PRESET}, elsewhere=OF_CLASSIFIER, optimiser="optimizer", standardise="standardize"
)
method_fit_parameters = named_keywords(elsewhere=OF_METHOD_FIT)
