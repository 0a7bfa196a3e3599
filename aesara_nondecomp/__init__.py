"""Train deep networks directly on measures that do not split over examples, in Aesara.

Reading order, which is the order of imports: `measures` (what to train for), `metrics` (counts, class rates,
quantification), `data` (labels, tables, mini-batches), `drivers` (DUPLE, DENIM, DAME and their relatives), `history`
(the record of a run), `ops` and `networks`, `step` (the one compiled step), `parallel`, `models`, `training` (`fit`,
the loop, the recipes), `estimators`, `cli`.

Names are loaded when first used, so that measures, metrics, data and drivers work without Aesara being imported.
"""

from aesara_nondecomp._aesara.setup import configure
from aesara_nondecomp._names import FORMER_MODULES, find_former_modules, lazy

__version__ = "0.1.0"

_HOMES = {
    "Checkpoint": "training",
    "EarlyStopping": "training",
    "MeasureClassifier": "estimators",
    "Model": "models",
    "Network": "networks",
    "Recipe": "training",
    "SoftVote": "models",
    "TrainFunctions": "step",
    "fit": "training.fit",
    "linear": "networks",
    "load_model": "models",
    "measure_scorer": "estimators",
    "mlp": "networks",
    "recipe_for": "training",
    "symbolic_measure": "step",
    "train": "training",
}
_MODULES = (
    "data", "drivers", "estimators", "history", "measures", "metrics", "models", "networks", "ops", "parallel", "step",
    "training",
)  # fmt: skip

__all__ = ["__version__", *_HOMES, *_MODULES]

configure()
find_former_modules()
__getattr__, __dir__ = lazy(
    __name__, {**{name: name for name in _MODULES}, **FORMER_MODULES, **_HOMES}, former={"Vote": "SoftVote"}
)
