"""Checks of a command's options, most of them before a file is read: a usage error shows the command's usage."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from aesara_nondecomp import measures, networks
from aesara_nondecomp._checks import require
from aesara_nondecomp._files import is_stream
from aesara_nondecomp.cli.program import UsageError
from aesara_nondecomp.data.files import STANDARD_STREAM
from aesara_nondecomp.measures.constraints import label_text
from aesara_nondecomp.networks import Network
from aesara_nondecomp.training.checkpoints import Checkpoint
from aesara_nondecomp.training.early_stopping import EarlyStopping, refuse_without_rows
from aesara_nondecomp.training.groups import users_of_groups
from aesara_nondecomp.training.param_checks import NETWORK_OPTIONS, changed_options
from aesara_nondecomp.training.recipes import ALGORITHMS, Problem, recipe_for, with_preset
from aesara_nondecomp.training.table_network import network_maker


@contextmanager
def usage_errors() -> Iterator[None]:
    """Make usage errors of the ValueErrors of a block that looks at options alone.

    Yields
    ------
    None

    Raises
    ------
    UsageError
        If the block raises a ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from None


def check_training(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `train` that are made of several, after a look at those that need no rows.

    Parameters
    ----------
    options : Namespace
        Parsed options of the command.

    Returns
    -------
    dict of str to object
        The arguments algorithm, network, validation and checkpoint of `fit`.

    Raises
    ------
    UsageError
        If options do not go together.
    """
    with usage_errors():
        if options.tune_threshold and not options.validation:
            raise ValueError("--tune-threshold needs held-out rows: leave --validation out, or give it a share")
        if options.mpi:
            require(options.data != STANDARD_STREAM, "--mpi needs a file that every process can read", options.data)
        _check_groups(options)
        algorithm, of_two = options.algorithm, isinstance(options.measure, measures.Measure)
        if of_two and algorithm in ALGORITHMS:  # those of several classes are checked with the labels
            algorithm = with_preset(algorithm, options.preset)
            if not options.groups:
                recipe_for(options.measure, Problem(0.5, eps=0.001), algorithm)  # which says if there is none
        return {
            "algorithm": algorithm,
            "network": network_of(options),
            "validation": _early_stopping(options),
            "checkpoint": _checkpoint(options),
        }


def _check_groups(options: argparse.Namespace) -> None:
    users = [str(options.measure)] if isinstance(options.measure, measures.GroupMeasure) else []
    users += [str(constraint) for constraint in options.constraints if constraint.needs_groups]
    if users and not options.groups:
        raise ValueError(f"{', '.join(users)} needs --groups, columns of the table")


def check_use_of_groups(options: argparse.Namespace, measure: Any, labels: Any) -> None:
    """Refuse --groups that nothing uses, as `fit` does, but in the words of the command line.

    Parameters
    ----------
    options : Namespace
        Parsed options of `train`.
    measure : Measure or MulticlassMeasure
        What is trained for.
    labels : array, shape (n,)
        Those of the training file.

    Raises
    ------
    UsageError
        If no measure, constraint, algorithm or sampler uses the groups.
    """
    if not options.groups or users_of_groups(measure, options.constraints, options.algorithm, options.sampler):
        return
    rate = "tpr" if isinstance(measure, measures.Measure) else f"recall({label_text(np.unique(labels)[-1])})"
    raise UsageError(
        f"--groups has no effect on {measure}: give a measure of the worst group, such as --measure worst_cell, or a "
        f"constraint, such as --constraint '{rate} gap <= 0.02'; or leave --groups out here and give it to evaluate"
    )


def network_of(options: argparse.Namespace, n_scores: int = 1) -> Any:
    """What makes the chosen network, with the options that were changed.

    Parameters
    ----------
    options : Namespace
        Parsed options of `train`.
    n_scores : int, default 1
        Number of scores of a row: of several classes one for each.

    Returns
    -------
    callable
        As for the parameter `network` of `fit`.

    Raises
    ------
    ValueError
        If the network does not take an option.
    """
    name = options.network
    changed = changed_options(name, {option: getattr(options, option) for option in NETWORK_OPTIONS})

    def make(chosen: str, size: int, more: dict[str, Any]) -> Network:
        return networks.make(chosen, size, n_scores=n_scores, **{**more, **changed})

    return network_maker(name, make, n_scores)


def _early_stopping(options: argparse.Namespace) -> EarlyStopping | None:
    if options.validation:
        return replace(
            options.validation,
            patience=options.patience,
            tune_threshold=True if options.tune_threshold else "auto",
            refit=options.refit,
        )
    needed = "--{} needs held-out rows: leave --validation out, or give it a share"
    refuse_without_rows(options.patience, options.refit, needed)
    return None


def _checkpoint(options: argparse.Namespace) -> Checkpoint | None:
    """The checkpoint beside the model; none beside a pipe or a device."""
    if options.out == STANDARD_STREAM or is_stream(options.out):
        require(not options.resume, "--resume needs a model file, beside which its checkpoint lies", options.out)
        return None
    return Checkpoint(f"{options.out}.checkpoint", resume=options.resume)
