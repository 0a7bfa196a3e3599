"""From arrays to a trained model.

Reading order: `fit` (the entry point), `param_checks` (its parameters), `training_data` (its rows), `recipes` (driver
and options for each measure), `loop` (the training loop), `run` (the phases of a recipe), `trainer` (a run to
completion), `early_stopping`, `checkpoints`, `schedules`, `progress`.
"""

from aesara_nondecomp._names import lazy

_HOMES = {
    "Checkpoint": "training.checkpoints",
    "EarlyStopping": "training.early_stopping",
    "Phase": "training.recipes",
    "Problem": "training.recipes",
    "Recipe": "training.recipes",
    "Step": "history",
    "recipe_for": "training.recipes",
    "train": "training.loop",
}
__all__ = list(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
