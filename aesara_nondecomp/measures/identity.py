"""What tells measures apart: their texts, and of measures of your own their values too."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from aesara_nondecomp.measures import _factories, catalogue
from aesara_nondecomp.measures.averaged import Averaged
from aesara_nondecomp.measures.base import Measure

# Where measures of your own are compared.
PROBED_RATES = (0.03, 0.25, 0.5, 0.75, 0.97)
PROBED_PRIORS = (0.01, 0.3, 0.5, 0.9)
PROBED_CLASSES = (2, 3, 4, 5)  # a measure of other numbers of classes only is known by its text
EPS = 0.001


def by_text(measures: Iterable[Any]) -> dict[str, Any]:
    """Measures by their texts, each once, in their order.

    Parameters
    ----------
    measures : iterable of Measure, MulticlassMeasure or Averaged
        All of one kind.

    Returns
    -------
    dict of str to measure

    Raises
    ------
    ValueError
        If two different ones have the same text: the figures of one would stand under the name of the other.
    """
    found: dict[str, Any] = {}
    for measure in measures:
        text = str(measure)
        known = found.setdefault(text, measure)
        if known is not measure and identity(known) != identity(measure):
            raise ValueError(
                f"measures need texts that tell them apart, got {text!r} twice, for different ones. Rename one of them."
            )
    return found


def identity(measure: Any, constraints: Iterable[Any] = ()) -> str:
    """A text that two measures share only if they are the same, in this process and in any other.

    Parameters
    ----------
    measure : Measure, MulticlassMeasure or Averaged
        Any measure.
    constraints : iterable of Constraint, optional
        That predictions have to meet beside it. Default: none.

    Returns
    -------
    str
        That of a measure of the catalogue is ``str(measure)``. One of your own has a digest of its values and slopes at
        some points too, as functions cannot be compared. The texts of constraints follow.
    """
    return ", ".join([_identity(measure), *map(str, constraints)])


def _identity(measure: Any) -> str:
    if isinstance(measure, Averaged):
        return f"{measure.average}_{_identity(measure.measure)}"
    if isinstance(measure, Measure):
        if _factories.makes(measure, catalogue.FACTORIES, catalogue.WITH_GROUPS_OR_CONSTRAINTS):
            return str(measure)
        return f"{measure} [{_digest(measure, _of_rates(measure))}]"
    from aesara_nondecomp.measures.multiclass import catalogue as of_classes  # loaded already, if it is one of these

    if _factories.makes(measure, of_classes.FACTORIES, of_classes.WITH_GROUPS_OR_CONSTRAINTS):
        return str(measure)
    return f"{measure} [{_digest(measure, _of_matrices(measure))}]"


def _digest(measure: Any, numbers: Iterable[Any]) -> str:
    """A digest of nine digits of each number: other machines may round the last ones otherwise."""
    texts = [f"{float(number) + 0.0:.9g}" for each in numbers for number in np.ravel(each)]  # -0.0 is 0.0
    return hashlib.blake2b(f"{measure.greater_is_better} {texts}".encode(), digest_size=8).hexdigest()


def _of_rates(measure: Any) -> Iterator[Any]:
    """Values of a measure of two classes, and the slopes that drivers ask for."""
    for P, N, prior in product(PROBED_RATES, PROBED_RATES, PROBED_PRIORS):  # noqa: N806 -- the names used by the formulas
        yield _or_nan(measure.value, P, N, prior)
        for slopes in ("supergradient", "component_gradients"):
            if hasattr(measure, slopes):
                yield _or_nan(getattr(measure, slopes), P, N, prior, EPS)
        if hasattr(measure, "valuation_weights"):
            yield _or_nan(measure.valuation_weights, P, N, 0.5, prior, EPS)


def _of_matrices(measure: Any) -> Iterator[Any]:
    """Values and gains of a measure of K classes, for several K."""
    for size, right in product(PROBED_CLASSES, (0.2, 1.0, 5.0)):
        places = np.arange(size)
        matrix = right * np.eye(size) + 1.0 / (1.0 + places[:, None] + 2.0 * places)
        matrix /= matrix.sum(axis=1, keepdims=True)
        shares = (1.0 + places) / np.sum(1.0 + places)
        yield _or_nan(measure.value, matrix, shares, EPS)
        yield _or_nan(measure.gains, matrix, shares, EPS)


def _or_nan(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return np.asarray(function(*arguments), dtype=float)
    except Exception:  # a function of your own can raise anything where it is undefined
        return np.nan
