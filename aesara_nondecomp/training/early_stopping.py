"""How training is evaluated on held-out rows, and when it stops: what a user may say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from aesara_nondecomp._checks import one_of, positive_int, require, warn_caller
from aesara_nondecomp.training.folds import AUTO, check_validation, is_pair

if TYPE_CHECKING:
    from aesara_nondecomp.training.run import Settings

PATIENCE, PATIENCE_OF_SEVERAL = 3, 5
GROWTH = 0.2  # of the steps made before the next evaluation


@dataclass(frozen=True, eq=False)
class EarlyStopping:
    """Evaluate the averaged weights on held-out rows while training, and return the best ones.

    Parameters
    ----------
    validation : str, float, int, splitter or (X, y), default "auto"
        Which rows are held out; see `fit`.
    every : int, optional
        Steps between two evaluations, at least 1; the last step is evaluated too. Default: a fifth of the steps made
        before, but at least a 200th of the rows (15 to 300 steps), and at most a 20th of all steps.
    patience : int, None or "auto", default "auto"
        Stop a network after so many evaluations in a row without a better one, at least 1; None never stops early.
        "auto" is 3, and 5 for several networks, as the first one that stops ends the training of all. Earlier phases of
        a recipe are never cut short.
    tune_threshold : bool or "auto", default "auto"
        Move the threshold to the best one for the measure on the held-out rows; "auto" to one that follows their noise
        less, see `metrics.steady_threshold`, unless the threshold belongs to the algorithm, as to the baselines.
    refit : bool, default False
        Train once more on all rows, for as many steps as turned out best, and return that network with the threshold
        and the calibration of the held-out rows. One network predicts five times as fast as a vote of five, but less
        well, and less well than its value on the held-out rows says: on synthetic tables of 300 to 6,000 rows F1 was
        .01 lower, and min(TPR, TNR) .02.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """

    validation: Any = AUTO
    every: int | None = None
    patience: int | None | str = AUTO
    tune_threshold: bool | str = AUTO
    refit: bool = False

    def __post_init__(self) -> None:
        check_validation(self.validation)
        if self.every is not None:
            positive_int("every", self.every)
        check_patience("patience", self.patience)
        tuned = self.tune_threshold
        needed = "tune_threshold must be True, False or 'auto'"
        require(isinstance(tuned, bool) or isinstance(tuned, str) and tuned == AUTO, needed, tuned)
        require(isinstance(self.refit, bool), "refit must be True or False", self.refit)
        needed = "refit needs rows to hold out: leave it out, or give validation as a share, for example"
        require(not (self.refit and is_pair(self.validation)), needed, "rows of your own")

    def interval(self, settings: Settings) -> Interval:
        """Steps between two evaluations.

        Parameters
        ----------
        settings : Settings
            Of the run.

        Returns
        -------
        Interval
        """
        if self.every is not None:
            return Interval(self.every)
        most = max(10, math.ceil(settings.steps / 20))
        return Interval(min(settings.first_evaluation, most), most, GROWTH)

    def patience_of(self, several: bool) -> int | None:
        """Evaluations without a better one after which a network stops.

        Parameters
        ----------
        several : bool
            Whether several networks are trained, and vote.

        Returns
        -------
        int or None
            None for never.
        """
        if isinstance(self.patience, str):
            return PATIENCE_OF_SEVERAL if several else PATIENCE
        return self.patience


def check_patience(name: str, value: Any) -> int | str | None:
    """Check the patience of an `EarlyStopping`.

    Parameters
    ----------
    name : str
        Of the argument.
    value : object
        As given.

    Returns
    -------
    int, None or "auto"

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(value, str):
        one_of(name, value, (AUTO,), ", a whole number of at least 1, or None")
    return value if value is None or isinstance(value, str) else positive_int(name, value)


def warn_of_rows_seen(stopping: EarlyStopping | None) -> None:
    """Warn that a model to train further may have been trained on the rows held out.

    Parameters
    ----------
    stopping : EarlyStopping or None
        How rows are held out; None for none.

    Warns
    -----
    UserWarning
        Unless no rows are held out, or these are rows of the caller's own.
    """
    if stopping is not None and not is_pair(stopping.validation):
        warn_caller(
            "the model to train further may have been trained on the rows that are held out, unless data, seed and "
            "validation are those of before: then its value, threshold and probabilities there flatter it. Give "
            "validation=(X, y) of rows that it has not seen."
        )


def refuse_without_rows(patience: Any, refit: Any, needed: str) -> None:
    """Refuse parameters that have an effect only where rows are held out.

    Parameters
    ----------
    patience : int, None or "auto"
        As for `EarlyStopping`.
    refit : bool
        As for `EarlyStopping`.
    needed : str
        The message, with {} for the name of the parameter.

    Raises
    ------
    ValueError
        If one is not its default.
    """
    for name, value, default in (("patience", patience, AUTO), ("refit", refit, False)):
        require(value in (default, None), needed.format(name), value)


class Interval(NamedTuple):
    """Steps between two evaluations, a share of those made: some small tables are learned in 20 steps, others in 1,000.

    Attributes
    ----------
    least : int
        At least so many.
    most : int or None, default None
        At most so many, if it is not None.
    growth : float, default 0.0
        Share of the steps that the phase has made.
    """

    least: int
    most: int | None = None
    growth: float = 0.0

    def is_over(self, made: int, last: int, since: int) -> bool:
        """Whether to evaluate again.

        Parameters
        ----------
        made : int
            Steps made.
        last : int
            Step of the last evaluation, 0 before the first.
        since : int
            Steps before the current phase.

        Returns
        -------
        bool
        """
        needed = max(self.least, math.ceil(self.growth * (last - since)))
        return made - last >= (needed if self.most is None else min(needed, self.most))
