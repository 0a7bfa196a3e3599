"""Train deep networks directly on non-decomposable measures, such as F1, min(TPR, TNR) or KLD, with Aesara.

`fit` trains a `Model` on arrays or texts; `MeasureClassifier` does the same for scikit-learn::

    import aesara_nondecomp as an

    model = an.fit(X, y, measure="f1")
    labels = model.predict(X_new)

Reading order, in which each folder imports only from those before it: `measures` (what to train for), `metrics`
(confusion matrices, class rates, prevalence), `data` (labels, files, mini-batches), `drivers` (DUPLE, DENIM, DAME and
the baselines), `history` (records of a run), `ops` and `networks` (symbolic graphs), `step` (the compiled training
step), `parallel` (MPI), `reports` (web pages), `models` (trained models), `training` (`fit`, recipes, the training
loop), `estimators` (scikit-learn), `cli` (the command line).

Names are loaded on first use, so that `measures`, `metrics`, `data`, `drivers`, `history` and `reports` work without
importing Aesara.
"""

from typing import TYPE_CHECKING

from aesara_nondecomp._aesara.import_hook import install
from aesara_nondecomp._aesara.setup import configure
from aesara_nondecomp._names import FORMER_MODULES, find_former_modules, lazy

__version__ = "0.1.0"  # read by setup.py

if TYPE_CHECKING:  # what `_HOMES` and `_MODULES` say, for type checkers and editors
    from aesara_nondecomp import data as data
    from aesara_nondecomp import drivers as drivers
    from aesara_nondecomp import estimators as estimators
    from aesara_nondecomp import history as history
    from aesara_nondecomp import measures as measures
    from aesara_nondecomp import metrics as metrics
    from aesara_nondecomp import models as models
    from aesara_nondecomp import networks as networks
    from aesara_nondecomp import ops as ops
    from aesara_nondecomp import parallel as parallel
    from aesara_nondecomp import step as step
    from aesara_nondecomp import training as training
    from aesara_nondecomp.estimators import MeasureClassifier as MeasureClassifier
    from aesara_nondecomp.estimators import measure_scorer as measure_scorer
    from aesara_nondecomp.measures import at_least as at_least
    from aesara_nondecomp.measures import at_most as at_most
    from aesara_nondecomp.measures import gap as gap
    from aesara_nondecomp.measures import share as share
    from aesara_nondecomp.models import Model as Model
    from aesara_nondecomp.models import SoftVote as SoftVote
    from aesara_nondecomp.models import load_model as load_model
    from aesara_nondecomp.networks import Network as Network
    from aesara_nondecomp.networks import linear as linear
    from aesara_nondecomp.networks import mlp as mlp
    from aesara_nondecomp.step import TrainFunctions as TrainFunctions
    from aesara_nondecomp.step.symbolic_measure import symbolic_measure as symbolic_measure
    from aesara_nondecomp.training import Checkpoint as Checkpoint
    from aesara_nondecomp.training import EarlyStopping as EarlyStopping
    from aesara_nondecomp.training import Recipe as Recipe
    from aesara_nondecomp.training import recipe_for as recipe_for
    from aesara_nondecomp.training import train as train
    from aesara_nondecomp.training.fit import fit as fit

_HOMES = {
    "Checkpoint": "training",
    "EarlyStopping": "training",
    "MeasureClassifier": "estimators",
    "Model": "models",
    "Network": "networks",
    "Recipe": "training",
    "SoftVote": "models",
    "TrainFunctions": "step",
    "at_least": "measures",
    "at_most": "measures",
    "fit": "training.fit",
    "gap": "measures",
    "linear": "networks",
    "load_model": "models",
    "measure_scorer": "estimators",
    "mlp": "networks",
    "recipe_for": "training",
    "share": "measures",
    "symbolic_measure": "step",
    "train": "training",
}
_MODULES = (
    "data", "drivers", "estimators", "history", "measures", "metrics", "models", "networks", "ops", "parallel", "step",
    "training",
)  # fmt: skip

__all__ = ["__version__", *_HOMES, *_MODULES]

configure()
install()
find_former_modules()
__getattr__, __dir__ = lazy(
    __name__, {**{name: name for name in _MODULES}, **FORMER_MODULES, **_HOMES}, former={"Vote": "SoftVote"}
)
