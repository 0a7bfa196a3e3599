"""Train deep networks directly on measures that do not split over examples, in Aesara.

Reading order: `measures` (what to train for), `drivers` (DUPLE, DENIM, DAME and their relatives), `networks` and
`compiled` (the one compiled step), `training` (the one loop), `recipes` (defaults), `fitting` (arrays to model).

Names are loaded when first used, so that measures and drivers work without Aesara being imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from aesara_nondecomp._setup import configure

__version__ = "0.1.0"

_HOMES = {
    "MeasureClassifier": "estimators",
    "Model": "model",
    "Network": "networks",
    "Recipe": "recipes",
    "TrainFunctions": "compiled",
    "Vote": "voting",
    "fit": "fitting",
    "linear": "networks",
    "load_model": "model",
    "measure_scorer": "estimators",
    "mlp": "networks",
    "recipe_for": "recipes",
    "symbolic_measure": "symbolic",
    "train": "training",
}
_MODULES = (
    "compiled", "data", "drivers", "estimators", "fitting", "history", "intervals", "measures", "metrics", "model",
    "multiclass", "networks", "onnx_export", "ops", "optimisers", "protocols", "quantification", "rates", "recipes",
    "schedules", "symbolic", "tabular", "training", "voting",
)  # fmt: skip

__all__ = ["__version__", *_HOMES, *_MODULES]

configure()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
