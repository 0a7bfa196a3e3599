"""Checkpoints: a training run in a file, which another process can resume with bit-identical results."""

from __future__ import annotations

import itertools
import json
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._checks import positive_int, require, warn_caller
from aesara_nondecomp._communicator import LOCAL, Communicator
from aesara_nondecomp._files import check_writable
from aesara_nondecomp.history import ClassStep, Step
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.models.archive import read_archive, usable, write_archive
from aesara_nondecomp.parallel import all_succeed
from aesara_nondecomp.training.cross_fitting import CrossFit, Trained
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

# Parts of the fingerprint that earlier checkpoints of this version lack.
ADDED_LATER = ("backend", "network graph", "fixed numbers of the network", "schedule of every step")


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often `fit` writes the state of a run, and whether it resumes one.

    Parameters
    ----------
    path : str or path-like
        An .npz file in a folder that exists. It is replaced as a whole, so it is complete at every moment. If a write
        fails during training, as on a full disk, `fit` warns once and goes on.
    every : int, default 500
        Steps between two writes, at least 1. The last step is written too.
    resume : bool, default False
        Resume the run in the file, if there is one. Data and settings must be those it was written with; the resumed
        run ends with the weights of an uninterrupted one, to the last bit. Without it the file is replaced, with a
        warning before training if the run in it is unfinished.

    Raises
    ------
    ValueError
        If `path` is no path, `every` is below 1 or `resume` is no bool.
    """

    path: str | os.PathLike[str]
    every: int = 500
    resume: bool = False

    def __post_init__(self) -> None:
        usable = isinstance(self.path, (str, os.PathLike))
        require(usable, "checkpoint must be the path of a file, such as 'run.npz'", self.path)
        positive_int("every", self.every)
        require(isinstance(self.resume, (bool, np.bool_)), "resume must be True or False", self.resume)


class CheckpointFile:
    """The file of a `Checkpoint`, read and written on rank 0 for all processes.

    Parameters
    ----------
    checkpoint : Checkpoint
        The user's options.
    comm : communicator, default LOCAL
        Of the processes.

    Attributes
    ----------
    every : int
        Steps between two writes.
    start : dict or None
        State of the random generator at the start of the stored run; None if no run was read.

    Raises
    ------
    ValueError
        If the folder does not exist, the path is a folder itself, or the file is no usable checkpoint.
    OSError
        If the file cannot be written, as far as that shows before the work, or not be read.
    """

    def __init__(self, checkpoint: Checkpoint, comm: Communicator = LOCAL):
        self.path, self.every = Path(checkpoint.path), checkpoint.every
        self._is_root, self._warned = comm.rank == 0, False
        self._seen, self._shared = self._mark(), False
        self._stored = comm.bcast(all_succeed(comm, lambda: self._read(checkpoint.resume)))
        self.start = self._stored[0]["start"] if self._stored else None

    def begin(self, start: dict[str, Any], fingerprint: dict[str, str], fitting: CrossFit) -> None:
        """Restore the stored run, if there is one.

        Parameters
        ----------
        start : dict
            State of the random generator before the run drew from it.
        fingerprint : dict of str to str
            Data and settings of this run; see `fingerprint`.
        fitting : CrossFit
            Before its first step.

        Raises
        ------
        ValueError
            If the stored run had other data or settings.
        """
        self._kept = {"start": start, "fingerprint": {**fingerprint, "seed": json.dumps(start)}}
        if self._stored:
            self._check(self._stored[0]["fingerprint"])
            with usable(self.path, "checkpoint"):
                _restore(fitting, *self._stored)
        self._stored = None

    def _read(self, resume: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        if not self._is_root:
            return None
        placed = self.path.parent.is_dir() and not self.path.is_dir()
        require(placed, "checkpoint must be the path of a file, in a folder that exists", str(self.path))
        check_writable(self.path)
        if not self.path.exists():
            return None
        if not resume:
            self._warn_of_unfinished()
            return None
        header, arrays = read_archive(self.path, "checkpoint")
        with usable(self.path, "checkpoint"):
            np.random.default_rng().bit_generator.state = header["start"]
            require(isinstance(header["fingerprint"], dict), "a fingerprint is a dict", header["fingerprint"])
        return header, arrays

    def _warn_of_unfinished(self) -> None:
        """Warn that this run will replace one that could be resumed."""
        with suppress(OSError, ValueError):  # it is no checkpoint that could be resumed
            header, arrays = read_archive(self.path, "checkpoint")
            if header.get("finished") is False:
                made = sum(len(value) for name, value in arrays.items() if name.split(".")[-1] == "history")
                warn_caller(
                    f"the checkpoint {str(self.path)!r} holds an unfinished run of {made:,} steps, which this run will "
                    "replace. To go on with it, use resume=True (--resume on the command line); to keep it, use "
                    "another path."
                )

    def _mark(self) -> tuple[int, int, int] | None:
        """Tells whether the file is still the one that was seen; None if there is none."""
        try:
            found = os.stat(self.path)
        except (OSError, ValueError):  # the latter for what can be no path
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size) if stat.S_ISREG(found.st_mode) else None

    def write(self, fitting: CrossFit, finished: bool) -> None:
        """Store the networks as they are after the last step.

        Parameters
        ----------
        fitting : CrossFit
            As in `begin`.
        finished : bool
            Whether that was the last step of the network in training.

        Raises
        ------
        ValueError
            If a number is not finite; the file stays as it was.

        Warns
        -----
        UserWarning
            At the first failure to write the file, which stays as it was; and when another run has written it.
        """
        values, arrays = fitting.run.state()  # in all processes, as all refuse one that is not finite
        if not self._is_root:
            return
        records, columns = _pack_history(fitting.run.history)
        finished = finished and len(fitting.done) == fitting.count - 1
        header: dict[str, Any] = {**self._kept, "run": values, "history": records, "done": [], "finished": finished}
        arrays = {**arrays, **columns}
        if fitting.monitor:
            header["validation"], kept = fitting.monitor.state()
            arrays.update({f"validation.{name}": value for name, value in kept.items()})
        for k, trained in enumerate(fitting.done):
            values, own = _pack_trained(trained)
            header["done"].append(values)
            arrays.update({f"network{k}.{name}": value for name, value in own.items()})
        if self._mark() not in (None, self._seen) and not self._shared:
            self._shared = True
            warn_caller(
                f"another run has written the checkpoint {str(self.path)!r} since this one began, and each replaces "
                "what the other has stored. Give each run a path of its own."
            )
        try:
            write_archive(self.path, "checkpoint", header, arrays)
            self._seen = self._mark()
        except OSError as problem:  # the run in memory is worth more than its copy
            self._warn_once(len(fitting.history), problem)

    def _warn_once(self, made: int, problem: OSError) -> None:
        """Warn that the file was not written; of several failures only the first is told."""
        if not self._warned:
            self._warned = True
            warn_caller(
                f"the checkpoint after {made} steps could not be written: {problem}. Training goes on, and later "
                "checkpoints are tried; until one is written, the run can only be resumed from an earlier one. Make "
                "room on the disk."
            )

    def _check(self, stored: dict[str, str]) -> None:
        mine = self._kept["fingerprint"]
        stored = {**{name: mine[name] for name in ADDED_LATER if name in mine}, **stored}
        differing = sorted(name for name in {*stored, *mine} if stored.get(name) != mine.get(name))
        if differing:
            raise ValueError(
                f"the checkpoint {str(self.path)!r} is of another run: it differs in {', '.join(differing)}. "
                "Resume with the data and settings that it was written with, or start afresh with another path."
            )


def _restore(fitting: CrossFit, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Bring the networks before their first step to where a checkpoint left them."""
    require(len(header["done"]) <= fitting.count, f"at most {fitting.count} networks are done", len(header["done"]))
    kind = ClassStep if fitting.functions.several_classes else Step
    done = [
        _unpack_trained(k, values, _named(arrays, f"network{k}."), fitting.monitor, kind)
        for k, values in enumerate(header["done"])
    ]
    shapes = [p.get_value(borrow=True).shape for p in fitting.functions.network.parameters]
    run, monitor = fitting.restore(done)
    if monitor:
        monitor.restore(header["validation"], _named(arrays, "validation."))
    for each in (*(trained.monitor for trained in done), monitor):
        if each:
            _check_monitor(each, shapes)
    for name, value in arrays.items():
        finite = value.dtype.kind != "f" or not name.startswith(("whole.", "training.")) or np.isfinite(value).all()
        require(bool(finite), "weights must be finite", f"others in {name!r}")
    run.restore(header["run"], arrays, _unpack_history(header["history"], arrays, kind))


def _check_monitor(monitor: ValidationMonitor, shapes: list[tuple[int, ...]]) -> None:
    """Raise a ValueError unless the evaluations of a network can be its own."""
    kept, made = monitor.snapshots, range(len(monitor.evaluations))
    needed = set(made) if monitor.keep_all or monitor.best is None else {monitor.best}
    require(needed <= set(kept) <= set(made), f"weights of the evaluations {sorted(needed)} are needed", sorted(kept))
    for snapshot in kept.values():
        given = [np.shape(value) for value in snapshot.parameters]
        require(given == shapes, f"weights of shapes {shapes} are needed", given)
        for values in (snapshot.scores, *snapshot.parameters):
            require(bool(np.isfinite(values).all()), "weights and scores must be finite", "others")
        needed_shape = monitor.score_shape
        own = np.shape(snapshot.scores) == needed_shape
        require(own, f"scores of shape {needed_shape} are needed", np.shape(snapshot.scores))
    signs, weight = monitor.signs, monitor.weight
    require(bool(np.isin(signs, (-1, 1)).all()), "labels must be -1 and 1", "others")
    if weight is not None:
        above = weight.shape == np.shape(signs) and bool((weight > 0).all())
        require(above, "weights of rows must be above 0, one of each", weight.shape)


# -- networks that are trained -----------------------------------------------------------------------------------------


def _pack_trained(trained: Trained) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    assert trained.monitor is not None  # there are several networks, and each has rows held out
    records, columns = _pack_history(trained.history)
    validation, kept = trained.monitor.state()
    return {"history": records, "validation": validation}, {
        **columns,
        **kept,
        "signs": trained.monitor.signs,
        **_of_rows(trained.monitor),
    }


def _unpack_trained(
    fold: int, values: dict[str, Any], arrays: dict[str, NDArray[Any]], like: ValidationMonitor | None, kind: Any
) -> Trained:
    """A trained network; its monitor has the settings of a new one."""
    assert like is not None  # as above
    monitor = like.of_fold(fold, arrays.pop("signs"), arrays.pop("weight", None), arrays.pop("cell", None))
    history = _unpack_history(values["history"], {name: arrays.pop(name) for name in ("history", "duals")}, kind)
    monitor.restore(values["validation"], arrays)
    return Trained(history, monitor)


def _of_rows(monitor: ValidationMonitor) -> dict[str, NDArray[Any]]:
    """Weights and cells of held-out rows, as far as they have some."""
    return {name: value for name in ("weight", "cell") if (value := getattr(monitor, name)) is not None}


def _named(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, without it."""
    return {name[len(prefix) :]: value for name, value in arrays.items() if name.startswith(prefix)}


# -- the history as arrays -------------------------------------------------------------------------------------------


def _pack_history(history: Sequence[Step]) -> tuple[list[Any], dict[str, NDArray[Any]]]:
    """Run lengths of the names of the duals, and all numbers in arrays."""
    numbers = [[s.step, s.samples, s.seconds, s.learning_rate, s.gradient_norm, *s.sums] for s in history]
    names = [[list(names), len(list(steps))] for names, steps in itertools.groupby(tuple(s.duals) for s in history)]
    duals = [value for s in history for value in s.duals.values()]
    return names, {"history": np.array(numbers, dtype="float64"), "duals": np.array(duals, dtype="float64")}


def _unpack_history(run_lengths: list[Any], arrays: dict[str, NDArray[Any]], kind: Any) -> list[Any]:
    """The steps, each a Step or a ClassStep."""
    sums_of = tuple if kind is ClassStep else (lambda sums: ClassSums(*sums))
    names = itertools.chain.from_iterable(itertools.repeat(names, count) for names, count in run_lengths)
    duals = iter(arrays["duals"].tolist())
    history = [
        kind(int(step), int(samples), seconds, rate, {name: next(duals) for name in of_step}, sums_of(sums), norm)
        for of_step, (step, samples, seconds, rate, norm, *sums) in zip(names, arrays["history"].tolist())
    ]
    packed, columns = _pack_history(history)
    same = packed == run_lengths and all(np.array_equal(columns[k], arrays[k], equal_nan=True) for k in columns)
    require(same, "a history needs as many numbers as it has steps", run_lengths)
    return history
