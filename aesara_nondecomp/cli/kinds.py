"""What the commands do differently for models of two classes and of several."""

from __future__ import annotations

from typing import Any

from aesara_nondecomp.models import Model


def commands_for(model: Any) -> Any:
    """The module with what the commands do with a model; that of several classes takes long to load.

    Parameters
    ----------
    model : Model or ClassModel
        The model.

    Returns
    -------
    module
        Its functions are `trained`, `prediction_columns`, `evaluated`, `quantified` and `compared`.
    """
    if isinstance(model, Model):
        from aesara_nondecomp.cli import binary_commands

        return binary_commands
    from aesara_nondecomp.cli import class_commands

    return class_commands
