"""The catalogue: measures by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import partial
from inspect import signature
from types import MappingProxyType
from typing import Any

from aesara_nondecomp.measures.base import Measure
from aesara_nondecomp.measures.classification import (
    F1,
    GTPPR,
    Accuracy,
    BalancedAccuracy,
    FBeta,
    GMean,
    GowerLegendre,
    HMean,
    Jaccard,
    Min,
    QMean,
    WeightedAccuracy,
)
from aesara_nondecomp.measures.hybrid import BAKLD, BKReward, CQReward, QMeasure, QMeasureBarranquero
from aesara_nondecomp.measures.quantification import AE, KLD, NAS, NKLD, NSS, RAE

FACTORIES: Mapping[str, Any] = MappingProxyType(
    {
        "min": Min,
        "qmean": QMean,
        "hmean": HMean,
        "gmean": GMean,
        "balanced_accuracy": BalancedAccuracy,
        "weighted_accuracy": WeightedAccuracy,
        "accuracy": Accuracy,
        "f1": F1,
        "fbeta": FBeta,
        "jaccard": Jaccard,
        "gower_legendre": GowerLegendre,
        "gtppr": GTPPR,
        "kld": KLD,
        "nkld": NKLD,
        "ae": AE,
        "rae": RAE,
        "nas": NAS,
        "nss": NSS,
        "nss_raw": partial(NSS, raw=True),
        "qmeasure": QMeasure,
        "qmeasure_raw": partial(QMeasure, raw=True),
        "qmeasure_barranquero": QMeasureBarranquero,
        "bakld": BAKLD,
        "cqreward": CQReward,
        "cqreward_raw": partial(CQReward, raw=True),
        "bkreward": BKReward,
    }
)


def names() -> tuple[str, ...]:
    """Names of all measures in the catalogue."""
    return tuple(FACTORIES)


def defaults() -> tuple[Measure, ...]:
    """Every measure of the catalogue with its default parameters, but "weighted_accuracy", which has none."""
    return tuple(get(name) for name in names() if name != "weighted_accuracy")


def get(spec: str | Measure, **parameters: Any) -> Measure:
    """The measure that `spec` stands for.

    Parameters
    ----------
    spec : str or Measure
        A name of the catalogue, or a measure, which is returned as it is.
    **parameters
        Parameters of the named measure, such as ``beta=2`` for "fbeta".

    Raises
    ------
    ValueError
        If the name is unknown, or a parameter is outside its range.
    TypeError
        If a parameter is unknown or missing, or `spec` is neither a name nor a measure.

    Examples
    --------
    >>> str(get("fbeta", beta=2))
    'fbeta(beta=2)'
    """
    if isinstance(spec, Measure):
        if parameters:
            raise TypeError(f"{spec} has its parameters already; give a name to set {sorted(parameters)}.")
        return spec
    available = f"Measures: {', '.join(names())}."
    if not isinstance(spec, str):
        raise TypeError(f"A measure must be given by its name or as a Measure, got {spec!r}. {available}")
    if spec not in FACTORIES:
        raise ValueError(f"There is no measure {spec!r}.{_nearest(spec, names())} {available}")
    _check_parameters(spec, parameters)
    return FACTORIES[spec](**parameters)


def _check_parameters(name: str, parameters: dict[str, Any]) -> None:
    factory = FACTORIES[name]
    fixed = factory.keywords if isinstance(factory, partial) else {}
    known = [parameter for parameter in signature(factory).parameters if parameter not in fixed]
    for parameter in parameters:
        if parameter not in known:
            raise TypeError(
                f"{name!r} has no parameter {parameter!r}.{_nearest(parameter, known)} "
                f"Its parameters: {', '.join(known) or 'none'}."
            )
    if name == "weighted_accuracy" and "c" not in parameters:
        raise TypeError("'weighted_accuracy' needs the weight c of the positives' rate, in [0, 1], got none.")


def _nearest(word: str, known: Iterable[str]) -> str:
    """ " Did you mean ...?" if some known word is near."""
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.4)
    return f" Did you mean {near[0]!r}?" if near else ""
