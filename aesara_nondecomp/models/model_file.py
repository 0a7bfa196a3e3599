"""Model files: read models of every kind, and take those of two classes apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from aesara_nondecomp._checks import choose
from aesara_nondecomp.data import InputEncoder, Standardiser, TableEncoder, Vocabulary
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.models.archive import read_archive, restore_measure, stored_constraints, stored_measure, usable
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.models.model_checks import check_model, stored_networks
from aesara_nondecomp.models.network_model import label_from
from aesara_nondecomp.step import TrainFunctions


def load_model(path: Any, *, dtype: str | None = None, measure: Any = None) -> Any:
    """Read a model file, written by `save` of any model; nothing is compiled before its first use.

    Parameters
    ----------
    path : str or path-like
        Path of the file; files of version 0.1.0 are read too.
    dtype : {"float32", "float64"}, optional
        Dtype of the network. Default: as it was saved.
    measure : Measure or MulticlassMeasure, optional
        Required if the model was trained on a measure of your own, since the file holds only its name.

    Returns
    -------
    Model, ClassModel or MultilabelModel

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is truncated, altered, of another kind or of a newer version, holds what no model holds, such as
        weights that are not finite, or needs a `measure`; or if `dtype` is not one of the two.
    """
    if dtype is not None:
        choose("dtype", dtype, dict.fromkeys(("float32", "float64")))
    header, arrays = read_archive(path, "model")
    with usable(path, "model"):
        stored_measure(header["measure"])
    trained_for = restore_measure(header["measure"], measure)
    with usable(path, "model"):
        if header.get("labels") is not None:
            from aesara_nondecomp.models.label_model import label_model_from

            return label_model_from(header, arrays, dtype, trained_for)
        if header.get("priors") is not None:
            from aesara_nondecomp.models.class_model import class_model_from

            return class_model_from(header, arrays, dtype, trained_for)
        model = from_archive(header, arrays, dtype=dtype, measure=trained_for)
        check_model(model)
    return model


def from_archive(
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    *,
    dtype: str | None = None,
    measure: Any = None,
) -> Model:
    """Rebuild a model from the parts that `to_archive` returned; see `load_model`.

    Parameters
    ----------
    header : mapping
        Values that JSON can hold.
    arrays : mapping of str to array
        The weights.
    dtype : {"float32", "float64"}, optional
        Dtype of the network. Default: as it was saved.
    measure : Measure, optional
        Required if the model was trained on a measure of your own.

    Returns
    -------
    Model

    Raises
    ------
    ValueError
        If a `measure` is needed, or the arrays are not those of the network.
    """
    header = _with_encoder(header, arrays)
    network, parameters, voters = stored_networks(header, arrays, dtype)
    return Model(
        TrainFunctions(network, "adamw"),  # which a model that is trained further goes on with
        parameters,
        restore_measure(header["measure"], measure),
        tuple(map(label_from, header["classes"])),
        header["prior"],
        InputEncoder.from_dict(header["encoder"]),
        header["threshold"],
        best_step=header["best_step"],
        quantifier=None if header["quantifier"] is None else Quantifier.from_dict(header["quantifier"]),
        extra=header["extra"],
        voters=voters,
        collapsed=header.get("collapsed", False),
        constrained_by=stored_constraints(header),
    )


def _with_encoder(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, Any]:
    """The header of a model file, with the encoder that 0.1.0 kept in several places."""
    if "encoder" in header:
        return header
    extra = dict(header["extra"])
    table, vocabulary = extra.pop("preparation", None), extra.pop("vocabulary", None)
    scaled, names = header["clip"] is not None, header["feature_names"]
    encoder = InputEncoder(
        table=None if table is None else TableEncoder.from_dict(table),
        vocabulary=None if vocabulary is None else Vocabulary.from_dict(vocabulary),
        standardiser=Standardiser(arrays["mean"], arrays["scale"], header["clip"]) if scaled else None,
        names=None if names is None or table is not None else tuple(names),
    )
    return {**header, "encoder": encoder.as_dict(), "quantifier": extra.pop("quantifier", None), "extra": extra}
