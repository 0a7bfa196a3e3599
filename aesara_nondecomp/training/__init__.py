"""From arrays to a trained model.

Reading order: `fit` (the entry point), `parameters` (the table of its parameters), `param_checks` (these beside each
other), `folds` (which rows are held out), `row_labels` (their labels and cells), `table_network` (the network of a
table), `training_data` (its rows), `recipes` (driver and options for each measure), `loop` (the training loop), `run`
(the phases of a recipe), `early_stopping`, `validation_monitor`, `cross_fitting` (one network, or one for each fold),
`trainer` (all of them to completion), `checkpoints`, `run_settings`, `schedules`, `progress`, `former_parameters`. For
labels of several classes: `fit_classes`, `class_recipes`, `class_step`, `class_held_out`. For a matrix of labels:
`fit_labels`, `label_folds`, `label_recipes`, `label_held_out`. For groups and constraints: `groups`.
"""

from typing import TYPE_CHECKING

from aesara_nondecomp._names import lazy

if TYPE_CHECKING:  # what `_HOMES` says, for type checkers and editors
    from aesara_nondecomp.history import Step as Step
    from aesara_nondecomp.training.checkpoints import Checkpoint as Checkpoint
    from aesara_nondecomp.training.early_stopping import EarlyStopping as EarlyStopping
    from aesara_nondecomp.training.loop import train as train
    from aesara_nondecomp.training.recipes import Phase as Phase
    from aesara_nondecomp.training.recipes import Problem as Problem
    from aesara_nondecomp.training.recipes import Recipe as Recipe
    from aesara_nondecomp.training.recipes import recipe_for as recipe_for

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
