"""The catalogue: measures by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from aesara_nondecomp.measures import _factories, classification, groups, hybrid, objectives, quantification
from aesara_nondecomp.measures.base import Measure

__all__ = ["defaults", "get", "names"]

# A new measure is one row here, beside its class.
FACTORIES: Mapping[str, Callable[..., Measure]] = MappingProxyType(
    {
        "min": classification.Min,
        "qmean": classification.QMean,
        "hmean": classification.HMean,
        "gmean": classification.GMean,
        "balanced_accuracy": classification.BalancedAccuracy,
        "weighted_accuracy": classification.WeightedAccuracy,
        "accuracy": classification.Accuracy,
        "f1": classification.F1,
        "fbeta": classification.FBeta,
        "jaccard": classification.Jaccard,
        "gower_legendre": classification.GowerLegendre,
        "gtppr": classification.GTPPR,
        "kld": quantification.KLD,
        "nkld": quantification.NKLD,
        "ae": quantification.AE,
        "rae": quantification.RAE,
        "nas": quantification.NAS,
        "nss": quantification.NSS,
        "nss_raw": partial(quantification.NSS, raw=True),
        "qmeasure": hybrid.QMeasure,
        "qmeasure_raw": partial(hybrid.QMeasure, raw=True),
        "qmeasure_barranquero": hybrid.QMeasureBarranquero,
        "bakld": hybrid.BAKLD,
        "cqreward": hybrid.CQReward,
        "cqreward_raw": partial(hybrid.CQReward, raw=True),
        "bkreward": hybrid.BKReward,
    }
)


# Functions of the recalls of cells, or objectives that mean nothing without a constraint: not functions of two rates
# that reports can list, but names that `get` and `fit` take.
WITH_GROUPS_OR_CONSTRAINTS: Mapping[str, Callable[..., Measure]] = MappingProxyType(
    {
        "worst_cell": groups.WorstCell,
        "worst_group_accuracy": groups.WorstGroupAccuracy,
        "worst_group_balanced": groups.WorstGroupBalanced,
        "likelihood": objectives.Likelihood,
        "recall": objectives.Recall,
    }
)


def names() -> tuple[str, ...]:
    """Names of all measures of two rates in the catalogue.

    Returns
    -------
    tuple of str
        In the order of the catalogue.
    """
    return tuple(FACTORIES)


def defaults() -> tuple[Measure, ...]:
    """Every measure of the catalogue that needs no parameter, with its default parameters.

    Returns
    -------
    tuple of Measure
        In the order of the catalogue.
    """
    return tuple(get(name) for name in names() if not required_parameters(name))


def example(name: str) -> Measure:
    """The named measure with its default parameters, and example values for those that have no default.

    Parameters
    ----------
    name : str
        A name in the catalogue.

    Returns
    -------
    Measure
        Such as ``WeightedAccuracy(c=0.5)`` for "weighted_accuracy".

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return get(name, **required_parameters(name))


def parameter_names(name: str) -> tuple[str, ...]:
    """Names of the parameters that `get` takes for a measure.

    Parameters
    ----------
    name : str
        A name in the catalogue.

    Returns
    -------
    tuple of str
        Such as ``("beta",)`` for "fbeta".

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return _factories.parameter_names(name, _all())


def required_parameters(name: str) -> Mapping[str, float]:
    """Parameters of a measure that have no default, each with an example value.

    Parameters
    ----------
    name : str
        A name in the catalogue.

    Returns
    -------
    mapping of str to float
        Such as ``{"c": 0.5}`` for "weighted_accuracy"; empty for most measures.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    return _factories.required_parameters(name, _all())


def get(spec: str | Measure, **parameters: Any) -> Measure:
    """The measure that `spec` stands for.

    Parameters
    ----------
    spec : str or Measure
        A name in the catalogue, or a measure, which is returned as it is.
    **parameters : float or bool
        Parameters of the named measure, such as ``beta=2`` for "fbeta".

    Returns
    -------
    Measure
        Immutable.

    Raises
    ------
    ValueError
        If `spec` is neither a measure nor a name in the catalogue, or a parameter is outside its range.
    TypeError
        If a parameter is unknown or missing, or given beside a measure.

    Examples
    --------
    >>> str(get("fbeta", beta=2))
    'fbeta(beta=2)'
    """
    measure: Measure = _factories.make(spec, parameters, _all(), Measure)
    return measure


def _all() -> Mapping[str, Callable[..., Measure]]:
    return {**FACTORIES, **WITH_GROUPS_OR_CONSTRAINTS}
