"""Training that goes on from call to call: what `MeasureClassifier.partial_fit` does with one lot of rows."""

from __future__ import annotations

import copy
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from aesara_nondecomp import measures
from aesara_nondecomp._checks import positive_number
from aesara_nondecomp.data import Labels, MiniBatches, Standardiser, check_features, check_sample_weight, check_tokens
from aesara_nondecomp.estimators.sklearn_compat import check_random_state
from aesara_nondecomp.models.model import Model
from aesara_nondecomp.networks import Network
from aesara_nondecomp.step.train_functions import TrainFunctions
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.recipes import Problem, Recipe, recipe_for


class PartialFitState(NamedTuple):
    """Where the last call left off.

    Attributes
    ----------
    model : Model or None. None before the first call.
    functions : dict or None. The state of the compiled functions (moments, averages, random streams).
    driver : dict or None. The state of the driver.
    positives, negatives : float. Weight of the rows seen.
    rng : numpy Generator
    """

    model: Model | None
    functions: dict[str, np.ndarray] | None
    driver: dict[str, Any] | None
    positives: float
    negatives: float
    rng: np.random.Generator

    @classmethod
    def start(cls, model: Model | None, random_state: Any) -> PartialFitState:
        """The beginning, or the end of a `fit` (whose `model` is gone on from, but not its moments and duals)."""
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        return cls(model, None, None, 0.0, 0.0, rng)

    def with_rows(self, labels: Labels, weight: np.ndarray | None) -> PartialFitState:
        """After counting these rows."""
        weight = np.ones(len(labels.signs)) if weight is None else weight
        positives, negatives = (float(weight[side].sum()) for side in (labels.signs > 0, labels.signs < 0))
        return self._replace(positives=self.positives + positives, negatives=self.negatives + negatives)

    def problem(self, prior: float | None, text: bool) -> Problem:
        """What a recipe must know of the rows seen so far."""
        seen = self.positives + self.negatives
        observed = self.positives / seen
        return Problem(observed if prior is None else positive_number("prior", prior), eps=0.5 / seen, text=text)


def advance(
    progress: PartialFitState,
    functions: TrainFunctions,
    X: Any,
    labels: Labels,
    weight: np.ndarray | None,
    *,
    measure: Any,
    algorithm: str,
    preset: str,
    batch_size: int,
    learning_rate: float | None,
    averaging: float | None,
    l2: float,
    sampler: Any,
    standardize: bool,
    prior: float | None,
    feature_names: list[str] | None,
) -> tuple[Model, PartialFitState]:
    """One pass over the rows; the model after it, and where to go on from."""
    weight = None if weight is None else check_sample_weight(weight, labels.signs)
    # A generator of its own, as copies of an estimator share the old one.
    progress = progress.with_rows(labels, weight)._replace(rng=copy.deepcopy(progress.rng))
    measure = measures.get(measure)
    problem, before = progress.problem(prior, functions.network.takes_tokens), progress.model
    recipe = recipe_for(measure, problem, algorithm, preset)
    driver, threshold = _only_driver(recipe), _fixed_threshold(recipe)
    rate = positive_number("learning_rate", recipe.learning_rate if learning_rate is None else learning_rate)
    X = _checked_rows(X, functions.network)
    scaling = before.scaling if before else _scaling(X, weight, standardize)
    X = scaling.transform(X) if scaling else X
    batches = MiniBatches(X, labels.signs, batch_size, progress.rng, sampler, weight, functions.network.dtype)

    functions.configure(l2=l2, averaging=recipe.averaging if averaging is None else averaging)
    _take_up(functions, progress)
    if progress.driver:
        driver.restore(progress.driver)
    history = list(before.history) if before else []
    run = train(functions, driver, batches, learning_rate=rate, after=history[-1] if history else None)
    history += islice(run, batches.steps_per_epoch)
    model = Model(
        functions,
        functions.averaged_parameters(),
        measure,
        labels.classes,
        problem.prior,
        scaling,
        threshold=threshold,
        history=history,
        feature_names=feature_names,
    )
    return model, progress._replace(model=model, functions=functions.state(), driver=driver.state())


def _checked_rows(X: Any, network: Network) -> Any:
    if network.takes_tokens:
        return check_tokens(X, network.n_words)
    return check_features(X, columns=network.n_columns, dtype=network.dtype)


def _take_up(functions: TrainFunctions, progress: PartialFitState) -> None:
    if progress.functions is not None:
        functions.restore(progress.functions)
    else:
        functions.initialise(progress.rng, progress.model.parameters if progress.model else None)


def _only_driver(recipe: Recipe):
    if len(recipe.phases) > 1 or recipe.phases[0].head_only:
        raise ValueError(
            "partial_fit needs a recipe of one phase, got one that trains in several: what comes when in a stream of "
            "rows is not known. Use preset='default', or fit."
        )
    return recipe.phases[0].driver


def _fixed_threshold(recipe: Recipe) -> float:
    if recipe.threshold is None:
        raise ValueError(
            "partial_fit needs a recipe with a threshold, got one that chooses it on held-out rows (plug_in): a stream "
            "of rows has none. Use fit."
        )
    return recipe.threshold


def _scaling(X: Any, weight: np.ndarray | None, standardize: bool) -> Standardiser | None:
    measured = standardize and X.dtype.kind == "f" and not scipy.sparse.issparse(X)
    return Standardiser.fit(X, sample_weight=weight) if measured else None
