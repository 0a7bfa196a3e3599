"""What the processes of an MPI job run in the tests: ``python mpi_jobs.py NAME ARGUMENTS...``; results go to files."""

from __future__ import annotations

import errno
import json
import os
import pickle
import re
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
from mpi4py import MPI

import aesara_nondecomp as an
from aesara_nondecomp import drivers, networks
from aesara_nondecomp.data import disk_rows, samplers, streamed_tables
from aesara_nondecomp.training import checkpoints
from aesara_nondecomp.training.recipes import Phase, Recipe

STEPS = 200
PRIOR = 0.1


def rows(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """The rows of all processes: few positives, all of them in the first third."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.where(np.arange(n) < n * PRIOR, 1, -1)
    X[y > 0] += 0.7
    return X, y


def part_of(comm, n: int) -> slice:
    cuts = np.linspace(0, n, comm.size + 1).astype(int)
    return slice(cuts[comm.rank], cuts[comm.rank + 1])


RECIPES = {
    "duple": lambda: drivers.DUPLE("qmean", PRIOR),
    "duple_counts": lambda: drivers.DUPLE("min", PRIOR, counts=True),
    "duple_new": lambda: drivers.DUPLE("qmean", PRIOR, evaluate="new"),
    "denim": lambda: drivers.DENIM("kld", PRIOR, eps=0.01),
    "dame": lambda: drivers.DAME("f1", PRIOR, inner_steps=10),
    "cross_entropy": lambda: drivers.CrossEntropy(PRIOR),
    "class_weighted": lambda: drivers.ClassWeighted(PRIOR),
    "struct_ann": lambda: drivers.StructANN("f1"),
}


def functions() -> an.TrainFunctions:
    return an.TrainFunctions(an.mlp(5, (4,), dtype="float64", seed=0))


def trained(shared, X, y, driver, **options) -> an.Model:
    recipe = Recipe((Phase(driver),), learning_rate=0.02, averaging=0.9)
    # 8 rows of which 0.8 are positive: most batches leave some process without one.
    return an.fit(X, y, "qmean", algorithm=recipe, network=shared, steps=STEPS, batch_size=8, seed=3, **options)


def every_algorithm(comm, out: str) -> None:
    """The weights of every algorithm, in one process with all rows and in this job."""
    (X, y), shared = rows(), functions()
    own, weight = part_of(comm, len(y)), 1.0 + np.arange(len(y)) % 3
    gaps = {}
    for name, driver in RECIPES.items():
        options = [{}, {}] if name == "struct_ann" else [{"sample_weight": weight}, {"sample_weight": weight[own]}]
        whole = trained(shared, X, y, driver(), validation=0.2, **options[0])
        spread = trained(shared, X[own], y[own], driver(), validation=0.2, comm=comm, **options[1])
        assert [e.confusion_matrix for e in spread.evaluations] == [e.confusion_matrix for e in whole.evaluations]
        gaps[name] = max(float(np.abs(a - b).max()) for a, b in zip(whole.parameters, spread.parameters))
    for k, value in enumerate(spread.parameters):
        assert all(np.array_equal(value, other) for other in comm.allgather(value)), f"parameter {k} differs by rank"
    Path(f"{out}.{comm.rank}").write_text(json.dumps(gaps))


def text(comm, out: str) -> None:
    """An LSTM, whose embedding table moves by rows."""
    rng = np.random.default_rng(0)
    ids = rng.integers(1, 12, (90, 7))
    ids[np.arange(7) >= rng.integers(1, 8, 90)[:, None]] = 0
    y = np.where((ids == 3).any(axis=1), 1, -1)
    own = part_of(comm, len(y))
    shared = an.TrainFunctions(networks.lstm(12, 4, 3, dtype="float64", seed=0), "momentum")
    recipe = Recipe((Phase(drivers.DUPLE("qmean", PRIOR)),), learning_rate=0.05, averaging=0.9)
    options = {"algorithm": recipe, "network": shared, "steps": 60, "batch_size": 8, "seed": 1}
    narrow = ids[own][:, : 7 - comm.rank]  # widths need not agree
    wide = np.vstack([np.pad(part, ((0, 0), (0, 7 - part.shape[1]))) for part in comm.allgather(narrow)])
    models = [an.fit(wide, y, "qmean", **options), an.fit(narrow, y[own], "qmean", comm=comm, **options)]
    gap = max(float(np.abs(a - b).max()) for a, b in zip(*(model.parameters for model in models)))
    Path(f"{out}.{comm.rank}").write_text(json.dumps({"lstm": gap}))


def classifier(comm, out: str) -> None:
    """The estimator, in one process with all rows and in this job, where one process has positives alone."""
    X, y = rows()
    own = slice(0, 30) if comm.rank == 0 else slice(30, None)
    options = {"measure": "f1", "network": "mlp", "hidden": (4,), "steps": 60, "batch_size": 16, "validation": 0.3,
               "dtype": "float64", "tune_threshold": True, "random_state": 2}  # fmt: skip
    whole = an.MeasureClassifier(**options).fit(X, y)
    spread = pickle.loads(pickle.dumps(an.MeasureClassifier(**options, comm=comm).fit(X[own], y[own])))
    assert spread.comm is None
    gaps = {
        "scores": float(np.abs(whole.decision_function(X) - spread.decision_function(X)).max()),
        "probabilities": float(np.abs(whole.predict_proba(X) - spread.predict_proba(X)).max()),
    }
    Path(f"{out}.{comm.rank}").write_text(json.dumps(gaps))


def two_phases(comm, out: str) -> None:
    """The paper's DAME, whose second phase trains the head alone."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))
    options = {"algorithm": "paper_dame", "network": shared, "steps": 60, "batch_size": 16, "seed": 1}
    models = [an.fit(X, y, "f1", **options), an.fit(X[own], y[own], "f1", comm=comm, **options)]
    gap = max(float(np.abs(a - b).max()) for a, b in zip(*(model.parameters for model in models)))
    Path(f"{out}.{comm.rank}").write_text(json.dumps({"dame_paper": gap}))


def several_labels(comm, out: str) -> None:
    """Three labels, of which some processes lack one, and one process has no rows; also in the estimator."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X @ [[1, 0, -1], [0, 1, 1]] + rng.normal(size=(300, 3)) > [0.3, 0.8, 1.2]).astype(int)
    Y[np.arange(300) > 100, 2] = 0  # the last label is in the first third alone
    own, weight = part_of(comm, 300), 1.0 + np.arange(300) % 3
    last = comm.size - 1
    if comm.size > 2:  # the last process has none, and the one before it the rows of both
        own = slice(300, 300) if comm.rank == last else slice(own.start, 300) if comm.rank == last - 1 else own
    gaps = {}
    for measure, validation in (("f1", 0.3), ("micro_kld", "pair")):
        options = {
            "steps": 40, "batch_size": 8, "seed": 3, "optimizer": "sgd", "learning_rate": 0.1,
            "network": lambda d: networks.mlp(d, (4,), n_scores=3, dtype="float64", seed=0),
        }  # fmt: skip
        held = [validation] * 2 if validation == 0.3 else [(X, Y), (X[own], Y[own])]
        whole = an.fit(X, Y, measure, sample_weight=weight, validation=held[0], **options)
        spread = an.fit(X[own], Y[own], measure, sample_weight=weight[own], comm=comm, validation=held[1], **options)
        assert [e.confusion for e in spread.evaluations] == [e.confusion for e in whole.evaluations], measure
        pairs = [*zip(whole.parameters, spread.parameters), (whole.priors, spread.priors)]
        pairs += [(whole.thresholds, spread.thresholds), (whole.predict_proba(X), spread.predict_proba(X))]
        gaps[measure] = max(float(np.abs(a - b).max()) for a, b in pairs)
    options = {"network": "linear", "steps": 20, "validation": None, "dtype": "float64", "random_state": 2}
    models = [an.MeasureClassifier(**options).fit(X, Y), an.MeasureClassifier(**options, comm=comm).fit(X[own], Y[own])]
    gaps["classifier"] = float(np.abs(models[0].predict_proba(X) - models[1].predict_proba(X)).max())
    for value in spread.parameters:
        assert all(np.array_equal(value, other) for other in comm.allgather(value))
    refused = [
        (lambda: an.fit(X[own], Y[own, : 3 - (comm.rank == 0)], comm=comm), "same columns of labels|columns of train"),
        (lambda: an.fit(X[own], np.where(Y[own] > 0, 2 - (comm.rank > 0), 0), comm=comm), "0 and 1 only"),
        (lambda: an.fit(X[own], Y[own] * [1, 1, 0], comm=comm), "none with"),
        (lambda: an.fit(X[own], Y[own], "f1" if comm.rank else "min", comm=comm), "measure"),
    ]
    for call, said in refused:
        try:
            call()
        except ValueError as error:
            assert re.search(said, str(error)), error
        else:
            raise AssertionError(said)
    Path(f"{out}.{comm.rank}").write_text(json.dumps(gaps))


def several_classes(comm, out: str) -> None:
    """Labels of three classes, of which most processes lack one; measures that are of two classes too."""
    rng, labels = np.random.default_rng(0), np.array(["common", "fair", "rare"])
    codes = np.repeat([0, 1, 2], [150, 90, 60])
    X = rng.normal(size=(300, 2)) + np.array([[0, 0], [2, 0], [0, 2]])[codes]
    y, own, weight = labels[codes], part_of(comm, 300), 1.0 + np.arange(300) % 3
    gaps = {}
    for measure, algorithm in (("gmean", "duple"), ("kappa", "dame"), ("bakld", "denim"), ("min_recall", "auto")):
        # 8 rows: most batches leave some process without one.
        options = {
            "algorithm": algorithm, "steps": 60, "batch_size": 8, "seed": 3, "validation": 0.3, "optimizer": "sgd",
            "network": lambda d: networks.mlp(d, (4,), n_scores=3, dtype="float64", seed=0), "learning_rate": 0.1,
        }  # fmt: skip
        whole = an.fit(X, y, measure, sample_weight=weight, **options)
        spread = an.fit(X[own], y[own], measure, sample_weight=weight[own], comm=comm, **options)
        assert [e.confusion for e in spread.evaluations] == [e.confusion for e in whole.evaluations], measure
        assert spread.classes == whole.classes and np.array_equal(spread.validation_matrix, whole.validation_matrix)
        pairs = [*zip(whole.parameters, spread.parameters), (whole.priors, spread.priors)]
        pairs += [
            (whole.decision_function(X), spread.decision_function(X)),
            (whole.predict_proba(X), spread.predict_proba(X)),
        ]
        gaps[measure] = max(float(np.abs(a - b).max()) for a, b in pairs)
    for value in spread.parameters:
        assert all(np.array_equal(value, other) for other in comm.allgather(value))
    Path(f"{out}.{comm.rank}").write_text(json.dumps(gaps))


def streamed(comm, out: str) -> None:
    """Files that each process streams for itself: in one process with all of them, and in this job."""
    (X, y), paths = rows(), [Path(f"{out}.part{k}.csv") for k in range(4)]
    if comm.rank == 0:
        for path, part in zip(paths, np.array_split(np.column_stack([X, y]), len(paths))):
            np.savetxt(path, part, delimiter=",", header="a,b,c,d,e,y", comments="")
    comm.Barrier()
    streamed_tables.IN_MEMORY_CELLS, disk_rows.BLOCK_BYTES, samplers.GROUPED_BLOCKS = 0, 200, 8
    own, shared = paths[part_of(comm, len(paths))], functions()
    gaps = {}
    for validation in ("auto", None):
        options = {"target": "y", "measure": "qmean", "network": shared, "steps": STEPS, "batch_size": 8, "seed": 3}
        whole = an.fit(paths, validation=validation, **options)
        spread = an.fit(own, validation=validation, comm=comm, **options)
        assert spread.validation_matrix == whole.validation_matrix and spread.best_step == whole.best_step
        gaps[str(validation)] = max(float(np.abs(a - b).max()) for a, b in zip(whole.parameters, spread.parameters))
        digests = comm.allgather([value.tobytes() for value in spread.parameters])
        assert digests[0] == digests[-1], "the model differs by rank"
    Path(f"{out}.{comm.rank}").write_text(json.dumps(gaps))


def checkpointed(comm, out: str, checkpoint: str, victim: str = "-1", at: str = "0") -> None:
    """A run with checkpoints, resumed where there is one; process `victim` is killed after step `at`."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))

    def kill(step) -> None:
        if step.step == int(at):
            os.kill(int(victim_pid), signal.SIGKILL)

    victim_pid = comm.bcast(os.getpid(), root=int(victim)) if int(victim) >= 0 else None
    model = trained(
        shared, X[own], y[own], drivers.DAME("f1", PRIOR, inner_steps=10), comm=comm,
        validation=an.EarlyStopping(0.2, patience=None),
        checkpoint=an.Checkpoint(checkpoint, every=20, resume=True), on_step=kill if victim_pid else None,
    )  # fmt: skip
    if comm.rank == 0:
        np.savez(out, *model.parameters, steps=len(model.history))


def stopped_or_resumed(comm, out: str, checkpoint: str, validation: str, stop: str) -> None:
    """A run that goes on from a checkpoint, if there is one, and is stopped after a step unless that is 0."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))
    model = trained(
        shared, X[own], y[own], drivers.CrossEntropy(PRIOR), comm=comm, validation=json.loads(validation),
        checkpoint=an.Checkpoint(checkpoint, resume=True), on_step=lambda step: step.step == int(stop),
    )  # fmt: skip
    if comm.rank == 0:
        np.savez(out, *model.parameters, steps=len(model.history))


def full_disk(comm, out: str) -> None:
    """The first process cannot write the checkpoint, which it is the only one to do."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))

    def fail(path, *content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    checkpoints.write_archive = fail
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = trained(
            shared, X[own], y[own], drivers.CrossEntropy(PRIOR), comm=comm, validation=None,
            checkpoint=an.Checkpoint(f"{out}.npz", every=20),
        )  # fmt: skip
    told = sum("could not be written" in str(warning.message) for warning in caught)
    Path(f"{out}.{comm.rank}").write_text(json.dumps([len(model.history), told]))


def failing(comm) -> None:
    """One process meets an error in the middle of training."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))
    step = shared.apply

    def failing_apply(*arguments):
        if comm.rank == comm.size - 1 and failing_apply.calls == 5:
            raise RuntimeError("the disk is full")
        failing_apply.calls += 1
        return step(*arguments)

    failing_apply.calls = 0
    shared.apply = failing_apply
    trained(shared, X[own], y[own], drivers.CrossEntropy(PRIOR), comm=comm)


def differing(comm) -> None:
    """The processes have other learning rates."""
    X, y = rows()
    own = part_of(comm, len(y))
    an.fit(X[own], y[own], "qmean", learning_rate=0.1 * (1 + comm.rank), comm=comm)


def refused_uncaught(comm) -> None:
    """One process has a row that is not finite, and nobody catches the error."""
    X, y = rows()
    own = part_of(comm, len(y))
    X[-1, 0] = np.nan
    an.fit(X[own], y[own], "qmean", comm=comm)


def diverging(comm) -> None:
    """All processes take the step after which the weights are not finite."""
    (X, y), shared = rows(), an.TrainFunctions(an.mlp(5, (4,), seed=0))
    own = part_of(comm, len(y))
    recipe = Recipe((Phase(drivers.CrossEntropy(PRIOR)),))
    options = {"network": shared, "learning_rate": 1e30, "schedule": "constant", "validation": None, "steps": 5}
    an.fit(X[own], y[own], "qmean", algorithm=recipe, comm=comm, **options)


def failing_in_all(comm) -> None:
    """All processes meet the same error in the middle of training."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))

    def fail(*arguments):
        raise RuntimeError("the disk is full")

    shared.apply = fail
    trained(shared, X[own], y[own], drivers.CrossEntropy(PRIOR), comm=comm)


def refused(comm, out: str) -> None:
    """What a bad part in one process raises in all of them."""
    (X, y), shared = rows(), functions()
    own = part_of(comm, len(y))
    X, y = X[own], y[own]
    wrong = X.copy()
    if comm.rank == comm.size - 1:
        wrong[0, 0] = np.nan
    short = y[1:] if comm.rank == comm.size - 1 else y
    messages = []
    for features, labels in ((wrong, y), (X, short)):
        try:
            trained(shared, features, labels, drivers.CrossEntropy(PRIOR), comm=comm)
        except ValueError as problem:
            messages.append(str(problem))
    Path(f"{out}.{comm.rank}").write_text(json.dumps(messages))


if __name__ == "__main__":
    globals()[sys.argv[1]](MPI.COMM_WORLD, *sys.argv[2:])
