"""The plug-in of K classes: the rule on class probabilities that is best for a measure on labelled rows.

Two searches: "offsets" moves one offset on the logarithms of the probabilities at a time, by the measure itself;
"linearised" predicts the class with the largest expected gain, and takes the gains afresh at the confusion matrix that
this gives. Source: docs/multiclass.md 4.
"""

# ruff: noqa: N803, N806 -- C, G and R are the names used by the formulas
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import one_of, positive_int, random_generator, require
from aesara_nondecomp.measures import Constraint, multiclass
from aesara_nondecomp.measures.multiclass import Cells, GroupedCells, MulticlassMeasure, OfRecalls, SumOfRatios
from aesara_nondecomp.measures.multiclass.groups import AgainstRest
from aesara_nondecomp.metrics.cell_threshold import REACHED
from aesara_nondecomp.metrics.checks import checked_class_indices, checked_probabilities, checked_weights

Array = NDArray[Any]
METHODS = ("offsets", "linearised")
RESTART_SPREAD = 1.0  # of the offsets that later starts are moved by, in natural logarithms of odds
SWEEPS, MOVES = 20, 400  # of a start: over all classes; and of single offsets where there are many of them


@dataclass(frozen=True, eq=False)
class PlugIn:
    """A rule that predicts the class k with the largest sum over j of P_j matrix[j, k].

    Attributes
    ----------
    matrix : float64 array, shape (K, K)
        What it is worth to predict column k for a row of class j; diagonal for offsets on log-probabilities.
    value : float
        Value of the measure on the rows that the rule was chosen on, in its own orientation.
    """

    matrix: Array
    value: float

    def predict(self, probabilities: Any) -> Array:
        """Predicted classes.

        Parameters
        ----------
        probabilities : array-like, shape (n, K)
            Class probabilities.

        Returns
        -------
        array of int, shape (n,)
            From 0 to K - 1; of equal classes the first.

        Raises
        ------
        ValueError
            If the probabilities are of other classes, or rows do not sum to 1.
        """
        found = checked_probabilities(probabilities)
        require(found.shape[1] == len(self.matrix), f"probabilities must be of {len(self.matrix)} classes", found.shape)
        return np.asarray((found @ self.matrix).argmax(axis=1))


def plug_in(
    measure: str | MulticlassMeasure,
    probabilities: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    method: str | None = None,
    starts: int = 3,
    candidates: int = 60,
    rounds: int = 50,
    seed: Any = 0,
    constraints: Sequence[Constraint] = (),
    labels: Sequence[Any] | None = None,
) -> PlugIn:
    """Choose the plug-in rule for a measure.

    Choose it on held-out training rows, never on the test set. With few rows of a class its offset follows their noise.

    Parameters
    ----------
    measure : str or measures.multiclass.MulticlassMeasure
        Name in the catalogue of K classes, or a measure.
    probabilities : array-like, shape (n, K)
        Class probabilities, at least 0; each row sums to 1.
    y : array-like of int, shape (n,)
        True classes, from 0 to K - 1; each occurs.
    sample_weight : array-like, shape (n,), optional
        Weights of at least 0; only their ratios count. Default: equal weights.
    method : {"offsets", "linearised"}, optional
        How to search. Default: "linearised" for linear measures and ratios, such as "qwk" and "macro_f1", whose best
        rule is of that form; else "offsets".
    starts : int, default 3
        Starts of the search for offsets: at 0, at minus the logarithms of the class shares, then at random. Of more
        than 20 classes each ends after 400 moves of single offsets, or two of each.
    candidates : int, default 60
        Values that are tried for an offset at a time.
    rounds : int, default 50
        Linearisations; the best of all their rules is kept.
    seed : int or numpy Generator, default 0
        For the random starts.
    constraints : sequence of Constraint, optional
        What predictions must meet, bounds by a standard error, as the best of many rules flatters itself; where no rule
        found does, it is the one that breaks them least. They must not compare groups, and need offsets. Default: none.
    labels : sequence, optional
        The classes, as constraints name them. Default: their numbers.

    Returns
    -------
    PlugIn
        On these rows at least as good as the class with the largest probability, if that meets the constraints.

    Raises
    ------
    ValueError
        If an argument is something else, a class does not occur, the measure has no gains to linearise, or constraints
        compare groups or are given with another method.

    Examples
    --------
    >>> rule = plug_in("min_recall", [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]], [0, 0, 1])
    >>> rule.predict([[0.9, 0.1], [0.7, 0.3]]).tolist()
    [0, 1]
    """
    chosen = multiclass.get(measure)
    rows = _Rows.of(chosen, probabilities, y, sample_weight)
    if method is None:
        by_offsets = constraints or chosen.family in ("concave", "nested concave", "report only")
        method = "offsets" if by_offsets else "linearised"
    one_of("method", method, METHODS)
    if constraints:
        require(method == "offsets", "constraints need method='offsets'", method)
        rows = _Bounded.under(rows, constraints, range(rows.n_classes) if labels is None else labels)
    counts = positive_int("starts", starts), positive_int("candidates", candidates), positive_int("rounds", rounds)
    rng = random_generator(seed)
    rules = [np.eye(rows.n_classes)]
    if method == "linearised":
        rules += _linearisations(rows, counts[2])
    else:
        found = [_search(rows, start, counts[1]) for start in _starts(rows, counts[0], rng)]
        rules += [np.diag(np.exp(offsets - offsets.max())) for offsets in found]
    tables = [rows.confusion((rows.probabilities @ rule).argmax(axis=1)) for rule in rules]
    merits = rows.merits(np.stack(tables))
    best = max(range(len(rules)), key=merits.__getitem__)  # the first of equal ones
    return PlugIn(rules[best], chosen.oriented(rows.value(tables[best])))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Labelled rows with probabilities, and a measure of the predictions for them."""

    measure: MulticlassMeasure
    probabilities: Array
    y: Array
    weight: Array
    cells: Cells
    eps: float

    @classmethod
    def of(cls, measure: MulticlassMeasure, probabilities: Any, y: Any, sample_weight: Any) -> _Rows:
        """The rows, checked."""
        found = checked_probabilities(probabilities)
        n, n_classes = found.shape
        labels = checked_class_indices("y", y, n_classes, n)
        weight = np.ones(n) if sample_weight is None else checked_weights(sample_weight, n)
        counts = np.bincount(labels, weight, minlength=n_classes)
        require(bool(counts.all()), "y must hold rows of each class, to choose a rule for it", counts.tolist())
        cells = Cells(counts / counts.sum(), None, n_classes)
        return cls(measure, found, labels, weight, cells, 0.5 / counts.sum())

    @property
    def n_classes(self) -> int:
        """Number K of classes."""
        return self.cells.n_classes

    @cached_property
    def of_class(self) -> Array:
        """Weight of the rows of each class."""
        return np.bincount(self.y, self.weight)

    def confusion(self, predicted: Array) -> Array:
        """Confusion matrix of predicted classes."""
        return np.asarray(self.counts(self.y * self.n_classes + predicted, 1)[0])

    def counts(self, place: Array, n: int) -> Array:
        """Weights of the rows at places in n matrices (K, K)."""
        size = self.n_classes**2
        found = np.bincount(place, self.weight, minlength=n * size)
        return np.asarray(found.reshape(n, self.n_classes, self.n_classes))

    def rates(self, C: Array) -> Array:
        """Conditional confusion matrix of counts, whose rows may have lost their last digits."""
        return np.asarray(C / C.sum(axis=1, keepdims=True))

    def value(self, C: Array) -> float:
        """Value of the measure, larger is better; minus infinity where it is undefined."""
        return self.measure.merit(self.measure.value(self.rates(C), self.cells, self.eps))

    def merits(self, tables: Array) -> list[Any]:
        """By what rules are compared, larger is better: the values of several confusion matrices."""
        return [self.value(table) for table in tables]


@dataclass(frozen=True, eq=False)
class _Bounded(_Rows):
    """Rows on which predictions must meet constraints."""

    bounds: tuple[tuple[Constraint, AgainstRest], ...]

    @classmethod
    def under(cls, rows: _Rows, constraints: Sequence[Constraint], labels: Sequence[Any]) -> _Bounded:
        """Rows with constraints, checked."""
        for each in constraints:
            require(not each.needs_groups, "a plug-in rule knows no groups: leave such constraints out", each)
        cells = GroupedCells.of(rows.y, (), labels, rows.weight)
        bounds = tuple((each.of_two_classes, cells.against_rest(each)) for each in constraints)
        return cls(rows.measure, rows.probabilities, rows.y, rows.weight, rows.cells, rows.eps, bounds)

    def merits(self, tables: Array) -> list[Any]:
        """Minus by how much constraints are broken, then the values."""
        R = tables / tables.sum(axis=2, keepdims=True)
        excess = np.zeros(len(tables))
        for constraint, rest in self.bounds:
            recalls = rest.recalls(R)
            margin = constraint.standard_error(recalls, rest.cells)
            excess += constraint.excess(constraint.value(recalls, rest.cells), margin)
        return list(zip(np.where(excess > REACHED, -excess, 0.0).tolist(), super().merits(tables)))


# -- offsets ---------------------------------------------------------------------------------------------------------


def _starts(rows: _Rows, starts: int, rng: np.random.Generator) -> list[Array]:
    """Offsets to start from."""
    first = [np.zeros(rows.n_classes), -np.log(rows.cells.priors)]
    moved = [first[1] + rng.normal(scale=RESTART_SPREAD, size=rows.n_classes) for _ in range(starts - 2)]
    return [*first, *moved][:starts]


def _search(rows: _Rows, offsets: Array, candidates: int) -> Array:
    """Offsets of which none alone can be improved, among the candidates of each."""
    with np.errstate(divide="ignore"):
        logs = np.log(rows.probabilities)
    offsets, scores = offsets.copy(), logs + offsets
    best: Any = None
    for _ in range(min(SWEEPS, max(2, MOVES // rows.n_classes))):
        before = best
        for k in range(rows.n_classes):
            scores[:, k] = -np.inf
            other = scores.argmax(axis=1)
            with np.errstate(invalid="ignore"):  # a row is predicted k where the offset is above this
                turns = scores[np.arange(len(scores)), other] - logs[:, k]
            offsets[k], best = _best_offset(rows, turns, other, k, offsets[k], candidates)
            scores[:, k] = logs[:, k] + offsets[k]
        if before is not None and best <= before:
            break
    return offsets


def _best_offset(
    rows: _Rows, turns: Array, other: Array, k: int, present: float, candidates: int
) -> tuple[float, tuple[Any, float]]:
    """The best offset for class k, the present one if none is better, and how good it is.

    That is its merit, and of equal ones the mean recall, lest the search stay where the smallest recall is 0 for
    several classes, so that no single offset raises it.
    """
    cuts = np.sort(np.append(_cuts(turns, 1.0 / rows.cells.priors[rows.y], candidates), present))
    turned = np.searchsorted(cuts, turns, side="right")
    count = _of_recalls if isinstance(rows.measure, OfRecalls) and not isinstance(rows, _Bounded) else _of_tables
    recalls, values = count(rows, turned, other, k, len(cuts))
    means = np.mean(recalls, axis=1).round(12)
    # Of equal ones the nearest to the present one.
    best = max(range(len(cuts)), key=lambda c: (values[c], means[c], -abs(cuts[c] - present)))
    return float(cuts[best]), (values[best], float(means[best]))


def _of_tables(rows: _Rows, turned: Array, other: Array, k: int, n: int) -> tuple[Array, list[Any]]:
    """Recalls and merits, where rows that turned before each of n places are predicted k; from confusion matrices."""
    moves = rows.counts((turned * rows.n_classes + rows.y) * rows.n_classes + other, n + 1)
    moved = np.cumsum(moves[:-1], axis=0)
    tables = moves.sum(axis=0) - moved
    tables[:, :, k] += moved.sum(axis=2)
    recalls = np.diagonal(tables, axis1=1, axis2=2) / tables.sum(axis=2)
    return recalls, rows.merits(np.maximum(tables, 0.0, out=tables))


def _of_recalls(rows: _Rows, turned: Array, other: Array, k: int, n: int) -> tuple[Array, list[float]]:
    """The same for a measure of the recalls alone, which needs the right ones of each class only."""
    place = turned * rows.n_classes + rows.y
    own = np.where(rows.y == other, rows.weight, 0.0)
    lost = np.bincount(place, own, minlength=(n + 1) * rows.n_classes).reshape(n + 1, -1)
    right = lost.sum(axis=0) - np.cumsum(lost[:-1], axis=0)
    gained = np.bincount(turned, np.where(rows.y == k, rows.weight, 0.0), minlength=n + 1)
    right[:, k] = np.cumsum(gained[:-1])
    recalls = right / rows.of_class
    assert isinstance(rows.measure, OfRecalls)
    with np.errstate(all="ignore"):
        return recalls, rows.measure.of(np.maximum(recalls, 0.0)).tolist()


def _cuts(turns: Array, weight: Array, candidates: int) -> Array:
    """Offsets halfway between those at which rows turn, evenly spread over rows of each class, and beyond both ends."""
    finite = np.isfinite(turns)
    if not finite.any():
        return np.zeros(0)
    places, inverse = np.unique(turns[finite], return_inverse=True)
    middles = np.concatenate([[places[0] - 1.0], (places[1:] + places[:-1]) / 2, [places[-1] + 1.0]])
    if len(middles) <= candidates:
        return np.asarray(middles)
    passed = np.cumsum(np.bincount(inverse.reshape(-1), weight[finite]))
    chosen = np.searchsorted(passed, np.linspace(0.0, passed[-1], candidates - 1))
    return np.asarray(middles[np.unique(np.append(np.minimum(chosen, len(middles) - 1), len(middles) - 1))])


# -- linearisation ---------------------------------------------------------------------------------------------------


def _linearisations(rows: _Rows, rounds: int) -> list[Array]:
    """Rules for the gains at the confusion matrix that the rules before gave, as in the Frank-Wolfe method."""
    found: list[Array] = []
    R = rows.rates(rows.confusion(rows.probabilities.argmax(axis=1)))
    averages = isinstance(rows.measure, SumOfRatios)  # of one ratio the whole step never loses
    for t in range(rounds):
        rule = rows.measure.gains(R, rows.cells, rows.eps) / rows.cells.priors[:, None]
        if found and np.array_equal(rule, found[-1]):
            break
        found.append(rule)
        new = rows.rates(rows.confusion((rows.probabilities @ rule).argmax(axis=1)))
        R = R + (2.0 / (t + 2.0) if averages else 1.0) * (new - R)
    return found
