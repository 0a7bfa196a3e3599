"""A trained model as an ONNX graph, for serving without this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose, one_of, require, shown, warn_caller
from aesara_nondecomp._files import replacing
from aesara_nondecomp.data.files import PathLike
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.models.network_model import NetworkModel
from aesara_nondecomp.networks.tabular import bin_values
from aesara_nondecomp.ops import ACTIVATIONS
from aesara_nondecomp.ops.periodic import FAR

OPSET = 13  # the oldest with all operators used here in their present form, so that old runtimes can read the file
IR_VERSION = 8
FARTHEST = 1e4  # deviations from 0 up to which float32 keeps the digits of a column: it is off by 0.0006 of them there

Node = tuple[str, list[str], str, dict[str, Any]]  # operator, inputs, output, options
Output = tuple[str, Any, list[Any]]  # name, dtype, shape
# Of a model, the name of its network's scores, and the nodes and constants of the graph, which grow.
AddOutputs = Callable[[Any, str, list[Node], dict[str, NDArray[Any]]], list[Output]]


def export_onnx(model: NetworkModel, path: PathLike, input_dtype: str | None = None) -> None:
    """Write a model as an ONNX file: scaling, clipping, the networks that vote, threshold or rule, and calibration.

    The graph's input "X", shape (n, d), takes features as they were given to `fit`; of a table the columns after
    encoding, which `Model.encoder.encode` makes and "feature_names" names. Its outputs are

    - "scores", shape (n,), as from `Model.decision_function`;
    - "positive", bool, shape (n,): whether the score exceeds the threshold;
    - "label", shape (n,), as from `Model.predict`: text, int64, double or bool, as the labels are;
    - "probabilities", double, shape (n, 2), as from `Model.predict_proba`, if the model is calibrated.

    The metadata hold "classes", "measure" and "feature_names" as text.

    Of several labels the outputs are of shape (n, L): "scores", as from `MultilabelModel.decision_function`, "labels",
    int64, as from `MultilabelModel.predict`, and of a calibrated model "probabilities", double. The metadata hold the
    names of the labels as "labels".

    Of several classes the outputs are "scores", float64, shape (n, K), as from `ClassModel.decision_function`, "label",
    shape (n,), and of a calibrated model "probabilities", float64, shape (n, K). Labels other than numbers and booleans
    are text there.

    Parameters
    ----------
    model : Model, ClassModel or MultilabelModel
        With a network made by `mlp`, `linear` or `tabular`.
    path : path-like
        The file to write; an existing one is replaced.
    input_dtype : {"float32", "float64"}, optional
        Of "X". "float64" keeps all digits of columns far from 0, such as timestamps and ids, as `predict` does.
        Default: the network's dtype.

    Raises
    ------
    ImportError
        If onnx is missing.
    ValueError
        If `model` is none of these, or has another network; or `input_dtype` is another.

    Warns
    -----
    UserWarning
        If "X" is float32 and columns are so far from 0 that it loses their digits, which can change labels.
    """
    if input_dtype is not None:
        one_of("input_dtype", input_dtype, ("float32", "float64"))
    try:
        import onnx
        from onnx import helper, numpy_helper
    except ImportError:
        raise ImportError("exporting needs onnx: pip install 'aesara-nondecomp[onnx]'") from None
    add_outputs = _what_adds_outputs(model)
    description = model.network_description
    if description.get("builder") not in ("mlp", "tabular"):
        got = description.get("builder", "a graph of your own")
        raise ValueError(f"only networks made by `mlp`, `linear` or `tabular` can be exported, got {got}")
    input_dtype = input_dtype or description["dtype"]
    if input_dtype == "float32":
        _warn_of_lost_digits(model)
    nodes, constants, output = _graph(model, description, input_dtype)
    outputs = add_outputs(model, output, nodes, constants)

    def tensor(name: str, dtype: Any, shape: list[Any]) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    graph = helper.make_graph(
        [helper.make_node(operator, inputs, [output], **options) for operator, inputs, output, options in nodes],
        "aesara_nondecomp",
        [tensor("X", input_dtype, ["n", description["n_features"]])],
        [tensor(*output) for output in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    told = {name: str(getattr(model, name)) for name in ("classes", "labels", "measure") if hasattr(model, name)}
    helper.set_model_props(proto, {**told, "feature_names": str(model.feature_names)})
    onnx.checker.check_model(proto)
    with replacing(path) as file:
        file.write(proto.SerializeToString())


def _what_adds_outputs(model: Any) -> AddOutputs:
    """The function that adds what a kind of model makes of the network's scores."""
    if isinstance(model, Model):
        return _add_outputs
    from aesara_nondecomp.models.class_model import ClassModel  # these take long to load
    from aesara_nondecomp.models.class_onnx import add_class_outputs
    from aesara_nondecomp.models.label_model import MultilabelModel
    from aesara_nondecomp.models.label_onnx import add_label_outputs

    kinds = isinstance(model, (ClassModel, MultilabelModel))
    require(kinds, "export_onnx needs a Model, a ClassModel or a MultilabelModel", model)
    return add_class_outputs if isinstance(model, ClassModel) else add_label_outputs


def _warn_of_lost_digits(model: NetworkModel) -> None:
    """Warn of columns that are so far from 0 that float32 loses what tells their rows apart."""
    standardiser, names = model.encoder.standardiser, model.feature_names
    if standardiser is None:  # the model itself reads them in float32
        return
    far = np.flatnonzero(np.abs(standardiser.mean_) > FARTHEST * standardiser.scale_).tolist()
    if far:
        columns = shown([names[k] for k in far]) if names else f"{shown(far)} (from 0)"
        warn_caller(
            "the ONNX graph may predict other labels than the model: its input is float32, which loses digits of "
            f'columns far from 0, here {columns}. Give input_dtype="float64", and the graph rows in float64.'
        )


def _graph(
    model: NetworkModel, description: Mapping[str, Any], input_dtype: str
) -> tuple[list[Node], dict[str, NDArray[Any]], str]:
    """The nodes in order, the constants by name, and the name of the mean score of the networks."""
    dtype = np.dtype(model.functions.network.dtype)
    nodes: list[Node] = []
    constants: dict[str, NDArray[Any]] = {}
    rows = "X"
    if model.encoder.standardiser:
        rows = _add_scaling(model, dtype, nodes, constants)
    elif input_dtype != dtype:
        rows = _add_cast(rows, "rows", dtype, nodes)
    outputs = [
        _add_network(f"network{k}.", rows, description, parameters, nodes, constants)
        for k, parameters in enumerate((model.parameters, *model.voters))
    ]
    output = outputs[0]
    if len(outputs) > 1:
        constants["networks"] = np.array(len(outputs), dtype=dtype)
        nodes += [("Sum", outputs, "total", {}), ("Div", ["total", "networks"], "mean_output", {})]
        output = "mean_output"
    return nodes, constants, output


def _add_outputs(model: Any, output: str, nodes: list[Node], constants: dict[str, NDArray[Any]]) -> list[Output]:
    """Add the nodes that follow on a network of two classes: threshold, label and probabilities."""
    dtype = np.dtype(model.functions.network.dtype)
    constants.update(column=np.array([1], dtype="int64"), threshold=np.array(model.threshold, dtype=dtype))
    nodes.append(("Squeeze", [output, "column"], "scores", {}))
    nodes.append(("Greater", ["scores", "threshold"], "positive", {}))
    constants["classes"] = plain_labels(model.classes)
    nodes += [("Cast", ["positive"], "index", {"to": 7}), ("Gather", ["classes", "index"], "label", {})]
    outputs: list[Output] = [
        ("scores", dtype, ["n"]), ("positive", np.bool_, ["n"]), ("label", constants["classes"].dtype, ["n"])
    ]  # fmt: skip
    if model.quantifier is not None:
        _add_probabilities(model.quantifier.calibration, nodes, constants)
        outputs.append(("probabilities", np.float64, ["n", 2]))
    return outputs


def plain_labels(classes: Any) -> NDArray[Any]:
    """Labels as a tensor can hold them.

    Parameters
    ----------
    classes : sequence
        All numbers, all booleans, or others, which become text.

    Returns
    -------
    array, shape (K,)
        Of int64, float64, bool, or of text as objects.
    """
    found = np.asarray(classes)
    if found.dtype.kind in "iu":
        return found.astype(np.int64)
    return found if found.dtype.kind in "bf" else np.array([_text(label) for label in classes], dtype=object)


def _text(label: Any) -> str:
    return label.decode(errors="replace") if isinstance(label, bytes) else str(label)


def add_posteriors(
    slope: Any, intercept: Any, output: str, nodes: list[Node], constants: dict[str, NDArray[Any]]
) -> None:
    """Add the probabilities of positives, in double precision as in `Calibration.posteriors`.

    Parameters
    ----------
    slope : float or array, shape (L,)
        Of the calibration, or of those of the labels.
    intercept : float or array, shape (L,)
        Likewise.
    output : str
        Name of the result.
    nodes : list of Node
        Of the graph, which has "scores" already; some are appended.
    constants : dict of str to array
        Of the graph, likewise.
    """
    values = {"slope": slope, "intercept": intercept, "half": 0.5, "whole": 1.0}
    constants.update({f"calibration.{name}": np.array(value, np.float64) for name, value in values.items()})
    nodes += [
        ("Cast", ["scores"], "scores_double", {"to": 11}),
        ("Mul", ["scores_double", "calibration.slope"], "sloped", {}),
        ("Add", ["sloped", "calibration.intercept"], "logits", {}),
        ("Mul", ["logits", "calibration.half"], "half_logits", {}),
        ("Tanh", ["half_logits"], "tanh", {}),
        ("Add", ["tanh", "calibration.whole"], "tanh_from_0", {}),
        ("Mul", ["tanh_from_0", "calibration.half"], output, {}),
    ]


def _add_probabilities(calibration: Calibration, nodes: list[Node], constants: dict[str, NDArray[Any]]) -> None:
    """Add the probabilities of both classes."""
    add_posteriors(calibration.slope, calibration.intercept, "of_positive", nodes, constants)
    nodes += [
        ("Sub", ["calibration.whole", "of_positive"], "of_negative", {}),
        ("Unsqueeze", ["of_negative", "column"], "negative_column", {}),
        ("Unsqueeze", ["of_positive", "column"], "positive_column", {}),
        ("Concat", ["negative_column", "positive_column"], "probabilities", {"axis": 1}),
    ]


def _add_network(
    prefix: str,
    rows: str,
    description: Mapping[str, Any],
    parameters: Sequence[NDArray[Any]],
    nodes: list[Node],
    constants: dict[str, NDArray[Any]],
) -> str:
    """Add one of the networks that vote, with names of its own; return the name of its output."""
    own_nodes: list[Node] = []
    own: dict[str, NDArray[Any]] = {}
    layer = rows
    if description["builder"] == "tabular":
        layer = _add_block(rows, description, parameters[:4], own_nodes, own)
        parameters = parameters[4:]
    operator, options = choose("activation", description["activation"], ACTIVATIONS).onnx
    if description.get("members", 1) > 1:
        layer = _add_members(layer, parameters, (operator, options), own_nodes, own)
        parameters = ()
    n_layers = len(parameters) // 2
    for k, (W, b) in enumerate(zip(parameters[::2], parameters[1::2])):
        own.update({f"W{k}": W, f"b{k}": b})
        own_nodes.append(("Gemm", [layer, f"W{k}", f"b{k}"], f"z{k}", {}))
        layer = f"z{k}"
        if k < n_layers - 1:
            own_nodes.append((operator, [layer], f"a{k}", options))
            layer = f"a{k}"

    def renamed(name: str) -> str:
        return name if name == rows else prefix + name

    constants.update({renamed(name): value for name, value in own.items()})
    nodes += [(kind, [*map(renamed, inputs)], renamed(output), more) for kind, inputs, output, more in own_nodes]
    return renamed(layer)


def _add_members(
    below: str,
    parameters: Sequence[NDArray[Any]],
    activation: tuple[str, dict[str, Any]],
    nodes: list[Node],
    constants: dict[str, NDArray[Any]],
) -> str:
    """Add the layers of members, side by side in a dimension of their own; return the name of their mean score."""
    factors, *layers = parameters
    *hidden, (W, b) = zip(layers[::2], layers[1::2])
    operator, options = activation
    constants.update(factors=factors, member=np.array([1]), unit=np.array([2]), head_W=W.T, head_b=b)
    nodes += [("Unsqueeze", [below, "member"], "shared", {}), ("Mul", ["shared", "factors"], "of_members", {})]
    layer = "of_members"
    for k, (W_k, b_k) in enumerate(hidden):
        constants.update({f"W{k}": W_k, f"b{k}": b_k})
        nodes += [
            ("MatMul", [layer, f"W{k}"], f"product{k}", {}),
            ("Add", [f"product{k}", f"b{k}"], f"z{k}", {}),
            (operator, [f"z{k}"], f"a{k}", options),
        ]
        layer = f"a{k}"
    nodes += [
        ("Mul", [layer, "head_W"], "own_units", {}),
        ("ReduceSum", ["own_units", "unit"], "sums", {"keepdims": 0}),
        ("Add", ["sums", "head_b"], "member_scores", {}),
        ("ReduceMean", ["member_scores"], "score", {"axes": [1], "keepdims": 1}),
    ]
    return "score"


def _add_scaling(
    model: NetworkModel, dtype: np.dtype[Any], nodes: list[Node], constants: dict[str, NDArray[Any]]
) -> str:
    """Add (X - mean) / scale, clipped, in double precision as in `Standardiser`; return the name of the result."""
    mean, scale, clip, _ = model.encoder.standardiser  # type: ignore[misc]
    constants.update(mean=mean, scale=scale, low=np.array(-clip), high=np.array(clip))
    nodes += [
        ("Cast", ["X"], "X_double", {"to": 11}),
        ("Sub", ["X_double", "mean"], "centred", {}),
        ("Div", ["centred", "scale"], "ratio", {}),
        ("Clip", ["ratio", "low", "high"], "clipped", {}),
    ]
    return _add_cast("clipped", "scaled", dtype, nodes)


def _add_cast(source: str, result: str, dtype: np.dtype[Any], nodes: list[Node]) -> str:
    """Add a conversion to the network's dtype; return the name of the result."""
    nodes.append(("Cast", [source], result, {"to": 1 if dtype == np.float32 else 11}))
    return result


def _add_block(
    rows: str,
    description: Mapping[str, Any],
    parameters: Sequence[NDArray[Any]],
    nodes: list[Node],
    constants: dict[str, NDArray[Any]],
) -> str:
    """Add what `ops.periodic` makes of the rows; return the name of the result."""
    W, c, V, b = parameters
    columns = np.array(description["numeric"], dtype="int64")
    parts = [rows]
    if len(columns):
        is_numeric = np.isin(np.arange(description["n_features"]), columns)
        values = {"far": FAR, "minus_far": -FAR, "third": 1 / 3, "one": 1, "turn": 2 * np.pi, "W": W, "V": V, "b": b}
        constants.update({name: np.asarray(value, dtype=W.dtype) for name, value in values.items()})
        constants.update(numeric=columns, is_numeric=is_numeric, phase=(c * (0.5 / np.pi)).astype(W.dtype))
        constants.update(frequency=np.array([2]), features=np.array([0, b.size]))
        nodes += [
            ("Clip", [rows, "minus_far", "far"], "within", {}),
            ("Mul", ["within", "third"], "thirds", {}),
            ("Mul", ["thirds", "thirds"], "square", {}),
            ("Add", ["square", "one"], "more", {}),
            ("Sqrt", ["more"], "root", {}),
            ("Div", ["within", "root"], "bounded", {}),
            ("Where", ["is_numeric", "bounded", rows], "own", {}),
            ("Gather", ["bounded", "numeric"], "chosen", {"axis": 1}),
            ("Unsqueeze", ["chosen", "frequency"], "chosen_column", {}),
            ("Mul", ["chosen_column", "W"], "moved", {}),
            ("Add", ["moved", "phase"], "turns", {}),
            ("Round", ["turns"], "whole", {}),
            ("Sub", ["turns", "whole"], "rest", {}),
            ("Mul", ["rest", "turn"], "angle", {}),
            ("Cos", ["angle"], "cosine", {}),
            ("Transpose", ["cosine"], "by_column", {"perm": [1, 0, 2]}),
            ("MatMul", ["by_column", "V"], "weighted", {}),
            ("Transpose", ["weighted"], "by_row", {"perm": [1, 0, 2]}),
            ("Add", ["by_row", "b"], "periodic", {}),
            ("Reshape", ["periodic", "features"], "flat", {}),
        ]
        parts = ["own", "flat"]
    if description["bins"]:
        names = ("bin_columns", "bin_low", "bin_rate")
        constants.update(zip(names, bin_values(description["bins"], description["dtype"])))
        constants.update(bin_first=np.zeros((), W.dtype), bin_last=np.ones((), W.dtype))
        nodes += [
            ("Gather", [rows, "bin_columns"], "binned", {"axis": 1}),
            ("Sub", ["binned", "bin_low"], "above_low", {}),
            ("Mul", ["above_low", "bin_rate"], "share", {}),
            ("Clip", ["share", "bin_first", "bin_last"], "bins", {}),
        ]
        parts.append("bins")
    nodes.append(("Concat", parts, "block", {"axis": 1}))
    return "block"
