"""Incremental training, the body of `MeasureClassifier.partial_fit`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import measures
from aesara_nondecomp._checks import require
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.estimators.input_checks import random_state_of
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.models import Model
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.class_labels import needs_classes
from aesara_nondecomp.training.divergence import check_weights
from aesara_nondecomp.training.loop import train
from aesara_nondecomp.training.param_checks import check_algorithm, check_further, check_recipe
from aesara_nondecomp.training.recipes import Problem, Recipe, resolve_recipe
from aesara_nondecomp.training.run_settings import BATCH_SIZE, value_or, weight_decay
from aesara_nondecomp.training.training_data import TrainingData, prepare

if TYPE_CHECKING:  # slow, and most labels are of two classes
    from aesara_nondecomp.measures.multiclass import MulticlassMeasure
    from aesara_nondecomp.models import ClassModel
    from aesara_nondecomp.step.class_functions import ClassFunctions

WARM_UP_STEPS = 100  # after `fit`; with 300 rows a single full step took F1 from .94 to .60
_NO_ROWS_TO_CHOOSE_ON = (
    "partial_fit needs a recipe with a {0}, got one that chooses it on held-out rows (plug_in): a stream of rows has "
    "none. Use fit."
)


class PartialFitState(NamedTuple):
    """State of training between two calls.

    Attributes
    ----------
    model : Model, ClassModel or None
        The last model; None before the first call.
    functions : dict or None
        State of the compiled functions: moments, averages, random streams. None: they start anew.
    driver : dict or None
        State of the driver. None: it starts anew.
    seen : tuple of float
        Weight of the rows seen of each class: of negatives and positives, or of several classes.
    rng : numpy Generator
        Draws the batches.
    n_rows : int, default 0
        How many rows were seen.
    trained : tuple of str, default ()
        Measure, algorithm and driver that the driver's state belongs to.
    fitted_steps : int, optional
        Steps of the `fit` that this goes on from. Default: it goes on from none.
    """

    model: Model | ClassModel | None
    functions: dict[str, NDArray[Any]] | None
    driver: dict[str, Any] | None
    seen: tuple[float, ...]
    rng: np.random.Generator
    n_rows: int = 0
    trained: tuple[str, ...] = ()
    fitted_steps: int | None = None

    @classmethod
    def start(
        cls, model: Model | ClassModel | None, random_state: Any, seen: tuple[float, ...] = (), n_rows: int = 0
    ) -> PartialFitState:
        """Make the first state; after `fit` it has the weights of that model, but new moments and duals.

        Parameters
        ----------
        model : Model, ClassModel or None
            A model to train further.
        random_state : int, RandomState or None
            Seeds the generator.
        seen : tuple of float, optional
            Weight of the rows of each class that the model was fitted to. Default: unknown.
        n_rows : int, default 0
            Their number.

        Returns
        -------
        PartialFitState
        """
        rng = np.random.default_rng(random_state_of(random_state).randint(2**31 - 1))
        return cls(model, None, None, seen, rng, n_rows, fitted_steps=None if model is None else len(model.history))

    def warm_up(self, step: int) -> float:
        """Factor on the learning rate: full first steps of an optimiser without moments would undo what was fitted.

        Parameters
        ----------
        step : int
            Index of the step, from 0 at the first one of `fit`.

        Returns
        -------
        float
            In (0, 1]; 1 for weights that were not fitted.
        """
        return 1.0 if self.fitted_steps is None else min(1.0, (step + 1 - self.fitted_steps) / WARM_UP_STEPS)

    def with_rows(self, data: TrainingData, sample_weight: NDArray[Any] | None) -> PartialFitState:
        """Count the rows of one call.

        Parameters
        ----------
        data : TrainingData
            The rows.
        sample_weight : array, shape (n,), or None
            Weights as given, which calls have on one scale; rows of weight 0 are not in `data`.

        Returns
        -------
        PartialFitState
            With a generator of its own.
        """
        signs, cell = data.rows.signs, data.rows.cell
        of_rows = (signs > 0).astype(np.intp) if cell is None else cell
        counted = None if sample_weight is None else sample_weight[sample_weight > 0]
        weights, n_rows = count_rows(of_rows, len(data.classes), counted)
        # Copied, as copies of an estimator share the old generator.
        rng = copy.deepcopy(self.rng)
        before = self.seen or (0.0,) * len(weights)
        seen = tuple(old + new for old, new in zip(before, weights))
        return self._replace(seen=seen, n_rows=self.n_rows + n_rows, rng=rng)

    def problem(self, prior: float | None, text: bool) -> Problem:
        """Describe the rows of two classes seen so far, for the choice of a recipe.

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
        negatives, positives = self.seen
        share = positives / (positives + negatives)
        return Problem(share if prior is None else prior, eps=0.5 / self.n_rows, text=text)


def count_rows(codes: NDArray[Any], n_classes: int, weight: NDArray[Any] | None) -> tuple[tuple[float, ...], int]:
    """Count rows that are trained on.

    Parameters
    ----------
    codes : int array, shape (n,)
        Classes as numbers.
    n_classes : int
        Number of classes.
    weight : array, shape (n,), or None
        Sample weights; rows of weight 0 are none.

    Returns
    -------
    weights : tuple of float
        Weight of the rows of each class.
    n_rows : int
    """
    weights = np.bincount(codes, weight, minlength=n_classes)
    return tuple(map(float, weights)), len(codes) if weight is None else int(np.count_nonzero(weight))


class Goal(NamedTuple):
    """What one pass trains, and what is known of the model it gives.

    Attributes
    ----------
    recipe : Recipe
        Of a single phase.
    measure : Measure or MulticlassMeasure
        What is trained for.
    sampler : str or float
        How batches are drawn.
    kind : type
        Of the model.
    rule : dict
        Fields of the model beside its weights and its record: prior and threshold, or priors and rule.
    """

    recipe: Recipe
    measure: Any
    sampler: Any
    kind: Any
    rule: dict[str, Any]


def advance(
    state: PartialFitState,
    network: Callable[[int], TrainFunctions | ClassFunctions],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    positive: Any,
    measure: Any,
    given: dict[str, Any],
) -> tuple[Model | ClassModel, PartialFitState]:
    """Make one pass over the rows.

    Parameters
    ----------
    state : PartialFitState
        State after the last call.
    network : callable (size -> TrainFunctions or ClassFunctions)
        Makes the functions in the first call.
    X : matrix, data frame or array of str
        Inputs, as `check_rows` returns them.
    y : array, shape (n,)
        Labels of two classes, or of several.
    sample_weight : array, shape (n,), or None
        Weights of at least 0.
    positive : scalar or None
        The positive label.
    measure : str, Measure or MulticlassMeasure
        What to train for; the last of these where the labels are of several classes.
    given : dict
        Checked values of algorithm, batch_size, learning_rate, averaging, l2, sampler, standardize and prior.

    Returns
    -------
    model : Model or ClassModel
        The model after this pass, not calibrated.
    state : PartialFitState
        State for the next call.

    Raises
    ------
    ValueError
        If data are unusable, training diverges, or the recipe has several phases, no threshold or no rule.
    """
    check_algorithm(given["algorithm"], given["prior"])
    before, several = state.model, needs_classes(measure)
    same = before is None or isinstance(before, Model) != several
    require(same, "partial_fit goes on with its model: give a measure of as many classes", measure)
    if before is not None:
        check_further(before, given["standardize"])
    data = prepare(
        X, y, network=before.functions if before else network, encoder=before.encoder if before else None,
        positive=positive, sample_weight=sample_weight, standardize=given["standardize"], multiclass=several,
    )  # fmt: skip
    if before is not None:
        needed = "partial_fit goes on with its model: pos_label must stay as it was, so that the classes are "
        require(data.classes == before.classes, f"{needed}{before.classes}", data.classes)
    functions: Any = data.network
    state = state.with_rows(data, sample_weight)
    goal = (_class_goal if several else _goal)(state, measure, given, data)
    recipe, driver = goal.recipe, copy.deepcopy(_only_driver(goal.recipe))
    n_rows = len(data.rows.signs)
    batch_size = min(value_or(given["batch_size"], BATCH_SIZE), n_rows)  # of all chunks, the table may be large
    X, signs, weight, cell = data.rows
    with functions.lock.training():
        dtype = functions.network.dtype
        batches = MiniBatches(X, signs, batch_size, state.rng, goal.sampler, weight, dtype, cell=cell)
        averaging = value_or(given["averaging"], recipe.averaging)
        functions.configure(l2=weight_decay(given["l2"], recipe, functions.optimizer), averaging=averaging)
        algorithm = given["algorithm"] if isinstance(given["algorithm"], str) else "a recipe"
        trained = identity(goal.measure), algorithm, type(driver).__name__
        _restore(functions, driver, state, anew=state.trained != trained)
        history: list[Any] = list(before.history) if before else []
        rate = value_or(given["learning_rate"], recipe.learning_rate)
        after = history[-1] if history else None
        steps = train(functions, driver, batches, learning_rate=rate, schedule=state.warm_up, after=after)
        history += islice(steps, batches.steps_per_epoch)
        parameters, moments = functions.averaged_parameters(), functions.state()
        check_weights(functions.comm, [*parameters, *moments.values()], history[-1])
    model = goal.kind(
        functions, parameters, goal.measure, data.classes, encoder=data.encoder, history=history, **goal.rule
    )
    return model, state._replace(model=model, functions=moments, driver=driver.state(), trained=trained)


def _goal(state: PartialFitState, measure: Any, given: dict[str, Any], data: TrainingData) -> Goal:
    found, functions = measures.get(measure), cast(TrainFunctions, data.network)
    problem = state.problem(given["prior"], functions.network.takes_tokens)
    recipe = resolve_recipe(given["algorithm"], found, problem)
    _only_driver(recipe)
    check_recipe(recipe, functions.network, data.rows.weight, given["prior"])
    threshold = _fixed_threshold(recipe)
    if isinstance(state.model, Model):
        former = _threshold_of_one(state.model)
        # That of a collapsed model would hold every row of every later call for the same class.
        threshold = former if np.isfinite(former) else threshold
    return Goal(recipe, found, given["sampler"], Model, {"prior": problem.prior, "threshold": threshold})


def _threshold_of_one(model: Model) -> float:
    """The threshold for one network, as only one goes on after a vote; one that was moved since `fit` is kept."""
    quantifier = model.quantifier
    if quantifier is None or quantifier.of_networks is None or model.threshold_has_moved:
        return model.threshold
    return quantifier.of_networks.threshold


def _class_goal(state: PartialFitState, measure: MulticlassMeasure, given: dict[str, Any], data: TrainingData) -> Goal:
    """Of several classes; a rule that a `fit` has chosen stays, and with it the training that it was chosen for."""
    from aesara_nondecomp.measures.multiclass import Cells
    from aesara_nondecomp.models import ClassModel
    from aesara_nondecomp.training.class_recipes import class_recipe
    from aesara_nondecomp.training.fit_classes import class_sampler

    seen = np.array(state.seen)
    cells = Cells(seen / seen.sum())
    rule = state.model.rule if isinstance(state.model, ClassModel) else None
    recipe = class_recipe(given["algorithm"], measure, cells, 0.5 / state.n_rows, held_out=rule is not None)
    if recipe.plug_in is not None and rule is None:
        raise ValueError(_NO_ROWS_TO_CHOOSE_ON.format("rule"))
    sampler = class_sampler(given["sampler"])
    return Goal(recipe, measure, sampler, ClassModel, {"priors": cells.priors, "rule": rule})


def _restore(functions: Any, driver: Any, state: PartialFitState, anew: bool) -> None:
    """Go on from a state; the duals start anew if they are those of another measure or algorithm."""
    if state.functions is None:
        functions.initialise(state.rng, state.model.parameters if state.model else None)
    else:
        functions.restore(state.functions)
    if state.driver and not anew:
        driver.restore(state.driver)


def _only_driver(recipe: Recipe) -> Any:
    if len(recipe.phases) > 1 or recipe.phases[0].head_only:
        raise ValueError(
            "partial_fit needs a recipe of one phase, got one that trains in several: what comes when in a stream of "
            "rows is not known. Use a default algorithm, or fit."
        )
    return recipe.phases[0].driver


def _fixed_threshold(recipe: Recipe) -> float:
    if recipe.threshold is None:
        raise ValueError(_NO_ROWS_TO_CHOOSE_ON.format("threshold"))
    return recipe.threshold
