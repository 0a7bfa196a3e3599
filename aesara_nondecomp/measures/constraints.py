"""Constraints on rates, of all rows or between groups, as linear inequalities in the recalls of the cells.

Each rate is a ratio of two affine functions of the recalls, so that a bound on it is linear too: TP >= t (TP + FP) for
a precision of at least t. A gap of at most e between groups is a pair of inequalities for every two of them. Of several
classes a rate is that of one of them against the others, whose recalls are linear in the confusion matrix.

Source: docs/algorithms.md 3.10, docs/multiclass.md 8.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose, number, require, shown
from aesara_nondecomp.measures._parameters import parameter_text
from aesara_nondecomp.measures.rates import RATES, Ratio

__all__ = ["Constraint", "at_least", "at_most", "gap", "parse_constraint", "share"]

Array = NDArray[Any]


_TEXT = re.compile(r"(\w+)\s*(?:\((.*)\))?(\s+gap)?\s*(<=|>=)\s*(\S+)")
_NOT_BETWEEN_GROUPS = ("precision", "npv", "f1")  # their denominators depend on the predictions


@dataclass(frozen=True)
class Constraint:
    """A bound on a rate, or on its gap between groups. Made by `gap`, `at_least`, `at_most` and `share`.

    Parameters
    ----------
    rate : str
        "tpr" (or "recall"), "fnr", "tnr", "fpr", "selection", "accuracy", "precision", "npv" or "f1".
    bound : float
        In [0, 1].
    kind : {"at_least", "at_most", "gap"}
        Which side of the bound is asked for; a gap is at most the bound.
    label : str, optional
        Of several classes the one whose rate it is, against all others; kept as text. The accuracy has none, nor has
        any rate of two classes.

    Raises
    ------
    ValueError
        If an argument is not as described above, or a gap of this rate is not linear in the recalls.
    """

    rate: str
    bound: float
    kind: str
    label: Any = None

    def __post_init__(self) -> None:
        choose("rate", self.rate, RATES)
        choose("kind", self.kind, dict.fromkeys(("at_least", "at_most", "gap")))
        bound = number(f"the bound on {self.rate}", self.bound)
        require(0 <= bound <= 1, f"the bound on {self.rate} must lie in [0, 1]", self.bound)
        object.__setattr__(self, "bound", bound)
        needless = self.label is None or self.rate != "accuracy"
        require(needless, "the accuracy is of all classes: leave label out", self.label)
        object.__setattr__(self, "label", None if self.label is None else label_text(self.label))
        if self.kind == "gap" and self.rate in _NOT_BETWEEN_GROUPS:
            known = ", ".join(sorted({*RATES} - {*_NOT_BETWEEN_GROUPS}))
            raise ValueError(f"a gap must be one of {known}, got {self.rate!r}: its gap is not linear in the recalls.")

    def __str__(self) -> str:
        rate = self.rate if self.label is None else f"{self.rate}({self.label})"
        name = f"{rate} gap" if self.kind == "gap" else rate
        return f"{name} {'>=' if self.kind == 'at_least' else '<='} {parameter_text(self.bound)}"

    @property
    def needs_groups(self) -> bool:
        """Whether it compares groups."""
        return self.kind == "gap"

    @property
    def is_ratio(self) -> bool:
        """Whether the denominator of its rate depends on the predictions, as that of a precision does."""
        return self.rate in _NOT_BETWEEN_GROUPS

    @property
    def of_two_classes(self) -> Constraint:
        """The same bound where its class is one of two."""
        return replace(self, label=None)

    def value(self, recalls: Array, cells: Any) -> Any:
        """The rate, or its largest difference between two groups.

        Parameters
        ----------
        recalls : array, shape (..., m)
            Of the cells; of several classes their conditional confusion matrix, shape (..., m, K).
        cells : Cells or multiclass.GroupedCells
            Of the rows.

        Returns
        -------
        float or array
            NaN where it is undefined.

        Raises
        ------
        ValueError
            If fewer than two groups have rows for a gap.
        """
        rates = self.rates(recalls, cells)
        if self.kind != "gap":
            return rates[0]
        self._require_groups(len(rates))
        return np.max(rates, axis=0) - np.min(rates, axis=0)

    def rates(self, recalls: Array, cells: Any) -> list[Any]:
        """The rate of all rows; for a gap that of each group that has rows for it.

        Parameters
        ----------
        recalls : array, shape (..., m)
            Of the cells, as for `value`.
        cells : Cells or multiclass.GroupedCells
            Of the rows.

        Returns
        -------
        list of float or of array
            NaN where a rate is undefined.
        """
        two = cells.against_rest(self)
        of_two = two.recalls(recalls)
        return [ratio.value(of_two) for ratio in self._ratios(two.cells)]

    def rates_of_counts(self, right: Array, wrong: Array, cells: Any) -> list[Any]:
        """What `rates` gives, from counts of rows in place of recalls.

        Parameters
        ----------
        right : array, shape (..., 2 G + 2)
            Rows of each cell that are predicted right.
        wrong : array, shape (..., 2 G + 2)
            Those that are predicted wrong.
        cells : Cells
            They say which groups have rows.

        Returns
        -------
        list of float or of array
        """
        rate = RATES[self.rate]
        return [rate.of_counts(right[..., chosen], wrong[..., chosen]) for chosen, _ in self._parts(cells)]

    def excess(self, value: Any, margin: Any = 0.0) -> Any:
        """By how much a value breaks the bound.

        Parameters
        ----------
        value : float or array
            As from `value`. An undefined rate, such as the precision where nothing is predicted, breaks a lower bound
            as 0 does, lest a model predict nothing.
        margin : float or array, default 0.0
            By how much it must be better than the bound.

        Returns
        -------
        float or array
            At least 0.
        """
        value = np.nan_to_num(value)
        beyond = self.bound - value if self.kind == "at_least" else value - self.bound
        return np.maximum(beyond + margin, 0.0)

    def standard_error(self, recalls: Array, cells: Any) -> Any:
        """The standard error of a rate of all rows, by the numbers of rows of the cells.

        Parameters
        ----------
        recalls : array, shape (..., m)
            Of the cells, as for `value`.
        cells : Cells or multiclass.GroupedCells
            Of the rows.

        Returns
        -------
        float or array
            0 for a gap: its error is often larger than its bound.
        """
        two = cells.against_rest(self)
        of_two = two.recalls(recalls)
        if self.kind == "gap":
            return np.zeros(of_two.shape[:-1])
        (ratio,), n = self._ratios(two.cells), two.cells.rows
        smoothed = (np.nan_to_num(of_two) * n + 0.5) / (n + 1)  # so that no cell is without an error
        value = ratio.value(smoothed)[..., None]
        slope = (ratio.a - value * ratio.d) / (smoothed @ ratio.d + ratio.d0)[..., None]
        return np.sqrt(np.sum(slope**2 * smoothed * (1 - smoothed) / np.maximum(n, 1), axis=-1))

    def inequalities(self, cells: Any) -> tuple[Array, Array]:
        """The constraint as ``B @ recalls + b >= 0``, in units of the rate.

        Parameters
        ----------
        cells : Cells
            Of the training rows; of several classes those of one against the rest.

        Returns
        -------
        B : float64 array, shape (k, m)
        b : float64 array, shape (k,)

        Raises
        ------
        ValueError
            If fewer than two groups have rows for a gap.
        """
        ratios = self._ratios(cells)
        if self.kind == "gap":
            self._require_groups(len(ratios))
            scaled = [(ratio.a / ratio.d0, ratio.a0 / ratio.d0) for ratio in ratios]
            pairs = [(second, first) for first, second in itertools.permutations(scaled, 2)]
            lines = [(a - other, a0 - other0 + self.bound) for (a, a0), (other, other0) in pairs]
        else:
            sign = 1.0 if self.kind == "at_least" else -1.0
            (ratio,) = ratios
            size = ratio.d0 if not ratio.d.any() else cells.prior
            line = sign * (ratio.a - self.bound * ratio.d) / size
            lines = [(line, sign * (ratio.a0 - self.bound * ratio.d0) / size)]
        return np.array([line for line, _ in lines]), np.array([constant for _, constant in lines])

    def _ratios(self, cells: Any) -> list[Ratio]:
        """The rate of all rows; for a gap that of each group that has rows for it."""
        return [ratio for _, ratio in self._parts(cells)]

    def _parts(self, cells: Any) -> list[tuple[Array, Ratio]]:
        """What `_ratios` gives, each rate with the cells whose rows count in it."""
        rate = RATES[self.rate]
        if self.kind != "gap":
            every = np.ones(len(cells.rows), dtype=bool)
            return [(every, rate.of_cells(cells, every))]
        groups = [cells.group(k) for k in range(len(cells.groups))]
        parts = [(group, rate.of_cells(cells, group)) for group in groups]
        return [(group, ratio) for group, ratio in parts if ratio.d0 > 0]

    def _require_groups(self, found: int) -> None:
        require(found > 1, f"{self} needs two groups with such rows", found)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for a model file.

        Returns
        -------
        dict
            With a label only if there is one.
        """
        return {name: value for name, value in asdict(self).items() if name != "label" or value is not None}


def label_text(label: Any) -> str:
    """The text of a class, by which constraints and cells name it.

    Parameters
    ----------
    label : object
        The class.

    Returns
    -------
    str
        Of a whole number without ".0": a column of numbers with a gap is read as floats.
    """
    whole = isinstance(label, (float, np.floating)) and float(label).is_integer()
    return str(int(label) if whole else label)


def check_constraints(name: str, value: Any) -> tuple[Constraint, ...]:
    """Check an argument that takes constraints.

    Parameters
    ----------
    name : str
        Of the argument.
    value : Constraint, sequence of Constraint or None
        As given.

    Returns
    -------
    tuple of Constraint
        None for no constraint gives an empty one.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    found = (value,) if isinstance(value, Constraint) else () if value is None else value
    listed = isinstance(found, (list, tuple)) and all(isinstance(each, Constraint) for each in found)
    require(listed, f"{name} must be Constraints, such as gap('tpr', at_most=0.02)", value)
    return tuple(found)


def parse_constraint(text: str) -> Constraint:
    """Read a constraint from its text, as ``str`` of it writes it.

    Parameters
    ----------
    text : str
        Such as "tpr gap <= 0.02" or "precision >= 0.9"; of several classes "recall(rare) >= 0.5".

    Returns
    -------
    Constraint

    Raises
    ------
    ValueError
        If it is no such text, or the rate or the bound is unusable.
    """
    found = _TEXT.fullmatch(text.strip()) if isinstance(text, str) else None
    needed = "a constraint must be written as 'tpr gap <= 0.02' or 'precision >= 0.9'"
    if found is None:
        raise ValueError(f"{needed}, got {shown(text)}")
    rate, label, is_gap, side, bound = found.groups()
    require(not (is_gap and side == ">="), "a gap between groups has an upper bound, as in 'tpr gap <= 0.02'", text)
    try:
        value = float(bound)
    except ValueError:
        raise ValueError(f"{needed}, got {shown(text)}") from None
    return Constraint(rate, value, "gap" if is_gap else "at_least" if side == ">=" else "at_most", label)


def gap(rate: str, at_most: float, label: Any = None) -> Constraint:
    """A bound on the largest difference of a rate between two groups.

    Parameters
    ----------
    rate : str
        "tpr" for equal opportunity, "selection" for demographic parity, "fpr", "tnr", "fnr" or "accuracy".
    at_most : float
        In [0, 1].
    label : object, optional
        Of several classes the one whose rate it is.

    Returns
    -------
    Constraint
    """
    return Constraint(rate, at_most, "gap", label)


def at_least(rate: str, bound: float, label: Any = None) -> Constraint:
    """A lower bound on a rate of all rows.

    Parameters
    ----------
    rate : str
        Such as "precision"; see `Constraint`.
    bound : float
        In [0, 1].
    label : object, optional
        Of several classes the one whose rate it is.

    Returns
    -------
    Constraint
    """
    return Constraint(rate, bound, "at_least", label)


def at_most(rate: str, bound: float, label: Any = None) -> Constraint:
    """An upper bound on a rate of all rows.

    Parameters
    ----------
    rate : str
        Such as "fpr"; see `Constraint`.
    bound : float
        In [0, 1].
    label : object, optional
        Of several classes the one whose rate it is.

    Returns
    -------
    Constraint
    """
    return Constraint(rate, bound, "at_most", label)


def share(label: Any = None, *, at_least: float | None = None, at_most: float | None = None) -> Constraint:
    """A bound on the share of rows that are predicted positive, or of several classes to be of one.

    Parameters
    ----------
    label : object, optional
        Of several classes the one that is predicted.
    at_least : float, optional
        In [0, 1].
    at_most : float, optional
        In [0, 1]; exactly one of the two is given.

    Returns
    -------
    Constraint
    """
    given = (at_least is None) + (at_most is None)
    require(given == 1, "share needs one of at_least and at_most; for both give two constraints", (at_least, at_most))
    if at_least is not None:
        return Constraint("selection", at_least, "at_least", label)
    return Constraint("selection", at_most, "at_most", label)  # type: ignore[arg-type]  # not None
