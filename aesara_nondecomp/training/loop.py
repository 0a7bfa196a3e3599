"""The one training loop: every driver, one compiled step, a record per step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from aesara_nondecomp._checks import choose, positive_number
from aesara_nondecomp.data import MiniBatches, both_classes
from aesara_nondecomp.drivers import Driver, RewardWeights, RowDriver
from aesara_nondecomp.history import Step
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums
from aesara_nondecomp.step.train_functions import TrainFunctions


def train(
    functions: TrainFunctions,
    driver: Driver,
    batches: MiniBatches,
    *,
    learning_rate: float,
    schedule: Callable[[int], float] = lambda step: 1.0,
    round_data: tuple[np.ndarray, np.ndarray] | None = None,
    normalize: str = "prior",
    after: Step | None = None,
) -> Iterator[Step]:
    """Train for as long as the caller asks for steps.

    Parameters
    ----------
    functions : TrainFunctions. Its parameters are moved in place.
    driver : Driver
    batches : MiniBatches
    learning_rate : float > 0
    schedule : callable (step from 0 -> factor on the learning rate)
    round_data : (X, y), optional
        The rows that a driver's rounds are evaluated on; by default each round draws one batch with both classes.
    normalize : {"prior", "batch"}
        Class sums are divided by the expected number of a class's rows (unbiased) or by the batch's own (spec 1.3).
        Row drivers weight rows and not sums, so neither concerns them.
    after : Step, optional. The last step of an earlier phase, to go on counting from.

    Yields
    ------
    Step
    """
    positive_number("learning_rate", learning_rate)
    normaliser = _NORMALISERS[check_normalize(normalize)]
    step, samples, seconds = (after.step, after.samples, after.seconds) if after else (0, 0, 0.0)
    while True:
        evaluation = driver.evaluate == "new" or driver.needs_refresh()
        functions.compile(evaluation=evaluation, rows=isinstance(driver, RowDriver))
        begun = time.perf_counter()
        while driver.needs_refresh():
            driver.refresh(_round_sums(functions, batches, round_data))
        rate = learning_rate * schedule(step)
        if isinstance(driver, RowDriver):
            batch, sums, gradient_norm = _row_step(functions, driver, batches, rate)
        else:
            batch, sums, gradient_norm = _class_step(functions, driver, batches, rate, normaliser)
        step += 1
        samples += batch.rows
        seconds += time.perf_counter() - begun
        yield Step(step, samples, seconds, rate, driver.duals(), sums, gradient_norm)


def _class_step(functions, driver, batches, rate, normaliser):
    batch = next(batches)
    functions.set_objective(normaliser(driver.weights(), batch, batches.positive_share), rate)
    sums, gradient_norm = functions.ascend(batch.X, batch.y)
    driver.observe(sums if driver.evaluate == "old" else functions.class_sums(batch.X, batch.y))
    return batch, sums, gradient_norm


def _row_step(functions, driver: RowDriver, batches, rate):
    batch = both_classes(batches)  # without one of them the loss is undefined
    scores = functions.scores(batch.X)
    functions.set_objective(RewardWeights(), rate)
    gradient_norm = functions.ascend_rows(batch.X, driver.coefficients(scores, batch.y).astype(scores.dtype))
    return batch, class_sums(scores, batch.y), gradient_norm


def _round_sums(functions, batches, round_data) -> ClassSums:
    if round_data is not None:
        return functions.class_sums(*round_data)
    batch = both_classes(batches)
    return functions.class_sums(batch.X, batch.y)


def _by_prior(weights, batch, share):
    """Weights per row from weights of class means: divided by the share of the class in the batches."""
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = weights
    rest = 1.0 - share
    return sigmoid_pos / share, sigmoid_neg / rest, logistic_pos / share, logistic_neg / rest


def _by_batch(weights, batch, share):
    pos, neg = float(np.maximum(batch.y, 0).sum()), float(np.maximum(-batch.y, 0).sum())
    to_pos, to_neg = ((pos + neg) / part if part else 0.0 for part in (pos, neg))
    sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = weights
    return sigmoid_pos * to_pos, sigmoid_neg * to_neg, logistic_pos * to_pos, logistic_neg * to_neg


_NORMALISERS = {"prior": _by_prior, "batch": _by_batch}


def check_normalize(normalize: str) -> str:
    """The given name of a normalisation, or a ValueError that suggests the nearest."""
    choose("normalize", normalize, _NORMALISERS)
    return normalize
