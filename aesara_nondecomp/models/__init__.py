"""Trained models: predictions, files, ONNX export and soft voting.

Reading order: `network_model` (the scores), `model` (predict, save, load), `by_group` (groups and constraints),
`class_model` (of several classes), `archive` (the file format), `ensemble` (several classifiers as one), `onnx`.
"""

from aesara_nondecomp.models.class_model import ClassModel
from aesara_nondecomp.models.ensemble import SoftVote
from aesara_nondecomp.models.model import Model, load_model
from aesara_nondecomp.models.onnx import export_onnx

__all__ = ["ClassModel", "Model", "SoftVote", "export_onnx", "load_model"]
