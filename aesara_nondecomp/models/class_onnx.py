"""ONNX output nodes for several classes: decision rule, labels, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.metrics.class_scores import is_diagonal, offsets_of
from aesara_nondecomp.models.onnx import Node, Output, plain_labels

DOUBLE = 11  # onnx.TensorProto.DOUBLE


def add_class_outputs(model: Any, output: str, nodes: list[Node], constants: dict[str, NDArray[Any]]) -> list[Output]:
    """Add the nodes that follow on a network of several classes.

    Parameters
    ----------
    model : ClassModel
        The model.
    output : str
        Name of its network's scores, shape (n, K), in the graph.
    nodes : list of Node
        Of the graph; some are appended.
    constants : dict of str to array
        Of the graph, likewise.

    Returns
    -------
    list of Output
        "scores", as from `ClassModel.decision_function`, "label", and if the model is calibrated "probabilities".
    """
    n_classes = len(model.classes)
    nodes.append(("Cast", [output], "raw_scores", {"to": DOUBLE}))
    _add_rule(model, nodes, constants)
    labels = plain_labels(model.classes)
    constants["classes"] = labels
    nodes += [
        ("ArgMax", ["scores"], "predicted", {"axis": 1, "keepdims": 0}),
        ("Gather", ["classes", "predicted"], "label", {"axis": 0}),
    ]
    outputs: list[Output] = [("scores", np.float64, ["n", n_classes]), ("label", labels.dtype, ["n"])]
    if model.calibration is not None:
        constants.update(slope=np.array(float(model.calibration.slope)), class_offsets=model.calibration.offsets)
        nodes += [
            ("Mul", ["raw_scores", "slope"], "sloped", {}),
            ("Add", ["sloped", "class_offsets"], "logits", {}),
            ("Softmax", ["logits"], "probabilities", {"axis": 1}),
        ]
        outputs.append(("probabilities", np.float64, ["n", n_classes]))
    return outputs


def _add_rule(model: Any, nodes: list[Node], constants: dict[str, NDArray[Any]]) -> None:
    """Add the scores whose largest one is predicted; see `class_scores.decision_scores`."""
    if model.rule is None:
        nodes.append(("Identity", ["raw_scores"], "scores", {}))
    elif is_diagonal(model.rule):
        constants["rule_offsets"] = offsets_of(model.rule)
        nodes.append(("Add", ["raw_scores", "rule_offsets"], "scores", {}))
    else:
        constants["rule"] = np.asarray(model.rule, np.float64)
        nodes += [
            ("Softmax", ["raw_scores"], "raw_probabilities", {"axis": 1}),
            ("MatMul", ["raw_probabilities", "rule"], "scores", {}),
        ]
