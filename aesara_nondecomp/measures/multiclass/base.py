"""Cells, and what every measure of K classes provides.

The rows of a set are partitioned into m cells, each of one true class; without groups the cells are the classes. The
conditional confusion matrix R (m, K) says what fraction of each cell is predicted as each class, so that its rows sum
to 1. A measure is a function of R, given the cells.

Source: docs/multiclass.md.
"""

# ruff: noqa: N803 -- R and C are the names used by the formulas
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._arrays import as_array, as_floats
from aesara_nondecomp._checks import require
from aesara_nondecomp.measures._parameters import parameter_text

__all__ = ["Cells", "MulticlassMeasure"]

Matrix = NDArray[np.float64]
ROW_SUM_TOLERANCE = 1e-3  # far above rounding, and far below what counts or row totals of a table would give


@dataclass(frozen=True, eq=False)
class Cells:
    """A partition of the rows into cells, each of one true class.

    Parameters
    ----------
    shares : array-like, shape (m,)
        Share of each cell in the weight of all rows, at least 0; they sum to 1.
    target : array-like of int, shape (m,), optional
        True class of each cell, from 0 to K - 1. Default: cell k is class k.
    n_classes : int, optional
        Number K of classes, at least 2. Default: one more than the largest target.

    Raises
    ------
    ValueError
        If the shares do not sum to 1, a target is no class, or the sizes differ.
    """

    shares: Any
    target: Any = None
    n_classes: int = 0

    def __post_init__(self) -> None:
        shares = as_floats(self.shares, "shares")
        require(shares.ndim == 1 and shares.size > 0, "shares must have shape (m,)", shares.shape)
        require(bool((shares >= 0).all()), "shares must be at least 0", shares.tolist())
        require(bool(abs(shares.sum() - 1) < ROW_SUM_TOLERANCE), "shares must sum to 1", float(shares.sum()))
        target = np.arange(shares.size) if self.target is None else as_array(self.target, "target")
        whole = target.dtype.kind in "iu" and target.shape == shares.shape
        require(whole, f"target must hold a class number for each of the {shares.size} shares", self.target)
        classes = self.n_classes or max(int(target.max()) + 1, 2)
        require(classes >= 2, "n_classes must be at least 2", self.n_classes)
        fits = bool((target >= 0).all() and (target < classes).all())
        require(fits, f"target must hold classes from 0 to {classes - 1}", target.tolist())
        for name, value in (("shares", shares), ("target", target.astype(np.intp)), ("n_classes", classes)):
            object.__setattr__(self, name, value)

    @property
    def n_cells(self) -> int:
        """Number m of cells.

        Returns
        -------
        int
        """
        return len(self.shares)

    @cached_property
    def priors(self) -> Matrix:
        """Share p_k of each class: that of its cells.

        Returns
        -------
        float64 array, shape (K,)
        """
        return np.asarray(np.bincount(self.target, self.shares, minlength=self.n_classes), dtype=float)

    @cached_property
    def own(self) -> Matrix:
        """Which prediction is right for each cell.

        Returns
        -------
        float64 array, shape (m, K)
            1 at the cell's class, 0 elsewhere.
        """
        return np.asarray(self.target[:, None] == np.arange(self.n_classes), dtype=float)

    @cached_property
    def _own_places(self) -> NDArray[np.intp]:
        """Place of each cell's own class in a matrix (m, K)."""
        return np.asarray(np.arange(self.n_cells) * self.n_classes + self.target)

    def recalls(self, R: Matrix) -> Matrix:
        """Recall of each cell.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.

        Returns
        -------
        float64 array, shape (m,)
        """
        return R.take(self._own_places)

    def predicted(self, R: Matrix) -> Matrix:
        """Share q_k of the rows that is predicted as each class.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.

        Returns
        -------
        float64 array, shape (K,)
        """
        return np.asarray(self.shares @ R)

    def hits(self, R: Matrix) -> Matrix:
        """Share of the rows that is rightly predicted as each class: p_k r_k.

        Parameters
        ----------
        R : float64 array, shape (m, K)
            Conditional confusion matrix.

        Returns
        -------
        float64 array, shape (K,)
        """
        weights = self.shares * self.recalls(R)
        return np.asarray(np.bincount(self.target, weights, minlength=self.n_classes), dtype=float)


class Counted(NamedTuple):
    """A confusion matrix of counts as what measures are functions of; for several measures of one matrix.

    Attributes
    ----------
    R : float64 array, shape (m, K)
        Conditional confusion matrix; rows of 0 for cells without rows.
    cells : Cells
        Their shares.
    total : float
        Sum of all counts.
    complete : bool
        Whether there are rows of each cell.
    """

    R: Matrix
    cells: Cells
    total: float
    complete: bool

    @classmethod
    def of(cls, counts: Matrix, target: Any = None) -> Counted:
        """Divide counts.

        Parameters
        ----------
        counts : float64 array, shape (m, K)
            Finite and at least 0.
        target : array-like of int, shape (m,), optional
            True class of each cell. Default: cell k is class k.

        Returns
        -------
        Counted
        """
        rows, total = counts.sum(axis=1), float(counts.sum())
        known = Cells(rows / total if total else np.full(len(rows), 1 / len(rows)), target, counts.shape[1])
        fractions = np.divide(counts, rows[:, None], out=np.zeros_like(counts), where=rows[:, None] > 0)
        return cls(fractions, known, total, bool(rows.all()))


class MulticlassMeasure:
    """A measure of a classifier of K classes, or of its error.

    Measures are immutable; two are equal if their classes and parameters are.

    Attributes
    ----------
    name : str
        Name in the catalogue.
    family : {"linear", "concave", "nested concave", "pseudolinear", "sum of ratios", "report only"}
        Shape of the measure as a function of R.
    greater_is_better : bool
        False for errors such as "kld", whose best value is 0.
    required_parameters : mapping of str to object
        Parameters without a default, each with an example value.
    needs_smoothing : bool
        Whether training on counts needs eps > 0: the value is infinite where a class is never predicted.
    needs_every_cell : bool
        Whether the value is undefined for a set without rows of a cell.
    of_recalls : bool
        Whether the value depends on the recalls alone, so that gains are on a cell's own class.
    of_order : bool
        Whether the value depends on the order of the classes.
    """

    name: str
    family: ClassVar[str] = "report only"
    greater_is_better: ClassVar[bool] = True
    required_parameters: ClassVar[Mapping[str, Any]] = {}
    needs_smoothing: ClassVar[bool] = False
    needs_every_cell: ClassVar[bool] = False
    of_recalls: ClassVar[bool] = False
    of_order: ClassVar[bool] = False
    _implied: str = ""  # the parameter that the name says already

    def value(self, R: Any, cells: Any, eps: float = 0.0) -> float:
        """Value in the measure's own orientation.

        Parameters
        ----------
        R : array-like, shape (m, K)
            Conditional confusion matrix: its rows sum to 1.
        cells : Cells or array-like, shape (m,)
            The cells, or the shares of the classes.
        eps : float, default 0.0
            Smoothing of class shares in "kld", "rae" and "bakld", at least 0: 1/(2n) for a set of n rows.

        Returns
        -------
        float
            NaN where the formula reads 0/0.

        Raises
        ------
        ValueError
            If `R` has another shape, entries that are no numbers, or rows that do not sum to 1.
        """
        matrix, known = self._checked(R, cells)
        with np.errstate(all="ignore"):
            return float(self._value(matrix, known, eps))

    def gains(self, R: Any, cells: Any, eps: float = 0.0) -> Matrix:
        """Supergradient of the oriented value in R; for ratios its gradient.

        Where the value is not differentiable this is a safe choice: finite, and not one that stops training for ever.

        Parameters
        ----------
        R : array-like, shape (m, K)
            Conditional confusion matrix.
        cells : Cells or array-like, shape (m,)
            The cells, or the shares of the classes.
        eps : float, default 0.0
            Smoothing, as in `value`.

        Returns
        -------
        float64 array, shape (m, K)
            What a predicted class is worth in each cell. A constant added to a row would change nothing.

        Raises
        ------
        ValueError
            As in `value`; if `needs_smoothing`, `eps` is 0 and a class is never predicted; if the measure can only be
            reported.
        """
        matrix, known = self._checked(R, cells)
        return self._gains(matrix, known, eps)

    def from_confusion(self, C: Any, target: Any = None, smoothed: bool = True) -> float:
        """Value from a confusion matrix of counts or weights.

        Parameters
        ----------
        C : array-like, shape (m, K)
            Rows are the cells, without groups the true classes; columns the predicted classes.
        target : array-like of int, shape (m,), optional
            True class of each cell. Default: cell k is class k.
        smoothed : bool, default True
            Whether "kld", "rae" and "bakld" smooth with eps = 1/(2n), n the sum of all counts.

        Returns
        -------
        float
            NaN where the measure is undefined, as for the recall of a class without rows.

        Raises
        ------
        ValueError
            If counts are negative or no numbers, or the shape is another.
        """
        counts = as_floats(C, "the confusion matrix")
        require(counts.ndim == 2 and counts.shape[1] >= 2, "a confusion matrix must have shape (m, K)", counts.shape)
        usable = bool(np.isfinite(counts).all() and (counts >= 0).all())
        require(usable, f"{self.name} needs finite counts of at least 0", C)
        return self._of_counts(Counted.of(counts, target), smoothed)

    def oriented(self, value: float) -> float:
        """Value with the sign that makes larger better.

        Parameters
        ----------
        value : float
            In the measure's own orientation.

        Returns
        -------
        float
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

    def drivers(self) -> tuple[str, ...]:
        """Algorithms that can train for this measure, best first; empty if none can.

        Returns
        -------
        tuple of str
            Such as ``("denim", "duple")``.
        """
        return ()

    def require_driver(self, driver: str) -> None:
        """Raise unless an algorithm can train for this measure.

        Parameters
        ----------
        driver : str
            Name of the algorithm, such as "duple".

        Raises
        ------
        ValueError
            If `driver` is not among `drivers`; the message says what to use instead.
        """
        if driver not in self.drivers():
            served_by = " or ".join(repr(name) for name in self.drivers())
            remedy = f"Use {served_by}." if served_by else "It can only be reported."
            raise ValueError(f"{driver!r} cannot train for {self}, which is {self.family}. {remedy}")

    def __str__(self) -> str:
        parameters: tuple[Any, ...] = fields(self) if is_dataclass(self) else ()
        settings = [(each, getattr(self, each.name)) for each in parameters if each.name != self._implied]
        given = [f"{each.name}={parameter_text(setting)}" for each, setting in settings if setting != each.default]
        return f"{self.name}({', '.join(given)})" if given else self.name

    def _rename(self, name: str, implied: str) -> None:
        """Name a frozen measure after the value of a parameter, which is then no longer shown."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_implied", implied)

    def _of_counts(self, counted: Counted, smoothed: bool = True) -> float:
        """The value of counts that were checked."""
        if counted.total == 0 or self.needs_every_cell and not counted.complete:
            return math.nan
        with np.errstate(all="ignore"):
            return float(self._value(counted.R, counted.cells, 0.5 / counted.total if smoothed else 0.0))

    def _checked(self, R: Any, cells: Any) -> tuple[Matrix, Cells]:
        matrix = as_floats(R, "R")
        require(matrix.ndim == 2 and matrix.shape[1] >= 2, "R must have shape (m, K)", matrix.shape)
        known = cells if isinstance(cells, Cells) else Cells(cells, None, matrix.shape[1])
        expected = known.n_cells, known.n_classes
        require(matrix.shape == expected, f"R must have shape {expected}, as the cells have", matrix.shape)
        right = bool((np.abs(matrix.sum(axis=1) - 1) < ROW_SUM_TOLERANCE).all())  # False for NaN
        require(right, "the rows of R must sum to 1 (divide counts by their row's sum)", R)
        return matrix, known

    def _value(self, R: Matrix, cells: Cells, eps: float) -> Any:
        """The formula behind `value`, with floating-point warnings off."""
        raise NotImplementedError

    def _gains(self, R: Matrix, cells: Cells, eps: float) -> Matrix:
        """The formula behind `gains`."""
        raise ValueError(f"{self} has no gains, as it is {self.family}. It can only be reported.")
