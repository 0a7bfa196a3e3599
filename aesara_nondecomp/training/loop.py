"""The training loop: one for all drivers, with one compiled step and a record of each step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose, positive_number
from aesara_nondecomp.data import MiniBatches, both_classes
from aesara_nondecomp.data.batches import Batch
from aesara_nondecomp.drivers import CellDriver, Driver, RewardWeights, RowDriver
from aesara_nondecomp.history import ClassStep, Step
from aesara_nondecomp.metrics.cell_rates import CellSums, cell_sums
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums
from aesara_nondecomp.parallel import Functions
from aesara_nondecomp.training.divergence import divergence
from aesara_nondecomp.training.groups import weight_within_cells
from aesara_nondecomp.training.schedules import factor_at

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.drivers.multiclass import CellDriver as ClassDriver
    from aesara_nondecomp.step.class_functions import ClassFunctions

Normaliser = Callable[[RewardWeights, Batch, float], Sequence[float]]


def train(
    functions: Functions | ClassFunctions,
    driver: Driver | ClassDriver,
    batches: MiniBatches,
    *,
    learning_rate: float,
    schedule: Callable[[int], float] = lambda step: 1.0,
    round_data: tuple[Any, NDArray[Any]] | None = None,
    normalize: str = "prior",
    after: Step | ClassStep | None = None,
    held: Any = None,
    moves: Callable[[int], bool] = lambda step: True,
) -> Iterator[Any]:
    """Train for as long as the caller asks for steps.

    Parameters
    ----------
    functions : Functions or ClassFunctions, possibly distributed
        Their parameters are updated in place.
    driver : Driver or drivers.multiclass.CellDriver
        Sets the reward weights of each step; with ClassFunctions, its gains.
    batches : MiniBatches
        The training rows.
    learning_rate : float
        Above 0.
    schedule : callable, optional
        Takes the index of a step, from 0, and returns a factor of at least 0 on the learning rate. Default: constant 1.
    round_data : (X, y), optional
        Rows to evaluate when a driver asks for a refresh. Default: a batch with both classes, drawn each time.
    normalize : {"prior", "batch"}, default "prior"
        Divide class sums by the expected number of a class's rows (unbiased), or by the batch's own
        (docs/algorithms.md 1.3). Without effect for row drivers, which weight rows and not sums.
    after : Step, optional
        The last step of an earlier phase, from which counts continue. Default: counts start at 0.
    held : TrainingRows, optional
        Rows that are not trained on, with cells, by which a driver of cells moves its duals. Default: it moves them by
        the training rows.
    moves : callable, optional
        Takes the index of a step, from 0, and returns whether these duals move after it. Default: after each.

    Yields
    ------
    Step or ClassStep
        The record of a step, after it.

    Raises
    ------
    ValueError
        If `learning_rate`, `normalize` or a factor of the schedule is not as described above; or if training diverges,
        so that the gradient or a class sum is not finite. Then the driver stays as it was, but the parameters may have
        moved.
    RuntimeError
        If another thread trains these functions.
    """
    positive_number("learning_rate", learning_rate)
    normaliser = _NORMALISERS[check_normalize(normalize)]
    step, samples, seconds = (after.step, after.samples, after.seconds) if after else (0, 0, 0.0)
    # In a loop of one's own each step takes the lock, as the caller decides how long to wait between two.
    takes = not functions.lock.in_training
    while True:
        if takes:
            functions.lock.take()
        try:
            rate = learning_rate * factor_at(schedule, step)
            record: Step | ClassStep
            if functions.several_classes:
                assert driver.several_classes
                compile_step(functions, driver)
                start = time.perf_counter()
                from aesara_nondecomp.training.class_step import class_step

                batch, record = class_step(functions, driver, batches, step + 1, rate, held, moves(step))
            else:
                assert not driver.several_classes
                compile_step(functions, driver)
                start = time.perf_counter()
                if driver.needs_refresh():
                    _refresh(functions, driver, batches, round_data, step + 1, rate)
                batch, sums, gradient_norm = _step(functions, driver, batches, step + 1, rate, normaliser)
                if isinstance(driver, CellDriver) and moves(step):
                    driver.move(None if held is None else _held_sums(functions, driver, held, step + 1, rate))
                record = Step(step + 1, 0, 0.0, rate, driver.duals(), sums, gradient_norm)
        finally:
            if takes:
                functions.lock.release()
        step += 1
        samples += batch.rows
        seconds += time.perf_counter() - start
        yield record._replace(samples=samples, seconds=seconds)


def compile_step(functions: Functions | ClassFunctions, driver: Driver | ClassDriver) -> None:
    """Compile what the next step of a driver calls, as far as it is not compiled.

    Parameters
    ----------
    functions : Functions or ClassFunctions, possibly distributed
        Of the network.
    driver : Driver or drivers.multiclass.CellDriver
        As for `train`.
    """
    if functions.several_classes:
        functions.compile(evaluation=driver.needs_refresh())
        return
    assert not driver.several_classes
    functions.compile(
        evaluation=driver.evaluate == "new" or driver.needs_refresh(),
        rows=isinstance(driver, RowDriver),
        cells=isinstance(driver, CellDriver),
    )


def _refresh(
    functions: Functions,
    driver: Driver,
    batches: MiniBatches,
    round_data: tuple[Any, NDArray[Any]] | None,
    step: int,
    rate: float,
) -> None:
    """Give the driver the class sums that it asks for before the step."""
    while driver.needs_refresh():
        X, y = both_classes(batches)[:2] if round_data is None else round_data
        sums = functions.class_sums(X, y)
        if not _finite(sums):
            raise divergence(functions, driver, X, step, rate)
        driver.refresh(sums)


def _step(
    functions: Functions, driver: Driver, batches: MiniBatches, step: int, rate: float, normaliser: Normaliser
) -> tuple[Batch, ClassSums, float]:
    """Make one step, and let the driver take its class sums."""
    if isinstance(driver, RowDriver):
        batch, sums, gradient_norm = _row_step(functions, driver, batches, rate)
    elif isinstance(driver, CellDriver):
        batch, sums, gradient_norm = _cell_step(functions, driver, batches, rate, normaliser)
    else:
        batch = next(batches)
        functions.set_objective(normaliser(driver.weights(), batch, batches.positive_share), rate)
        sums, gradient_norm = functions.ascend(batch.X, batch.y)
    observed = sums if driver.evaluate == "old" else functions.class_sums(batch.X, batch.y)
    if not _finite(observed, gradient_norm):
        raise divergence(functions, driver, batch.X, step, rate)
    driver.observe(observed)
    return batch, sums, gradient_norm


def _row_step(
    functions: Functions, driver: RowDriver, batches: MiniBatches, rate: float
) -> tuple[Batch, ClassSums, float]:
    batch = both_classes(batches)  # without one of them the loss is undefined
    scores = functions.scores(batch.X)
    if not np.isfinite(scores).all():  # the driver cannot take them
        return batch, ClassSums(*[math.nan] * len(ClassSums._fields)), math.nan
    functions.set_objective(RewardWeights(), rate)
    gradient_norm = functions.ascend_rows(batch.X, driver.coefficients(scores, batch.y).astype(scores.dtype))
    return batch, class_sums(scores, batch.y), gradient_norm


def _cell_step(
    functions: Functions, driver: CellDriver, batches: MiniBatches, rate: float, normaliser: Normaliser
) -> tuple[Batch, ClassSums, float]:
    """A step whose rows are weighted by their cells; the driver takes the cell sums."""
    batch = next(batches)
    if batches.cell_shares is None or batch.cell is None:
        raise ValueError("a driver of cells needs batches with cells: MiniBatches(..., cell=...)")
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = normaliser(driver.weights(), batch, batches.positive_share)
    weights = np.empty((len(driver.cells.rows), 2))
    weights[0::2], weights[1::2] = (sigmoid_neg, logistic_neg), (sigmoid_pos, logistic_pos)
    shares = np.zeros(len(weights))
    shares[: len(batches.cell_shares)] = batches.cell_shares
    weights += np.where(shares[:, None] > 0, driver.cell_weights() / np.maximum(shares, 1e-300)[:, None], 0.0)
    functions.set_cell_objective(weights, rate)
    sums, of_cells, gradient_norm = functions.ascend_cells(batch.X, batch.y, batch.cell)
    if _finite(sums, gradient_norm):
        driver.observe_cells(of_cells)
    return batch, sums, gradient_norm


def _held_sums(functions: Functions, driver: CellDriver, held: Any, step: int, rate: float) -> CellSums:
    """Cell sums of rows that are not trained on, at the current weights."""
    scores = functions.scores(held.X)
    if not np.isfinite(scores).all():
        raise divergence(functions, driver, held.X, step, rate)
    n_cells = len(driver.cells.rows)
    return cell_sums(scores, held.signs * weight_within_cells(held.cell, held.weight, n_cells), held.cell, n_cells)


def _finite(sums: ClassSums, gradient_norm: float = 0.0) -> bool:
    """Whether a step and the next one can be made; the logistic sums show every score that is not finite."""
    return math.isfinite(gradient_norm + sums.logistic_pos + sums.logistic_neg)


def _by_prior(weights: RewardWeights, batch: Batch, share: float) -> Sequence[float]:
    """Weights per row from weights of class means: divided by the fraction of the class in the batches."""
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = weights
    rest = 1.0 - share
    return sigmoid_pos / share, sigmoid_neg / rest, logistic_pos / share, logistic_neg / rest


def _by_batch(weights: RewardWeights, batch: Batch, share: float) -> Sequence[float]:
    """The same by the class's fraction of this batch; 0 for a missing class."""
    pos, neg = float(np.maximum(batch.y, 0).sum()), float(np.maximum(-batch.y, 0).sum())
    to_pos, to_neg = ((pos + neg) / part if part else 0.0 for part in (pos, neg))
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = weights
    return sigmoid_pos * to_pos, sigmoid_neg * to_neg, logistic_pos * to_pos, logistic_neg * to_neg


_NORMALISERS: dict[str, Normaliser] = {"prior": _by_prior, "batch": _by_batch}


def check_normalize(normalize: str) -> str:
    """Check the name of a normalisation.

    Parameters
    ----------
    normalize : str
        See `train`.

    Returns
    -------
    str
        The given name.

    Raises
    ------
    ValueError
        If it is unknown; the nearest is suggested.
    """
    choose("normalize", normalize, _NORMALISERS)
    return normalize
