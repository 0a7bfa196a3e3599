"""Incremental training, the body of `MeasureClassifier.partial_fit`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._numeric import row_counts
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.drivers import Driver
from aesara_nondecomp.estimators.input_checks import random_state_of
from aesara_nondecomp.models import Model
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.divergence import check_weights
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.param_checks import check_algorithm, weight_decay
from aesara_nondecomp.training.recipes import Problem, Recipe, resolve_recipe
from aesara_nondecomp.training.training_data import TrainingData, prepare


class PartialFitState(NamedTuple):
    """State of training between two calls.

    Attributes
    ----------
    model : Model or None
        The last model; None before the first call.
    functions : dict or None
        State of the compiled functions: moments, averages, random streams. None: they start anew.
    driver : dict or None
        State of the driver. None: it starts anew.
    positives : float
        Number of the positive rows seen, by weight.
    negatives : float
        Number of the negative rows seen, by weight.
    rng : numpy Generator
        Draws the batches.
    """

    model: Model | None
    functions: dict[str, NDArray[Any]] | None
    driver: dict[str, Any] | None
    positives: float
    negatives: float
    rng: np.random.Generator

    @classmethod
    def start(cls, model: Model | None, random_state: Any) -> PartialFitState:
        """Make the first state; after `fit` it has the weights of that model, but new moments and duals.

        Parameters
        ----------
        model : Model or None
            A model to train further.
        random_state : int, RandomState or None
            Seeds the generator.

        Returns
        -------
        PartialFitState
        """
        rng = np.random.default_rng(random_state_of(random_state).randint(2**31 - 1))
        return cls(model, None, None, 0.0, 0.0, rng)

    def with_rows(self, data: TrainingData) -> PartialFitState:
        """Count the rows of one call.

        Parameters
        ----------
        data : TrainingData
            The rows.

        Returns
        -------
        PartialFitState
            With a generator of its own.
        """
        signs = data.rows.signs
        weight = np.ones(len(signs)) if data.rows.weight is None else row_counts(data.rows.weight)
        positives, negatives = (float(weight[side].sum()) for side in (signs > 0, signs < 0))
        # Copied, as copies of an estimator share the old generator.
        rng = copy.deepcopy(self.rng)
        return self._replace(positives=self.positives + positives, negatives=self.negatives + negatives, rng=rng)

    def problem(self, prior: float | None, text: bool) -> Problem:
        """Describe the rows seen so far, for the choice of a recipe.

        Parameters
        ----------
        prior : float or None
            Share of positives to train for. None: that of the rows.
        text : bool
            Whether the rows are token ids.

        Returns
        -------
        Problem
        """
        seen = self.positives + self.negatives
        return Problem(self.positives / seen if prior is None else prior, eps=0.5 / seen, text=text)


def advance(
    state: PartialFitState,
    network: Callable[[int], TrainFunctions],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    positive: Any,
    measure: Any,
    given: dict[str, Any],
) -> tuple[Model, PartialFitState]:
    """Make one pass over the rows.

    Parameters
    ----------
    state : PartialFitState
        State after the last call.
    network : callable (size -> TrainFunctions)
        Makes the functions in the first call.
    X : matrix, data frame or array of str
        Inputs, as `check_rows` returns them.
    y : array, shape (n,)
        Labels of two classes.
    sample_weight : array, shape (n,), or None
        Weights of at least 0.
    positive : scalar or None
        The positive label.
    measure : str or Measure
        What to train for.
    given : dict
        Checked values of algorithm, batch_size, learning_rate, averaging, l2, sampler, standardize and prior.

    Returns
    -------
    model : Model
        The model after this pass, not calibrated.
    state : PartialFitState
        State for the next call.

    Raises
    ------
    ValueError
        If data are unusable, training diverges, or the recipe has several phases or no threshold.
    """
    check_algorithm(given["algorithm"], given["prior"])
    before = state.model
    data = prepare(
        X, y, network=before.functions if before else network, encoder=before.encoder if before else None,
        positive=positive, sample_weight=sample_weight, standardize=given["standardize"],
    )  # fmt: skip
    functions: Any = data.network
    state, measure = state.with_rows(data), measures.get(measure)
    problem = state.problem(given["prior"], functions.network.takes_tokens)
    recipe = resolve_recipe(given["algorithm"], measure, problem)
    driver, threshold = copy.deepcopy(_only_driver(recipe)), _fixed_threshold(recipe)
    threshold = before.threshold if before else threshold
    batch_size = min(given["batch_size"], len(data.rows.signs))
    X, signs, weight, _ = data.rows
    with functions.lock.training():
        batches = MiniBatches(X, signs, batch_size, state.rng, given["sampler"], weight, functions.network.dtype)
        averaging = recipe.averaging if given["averaging"] is None else given["averaging"]
        functions.configure(l2=weight_decay(given["l2"], recipe, functions.optimizer), averaging=averaging)
        _restore(functions, driver, state)
        history = list(before.history) if before else []
        rate = recipe.learning_rate if given["learning_rate"] is None else given["learning_rate"]
        steps = train(functions, driver, batches, learning_rate=rate, after=history[-1] if history else None)
        history += islice(steps, batches.steps_per_epoch)
        parameters, trained = functions.averaged_parameters(), functions.state()
        check_weights(functions.comm, [*parameters, *trained.values()], history[-1])
    model = Model(
        functions, parameters, measure, data.classes, problem.prior, data.encoder, threshold=threshold, history=history
    )
    return model, state._replace(model=model, functions=trained, driver=driver.state())


def _restore(functions: TrainFunctions, driver: Driver, state: PartialFitState) -> None:
    if state.functions is None:
        functions.initialise(state.rng, state.model.parameters if state.model else None)
    else:
        functions.restore(state.functions)
    if state.driver:
        driver.restore(state.driver)


def _only_driver(recipe: Recipe) -> Driver:
    if len(recipe.phases) > 1 or recipe.phases[0].head_only:
        raise ValueError(
            "partial_fit needs a recipe of one phase, got one that trains in several: what comes when in a stream of "
            "rows is not known. Use a default algorithm, or fit."
        )
    driver: Driver = recipe.phases[0].driver
    return driver


def _fixed_threshold(recipe: Recipe) -> float:
    if recipe.threshold is None:
        raise ValueError(
            "partial_fit needs a recipe with a threshold, got one that chooses it on held-out rows (plug_in): a stream "
            "of rows has none. Use fit."
        )
    return recipe.threshold
