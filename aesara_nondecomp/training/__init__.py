"""From arrays to a trained model.

Reading order: `fit` (the entry point), `fit_binary` (for two classes), `parameters` (the table of its parameters),
`param_checks` (these beside each other), `row_labels` (labels and cells of rows), `folds` (which rows are held out),
`row_split` (both together), `repeated_rows` (copies among them), `table_network` (the network of a table),
`training_data` (its rows), `network_inputs` (rows as a network takes them), `network_probe` (one of one's own, tried),
`streamed_rows` (those on a disk), `recipes` (driver and options for each measure), `run_settings`, `schedules`, `loop`
(the training loop), `divergence` (weights that are not finite), `run` (the phases of a recipe), `early_stopping`,
`validation_monitor`, `cross_fitting` (one network, or one for each fold), `fold_processes` and `fold_child` (folds in
parallel), `trainer` (all networks to completion), `vote_scores` and `held_out` (threshold and calibration),
`fingerprint` (what determines a run), `checkpoints`, `agreement` (of processes), `progress`, `former_parameters` and
`foreign_parameters` (names of 0.1.0 and of other libraries). For labels of several classes: `class_labels`,
`fit_classes`, `class_recipes`, `class_step`, `class_held_out`. For a matrix of labels: `fit_labels`, `label_folds`,
`label_recipes`, `label_held_out`. For groups and constraints: `groups`.
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
