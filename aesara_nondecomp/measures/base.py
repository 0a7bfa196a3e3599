"""What every measure provides, and what the rest of the package must know of it.

A measure is a function of the true positive rate ``P`` and the true negative rate ``N`` of a classifier, given the
fraction of positives, the ``prior``. Everything here is plain numbers. Training evaluates a measure and its
supergradient between two compiled steps, so closed forms are exact, cheap, and safe at the points where symbolic
differentiation gives NaN.

Source: docs/algorithms.md 1 and 2.
"""

# ruff: noqa: N803, N806 -- TP, FN, FP, TN are the names used by the formulas
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_floats
from aesara_nondecomp._checks import shown
from aesara_nondecomp._numeric import plain
from aesara_nondecomp.measures._parameters import check_prior, parameter_text

__all__ = ["Measure"]

Values = Union[float, NDArray[np.float64]]
Pair = tuple[float, float]


class Measure:
    """A measure of a binary classifier's quality, or of its error.

    Measures are immutable; two are equal if their classes and parameters are. ``str(measure)`` is a short label such
    as ``"fbeta(beta=2)"``. What other parts of the package must know of a measure is an attribute here, so that none
    of them lists measures.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    family : {"concave", "nested concave", "pseudolinear", "pseudo-concave", "report only"}
        Shape of the measure as a function of (P, N).
    greater_is_better : bool
        False for errors such as "kld", whose best value is 0.
    hint : str
        For a measure that no algorithm can train for: what to do instead.
    required_parameters : mapping of str to float
        Parameters without a default, each with an example value.
    needs_smoothing : bool
        Whether training on counts needs eps > 0: the KLD-like measures, infinite where a class is never predicted.
    takes_floats : bool
        Whether the formula behind `value` works on plain floats too. Drivers, which evaluate it between two steps, are
        then spared the overhead of arrays: five times as fast.
    trained_as : str
        Name of the measure that the default recipe trains in place of this one; "" for itself.
    affine_in_tp : bool
        Whether the value is affine in TP while TP + FP is fixed; the oracle then searches lines of counts instead of
        the whole table.
    algorithm : str
        Name of the algorithm that "auto" takes; "" for the best variant of the measure's first driver.
    min_of_rates : bool
        Whether the value is min(P, N). Its exact dual jumps between the classes, so DUPLE moves it on the log-odds, and
        the oracle searches the two classes separately.
    """

    name: str
    family: str = "report only"
    greater_is_better: bool = True
    hint: str = ""
    required_parameters: Mapping[str, float] = {}
    needs_smoothing: bool = False
    takes_floats: bool = False
    trained_as: str = ""
    affine_in_tp: bool = False
    min_of_rates: bool = False
    algorithm: str = ""

    def value(self, P: Values, N: Values, prior: float, eps: float = 0.0) -> Values:
        """Value in the measure's own orientation.

        Parameters
        ----------
        P : float or array of float
            True positive rate in [0, 1], from counts or from a reward.
        N : float or array of float
            True negative rate in [0, 1], from counts or from a reward.
        prior : float
            Fraction of positives, in (0, 1), of the set that `P` and `N` were measured on.
        eps : float, default 0.0
            Smoothing of proportions in the KLD-like measures and in "rae", at least 0: 0 for none, 1/(2n) for a set of
            n points (docs/algorithms.md 2.4). Other measures ignore it.

        Returns
        -------
        float or array of float
            Of the common shape of `P` and `N`. An unsmoothed KLD is infinite where a class is never predicted.

        Raises
        ------
        ValueError
            If `prior` is not strictly between 0 and 1, or a rate is no number.
        """
        check_prior(self.name, prior)
        if self.takes_floats and isinstance(P, float) and isinstance(N, float):
            return float(self._value(P, N, prior, eps))
        with np.errstate(all="ignore"):
            return plain(self._value(as_floats(P, "P"), as_floats(N, "N"), prior, eps))

    def from_counts(self, TP: Values, FN: Values, FP: Values, TN: Values, smoothed: bool = True) -> Values:
        """Value from the counts of a confusion matrix, by a formula in the counts themselves.

        Parameters
        ----------
        TP : float or array of float
            True positives, at least 0; arrays are treated entry by entry.
        FN : float or array of float
            False negatives, at least 0.
        FP : float or array of float
            False positives, at least 0.
        TN : float or array of float
            True negatives, at least 0.
        smoothed : bool, default True
            Whether the KLD-like measures and "rae" smooth proportions with eps = 1/(2n), n = TP + FN + FP + TN, that
            is, add half an item to each count (docs/algorithms.md 2.4). State that eps beside such a number.

        Returns
        -------
        float or array of float
            NaN where the measure is undefined: the formula reads 0/0 or needs the rate of a class that has no members
            (docs/algorithms.md 1.4).

        Raises
        ------
        ValueError
            If a count is negative or no number.
        """
        given = {"TP": TP, "FN": FN, "FP": FP, "TN": TN}
        counts: list[Any] = [as_floats(count, name) for name, count in given.items()]
        for count, name in zip(counts, given):
            if not np.all(count >= 0):
                raise ValueError(f"{self.name} needs counts of at least 0, got {name}={shown(given[name])}.")
        with np.errstate(all="ignore"):
            values = self._from_counts(*counts, smoothed=smoothed)
        return plain(np.where(sum(counts) > 0, values, np.nan))

    def oriented(self, value: Values) -> Values:
        """Value with the sign that makes larger better.

        Parameters
        ----------
        value : float or array of float
            In the measure's own orientation.

        Returns
        -------
        float or array of float
            `value`, or its negative for an error.
        """
        return value if self.greater_is_better else -value

    def merit(self, value: float) -> float:
        """Rank of a value among others: larger is better, and an undefined value is worst.

        Parameters
        ----------
        value : float
            In the measure's own orientation; NaN if undefined.

        Returns
        -------
        float
            The oriented value; minus infinity for NaN.
        """
        return -math.inf if math.isnan(value) else float(self.oriented(value))

    def range(self, prior: float) -> Pair:
        """Lowest and highest value on [0, 1]^2, unsmoothed.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).

        Returns
        -------
        low : float
            May be minus infinity.
        high : float
            May be infinite.
        """
        return 0.0, 1.0

    def perfect(self, prior: float) -> float:
        """Value of a classifier without errors.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).

        Returns
        -------
        float
            In the measure's own orientation.
        """
        return float(self.value(1.0, 1.0, prior))

    def all_positive(self, prior: float, eps: float = 0.0) -> float:
        """Value of the trivial classifier that predicts every point positive.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        float
            In the measure's own orientation.
        """
        return float(self.value(1.0, 0.0, prior, eps))

    def all_negative(self, prior: float, eps: float = 0.0) -> float:
        """Value of the trivial classifier that predicts every point negative.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        float
            In the measure's own orientation.
        """
        return float(self.value(0.0, 1.0, prior, eps))

    def trivial(self, prior: float, eps: float = 0.0) -> float:
        """Value of the better of the two trivial classifiers: the floor to report beside a result.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        float
            In the measure's own orientation.
        """
        best = max if self.greater_is_better else min
        return best(self.all_positive(prior, eps), self.all_negative(prior, eps))

    def drivers(self) -> tuple[str, ...]:
        """Algorithms that can train for this measure, best first; empty if none can (docs/algorithms.md 2.7).

        Returns
        -------
        tuple of str
            Such as ``("denim", "duple")``.
        """
        return ()

    def require_driver(self, driver: str, named: str = "") -> None:
        """Raise unless an algorithm can train for this measure.

        Parameters
        ----------
        driver : str
            Name of the algorithm, such as "duple".
        named : str, optional
            What the message calls it, such as "spade", which trains by "duple". Default: `driver`.

        Raises
        ------
        ValueError
            If `driver` is not among `drivers`; the message says what to use instead.
        """
        if driver in self.drivers():
            return
        served_by = " or ".join(repr(name) for name in self.drivers())
        remedy = self.hint or (f"Use {served_by}." if served_by else "It can only be reported.")
        raise ValueError(f"{named or driver!r} cannot train for {self}, which is {self.family}. {remedy}")

    def positive_weight(self, prior: float) -> float | None:
        """The weight c of a linear measure c P + (1 - c) N.

        Parameters
        ----------
        prior : float
            Fraction of positives, in (0, 1).

        Returns
        -------
        float or None
            In [0, 1]; None unless the measure is defined as such a sum.
        """
        return None

    def __str__(self) -> str:
        parameters: tuple[Any, ...] = fields(self) if is_dataclass(self) else ()
        settings = [(parameter, getattr(self, parameter.name)) for parameter in parameters]
        shown = [
            f"{parameter.name}={parameter_text(setting)}"
            for parameter, setting in settings
            if isinstance(setting, float) and setting != parameter.default
        ]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def _value(self, P: Any, N: Any, prior: float, eps: float) -> Any:
        """The formula behind `value`, on float arrays with floating-point warnings off; on floats by `takes_floats`."""
        raise NotImplementedError

    def _from_counts(self, TP: Any, FN: Any, FP: Any, TN: Any, *, smoothed: bool) -> Any:
        """The formula behind `from_counts`; by default from the rates, unsmoothed."""
        TP, FN, FP, TN = np.broadcast_arrays(TP, FN, FP, TN)
        P, N, prior = TP / (TP + FN), TN / (TN + FP), np.asarray((TP + FN) / (TP + FN + FP + TN))
        values = np.full(prior.shape, np.nan)
        # A threshold sweep has one prior throughout, so this is one call, not one per confusion matrix.
        for one_prior in np.unique(prior[(prior > 0) & (prior < 1)]):
            rows = prior == one_prior
            values[rows] = self._value(P[rows], N[rows], float(one_prior), 0.0)
        return values
