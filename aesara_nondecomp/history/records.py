"""What is recorded of a run: every step, every evaluation, and whether it collapsed to one class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from aesara_nondecomp.metrics import ClassSums, ConfusionMatrix


class Step(NamedTuple):
    """The record of one step."""

    step: int
    """Number of the step, from 1."""
    samples: int
    """Rows seen in gradient steps so far (padding aside)."""
    seconds: float
    """Spent on training so far; compilation, and whatever the caller does between steps, aside."""
    learning_rate: float
    duals: dict[str, float]
    """The driver's named numbers after the step: duals, or the level v."""
    sums: ClassSums
    """Class sums of the batch, at the weights before the step."""
    gradient_norm: float
    """Of the weighted objective, at the weights before the step."""

    @property
    def soft_rates(self) -> tuple[float, float]:
        """(P, N) of the batch by the sigmoid reward, a smooth surrogate; NaN for a missing class."""
        return self.sums.rates("sigmoid")

    @property
    def hard_rates(self) -> tuple[float, float]:
        """(TPR, TNR) of the batch by counts; NaN for a missing class."""
        return self.sums.rates("count")


class Evaluation(NamedTuple):
    """Counts of the averaged weights' predictions on the validation rows after one step."""

    step: int
    value: float
    """The measure, in its own orientation; NaN where it is undefined."""
    TP: int
    FN: int
    FP: int
    TN: int
    one_class: bool
    """Whether all rows were given the same label."""

    @property
    def table(self) -> ConfusionMatrix:
        """The four counts."""
        return ConfusionMatrix(self.TP, self.FN, self.FP, self.TN)


def collapsed_since(records: Iterable[Any]) -> int | None:
    """From which step on, until the end, only one class was predicted: the sign of a collapsed classifier.

    Parameters
    ----------
    records : iterable of Evaluation or of training.Step
        Of a model: `model.evaluations` (validation rows, averaged weights) or `model.history` (single batches).

    Returns
    -------
    int or None
        None if the last record shows both classes, or there is none.
    """
    first, label = None, None
    for record in records:
        share = _predicted_share(record)
        if share not in (0.0, 1.0):
            first, label = None, None
        elif share != label:
            first, label = record.step, share
    return first


def _predicted_share(record) -> float:
    if isinstance(record, Evaluation):
        return record.table.predicted_prevalence
    sums = record.sums
    return (sums.count_pos + sums.n_neg - sums.count_neg) / (sums.n_pos + sums.n_neg)


def to_frame(history: Sequence[Step]):
    """The steps as a pandas DataFrame, one row per step.

    Parameters
    ----------
    history : sequence of training.Step, such as `Model.history`

    Returns
    -------
    pandas.DataFrame
        Index "step". Columns "samples", "seconds", "learning_rate", "gradient_norm", "soft_P", "soft_N" (sigmoid
        reward) and "hard_P", "hard_N" (TPR and TNR) of the batch, and one per dual, "dual_alpha" and so on; NaN where
        a class or a dual is missing.

    Raises
    ------
    ImportError
        If pandas is missing.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("a DataFrame needs pandas: pip install 'aesara-nondecomp[frames]'") from None
    columns = ["step", "samples", "seconds", "learning_rate", "gradient_norm", "soft_P", "soft_N", "hard_P", "hard_N"]
    numbers = [(*_plain(step), *step.soft_rates, *step.hard_rates) for step in history]
    duals = pandas.DataFrame([step.duals for step in history]).add_prefix("dual_")
    frame = pandas.concat([pandas.DataFrame(numbers, columns=columns), duals], axis=1)
    return frame.set_index("step")


def _plain(step: Step) -> tuple[Any, ...]:
    return step.step, step.samples, step.seconds, step.learning_rate, step.gradient_norm
