"""Groups and constraints in `fit`: which arguments need them, how many rows each cell has, what was not reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require, warn_caller
from aesara_nondecomp.drivers.duals import ENOUGH_HELD_ROWS
from aesara_nondecomp.measures import Cells, Constraint, Measure, Recall
from aesara_nondecomp.measures.groups import WorstOfForms
from aesara_nondecomp.metrics.cell_threshold import REACHED
from aesara_nondecomp.models.by_group import check_groups
from aesara_nondecomp.parallel import Communicator
from aesara_nondecomp.training.recipes import Recipe

AnyCells = TypeVar("AnyCells", bound=Any)
FEW_ROWS = 30  # of a cell; its rate is then known to a tenth or so
MOST_NAMED = 10  # cells in a message
CELL_ALGORITHMS = ("worst_group", "group_dro", "cell_weighted")


def check_group_arguments(
    groups: Any,
    measure: Any,
    constraints: Sequence[Constraint],
    algorithm: str | Recipe,
    sampler: str | float,
    comm: Communicator,
) -> bool:
    """Check that groups, measure, constraints and algorithm go together; return whether training uses cells.

    Parameters
    ----------
    groups : object or None
        As given to `fit`.
    measure : Measure or multiclass.MulticlassMeasure
        What is trained for.
    constraints : sequence of Constraint
        Possibly none.
    algorithm : str or Recipe
        As given to `fit`.
    sampler : str or float
        As given to `fit`.
    comm : communicator
        Cells are trained in one process.

    Returns
    -------
    bool
        Whether training uses the cells of the rows.

    Raises
    ------
    ValueError
        If groups are needed and missing, or given and without effect; or if there are several processes.
    """
    users = users_of_groups(measure, constraints, algorithm, sampler)
    check_groups(users, groups)
    if groups is not None and not (users or isinstance(algorithm, Recipe)):
        raise ValueError(
            f"groups have no effect on {measure}: give a measure of the worst group, such as 'worst_cell', or a "
            "constraint, such as gap('tpr', at_most=0.02); or leave groups out and give them to model.by_group."
        )
    if isinstance(measure, Recall) and not constraints:
        raise ValueError("recall alone is 1 if every row is predicted positive: give constraints, or use 'f1'.")
    needed = groups is not None or bool(constraints)
    if isinstance(measure, Measure):
        for constraint in constraints:
            Cells.of(np.arange(2), ()).against_rest(constraint)  # refuses one of several classes
    require(not needed or comm.size == 1, "groups and constraints are trained in one process", comm.size)
    return needed


def users_of_groups(
    measure: Any, constraints: Sequence[Constraint], algorithm: str | Recipe, sampler: str | float
) -> list[str]:
    """What needs the groups of the rows.

    Parameters
    ----------
    measure : Measure or multiclass.MulticlassMeasure
        What is trained for.
    constraints : sequence of Constraint
        Possibly none.
    algorithm : str or Recipe
        As given to `fit`; a recipe may use groups, and is not among them.
    sampler : str or float
        As given to `fit`.

    Returns
    -------
    list of str
        As messages name it; empty if nothing does.
    """
    users = [str(measure)] if isinstance(measure, WorstOfForms) else []
    users += [str(constraint) for constraint in constraints if constraint.needs_groups]
    return users + [repr(name) for name in (algorithm, sampler) if name in (*CELL_ALGORITHMS, "cell_balanced")]


def checked_cells(cells: AnyCells) -> AnyCells:
    """Check that the cells of the training rows have rows.

    Parameters
    ----------
    cells : Cells or multiclass.GroupedCells
        Of the training rows.

    Returns
    -------
    Cells or multiclass.GroupedCells
        As given.

    Raises
    ------
    ValueError
        If a group lacks a class.

    Warns
    -----
    UserWarning
        If a cell has few rows.
    """
    of_groups = {name: int(rows) for name, rows, known in zip(cells.names, cells.rows, cells.in_group) if known}
    empty = [name for name, rows in of_groups.items() if rows == 0]
    if empty:
        of_classes = "both classes" if isinstance(cells, Cells) else "each class"
        raise ValueError(
            f"every group needs training rows of {of_classes}, got no {_listed(empty, ', no ')}. Merge such groups "
            "with others, or make their group missing."
        )
    few = [f"{rows} {name}" for name, rows in of_groups.items() if rows < FEW_ROWS]
    if few:
        warn_caller(f"rates of few rows are mostly noise: there are only {_listed(few)}. Consider merging groups.")
    return cells


def check_held_cells(
    cells: Any, held: Sequence[NDArray[Any]], measure: Any, constraints: Sequence[Constraint], moves: bool = True
) -> None:
    """Check that rows held out have the groups to judge a model by.

    Parameters
    ----------
    cells : Cells or multiclass.GroupedCells
        Of the training rows.
    held : sequence of int array
        Cells of the rows held out from each network.
    measure : Measure or multiclass.MulticlassMeasure
        What is trained for.
    constraints : sequence of Constraint
        Possibly none.
    moves : bool, default True
        Whether these rows move duals.

    Raises
    ------
    ValueError
        If a gap finds fewer than two groups there, or a measure of the worst group none.

    Warns
    -----
    UserWarning
        Of the cells that have too few rows held out to move the duals.
    """
    for found in (cells.of_others(cell) for cell in held):
        try:
            for constraint in constraints:
                constraint.inequalities(found.against_rest(constraint).cells)
            if isinstance(measure, WorstOfForms):
                measure.forms_of(found)
        except ValueError as error:
            reason = str(error).rstrip(".")
            raise ValueError(f"the rows held out cannot judge a model: {reason}. Hold other rows out.") from None
    if moves:
        _warn_of_few(cells, held)


def _warn_of_few(cells: Any, held: Sequence[NDArray[Any]]) -> None:
    """Say which cells have too few rows held out to move the duals."""
    if not held:
        return
    smallest = np.min([np.bincount(cell, minlength=len(cells.rows)) for cell in held], axis=0)
    counts = cells.in_group if cells.groups else np.ones(len(smallest), dtype=bool)
    few = [name for name, rows, counted in zip(cells.names, smallest, counts) if counted and rows < ENOUGH_HELD_ROWS]
    if few:
        warn_caller(
            f"fewer than {ENOUGH_HELD_ROWS} rows are held out of {_listed(few)}: there the duals follow the training "
            "rows, which a network may fit too well."
        )


def weight_within_cells(cell: NDArray[Any], weight: NDArray[Any] | None, n_cells: int) -> NDArray[np.float64]:
    """Weights whose sum over a cell is its number of rows, by which a rate that is mostly noise is told from others.

    Parameters
    ----------
    cell : int array, shape (n,)
        Of each row.
    weight : array, shape (n,), or None
        Above 0; None for equal ones.
    n_cells : int
        Number of cells.

    Returns
    -------
    float64 array, shape (n,)
        Within a cell their ratios stay, and so do the rates of the cells.
    """
    if weight is None:
        return np.ones(len(cell))
    rows, weights = (np.bincount(cell, each, minlength=n_cells) for each in (None, weight))
    return np.asarray(weight * rows[cell] / weights[cell])


def warn_of_unreached(constraints: Sequence[Constraint], rates: NDArray[Any], cells: Any) -> None:
    """Warn of each constraint that is broken on the rows held out.

    Parameters
    ----------
    constraints : sequence of Constraint
        Possibly none.
    rates : array
        Recalls of the cells of these rows; of several classes their conditional confusion matrix.
    cells : Cells or multiclass.GroupedCells
        Of these rows.
    """
    values = [(constraint, float(constraint.value(rates, cells))) for constraint in constraints]
    broken = [f"{each} (reached: {value:.4g})" for each, value in values if each.excess(value) > REACHED]
    if broken:
        warn_caller(
            f"constraint not reached on the rows held out: {', '.join(broken)}. The model is the one that breaks "
            "constraints least; train longer, relax the bound, or give other features."
        )


def _listed(cells: Sequence[str], between: str = ", ") -> str:
    left = len(cells) - MOST_NAMED
    return between.join(cells[:MOST_NAMED]) + (f" and {left} more" if left > 0 else "")
