"""What the commands do differently for models of two classes, of several, and of several labels."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp.models import Model


def commands_for(model: Any) -> Any:
    """The module with what the commands do with a model; those of several take long to load.

    Parameters
    ----------
    model : Model, ClassModel or MultilabelModel
        The model.

    Returns
    -------
    module
        Its functions are `training_confusion`, `training_report`, `prediction_columns`, `evaluation_report` and
        `comparison_report`, and of one label a row `prevalence_report`.
    """
    if isinstance(model, Model):
        from aesara_nondecomp.cli import binary_commands

        return binary_commands
    if hasattr(model, "labels"):
        from aesara_nondecomp.cli import label_commands

        return label_commands
    from aesara_nondecomp.cli import class_commands

    return class_commands
