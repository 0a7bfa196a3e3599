"""The record of a run: its steps, its evaluations, and whether it collapsed to one class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aesara_nondecomp._checks import require
from aesara_nondecomp._names import warn_renamed
from aesara_nondecomp.metrics import ClassSums, ConfusionMatrix

if TYPE_CHECKING:
    import pandas


class Step(NamedTuple):
    """The record of one step.

    Attributes
    ----------
    step : int
        Number of the step, from 1.
    samples : int
        Rows seen in gradient steps so far, without padding.
    seconds : float
        Time spent on training so far, without compilation and without what the caller does between steps; of networks
        that were trained in parallel, the sum of all.
    learning_rate : float
        Of this step.
    duals : dict of str to float
        Values of the driver after the step: duals, valuation level v.
    sums : ClassSums
        Class sums of the batch, at the weights before the step.
    gradient_norm : float
        Euclidean norm of the weighted objective's gradient, at the weights before the step.
    """

    step: int
    samples: int
    seconds: float
    learning_rate: float
    duals: dict[str, float]
    sums: ClassSums
    gradient_norm: float

    @property
    def soft_rates(self) -> tuple[float, float]:
        """Rates (P, N) of the batch by the sigmoid reward, a smooth surrogate; NaN for a missing class."""
        return self.sums.rates("sigmoid")

    @property
    def hard_rates(self) -> tuple[float, float]:
        """Rates (TPR, TNR) of the batch on hard predictions; NaN for a missing class."""
        return self.sums.rates("count")


class ClassStep(NamedTuple):
    """The record of one step of several classes.

    Attributes
    ----------
    step : int
        As in `Step`.
    samples : int
        As in `Step`.
    seconds : float
        As in `Step`.
    learning_rate : float
        As in `Step`.
    duals : dict of str to float
        Values of the driver after the step, such as "alpha_0" of the first class.
    sums : tuple of float
        Weights of the rows of the batch that were predicted rightly, by class; then of all its rows, by class.
    gradient_norm : float
        As in `Step`.
    """

    step: int
    samples: int
    seconds: float
    learning_rate: float
    duals: dict[str, float]
    sums: tuple[float, ...]
    gradient_norm: float

    @property
    def recalls(self) -> tuple[float, ...]:
        """Recall of each class in the batch, at the weights before the step; NaN for a missing class."""
        half = len(self.sums) // 2
        pairs = zip(self.sums[:half], self.sums[half:])
        return tuple(hits / rows if rows else float("nan") for hits, rows in pairs)


class ClassEvaluation(NamedTuple):
    """Evaluation on the validation rows of several classes after one step.

    Attributes
    ----------
    step : int
        Number of the step.
    value : float
        The measure of the classes with the largest score, in its own orientation; NaN if it is undefined.
    confusion : sequence of sequence of float
        The confusion matrix (K, K) of these predictions: true classes by predicted ones.
    log_likelihood : float
        Mean log-probability of the true classes; where the rule is a plug-in by linearisation, at the best temperature
        of at least 1.
    excess : float
        As in `Evaluation`.
    """

    step: int
    value: float
    confusion: Sequence[Sequence[float]]
    log_likelihood: float
    excess: float = 0.0

    @property
    def recalls(self) -> tuple[float, ...]:
        """Recall of each class; NaN for a missing class."""
        return tuple(row[k] / sum(row) if sum(row) else float("nan") for k, row in enumerate(self.confusion))

    @property
    def one_class(self) -> bool:
        """Whether all rows were given the same class."""
        return sum(map(any, zip(*self.confusion))) == 1


class Evaluation(NamedTuple):
    """Confusion counts of the averaged weights on the validation rows after one step.

    Attributes
    ----------
    step : int
        Number of the step.
    value : float
        The measure, in its own orientation; NaN if it is undefined.
    TP : int
        True positives.
    FN : int
        False negatives.
    FP : int
        False positives.
    TN : int
        True negatives.
    one_class : bool
        Whether all rows were given the same label.
    excess : float
        By how much constraints are broken, added up; 0 if all are met or there are none.
    """

    step: int
    value: float
    TP: int
    FN: int
    FP: int
    TN: int
    one_class: bool
    excess: float = 0.0

    @property
    def confusion_matrix(self) -> ConfusionMatrix:
        """The four counts."""
        return ConfusionMatrix(self.TP, self.FN, self.FP, self.TN)

    @property
    def table(self) -> ConfusionMatrix:
        """The former name of `confusion_matrix`."""
        warn_renamed("Evaluation.table", "confusion_matrix")
        return self.confusion_matrix


def collapsed_since(records: Iterable[Evaluation | ClassEvaluation | Step]) -> int | None:
    """The step since which only one class was predicted: the sign of a collapsed classifier.

    Parameters
    ----------
    records : iterable of Evaluation, of ClassEvaluation or of Step
        Of a model: `model.evaluations` (validation rows, averaged weights), or of two classes `model.history` (single
        batches).

    Returns
    -------
    int or None
        None if there is no record, or the last one shows several classes.
    """
    first, label = None, None
    for record in records:
        only = _only_class(record)
        if only is None:
            first, label = None, None
        elif only != label:
            first, label = record.step, only
    return first


def _only_class(record: Evaluation | ClassEvaluation | Step) -> int | None:
    """The number of the class that all rows are predicted to be of, if there is one."""
    if isinstance(record, ClassEvaluation):
        return next(k for k, rows in enumerate(zip(*record.confusion)) if any(rows)) if record.one_class else None
    share = _predicted_prevalence(record)
    return int(share) if share in (0.0, 1.0) else None


def _predicted_prevalence(record: Evaluation | Step) -> float:
    if isinstance(record, Evaluation):
        return record.confusion_matrix.predicted_prevalence
    sums = record.sums
    return (sums.count_pos + sums.n_neg - sums.count_neg) / (sums.n_pos + sums.n_neg)


def to_frame(history: Any) -> pandas.DataFrame:
    """The steps as a pandas DataFrame, one row per step.

    Parameters
    ----------
    history : sequence of Step or of ClassStep, or model
        Such as `Model.history`; of a model, or a fitted MeasureClassifier, its own.

    Returns
    -------
    pandas.DataFrame
        Index "step". Columns "samples", "seconds", "learning_rate" and "gradient_norm"; of the batch "soft_P", "soft_N"
        (sigmoid reward), "hard_P" and "hard_N" (TPR and TNR), or of several classes "recall_0", "recall_1" and so on
        (of several labels, for rows without and with each label in turn); and one per dual, such as "dual_alpha"; NaN
        for a missing class or dual.

    Raises
    ------
    ImportError
        If pandas is missing.
    ValueError
        If it is none of these.
    """
    history = getattr(getattr(history, "model_", history), "history", history)
    usable = isinstance(history, Sequence) and all(isinstance(step, (Step, ClassStep)) for step in history)
    require(usable, "to_frame needs a model, or its history: steps and not evaluations", history)
    try:
        import pandas
    except ImportError:
        raise ImportError("a DataFrame needs pandas: pip install 'aesara-nondecomp[frames]'") from None
    columns = ["samples", "seconds", "learning_rate", "gradient_norm"]
    rows = [
        {"step": step.step, **{name: getattr(step, name) for name in columns}, **_rates_of(step)} for step in history
    ]
    names = list(rows[0]) if rows else ["step", *columns, "soft_P", "soft_N", "hard_P", "hard_N"]
    duals = pandas.DataFrame([step.duals for step in history]).add_prefix("dual_")
    frame = pandas.concat([pandas.DataFrame(rows, columns=names), duals], axis=1)
    return frame.set_index("step")


def _rates_of(step: Step | ClassStep) -> dict[str, float]:
    if isinstance(step, ClassStep):
        return {f"recall_{k}": recall for k, recall in enumerate(step.recalls)}
    return dict(zip(("soft_P", "soft_N", "hard_P", "hard_N"), (*step.soft_rates, *step.hard_rates)))
