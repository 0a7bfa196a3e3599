"""The parameters of `fit` and of `MeasureClassifier`, in one table: default, accepted values, check, purpose.

The command line's options and docs/parameters.md are made from this table, and tests hold the signatures to it. To add
a parameter, add a row here and use it in `fit`; a row with `read` becomes an option of the command line too. Slow
imports are deferred, so that the command line's help answers at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from aesara_nondecomp._checks import choose, number, positive_int, require, shown
from aesara_nondecomp.data.samplers import checked_sampler
from aesara_nondecomp.measures.constraints import check_constraints
from aesara_nondecomp.training import schedules
from aesara_nondecomp.training.recipes import BUILDERS, Recipe

Check = Callable[[str, Any], Any]  # (name, value) -> usable value; raises ValueError


class Parameter(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    default : object
        Its default value.
    accepts : str
        Accepted types and ranges, in words.
    check : callable (name, value) -> value
        Returns the value as it is used, or raises ValueError.
    text : str
        What it does, in a sentence.
    read : callable (str) -> value, optional
        How the command line reads it. Default: it is not an option there.
    """

    default: Any
    accepts: str
    check: Check
    text: str
    read: Callable[[str], Any] | None = None


# -- checks ----------------------------------------------------------------------------------------------------------


def _between(low: float, high: float, what: str, *, low_too: bool = False) -> Check:
    """A check that a number lies in (low, high), or in [low, high) with `low_too`."""

    def check(name: str, value: Any) -> float:
        try:
            found = number(name, value)
        except ValueError:
            found = math.nan
        require(low < found < high or low_too and found == low, f"{name} must {what}", value)
        return found

    return check


def _optional(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _flag(name: str, value: Any) -> bool:
    require(isinstance(value, (bool, np.bool_)), f"{name} must be True or False", value)
    return bool(value)


def _tuning(name: str, value: Any) -> bool | str:
    is_auto = isinstance(value, str) and value == "auto"
    require(is_auto or isinstance(value, (bool, np.bool_)), f"{name} must be True, False or 'auto'", value)
    return "auto" if is_auto else bool(value)


def _of_kind(kinds: Any, what: str) -> Check:
    def check(name: str, value: Any) -> Any:
        require(isinstance(value, kinds), f"{name} must be {what}", value)
        return value

    return check


def _one_of(kind: str, known: Sequence[str]) -> Check:
    def check(name: str, value: Any) -> Any:
        choose(kind, value, dict.fromkeys(known))
        return value

    return check


def _named_in(module: str, table: str) -> Check:
    """A check that a value is a name in a table of another module, which is imported on the first check."""

    def check(name: str, value: Any) -> Any:
        known: Mapping[str, Any] = getattr(import_module(f"aesara_nondecomp.{module}"), table)
        choose(name, value, known)
        return value

    return check


def _optimizer(name: str, value: Any) -> Any:
    from aesara_nondecomp.ops import optimisers

    return optimisers.get(value)


def _algorithm(name: str, value: Any) -> Any:
    if not isinstance(value, Recipe):
        choose("algorithm", value, BUILDERS)
    return value


def _network(name: str, value: Any) -> Any:
    """A name is one of the table of networks; `fit` checks what else a network can be."""
    if isinstance(value, str) and value != "auto":
        from aesara_nondecomp import networks

        choose("network", value, {"auto": None, **networks.BUILDERS})
    return value


def _schedule(name: str, value: Any) -> Any:
    """A function is called for step 0; the training loop checks what it returns for later steps."""
    need = f"{name} must be a function from the step to a finite number of at least 0"
    schedule = schedules.get(value, 1)
    try:
        at_start = schedule(0)
    except Exception as error:  # a callable can raise anything
        raise ValueError(f"{need}, but raised {shown(error)}") from error
    require(schedules.is_factor(at_start), need, at_start)
    return value


def _widths(name: str, value: Any) -> tuple[int, ...]:
    listed = isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    listed = listed or isinstance(value, np.ndarray) and value.ndim == 1
    require(listed, f"{name} must be a sequence of widths, such as (64, 64)", value)
    return tuple(positive_int("a hidden width", width) for width in value)


def _validation(name: str, value: Any) -> Any:
    """The validation rows as EarlyStopping, in whichever form they were given."""
    from aesara_nondecomp.training.early_stopping import EarlyStopping

    return value if isinstance(value, EarlyStopping) else EarlyStopping(value)


def _patience(name: str, value: Any) -> Any:
    from aesara_nondecomp.training.early_stopping import check_patience

    return check_patience(name, value)


def _checkpoint(name: str, value: Any) -> Any:
    from aesara_nondecomp.training.checkpoints import Checkpoint

    return value if isinstance(value, Checkpoint) else Checkpoint(value)


def _callbacks(name: str, value: Any) -> list[Callable[[Any], Any]]:
    several = isinstance(value, Iterable) and not isinstance(value, np.ndarray)
    callbacks = [] if value is None else list(value) if several else [value]
    require(all(callable(c) for c in callbacks), f"{name} must be a callable or a sequence of callables", value)
    return callbacks


# -- readers of the command line -------------------------------------------------------------------------------------


def _read_widths(text: str) -> tuple[int, ...]:
    widths = tuple(int(width) for width in text.split(","))
    return () if widths == (0,) else widths


def _read_validation(text: str) -> Any:
    """A word, a number of folds or a share."""
    if _is_none(text) or text == "0":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_patience(text: str) -> str | int | None:
    if _is_none(text):
        return None
    return text if text == "auto" else int(text)


def _is_none(text: str) -> bool:
    return text.lower() == "none"


def _read_sampler(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


PARAMETERS: dict[str, Parameter] = {
    "algorithm": Parameter(
        "auto", "name of an algorithm, or a Recipe", _algorithm,
        "What moves the weights of the objective: duple, denim, dame, a baseline, or a recipe of your own.", str,
    ),
    "network": Parameter(
        "auto", "name, widths, Network, TrainFunctions, Model, or callable (size -> Network)",
        _network, "What is trained: mlp, tabular, linear, attention or lstm.", str,
    ),
    "hidden": Parameter(
        None, "sequence of int >= 1", _optional(_widths),
        "Widths of the hidden layers of mlp or tabular; () for none, 0 on the command line. By default 64 and 64, or "
        "128 and 128 for scaled tables with a numeric column, at least six classes or labels and at least 500 rows.",
        _read_widths,
    ),
    "activation": Parameter(
        "relu", "name of an activation", _named_in("ops", "ACTIVATIONS"), "Of the hidden layers of mlp or tabular.", str
    ),
    "dropout": Parameter(
        0.0, "float in [0, 1)", _between(0, 1, "lie in [0, 1)", low_too=True),
        "Probability of dropping a hidden unit while training.", float,
    ),
    "members": Parameter(
        1, "int >= 1", positive_int, "Members of tabular, which share its layers and vote with their mean score.", int
    ),
    "dtype": Parameter(
        "float32", "float32 or float64", _one_of("dtype", ("float32", "float64")), "Of weights and scores."
    ),
    "steps": Parameter(
        None, "int >= 1", _optional(positive_int),
        "Gradient steps of a network, an upper limit if rows are held out; by default a tenth of its rows, from 300 to "
        "6,000, and as a limit at least one for each row, up to 1,600.", int,
    ),
    "batch_size": Parameter(
        None, "int >= 1", _optional(positive_int),
        "Rows per step; all rows where there are fewer. By default 512, or 256 for a table that gives each network "
        "fewer than 40,000 training rows.", int,
    ),
    "optimizer": Parameter(
        "adamw", "name or Optimiser", _optimizer,
        "The update rule: sgd, momentum, nesterov, adam or adamw.", str,
    ),
    "learning_rate": Parameter(
        None, "float > 0", _optional(_between(0, float("inf"), "be a positive finite number")),
        "Step size; by default the algorithm's.", float,
    ),
    "schedule": Parameter(
        None, "name, or callable (step -> factor)", _optional(_schedule),
        "Factor on the learning rate: constant, step, cosine or inverse_root; by default the algorithm's.", str,
    ),
    "averaging": Parameter(
        None, "float in [0, 1)", _optional(_between(0, 1, "lie in [0, 1)", low_too=True)),
        "Decay of the running average of the weights, 0 for the last weights; by default the algorithm's.", float,
    ),
    "l2": Parameter(
        None, "float >= 0", _optional(_between(0, float("inf"), "be a finite number of at least 0", low_too=True)),
        "Weight decay of the weight matrices; by default the algorithm's for adamw, and 0 for others.", float,
    ),
    "sampler": Parameter(
        "natural", "natural, stratified, balanced, cell_balanced, or float in (0, 1)",
        lambda name, value: checked_sampler(value), "How batches are drawn, or the share of positives in each.",
        _read_sampler,
    ),
    "standardize": Parameter(
        True, "bool", _flag,
        "Centre and scale dense columns by the training rows: by mean and deviation, or of tabular by median and "
        "quartiles.",
    ),
    "prior": Parameter(
        None, "float in (0, 1)", _optional(_between(0, 1, "lie strictly between 0 and 1")),
        "Share of positives to train for; by default that of the labels.", float,
    ),
    "constraints": Parameter(
        (), "Constraint, or sequence of Constraint", check_constraints,
        "What predictions must meet on rows held out, such as gap('tpr', at_most=0.02).",
    ),
    "validation": Parameter(
        "auto", "auto, last, float in (0, 1), int >= 2, splitter, tuple (X, y), or EarlyStopping",
        _optional(_validation),
        "Which rows are held out: they choose weights and threshold, and calibrate. None holds no rows out.",
        _read_validation,
    ),
    "refit": Parameter(False, "bool", _flag, "Train once more on all rows, for as many steps as turned out best."),
    "patience": Parameter(
        "auto", "int >= 1, None or auto", _patience,
        "Evaluations on the validation rows without a better one, after which training stops; None never stops, and "
        "auto is 3, or 5 for several networks.", _read_patience,
    ),
    "tune_threshold": Parameter(
        "auto", "bool or auto", _tuning,
        "Move the threshold on the rows held out: to the best one there, or (auto) to a steadier one.",
    ),
    "on_step": Parameter(
        None, "callable, or sequence of callables", _callbacks, "Called with each Step; returning True stops training."
    ),
    "checkpoint": Parameter(
        None, "path or Checkpoint", _optional(_checkpoint),
        "A file that keeps the state of the run, to resume it if it is interrupted. Without `resume` a file that is "
        "there is overwritten.",
    ),
    "progress": Parameter(
        None,
        "bool",
        _optional(_of_kind((bool, np.bool_), "True, False or None")),
        "Progress on stderr: a bar on a terminal, otherwise a line now and then.",
    ),
    "backend": Parameter(
        "c", "c or jax", _named_in("step.backends", "BACKENDS"), "Compile through C++, or through JAX.", str
    ),
    "warm_start": Parameter(False, "bool", _flag, "Start from the weights of the last call."),
    "resume": Parameter(False, "bool", _flag, "Resume from the checkpoint, if there is one."),
}  # fmt: skip


def check_parameters(**given: Any) -> Any:
    """Check the values of parameters, each by its row of the table.

    Parameters
    ----------
    **given : object
        Values by name.

    Returns
    -------
    dict of str to object
        The values as they are used, in the order given.

    Raises
    ------
    ValueError
        If a value is not accepted.
    """
    return {name: PARAMETERS[name].check(name, value) for name, value in given.items()}


_ABOUT = """\
These are the options of `MeasureClassifier`, and of the command `train` as far as they can be typed. The table is made
from `training/parameters.py`. `fit` takes the same, with these differences:

- `patience`, `refit` and `tune_threshold` are fields of `EarlyStopping`: `validation=an.EarlyStopping(patience=8)`.
- `resume` is a field of `Checkpoint`.
- `hidden`, `activation`, `dropout`, `members` and `dtype` belong to the network: `network=(64, 64)`, or
  `network=lambda n: an.mlp(n, (64,), dropout=0.1)`.
- In place of `warm_start` it takes `network=model`, and `MeasureClassifier` has `verbose` in place of `progress`.

Not in the table are `measure`, the positive label (`positive`, `pos_label`), `seed` (`random_state`), `target`, `comm`,
and what is given for each row: `sample_weight`, `groups` and `validation_groups`.
"""


def as_markdown() -> str:
    """Format the table of parameters for docs/parameters.md."""
    head = f"# Parameters\n\n{_ABOUT}\n"
    rows = [
        f"| `{name}` | {row.accepts} | `{row.default!r}` | {row.text} |" for name, row in sorted(PARAMETERS.items())
    ]
    return head + "\n".join(["| parameter | accepts | default | what it does |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    print(as_markdown())
