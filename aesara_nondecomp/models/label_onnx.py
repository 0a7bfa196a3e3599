"""ONNX output nodes for several labels: labels by their thresholds, and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.models.onnx import Node, Output, add_posteriors

DOUBLE, INT64 = 11, 7  # of onnx.TensorProto


def add_label_outputs(model: Any, output: str, nodes: list[Node], constants: dict[str, NDArray[Any]]) -> list[Output]:
    """Add the nodes that follow on a network of several labels.

    Parameters
    ----------
    model : MultilabelModel
        The model.
    output : str
        Name of its network's scores, shape (n, L), in the graph.
    nodes : list of Node
        Of the graph; some are appended.
    constants : dict of str to array
        Of the graph, likewise.

    Returns
    -------
    list of Output
        "scores", as from `MultilabelModel.decision_function`, "labels", and if the model is calibrated "probabilities".
    """
    shape = ["n", len(model.labels)]
    constants["thresholds"] = np.asarray(model.thresholds, np.float64)
    nodes += [
        ("Identity", [output], "scores", {}),
        ("Cast", ["scores"], "exact_scores", {"to": DOUBLE}),  # as NumPy compares them with thresholds in float64
        ("Greater", ["exact_scores", "thresholds"], "positive", {}),
        ("Cast", ["positive"], "labels", {"to": INT64}),
    ]
    outputs: list[Output] = [("scores", model.functions.network.dtype, shape), ("labels", np.int64, shape)]
    if model.calibrations:
        slopes, intercepts = np.transpose(model.calibrations)
        add_posteriors(slopes, intercepts, "probabilities", nodes, constants)
        outputs.append(("probabilities", np.float64, shape))
    return outputs
