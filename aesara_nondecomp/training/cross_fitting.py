"""The networks of one call: a single one, or one for each fold, which vote."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.history import Evaluation, Step
from aesara_nondecomp.parallel import Functions
from aesara_nondecomp.training.recipes import Phase
from aesara_nondecomp.training.run import Settings, TrainingRows, TrainingRun
from aesara_nondecomp.training.training_data import TrainingData
from aesara_nondecomp.training.validation_monitor import Snapshot, ValidationMonitor
from aesara_nondecomp.training.vote_scores import vote_scores, with_one_value_for_ties

if TYPE_CHECKING:  # their modules take long to load, and most runs are of two classes
    from aesara_nondecomp.step.class_functions import ClassFunctions

Parameters = list[NDArray[Any]]


class Trained(NamedTuple):
    """What remains of a network's training.

    Attributes
    ----------
    history : list of Step
        Its steps.
    monitor : ValidationMonitor or None
        Its evaluations.
    """

    history: list[Step]
    monitor: ValidationMonitor | None


class Choice(NamedTuple):
    """The weights that a call returns, and what the held-out rows say of them.

    Attributes
    ----------
    parameters : list of list of arrays
        Of each network.
    scores : array, shape (n,), or None
        Of the held-out rows, each by the network that was not trained on it; None without held-out rows.
    signs : array, shape (n,), or None
        Their labels in {-1, +1}.
    weight : array, shape (n,), or None
        Their sample weights; None for equal ones.
    evaluations : list of Evaluation
        On the held-out rows of all networks together.
    step : int or None
        Step of these weights, if held-out rows chose them.
    cell : array, shape (n,), or None
        Cells of the held-out rows, where they play a part.
    folds : tuple of int
        Which fold each network was trained without: after Ctrl-C they need not be the first ones.
    votes : array, shape (n,), (n, L) or (n, K), or None
        Where several networks vote, the scores with the distribution that votes have; see `vote_scores`.
    """

    parameters: list[Parameters]
    scores: NDArray[Any] | None
    signs: NDArray[Any] | None
    weight: NDArray[Any] | None
    evaluations: list[Evaluation]
    step: int | None
    cell: NDArray[Any] | None = None
    folds: tuple[int, ...] = (0,)
    votes: NDArray[Any] | None = None

    @property
    def scores_of_model(self) -> NDArray[Any] | None:
        """Scores of the held-out rows with the distribution that the model's scores of new rows have."""
        return self.scores if self.votes is None else self.votes


class CrossFit:
    """The networks of one call: trains them in turn, or takes over what `fold_processes` has trained.

    Parameters
    ----------
    functions : Functions or ClassFunctions, possibly distributed
        Train each network in turn.
    data : TrainingData
        Rows and folds.
    phases : sequence of Phase
        Of the recipe.
    settings : Settings
        Of each network.
    monitor : callable (held, keep_all) -> ValidationMonitor, or None
        Makes the monitor of held-out rows.
    rng : numpy Generator
        Of initial weights and the order of rows; each of several networks gets a generator of its own.
    initial : sequence of list of arrays, optional
        Weights to start from, one list for each network, or fewer that are used in turn. Default: fresh ones.
    placed : callable (TrainingRows) -> TrainingRows, optional
        Places the rows of a network, for example on a device.

    Attributes
    ----------
    count : int
        Number of networks.
    done : list of Trained
        Those whose training has ended.
    run : TrainingRun
        Of the network in training, or of the last one.
    monitor : ValidationMonitor or None
        Of that run.
    """

    def __init__(
        self,
        functions: Functions | ClassFunctions,
        data: TrainingData,
        phases: Sequence[Phase],
        settings: Settings,
        monitor: Callable[[TrainingRows, bool], ValidationMonitor] | None,
        rng: np.random.Generator,
        initial: Sequence[Parameters] = (),
        placed: Callable[[TrainingRows], TrainingRows] = lambda rows: rows,
    ):
        self.functions, self.data, self.phases, self.settings = functions, data, phases, settings
        self._monitor_of, self._initial, self._placed = monitor, initial, placed
        self.count = max(1, len(data.folds))
        self._rngs = [rng]
        if data.folds:  # one more, for a network that is trained again
            self._rngs = [np.random.default_rng(int(seed)) for seed in rng.integers(2**63, size=self.count + 1)]
        self.done: list[Trained] = []
        self._refits = False
        self._begin(0)

    @property
    def total(self) -> int:
        """Number of steps of all networks."""
        return self.count * self.run.total

    @property
    def history(self) -> list[Step]:
        """All steps so far."""
        steps = [step for trained in self._trained() for step in trained.history]
        return [*steps, *self.run.history] if self._refits else steps

    def runs(self) -> Iterator[tuple[TrainingRun, ValidationMonitor | None]]:
        """The runs to complete.

        Yields
        ------
        run : TrainingRun
        monitor : ValidationMonitor or None
        """
        while len(self.done) < self.count:
            yield self.run, self.monitor
            if self.count == 1:
                return
            self._finish(Trained(self.run.history, self.monitor))

    def restore(self, done: list[Trained]) -> tuple[TrainingRun, ValidationMonitor | None]:
        """Go on after networks that were trained before.

        Parameters
        ----------
        done : list of Trained
            Their monitors may lack the rows.

        Returns
        -------
        run : TrainingRun
            Of the next network, before its first step.
        monitor : ValidationMonitor or None
        """
        for trained in done:
            self._finish(trained)
        return self.run, self.monitor

    def begin_alone(self, index: int) -> tuple[TrainingRun, ValidationMonitor | None]:
        """Begin a network in a process that trains no other one, with counts from 0.

        Parameters
        ----------
        index : int
            Of the network.

        Returns
        -------
        run : TrainingRun
            Before its first step.
        monitor : ValidationMonitor or None
        """
        self.done = []
        if index:  # the first one has begun
            self._begin(index)
        return self.run, self.monitor

    def begin_with(self, history: list[Step], parameters: Parameters) -> None:
        """Take over the first network from another process that was stopped before its first evaluation.

        Parameters
        ----------
        history : list of Step
            Its steps.
        parameters : list of arrays
            Its averaged weights.
        """
        self.run.history = history
        self.functions.load(parameters)

    def is_cut(self, trained: Trained) -> bool:
        """Whether the finished networks would already have stopped this one.

        Parameters
        ----------
        trained : Trained
            As in `adopt`.

        Returns
        -------
        bool
        """
        most = self._most_evaluations()
        return most is not None and trained.monitor is not None and len(trained.monitor.evaluations) >= most

    def adopt(self, trained: Trained) -> None:
        """Take over a network that another process has trained, as if it had been trained after the finished ones.

        Parameters
        ----------
        trained : Trained
            Steps past the point where the finished networks would have stopped it are discarded.
        """
        monitor, most, history = trained.monitor, self._most_evaluations(), trained.history
        if monitor is not None and most is not None and self.is_cut(trained):
            monitor.keep_first(most)
            history = history[: monitor.evaluations[-1].step]
        last = self.done[-1].history[-1] if self.done else None
        self.done.append(Trained(history if last is None else [_after(last, step) for step in history], monitor))

    def adopt_unfinished(self, trained: Trained) -> None:
        """Take over a network whose training was stopped, unless that would discard the best step of the others.

        Parameters
        ----------
        trained : Trained
            As in `adopt`.
        """
        if trained.monitor and trained.monitor.evaluations and self._reaches(_evaluated(self.done), trained.monitor):
            self.adopt(trained)

    def choice(self) -> Choice:
        """The best weights by the held-out rows of all networks together, or the averaged ones."""
        monitors = _evaluated(self.done)
        if len(self.done) < self.count and self._reaches(monitors, self.monitor):
            monitors += _evaluated([Trained(self.run.history, self.monitor)])
        if not monitors:
            return Choice([self.run.averaged_parameters()], None, None, None, [], None)
        evaluations = _pooled(monitors)
        best = _best(monitors, evaluations)
        snapshots = [m.snapshots[best] for m in monitors]
        signs = np.concatenate([m.signs for m in monitors])
        parameters, step = [snapshot.parameters for snapshot in snapshots], evaluations[best].step
        weight, cell = (_joined_or_none([getattr(m, name) for m in monitors]) for name in ("weight", "cell"))
        folds = tuple(m.fold for m in monitors)
        return Choice(parameters, _joined(snapshots), signs, weight, evaluations, step, cell, folds)

    def with_votes(self, choice: Choice, truth: NDArray[Any], group: NDArray[Any] | None = None) -> Choice:
        """Add to a choice the votes of its held-out rows, if there are several networks; tied rows get one value.

        Parameters
        ----------
        choice : Choice
            From `choice`, with held-out rows.
        truth : array, shape (n,) or (n, L)
            Labels of these rows, of two values; of several classes their cells.
        group : int array, shape (n,), optional
            Their groups, where they play a part.

        Returns
        -------
        Choice
        """
        assert choice.scores is not None
        if len(choice.parameters) == 1:
            return choice._replace(scores=with_one_value_for_ties(choice.scores))
        parts = [self._scores_of_each(choice.parameters, self.data.held_part(fold).X) for fold in choice.folds]
        outside = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        scores = np.concatenate(parts, axis=1)
        scores[outside, np.arange(len(outside))] = choice.scores
        return choice._replace(votes=vote_scores(scores, outside, truth, choice.weight, group))

    def refit(self) -> TrainingRun:
        """Begin a last run, on all rows; its steps are in `history` too.

        Returns
        -------
        TrainingRun
            Before its first step.
        """
        self.done = self._trained()
        initial, last = self._initial[0] if self._initial else None, self.history[-1]
        self.functions.initialise(self._rngs[-1], initial)
        rows = self._placed(self.data.rows)
        self.run = TrainingRun(self.functions, self.phases, rows, self.settings, self._rngs[-1], last)
        self._refits = True
        return self.run

    def _scores_of_each(self, networks: Sequence[Parameters], X: Any) -> NDArray[Any]:
        found = []
        for parameters in networks:
            with self.functions.using(parameters):
                found.append(self.functions.scores(X))
        return np.stack(found)

    def _reaches(self, monitors: Sequence[ValidationMonitor], monitor: ValidationMonitor | None) -> bool:
        """Whether a network in training has reached the others' best step; pooled before, it would discard it."""
        made = len(monitor.evaluations) if monitor else 0
        return not monitors or made > _best(monitors, _pooled(monitors))

    def _trained(self) -> list[Trained]:
        """The networks so far, with the one in training."""
        return [*self.done] if len(self.done) >= self.count else [*self.done, Trained(self.run.history, self.monitor)]

    def _most_evaluations(self) -> int | None:
        """How many evaluations of the next network count: the fewest that any finished network made."""
        return min((len(trained.monitor.evaluations) for trained in self.done if trained.monitor), default=None)

    def _begin(self, index: int) -> None:
        """Make the run of a network."""
        rows, held = self.data.part(index)
        rng = self._rngs[index]
        self.functions.initialise(rng, self._initial[index % len(self._initial)] if self._initial else None)
        last = self.done[-1].history[-1] if self.done else None
        self.run = TrainingRun(self.functions, self.phases, self._placed(rows), self.settings, rng, last, held)
        self.monitor = None if held is None or self._monitor_of is None else self._monitor_of(held, self.count > 1)
        if self.monitor:
            self.monitor.fold = index
            self.monitor.most_evaluations = self._most_evaluations()

    def _finish(self, trained: Trained) -> None:
        """Keep what remains of a network, without its rows, and begin the next one."""
        self.run.close()
        if trained.monitor is not None:
            trained.monitor.X = None
        self.done.append(trained)
        if len(self.done) < self.count:
            self._begin(len(self.done))


def _after(last: Step, step: Step) -> Step:
    """A step whose counts continue those of another network's last one."""
    return step._replace(
        step=last.step + step.step, samples=last.samples + step.samples, seconds=last.seconds + step.seconds
    )


def _evaluated(trained: Sequence[Trained]) -> list[ValidationMonitor]:
    return [each.monitor for each in trained if each.monitor is not None and each.monitor.evaluations]


def _pooled(monitors: Sequence[ValidationMonitor]) -> list[Evaluation]:
    """Evaluations of all networks together, as far as all of them were trained."""
    if len(monitors) == 1:
        return monitors[0].evaluations
    signs, weight = np.concatenate([m.signs for m in monitors]), _joined_or_none([m.weight for m in monitors])
    cell, shortest = _joined_or_none([m.cell for m in monitors]), min(len(m.evaluations) for m in monitors)
    pooled = []
    for k in range(shortest):
        scores, step = _joined([m.snapshots[k] for m in monitors]), monitors[0].evaluations[k].step
        pooled.append(monitors[0].evaluated(scores, signs, weight, cell, step))
    return pooled


def _best(monitors: Sequence[ValidationMonitor], evaluations: Sequence[Evaluation]) -> int:
    """Index of the best pooled evaluation; folds have few rows of a class, so there one lucky step must not win."""
    return monitors[0].best_of(evaluations, steadily=len(monitors) > 1)


def _joined_or_none(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    found = [part for part in parts if part is not None]
    return np.concatenate(found) if found else None


def _joined(snapshots: Sequence[Snapshot]) -> NDArray[Any]:
    return np.concatenate([snapshot.scores for snapshot in snapshots])
