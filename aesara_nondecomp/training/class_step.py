"""A step of K classes in the training loop: steered by a matrix of gains, recorded by its confusion sums."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.data.batches import Batch
from aesara_nondecomp.drivers.multiclass import CellDriver as ClassDriver
from aesara_nondecomp.history import ClassStep
from aesara_nondecomp.metrics import ConfusionSums
from aesara_nondecomp.step.class_functions import ClassFunctions
from aesara_nondecomp.training.divergence import class_divergence


def class_step(
    functions: ClassFunctions, driver: ClassDriver, batches: MiniBatches, step: int, rate: float
) -> tuple[Batch, ClassStep]:
    """Make one step, and let the driver take its confusion sums.

    Parameters
    ----------
    functions : ClassFunctions
        Their parameters are updated in place.
    driver : drivers.multiclass.CellDriver
        Sets the gains of the step.
    batches : MiniBatches
        The training rows; their cells are the classes.
    step : int
        Number of the step, from 1.
    rate : float
        Its learning rate.

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
        driver.refresh(_finite(functions, functions.confusion_sums(*_rows(batch)), 0.0, batch, step, rate))
    batch, gains = next(batches), driver.gains()
    functions.steer(gains, rate, shares)
    sums, gradient_norm = functions.ascend(*_rows(batch))
    driver.observe(_finite(functions, sums, gradient_norm, batch, step, rate))
    numbers = (*driver.cells.recalls(sums.hard).tolist(), *sums.weight.tolist())
    duals = {f"{name}_{k}": value for name, values in driver.duals().items() for k, value in enumerate(values)}
    return batch, ClassStep(step, 0, 0.0, rate, duals, numbers, gradient_norm)


def _rows(batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    if batch.cell is None:
        raise ValueError("a driver of K classes needs batches with cells: MiniBatches(..., cell=...)")
    return batch.X, batch.cell, np.abs(batch.y)


def _finite(
    functions: ClassFunctions, sums: ConfusionSums, gradient_norm: float, batch: Batch, step: int, rate: float
) -> ConfusionSums:
    """The sums, if they can be taken; every score that is not finite shows in the logistic ones."""
    if not math.isfinite(gradient_norm + float(sums.logistic.sum())):
        raise class_divergence(functions.comm, batch.X, step, rate)
    return sums
