"""A step of K classes in the training loop: steered by a matrix of gains, recorded by its confusion sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.data.batches import Batch
from aesara_nondecomp.drivers.multiclass import CellDriver as ClassDriver
from aesara_nondecomp.history import ClassStep
from aesara_nondecomp.measures.multiclass import GroupedCells
from aesara_nondecomp.metrics import ConfusionSums
from aesara_nondecomp.metrics.class_scores import cell_confusion
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.divergence import class_divergence
from aesara_nondecomp.training.groups import weight_within_cells


def class_step(
    functions: ClassFunctions,
    driver: ClassDriver,
    batches: MiniBatches,
    step: int,
    rate: float,
    held: Any = None,
    moves: bool = False,
) -> tuple[Batch, ClassStep]:
    """Make one step, and let the driver take its confusion sums.

    Parameters
    ----------
    functions : ClassFunctions
        Their parameters are updated in place.
    driver : drivers.multiclass.CellDriver
        Sets the gains of the step.
    batches : MiniBatches
        The training rows; their cells are those of the driver.
    step : int
        Number of the step, from 1.
    rate : float
        Its learning rate.
    held : TrainingRows, optional
        Rows that are not trained on, by which the driver moves its duals.
    moves : bool, default False
        Whether it moves them after this step.

    Returns
    -------
    batch : Batch
        Of the step.
    record : ClassStep
        Without samples and seconds, which the loop knows.

    Raises
    ------
    ValueError
        If training diverges, so that the gradient or a sum is not finite.
    """
    shares = functions.shares_in(batches.cell_shares)
    while driver.needs_refresh():
        batch = next(batches)
        driver.refresh(_finite(functions, driver, functions.confusion_sums(*_rows(batch)), 0.0, batch, step, rate))
    batch, gains = next(batches), driver.gains()
    functions.steer(gains, rate, shares)
    sums, gradient_norm = functions.ascend(*_rows(batch))
    driver.observe(_finite(functions, driver, sums, gradient_norm, batch, step, rate))
    if moves and driver.moves:
        driver.move(None if held is None else _held_counts(functions, driver, held, step, rate))
    counts = np.stack([driver.cells.recalls(sums.hard), sums.weight])  # of counts: how many of each cell are right
    if isinstance(driver.cells, GroupedCells):  # the record is of the classes
        counts = counts.reshape(2, -1, driver.cells.n_classes).sum(axis=1)
    numbers = tuple(counts.ravel().tolist())
    return batch, ClassStep(step, 0, 0.0, rate, _by_name(driver.duals()), numbers, gradient_norm)


def _by_name(duals: dict[str, Any]) -> dict[str, float]:
    """Duals with a name each: those of a list are numbered."""
    named = {}
    for name, values in duals.items():
        numbered = {f"{name}_{k}": value for k, value in enumerate(values)} if isinstance(values, list) else None
        named.update({name: values} if numbered is None else numbered)
    return named


def _held_counts(
    functions: ClassFunctions, driver: ClassDriver, held: Any, step: int, rate: float
) -> NDArray[np.float64]:
    """Confusion matrix of the cells of rows that are not trained on, at the current weights."""
    scores = functions.scores(held.X)
    if not np.isfinite(scores).all():
        raise class_divergence(functions.comm, driver, held.X, step, rate)
    shape = driver.cells.n_cells, driver.cells.n_classes
    weight = weight_within_cells(held.cell, held.weight, driver.cells.n_cells)
    return np.asarray(cell_confusion(held.cell, scores.argmax(axis=1), shape, weight), dtype=float)


def _rows(batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    if batch.cell is None:
        raise ValueError("a driver of K classes needs batches with cells: MiniBatches(..., cell=...)")
    return batch.X, batch.cell, np.abs(batch.y)


def _finite(
    functions: ClassFunctions,
    driver: ClassDriver,
    sums: ConfusionSums,
    gradient_norm: float,
    batch: Batch,
    step: int,
    rate: float,
) -> ConfusionSums:
    """The sums, if they can be taken; every score that is not finite shows in the logistic ones."""
    if not math.isfinite(gradient_norm + float(sums.logistic.sum())):
        raise class_divergence(functions.comm, driver, batch.X, step, rate)
    return sums
