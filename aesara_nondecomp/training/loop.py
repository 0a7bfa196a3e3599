"""The training loop: one for all drivers, with one compiled step and a record of each step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import choose, positive_number
from aesara_nondecomp.data import MiniBatches, both_classes
from aesara_nondecomp.data.batches import Batch
from aesara_nondecomp.drivers import Driver, RewardWeights, RowDriver
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums
from aesara_nondecomp.parallel import Functions
from aesara_nondecomp.training.divergence import divergence

Normaliser = Callable[[RewardWeights, Batch, float], Sequence[float]]


def train(
    functions: Functions,
    driver: Driver,
    batches: MiniBatches,
    *,
    learning_rate: float,
    schedule: Callable[[int], float] = lambda step: 1.0,
    round_data: tuple[Any, NDArray[Any]] | None = None,
    normalize: str = "prior",
    after: Step | None = None,
) -> Iterator[Step]:
    """Train for as long as the caller asks for steps.

    Parameters
    ----------
    functions : TrainFunctions or DistributedFunctions
        Their parameters are updated in place.
    driver : Driver
        Sets the reward weights of each step.
    batches : MiniBatches
        The training rows.
    learning_rate : float
        Above 0.
    schedule : callable, optional
        Takes the index of a step, from 0, and returns a factor on the learning rate. Default: constant 1.
    round_data : (X, y), optional
        Rows to evaluate when a driver asks for a refresh. Default: a batch with both classes, drawn each time.
    normalize : {"prior", "batch"}, default "prior"
        Divide class sums by the expected number of a class's rows (unbiased), or by the batch's own
        (docs/algorithms.md 1.3). Without effect for row drivers, which weight rows and not sums.
    after : Step, optional
        The last step of an earlier phase, from which counts continue. Default: counts start at 0.

    Yields
    ------
    Step
        The record of a step, after it.

    Raises
    ------
    ValueError
        If `learning_rate` or `normalize` is not as described above; or if training diverges, so that the gradient or a
        class sum is not finite. Then the driver stays as it was, but the parameters may have moved.
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
            rate, refreshes = learning_rate * schedule(step), driver.needs_refresh()
            functions.compile(evaluation=driver.evaluate == "new" or refreshes, rows=isinstance(driver, RowDriver))
            start = time.perf_counter()
            if refreshes:
                _refresh(functions, driver, batches, round_data, step + 1, rate)
            batch, sums, gradient_norm = _step(functions, driver, batches, step + 1, rate, normaliser)
        finally:
            if takes:
                functions.lock.release()
        step += 1
        samples += batch.rows
        seconds += time.perf_counter() - start
        yield Step(step, samples, seconds, rate, driver.duals(), sums, gradient_norm)


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
