"""The catalogue: measures of K classes by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from aesara_nondecomp.measures import _factories
from aesara_nondecomp.measures.multiclass import groups, linear, quantification, ratios, recalls
from aesara_nondecomp.measures.multiclass.base import MulticlassMeasure

__all__ = ["defaults", "example", "get", "names", "parameter_names"]

# A new measure is one row here, beside its class.
FACTORIES: Mapping[str, Callable[..., MulticlassMeasure]] = MappingProxyType(
    {
        "min_recall": partial(recalls.MeanOfWorst, h=1),
        "mean_of_worst": recalls.MeanOfWorst,
        "mean_recall": partial(recalls.PowerMean, s=1.0, floor=0.01),
        "gmean": partial(recalls.PowerMean, s=0.0),
        "hmean": partial(recalls.PowerMean, s=-1.0, floor=0.01),
        "power_mean": recalls.PowerMean,
        "qmean": recalls.QMean,
        "accuracy": linear.Accuracy,
        "cost_matrix": linear.CostMatrix,
        "macro_mae": linear.MacroMAE,
        "micro_f1": ratios.MicroF1,
        "kappa": ratios.Kappa,
        "qwk": ratios.QWK,
        "weighted_kappa": ratios.WeightedKappa,
        "macro_f1": partial(ratios.MacroFBeta, beta=1.0, labels=None),
        "macro_fbeta": partial(ratios.MacroFBeta, labels=None),
        "f1_of": partial(ratios.MacroFBeta, beta=1.0),
        "kld": quantification.KLD,
        "ae": quantification.AE,
        "rae": quantification.RAE,
        "emd": quantification.EMD,
        "bakld": quantification.BAKLD,
        "mcc": ratios.MCC,
    }
)
# Functions of cells in groups, and an objective for constraints: `get` and `fit` take them, reports do not list them.
WITH_GROUPS_OR_CONSTRAINTS: Mapping[str, Callable[..., MulticlassMeasure]] = MappingProxyType(
    {
        "worst_cell": groups.WorstCell,
        "worst_group_accuracy": groups.WorstGroupAccuracy,
        "worst_group_balanced": groups.WorstGroupBalanced,
        "likelihood": groups.Likelihood,
    }
)
# Names of the catalogue for two classes that keep their meaning.
ALIASES: Mapping[str, str] = MappingProxyType({"min": "min_recall", "balanced_accuracy": "mean_recall"})


def names() -> tuple[str, ...]:
    """Names of all measures of K classes.

    Returns
    -------
    tuple of str
        In the order of the catalogue.
    """
    return tuple(FACTORIES)


def known_names() -> tuple[str, ...]:
    """All names that `get` knows: also those of measures in groups, and second names.

    Returns
    -------
    tuple of str
    """
    return (*names(), *WITH_GROUPS_OR_CONSTRAINTS, *ALIASES)


def defaults(ordered: bool = True) -> tuple[MulticlassMeasure, ...]:
    """Every measure of the catalogue that needs no parameter, with its default parameters.

    Parameters
    ----------
    ordered : bool, default True
        Whether the order of the classes means something. Otherwise "qwk", "macro_mae" and "emd" are left out.

    Returns
    -------
    tuple of MulticlassMeasure
        In the order of the catalogue, each once.
    """
    plain = (get(name) for name in FACTORIES if not _factories.required_parameters(name, FACTORIES))
    return tuple(dict.fromkeys(measure for measure in plain if ordered or not measure.of_order))


def parameter_names(name: str) -> tuple[str, ...]:
    """Names of the parameters that a measure takes.

    Parameters
    ----------
    name : str
        A name in the catalogue.

    Returns
    -------
    tuple of str
        Such as ``("h",)`` for "mean_of_worst".

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return _factories.parameter_names(name, _all())


def example(name: str) -> MulticlassMeasure:
    """The named measure with its default parameters, and example values for those that have no default.

    Parameters
    ----------
    name : str
        A name in the catalogue.

    Returns
    -------
    MulticlassMeasure
        Such as ``MicroF1(negative=0)`` for "micro_f1".

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return get(name, **_factories.required_parameters(name, _all()))


def get(spec: str | MulticlassMeasure, **parameters: Any) -> MulticlassMeasure:
    """The measure of K classes that `spec` stands for.

    Parameters
    ----------
    spec : str or MulticlassMeasure
        A name in the catalogue; "min" and "balanced_accuracy" stand for "min_recall" and "mean_recall". A measure is
        returned as it is.
    **parameters : object
        Parameters of the named measure, such as ``h=2`` for "mean_of_worst".

    Returns
    -------
    MulticlassMeasure
        Immutable.

    Raises
    ------
    ValueError
        If `spec` is neither a measure nor a name in the catalogue, or a parameter is outside its range.
    TypeError
        If a parameter is unknown or missing, or given beside a measure.

    Examples
    --------
    >>> str(get("mean_of_worst", h=2))
    'mean_of_worst(h=2)'
    """
    if spec == "f1":
        raise ValueError(
            "'f1' is a measure of two classes. Of more, choose 'macro_f1', the mean of the classes' F1, or "
            "'micro_f1', the F1 of all classes but the negative ones together."
        )
    name = ALIASES.get(spec, spec) if isinstance(spec, str) else spec
    measure: MulticlassMeasure = _factories.make(name, parameters, _all(), MulticlassMeasure)
    return measure


def _all() -> Mapping[str, Callable[..., MulticlassMeasure]]:
    return {**FACTORIES, **WITH_GROUPS_OR_CONSTRAINTS}
