"""Trained models: predictions, files, ONNX export and soft voting.

Reading order: `network_model` (the scores), `model` (predict, save), `by_group` (groups and constraints), `class_model`
(of several classes; with `class_calibration` and `class_by_group`), `label_model` (of several labels), `archive` (the
file format), `model_file` (models from files), `model_checks` (what these must hold), `ensemble` (several classifiers
as one), `attention` (where a network looks), `onnx`, `class_onnx` and `label_onnx`.
"""

from typing import TYPE_CHECKING

from aesara_nondecomp._names import lazy
from aesara_nondecomp.models.attention import attention, plot_attention
from aesara_nondecomp.models.ensemble import SoftVote
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.models.model_file import load_model
from aesara_nondecomp.models.onnx import export_onnx

if TYPE_CHECKING:
    from aesara_nondecomp.models.class_model import ClassModel as ClassModel
    from aesara_nondecomp.models.label_model import MultilabelModel as MultilabelModel

__all__ = [
    "ClassModel",
    "Model",
    "MultilabelModel",
    "SoftVote",
    "attention",
    "export_onnx",
    "load_model",
    "plot_attention",
]

__getattr__, __dir__ = lazy(__name__, {"ClassModel": "models.class_model", "MultilabelModel": "models.label_model"})
