"""Training that diverged: a model or a checkpoint of weights that are not finite is never made."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.drivers import Driver, RowDriver
from aesara_nondecomp.history import Step
from aesara_nondecomp.parallel import Communicator, Functions, common_error

if TYPE_CHECKING:  # its module takes long to load, and most runs are of two classes
    from aesara_nondecomp.drivers.multiclass import CellDriver as ClassDriver


def divergence(functions: Functions, driver: Driver, X: Any, step: int, rate: float) -> ValueError:
    """The error of a step whose gradient or class sums are not finite; all processes make it together.

    Parameters
    ----------
    functions : TrainFunctions or DistributedFunctions
        In training.
    driver : Driver
        Before it takes the sums.
    X : array or LocalBatch, shape (b, ...)
        The rows of the step.
    step : int
        Number of the step.
    rate : float
        Its learning rate.

    Returns
    -------
    ValueError
        It says what is not finite, and what to do.
    """
    weights = () if isinstance(driver, RowDriver) else tuple(driver.weights())
    found = None if all(map(math.isfinite, weights)) else f"{type(driver).__name__} gave the weights {weights}"
    return _diverged(functions.comm, X, step, rate, found)


def class_divergence(comm: Communicator, driver: ClassDriver, X: Any, step: int, rate: float) -> ValueError:
    """The error of a step of K classes whose gradient or confusion sums are not finite.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    driver : drivers.multiclass.CellDriver
        Before it takes the sums.
    X : array or LocalBatch, shape (b, ...)
        The rows of the step.
    step : int
        Number of the step.
    rate : float
        Its learning rate.

    Returns
    -------
    ValueError
        It says what is not finite, and what to do.
    """
    finite = all(np.isfinite(part).all() for part in driver.gains())
    found = None if finite else f"{type(driver).__name__} gave gains that are not finite"
    return _diverged(comm, X, step, rate, found)


def check_weights(comm: Communicator, arrays: Iterable[NDArray[Any]], last: Step | None) -> None:
    """Refuse to keep what a diverged training has left.

    Parameters
    ----------
    comm : communicator
        Of the processes, which all have the same arrays.
    arrays : iterable of arrays
        Weights, and other state of the training.
    last : Step or None
        After which they are kept.

    Raises
    ------
    ValueError
        If an entry is not finite.
    """
    if all(array.dtype.kind != "f" or np.isfinite(array).all() for array in arrays):
        return
    when = "before its first step" if last is None else f"in step {last.step}, at a rate of {last.learning_rate:g}"
    raise common_error(
        comm,
        f"training diverged {when}: the weights are not finite. Lower learning_rate or l2, or rescale the rows.",
    )


def _diverged(comm: Communicator, X: Any, step: int, rate: float, unusable: str | None) -> ValueError:
    """The error; `unusable` says what of the driver is not finite, if anything."""
    largest = max(comm.allgather(_largest(getattr(X, "X", X))))
    if math.isinf(largest):
        reason = "the rows of its batch are not finite. Rows must not be modified during training."
    elif unusable is not None:
        reason = f"{unusable}. Check the formulas of its measure."
    else:
        reason = f"the largest feature of its batch is {largest:g}. Lower learning_rate or l2, or rescale the rows."
    return common_error(comm, f"training diverged in step {step} at a learning rate of {rate:g}: {reason}")


def _largest(rows: Any) -> float:
    """The largest absolute value; infinite if one is NaN."""
    values = np.asarray(rows)
    largest = float(np.abs(values).max(initial=0)) if values.dtype.kind == "f" else 0.0
    return math.inf if math.isnan(largest) else largest
