"""A training run as a figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import require
from aesara_nondecomp._figures import new_figure, plain_text, save_figure
from aesara_nondecomp.history.records import ClassStep, Step
from aesara_nondecomp.metrics import ConfusionMatrix
from aesara_nondecomp.metrics.checks import checked_class_confusion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DUALS = {
    "alpha": "alpha: weight of the true positive rate",
    "beta": "beta: weight of the true negative rate",
    "v": "v: level of the measure",
}
MOST_LINES = 10  # of a panel
MOST_NUMBERS = 20  # classes of a matrix whose cells show their counts


def plot_history(model: Any, path: str | os.PathLike[str] | None = None, *, span: int = 50) -> Figure:
    """Plot a run: the measure on the validation rows, class rates, duals, and the gradient norm.

    Of several classes or labels the rates are the recalls; of many, those of the ten with most rows.

    Networks that vote come one after another; their evaluations, of all of them together, count the steps of each.

    Parameters
    ----------
    model : Model, ClassModel, MultilabelModel or MeasureClassifier
        As returned by `fit`.
    path : str or path-like, optional
        Also write the figure to this file, in the format of its suffix.
    span : int, default 50
        Steps in the running mean of the rates and of the gradient norm, at least 1.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so it opens no window and is freed with its last reference.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If it is none of these, or has no history, as after `load_model`.
    """
    model = getattr(model, "model_", model)
    require(hasattr(model, "history"), "plot_history needs a model, as `fit` returns it", model)
    if not model.history:
        raise ValueError("plot_history needs a model with a history, got one without: a loaded model has none.")
    figure = new_figure(11, 7)
    axes = figure.subplots(2, 2, sharex=not model.voters)
    _draw_evaluations(axes[0, 0], model)
    if isinstance(model.history[0], ClassStep):
        _draw_recalls(axes[0, 1], model, span)
    else:
        _draw_rates(axes[0, 1], model.history, span)
    _draw_duals(axes[1, 0], model.history)
    _draw_gradient(axes[1, 1], model.history, span)
    for axis in axes[1]:
        axis.set_xlabel("step")
    if path is not None:
        save_figure(figure, path, dpi=150)
    return figure


def plot_confusion(confusion: Any, classes: Any = None, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot a confusion matrix: the share of each true class by predicted class, with the counts.

    Parameters
    ----------
    confusion : array-like, shape (K, K), or ConfusionMatrix
        True classes by predicted ones, as from `ClassModel.confusion_matrix`.
    classes : sequence of K labels, optional
        In the order of the matrix. Default: their numbers; of a ConfusionMatrix "negative" and "positive".
    path : str or path-like, optional
        Also write the figure to this file, in the format of its suffix.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        If the matrix is not square, a count is negative or no number, or there are not as many labels.
    """
    if isinstance(confusion, ConfusionMatrix):
        TP, FN, FP, TN = confusion  # noqa: N806 -- as the matrix calls them
        confusion, classes = [[TN, FP], [FN, TP]], ("negative", "positive") if classes is None else classes
    counts = checked_class_confusion(confusion)
    require(bool(np.isfinite(counts).all() and (counts >= 0).all()), "counts must be finite and at least 0", confusion)
    n = len(counts)
    labels = [_shortened(label) for label in (range(n) if classes is None else classes)]
    require(len(labels) == n, f"classes must be {n} labels, one for each row of the matrix", len(labels))
    size = 3 + min(0.45 * n, 9)
    figure = new_figure(size + 1, size)
    _draw_matrix(figure, counts, labels)
    if path is not None:
        save_figure(figure, path, dpi=150)
    return figure


def _draw_matrix(figure: Figure, counts: NDArray[Any], labels: Sequence[str]) -> None:
    axis, n = figure.subplots(), len(labels)
    with np.errstate(invalid="ignore"):
        shares = counts / counts.sum(axis=1, keepdims=True)
    image = axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    figure.colorbar(image, ax=axis, label="share of the true class")
    axis.set(title="Confusion matrix", xlabel="predicted class", ylabel="true class")
    shown = np.unique(np.linspace(0, n - 1, min(n, 2 * MOST_NUMBERS)).astype(int))
    names = [plain_text(labels[k]) for k in shown]
    axis.set_xticks(shown, names, rotation=90 if max(map(len, labels)) > 3 else 0)
    axis.set_yticks(shown, names)
    if n <= MOST_NUMBERS:
        for true, predicted in np.ndindex(n, n):
            colour = "white" if shares[true, predicted] > 0.6 else "black"
            axis.text(predicted, true, f"{counts[true, predicted]:.6g}", ha="center", va="center", color=colour)


def dual_label(name: str) -> str:
    """What a dual is, in words.

    Parameters
    ----------
    name : str
        As in `Step.duals`.

    Returns
    -------
    str
        The name itself, if it has no words.
    """
    return _DUALS.get(name, name)


def settled_range(values: Sequence[float]) -> tuple[float, float]:
    """The range of a curve that its first steps, often far from all others, do not set.

    Parameters
    ----------
    values : sequence of float
        In the order of time; those that are not finite are left out.

    Returns
    -------
    low : float
        Below the last four fifths of the values.
    high : float
        Above them.
    """
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    settled = finite[len(finite) // 5 :]
    low, high = (float(settled.min()), float(settled.max())) if settled.size else (0.0, 1.0)
    room = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    return low - room, high + room


def _draw_evaluations(axis: Any, model: Any) -> None:
    better = "larger" if model.measure.greater_is_better else "smaller"
    axis.set(title="Validation rows, averaged weights", ylabel=plain_text(f"{model.measure} ({better} is better)"))
    if not model.evaluations:
        axis.text(0.5, 0.5, "no validation rows", ha="center", va="center", transform=axis.transAxes, color="grey")
        return
    steps, values = [e.step for e in model.evaluations], [e.value for e in model.evaluations]
    axis.plot(steps, values, marker="o", markersize=3, color="C0")
    axis.set_ylim(settled_range(values))
    of_one_class = [(e.step, e.value) for e in model.evaluations if e.one_class]
    if of_one_class:
        axis.plot(*zip(*of_one_class), linestyle="none", marker="x", color="C3", label="one class only")
    if model.best_step is not None:
        axis.axvline(model.best_step, color="grey", linestyle=":", label=f"best: step {model.best_step}")
    if model.voters:
        axis.set_xlabel("step of each network")
    axis.legend()


def _draw_rates(axis: Any, history: Sequence[Step], span: int) -> None:
    axis.set(title=f"Class rates of the batches, mean of {span} steps", ylabel="rate", ylim=(-0.03, 1.03))
    steps = [step.step for step in history]
    hard, soft = [step.hard_rates for step in history], [step.soft_rates for step in history]
    for k, (letter, name) in enumerate((("P", "TPR"), ("N", "TNR"))):
        of_hard, of_soft = (running_mean([r[k] for r in rates], span) for rates in (hard, soft))
        axis.plot(steps, of_hard, color=f"C{k}", label=f"{name} (hard predictions)")
        axis.plot(steps, of_soft, color=f"C{k}", linestyle="--", label=f"soft {letter} (sigmoid)")
    axis.legend()


def _draw_recalls(axis: Any, model: Any, span: int) -> None:
    axis.set(title=f"Recalls of the batches, mean of {span} steps", ylabel="recall", ylim=(-0.03, 1.03))
    steps, recalls = [step.step for step in model.history], np.array([step.recalls for step in model.history])
    names = getattr(model, "labels", None)
    if names is None:
        names = model.classes
    else:  # rows without and with each label in turn: those with it are drawn
        recalls = recalls[:, 1::2]
    for k in sorted(np.argsort(-np.asarray(model.priors), kind="stable")[:MOST_LINES].tolist()):
        axis.plot(steps, running_mean(recalls[:, k].tolist(), span), label=plain_text(_shortened(names[k])))
    axis.legend()


def _shortened(label: Any) -> str:
    text = str(label)
    return text if len(text) <= 24 else f"{text[:21]}..."


def _draw_duals(axis: Any, history: Sequence[Step] | Sequence[ClassStep]) -> None:
    axis.set(title="Duals", ylabel="value after the step")
    names = list(dict.fromkeys(name for step in history for name in step.duals))
    if isinstance(history[0], Step):
        names.sort()
    for name in names[:MOST_LINES]:
        values = [step.duals.get(name, np.nan) for step in history]
        axis.plot([step.step for step in history], values, linewidth=1, label=plain_text(dual_label(name)))
    if names:
        axis.set_ylim(settled_range([step.duals[name] for step in history for name in step.duals]))
        axis.legend()
    else:
        axis.text(0.5, 0.5, "fixed weights: no duals", ha="center", va="center", transform=axis.transAxes, color="grey")


def _draw_gradient(axis: Any, history: Sequence[Step] | Sequence[ClassStep], span: int) -> None:
    steps, norms = [step.step for step in history], [step.gradient_norm for step in history]
    axis.set(title="Gradient norm of the objective", ylabel="Euclidean norm", yscale="log")
    axis.plot(steps, norms, color="C0", alpha=0.3, linewidth=0.5, label="each step")
    axis.plot(steps, running_mean(norms, span), color="C0", label=f"mean of {span} steps")
    axis.legend()


def running_mean(values: Sequence[float], span: int) -> NDArray[np.float64]:
    """Mean of the last values up to each one, ignoring NaN.

    Parameters
    ----------
    values : sequence of n floats
        In the order of time.
    span : int
        Number of values in each mean, at least 1.

    Returns
    -------
    float64 array, shape (n,)
        NaN if all values of a mean are NaN.
    """
    numbers = np.asarray(values, dtype=float)
    known = np.isfinite(numbers)
    sums, counts = (np.concatenate([[0.0], np.cumsum(part)]) for part in (np.where(known, numbers, 0.0), known))
    first = np.maximum(np.arange(len(numbers)) + 1 - span, 0)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = (sums[1:] - sums[first]) / (counts[1:] - counts[first])
    return means
