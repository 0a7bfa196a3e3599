"""What a model must hold that is saved, or read from a file: its checksum may fit although it was made by hand."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import networks
from aesara_nondecomp._checks import number, positive_int, require, shown
from aesara_nondecomp.data import InputEncoder, Standardiser, TableEncoder
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.networks import Network

if TYPE_CHECKING:
    from aesara_nondecomp.metrics.class_quantification import ClassQuantifier
    from aesara_nondecomp.metrics.class_scores import ClassCalibration
    from aesara_nondecomp.models.class_model import ClassModel
    from aesara_nondecomp.models.label_model import MultilabelModel
    from aesara_nondecomp.models.model import Model
    from aesara_nondecomp.models.network_model import NetworkModel

ROUNDING = 1e-9  # of a mean of numbers in [0, 1]
LABEL_KINDS: tuple[Any, ...] = ((bool, int, float), str, bytes, datetime.date)  # times are dates too


class StoredNetworks(NamedTuple):
    """The networks of a model file.

    Attributes
    ----------
    network : Network
        Which all of them are.
    parameters : list of array
        Weights of the first one.
    voters : list of list of array
        Weights of those that vote with it.
    """

    network: Network
    parameters: list[NDArray[Any]]
    voters: list[list[NDArray[Any]]]


def stored_networks(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], dtype: str | None) -> StoredNetworks:
    """Build the network of a model file, and read the weights.

    Their shapes are compared before the network is built, as a description may say that it takes any amount of memory.

    Parameters
    ----------
    header : mapping
        Of the file.
    arrays : mapping of str to array
        Of the file.
    dtype : {"float32", "float64"} or None
        Dtype of the network; None for that of the file.

    Returns
    -------
    StoredNetworks
        With infinite weights where another dtype cannot hold those of the file: the checks of a model refuse them.

    Raises
    ------
    ValueError
        If arrays are missing, or are not floats of these shapes.
    """
    voters = header.get("voters", 0)  # files before version 3 hold one network
    require(type(voters) is int and 0 <= voters < max(1, len(arrays)), "voters must be as many as are stored", voters)
    shapes = networks.parameter_shapes(header["network"])
    stored = [
        [_weight(arrays, f"{name}.{k}", shape) for k, shape in enumerate(shapes)] for name in network_names(voters)
    ]
    network = networks.build(header["network"], dtype=dtype)
    with np.errstate(over="ignore"):
        first, *others = ([value.astype(network.dtype) for value in values] for values in stored)
    return StoredNetworks(network, first, others)


def network_names(voters: int) -> list[str]:
    """The beginnings of the names of arrays in a model file.

    Parameters
    ----------
    voters : int
        Number of networks beside the first one.

    Returns
    -------
    list of str
    """
    return ["parameters", *(f"voter{k}" for k in range(voters))]


def _weight(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    require(name in arrays, f"the array {name!r} is needed", ", ".join(arrays))
    value = arrays[name]
    fits = value.shape == shape and value.dtype.kind == "f"
    require(fits, f"{name!r} must be floats of shape {shape}", f"{value.dtype} of shape {value.shape}")
    return value


def check_weights(model: NetworkModel) -> None:
    """Check that all weights are finite.

    Parameters
    ----------
    model : NetworkModel
        To be saved, or from a file.

    Raises
    ------
    ValueError
        If one is not.
    """
    for parameters in (model.parameters, *model.voters):
        for k, value in enumerate(parameters):
            wrong = int(np.sum(~np.isfinite(value)))
            require(not wrong, f"the weights of a model must be finite numbers, also as {value.dtype}", f"{wrong} of "
                    f"{np.size(value)} in array {k} that are not")  # fmt: skip


def check_model(model: Model) -> None:
    """Check the fields of a model before it is saved, or used from a file.

    Parameters
    ----------
    model : Model
        Built from the file.

    Raises
    ------
    ValueError
        If a field is none of a model, or does not fit its network.
    """
    check_weights(model)
    _check_share("prior", model.prior)
    require(0 < model.prior < 1, "prior must lie strictly between 0 and 1", model.prior)
    _check_classes(model.classes)
    _check_threshold(model.threshold)
    step = model.best_step
    require(step is None or type(step) is int and step >= 0, "best_step must be a whole number or None", step)
    require(isinstance(model.collapsed, bool), "collapsed must be True or False", model.collapsed)
    _check_extra(model.extra)
    if model.quantifier is not None:
        _check_quantifier(model.quantifier)
    _check_encoder(model.encoder, model.functions.network)


def check_class_model(model: ClassModel) -> None:
    """Check the fields of a model of several classes before it is saved, or used from a file.

    Parameters
    ----------
    model : ClassModel
        Built from the file.

    Raises
    ------
    ValueError
        If a field is none of a model, or does not fit its network.
    """
    check_weights(model)
    n_classes, classes = len(model.priors), model.classes
    usable = len(classes) == n_classes >= 2 and _of_one_kind(classes)
    usable = usable and all(a < b for a, b in zip(classes, classes[1:]))
    require(usable, f"classes must be {n_classes} sorted labels, all of one kind", classes)
    outputs = np.shape(model.parameters[-1])[-1]
    require(outputs == n_classes, f"a network of {n_classes} scores is needed", outputs)
    priors = model.priors
    shares = priors.shape == (n_classes,) and bool((priors > 0).all() and abs(priors.sum() - 1) < ROUNDING)
    require(shares, "priors must be above 0 and sum to 1", priors)
    if model.rule is not None:
        rule = model.rule.shape == (n_classes, n_classes) and bool(np.isfinite(model.rule).all())
        require(rule, "a rule must be a finite matrix, a row and a column for each class", model.rule)
    _check_class_calibration(model.calibration, n_classes)
    together = (model.quantifier is None) == (model.calibration is None)
    require(together, "a calibration and a quantifier go together", model.quantifier)
    if model.quantifier is not None:
        _check_class_quantifier(model.quantifier, n_classes)
        _check_class_calibration(model.quantifier.calibration, n_classes)
        networks = model.quantifier.networks
        require(type(networks) is int and networks >= 1, "networks must be a whole number of at least 1", networks)
    step = model.best_step
    require(step is None or type(step) is int and step >= 0, "best_step must be a whole number or None", step)
    _check_extra(model.extra)
    _check_encoder(model.encoder, model.functions.network)


def check_label_model(model: MultilabelModel) -> None:
    """Check the fields of a model of several labels before it is saved, or used from a file.

    Parameters
    ----------
    model : MultilabelModel
        Built from the file.

    Raises
    ------
    ValueError
        If a field is none of a model, or does not fit its network.
    """
    check_weights(model)
    n_labels, labels = len(model.priors), model.labels
    usable = all(isinstance(label, (str, int)) for label in labels)
    require(usable and len(labels) == n_labels, f"labels must be {n_labels} texts or whole numbers", labels)
    outputs = np.shape(model.parameters[-1])[-1]
    require(outputs == n_labels, f"a network of {n_labels} scores is needed", outputs)
    require(bool(((model.priors > 0) & (model.priors < 1)).all()), "priors must lie between 0 and 1", model.priors)
    thresholds = model.thresholds.shape == (n_labels,) and not np.isnan(model.thresholds).any()
    require(thresholds, "thresholds must be numbers, one for each label", model.thresholds)
    calibrations = model.calibrations
    require(len(calibrations) in (0, n_labels), "there must be a calibration for each label", len(calibrations))
    for own in calibrations:
        _check_calibration(own)
    _check_extra(model.extra)
    step = model.best_step
    require(step is None or type(step) is int and step >= 0, "best_step must be a whole number or None", step)
    _check_encoder(model.encoder, model.functions.network)


def _check_extra(extra: Any) -> None:
    needed = "extra must be a dict with text as keys, of what JSON can hold"
    require(isinstance(extra, dict) and all(isinstance(key, str) for key in extra), needed, extra)
    try:
        json.dumps(extra)
    except (TypeError, ValueError):
        raise ValueError(f"{needed}, got {shown(extra)}") from None


def _check_share(name: str, value: Any) -> None:
    inside = -ROUNDING <= number(name, value) <= 1 + ROUNDING
    require(inside, f"{name} must be a number in [0, 1]", value)


def _check_threshold(value: Any) -> None:
    require(not math.isnan(number("threshold", value)), "threshold must be a number", value)


def _check_classes(classes: Sequence[Any]) -> None:
    require(len(classes) == 2 and _of_one_kind(classes), "classes must be two labels, both of one kind", classes)
    negative, positive = classes
    differ = negative != positive and negative == negative and positive == positive
    require(differ, "classes must be two different labels", classes)


def _of_one_kind(classes: Sequence[Any]) -> bool:
    """Whether labels are all numbers, or all text, bytes, dates or times."""
    plain = [label.item() if isinstance(label, np.generic) else label for label in classes]
    return any(all(isinstance(label, kind) for label in plain) for kind in LABEL_KINDS)


def _check_quantifier(quantifier: Quantifier) -> None:
    _check_threshold(quantifier.threshold)
    for name in ("prior", "tpr", "fpr", "soft_tpr", "soft_fpr"):
        _check_share(name, getattr(quantifier, name))
    _check_calibration(quantifier.calibration)
    if quantifier.of_networks is not None:
        _check_quantifier(quantifier.of_networks)


def _check_calibration(calibration: Sequence[float]) -> None:
    slope, intercept = (number("calibration", value) for value in calibration)
    usable = 0 <= slope < math.inf and math.isfinite(intercept)
    require(usable, "calibration must be finite, with a slope of at least 0", calibration)


def _check_class_calibration(calibration: ClassCalibration | None, n_classes: int) -> None:
    if calibration is not None:
        slope, offsets = number("slope", calibration.slope), calibration.offsets
        finite = offsets.shape == (n_classes,) and bool(np.isfinite(offsets).all()) and 0 < slope < math.inf
        require(finite, "a calibration must be finite, with a slope above 0 and an offset for each class", offsets)


def _check_class_quantifier(quantifier: ClassQuantifier, n_classes: int) -> None:
    priors, *rates = np.atleast_2d(quantifier.priors), quantifier.rates, quantifier.soft_rates
    require(bool((priors > 0).all()), "priors of a quantifier must be above 0", priors)
    for table, rows in zip((priors, *rates), (1, n_classes, n_classes)):
        shaped = table.shape == (rows, n_classes)
        usable = shaped and bool((table >= 0).all() and (np.abs(table.sum(axis=1) - 1) < ROUNDING).all())
        require(usable, f"priors and rates of a quantifier must be shares of {n_classes} classes with the sum 1", table)


def _check_encoder(encoder: InputEncoder, network: Network) -> None:
    if encoder.table is not None:
        _check_table(encoder.table)
    if encoder.standardiser is not None:
        _check_standardiser(encoder.standardiser)
    if encoder.names is not None:
        require(all(isinstance(name, str) for name in encoder.names), "names must be text", encoder.names)
    if encoder.vocabulary is not None:
        _check_texts("words", encoder.vocabulary.words)
        positive_int("max_tokens", encoder.vocabulary.max_tokens)
        n_words = network.n_words if network.takes_tokens else 0
        require(len(encoder.vocabulary) <= n_words, f"the network has {n_words} words", len(encoder.vocabulary))
    parts = {"table": encoder.table and encoder.table.feature_names, "standardiser": encoder.standardiser and
             encoder.standardiser.mean_}  # fmt: skip
    for name, columns in parts.items():
        if columns is not None and network.n_columns is not None:
            needed = f"the {name} must have the {network.n_columns} columns of the network"
            require(len(columns) == network.n_columns, needed, len(columns))


def _check_table(table: TableEncoder) -> None:
    _check_texts("columns", (*table.numeric, *table.categorical))
    counts = len(table.medians) == len(table.numeric) and len(table.categories) == len(table.categorical)
    require(counts, "each column of a table must have its median or its categories", len(table.medians))
    require(bool(np.isfinite(table.medians).all()), "medians must be finite numbers", table.medians)
    for name, categories in zip(table.categorical, table.categories):
        _check_texts(f"the categories of {name!r}", categories)
    for part, whole in (("gaps", table.numeric), ("pooled", table.categorical)):
        found = getattr(table, part)
        _check_texts(part, found)
        require(set(found) <= set(whole), f"{part} must be of the columns {list(whole)}", found)


def _check_standardiser(standardiser: Standardiser) -> None:
    mean, scale, clip, as_one = standardiser
    usable = mean.ndim == 1 and mean.shape == scale.shape and {mean.dtype.kind, scale.dtype.kind} <= {"f", "i"}
    require(usable, "means and scales must be numbers, one of each column", f"shapes {mean.shape} and {scale.shape}")
    finite = bool(np.isfinite(mean).all() and np.isfinite(scale).all() and (scale > 0).all())
    require(finite, "means and scales must be finite, and scales above 0", "others")
    require(number("clip", clip) > 0, "clip must be above 0", clip)
    places = all(type(column) is int and 0 <= column < len(mean) for column in as_one)
    require(places and len(set(as_one)) == len(as_one), "columns that count as one must be different ones", as_one)


def _check_texts(name: str, texts: Sequence[Any]) -> None:
    """Check that texts are different ones."""
    require(all(isinstance(text, str) for text in texts), f"{name} must be text", texts)
    require(len(set(texts)) == len(texts), f"{name} must differ from each other", texts)
