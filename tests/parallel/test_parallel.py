"""Training over several processes gives what one process gives, and an error in one of them ends all.

The jobs themselves are in `mpi_jobs.py`, and need mpi4py and an mpirun (extra ``mpi``); the rest runs on threads.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp import EarlyStopping, MeasureClassifier, Network, TrainFunctions, fit, linear
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data import LazyRows, Standardiser, raw_rows
from aesara_nondecomp.data.table_columns import TableColumns
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.parallel import (
    LOCAL,
    DistributedFunctions,
    DistributedRows,
    abort_on_error,
    agree,
    all_succeed,
    allgather,
    communicator,
    distribute_rows,
    distributed,
    gather_vectors,
    local_indices,
    local_slice,
    on_root,
    rows_digest,
)
from aesara_nondecomp.training.training_data import prepare

# -- on threads ------------------------------------------------------------------------------------------------------


class ThreadComm:
    """The few operations of an mpi4py communicator that are used, between threads."""

    def __init__(self, rank: int, size: int, barrier: threading.Barrier, slots: list[Any]):
        self.rank, self.size, self._barrier, self._slots = rank, size, barrier, slots

    def allgather(self, value: Any) -> list[Any]:
        self._slots[self.rank] = value
        self._barrier.wait(10)
        values = list(self._slots)
        self._barrier.wait(10)
        return values

    def bcast(self, value: Any, root: int = 0) -> Any:
        return self.allgather(value)[root]

    def Allreduce(self, own: np.ndarray, total: np.ndarray) -> None:  # noqa: N802  # mpi4py's name
        total[...] = sum(self.allgather(own.copy()))


def in_all(size: int, job: Callable[[Any], Any]) -> list[Any]:
    """What `job` returns, or raises, in each of `size` threads."""
    barrier, slots, results = threading.Barrier(size), [None] * size, [None] * size

    def run(rank: int) -> None:
        try:
            results[rank] = job(ThreadComm(rank, size, barrier, slots))
        except Exception as problem:
            results[rank] = problem

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


X = np.random.default_rng(0).normal(size=(11, 3))
X[:, 2] = 0.1  # a constant column, of a number that sums inexactly
CUTS = {2: [0, 4, 11], 3: [0, 1, 9, 11], 4: [0, 5, 5, 6, 11]}  # of four, one has no rows
KINDS: dict[str, Callable] = {
    "array": np.array,
    "lazy": lambda rows: LazyRows(rows, "float64"),
    "sparse": scipy.sparse.csr_matrix,
}


def spread(comm, kind="array") -> DistributedRows:
    start, stop = CUTS[comm.size][comm.rank : comm.rank + 2]
    return distribute_rows(comm, stop - start, lambda: KINDS[kind](X[start:stop]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", CUTS)
def test_the_parts_of_a_batch_make_up_the_batch(size, kind):
    indices = np.array([10, 3, -1, 0, 5, 3])
    parts = in_all(size, lambda comm: spread(comm, kind).batch(indices))
    whole = np.zeros((6, 3))
    for part in parts:
        whole[part.positions] += part.X
    np.testing.assert_array_equal(whole, np.where(indices[:, None] < 0, 0, X[indices]))
    assert sum(len(part.positions) for part in parts) == 5
    assert {part.n for part in parts} == {6}


@pytest.mark.parametrize("size", CUTS)
def test_a_selection_of_rows_is_indexed_from_0(size):
    rows = np.array([9, 2, 7])
    parts = in_all(size, lambda comm: spread(comm).part(rows)[:])
    whole = np.zeros((3, 3))
    for part in parts:
        whole[part.positions] = part.X
    np.testing.assert_array_equal(whole, X[rows])


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 12.0)])
@pytest.mark.parametrize("size", CUTS)
def test_scaling_is_that_of_all_rows(size, weight):
    expected = Standardiser.fit(X, sample_weight=weight)
    for scaling in in_all(size, lambda comm: spread(comm).standardiser(weight)):
        np.testing.assert_allclose(scaling.mean_, expected.mean_, rtol=0, atol=1e-14)
        np.testing.assert_allclose(scaling.scale_, expected.scale_, rtol=1e-14)
        assert scaling.scale_[2] == 1


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_columns_too_extreme_to_square_are_refused_in_all_processes(factor):
    def job(comm):
        rows = spread(comm)
        with pytest.raises(ValueError, match=r"deviations between 1e-140 and 1e140, but column 0 .* Rescale it"):
            rows.with_own(rows.own * factor).standardiser()
        return True

    assert in_all(2, job) == [True, True]


@pytest.mark.parametrize("kind", KINDS)
def test_the_digest_depends_on_the_rows_and_not_on_their_spread(kind):
    digests = {digest for size in CUTS for digest in in_all(size, lambda comm: spread(comm, kind).digest())}
    assert digests == {rows_digest(X)} == {rows_digest(KINDS[kind](X))}
    swapped = in_all(2, lambda comm: spread(comm, kind).part(np.array([1, 0, *range(2, 11)])).digest())
    assert len(set(swapped)) == 1 and not digests & set(swapped)


def test_token_ids_are_padded_to_one_width_and_cut_to_the_batch():
    ids = [np.array([[1, 2, 0], [3, 0, 0]], "int32"), np.array([[4]], "int32")]

    def job(comm):
        rows = distribute_rows(comm, len(ids[comm.rank]), lambda: ids[comm.rank])
        return rows.shape, rows.token_lengths().tolist(), rows.batch(np.array([1, 2])).X.tolist()

    (shape, lengths, first), (_, _, second) = in_all(2, job)
    assert shape == (3, 3) and lengths == [2, 1, 1]
    assert first == [[3, 0, 0]] and second == [[4, 0, 0]]


def of_tables(first, second):
    """What `prepare` returns, or raises, in two processes with these tables."""
    network = mlp(4, hidden=(2,))

    def job(comm):
        X = (first, second)[comm.rank]
        return prepare(X, np.arange(X.shape[0]) % 2, network=network, standardize=False, comm=comm)

    return in_all(2, job)


def test_a_column_of_text_in_one_process_is_one_in_all():
    codes = [np.array(cells, dtype=object) for cells in (["1", "2"], ["3", "4"])]
    tables = TableColumns({"code": codes[0]}, frozenset({"code"})), TableColumns({"code": codes[1]})
    for data in of_tables(*tables):
        assert data.encoder.feature_names == ("code=1", "code=2", "code=3", "code=4")


@pytest.mark.parametrize("other", [np.zeros((0, 1)), TableColumns({"cod": np.zeros(2)})])
def test_processes_without_the_columns_of_the_table_are_refused_in_all(other):
    for problem in of_tables(TableColumns({"code": np.zeros(2)}), other):
        with pytest.raises(ValueError, match="all processes need a table of the same columns"):
            raise problem


def test_labels_are_those_of_all_in_the_order_of_the_ranks():
    def job(comm):
        start, stop = CUTS[3][comm.rank : comm.rank + 2]
        return gather_vectors(comm, stop - start, np.arange(start, stop), None)

    for labels, weight in in_all(3, job):
        assert labels.tolist() == list(range(11)) and weight is None


def test_an_error_in_one_process_is_raised_in_all():
    def without_columns(comm):
        distribute_rows(comm, 11, lambda: raw_rows(X[:, 0] if comm.rank == 1 else X))

    def of_other_columns(comm):
        distribute_rows(comm, 11, lambda: X[:, :2] if comm.rank == 1 else X)

    def without_labels(comm):
        gather_vectors(comm, 11, X[:3, 0] if comm.rank == 2 else X[:, 0])

    def without_weights(comm):
        gather_vectors(comm, 11, None if comm.rank == 1 else np.ones(11))

    expected = {
        without_columns: "process 1 of 3: features must be two-dimensional",
        of_other_columns: r"all processes need rows of the same columns, got \[3, 2, 3\] columns",
        without_labels: "process 2 of 3: ",
        without_weights: "all processes need",
    }
    for job, message in expected.items():
        for problem in in_all(3, job):
            with pytest.raises(ValueError, match=message):
                raise problem


def own_network(activation) -> Network:
    rows, W = at.matrix("rows", dtype="float32"), aesara.shared(np.ones((3, 1), "float32"))
    return Network(rows, activation(at.dot(rows, W)), [W])


SETTINGS_THAT_DIFFER = {
    "learning_rate": (0.1, 0.2),
    "steps": (10, None),
    "measure": ("f1", "qmean"),
    "algorithm": ("auto", "paper"),
    "validation": (0.2, None),
    "validation: rows": (0.2, (X, np.arange(11) % 2)),
    "validation: patience": (EarlyStopping(0.2), EarlyStopping(0.2, patience=2)),
    "batch_size": (4, 5),
    "sampler": ("natural", 0.5),
    "standardize": (True, False),
    "l2": (0.1, 0.0),
    "averaging": (0.5, 0.9),
    "schedule": ("constant", "cosine"),
    "prior": (0.4, 0.5),
    "optimizer": ("adam", "sgd"),
    "network": ("mlp", (4, 4)),
    "network: width": (linear(3), mlp(3, (4,))),
    "positive": (0, 1),
    "seed": (1, 2),
    "on_step": (None, print),
    "network: graphs of one's own": (own_network(at.tanh), own_network(at.sigmoid)),
    "checkpoint": (None, "run.npz"),
    "backend": (None, "c"),
}


@pytest.mark.usefixtures("nothing_may_be_compiled")
@pytest.mark.parametrize("name", SETTINGS_THAT_DIFFER)
def test_settings_that_differ_are_named_in_all_processes(name):
    setting = name.partition(":")[0]

    def job(comm):
        start, stop = CUTS[2][comm.rank : comm.rank + 2]
        options = {setting: SETTINGS_THAT_DIFFER[name][comm.rank]}
        return fit(X[start:stop], (np.arange(11) % 2)[start:stop], comm=comm, **options)

    problems = in_all(2, job)
    assert len({str(problem) for problem in problems}) == 1
    for problem in problems:
        with pytest.raises(ValueError, match=f"all processes need the same settings, but {setting} differ: process 1"):
            raise problem


@pytest.mark.parametrize("y", [np.arange(11) % 2, np.arange(11) % 3], ids=["two classes", "three classes"])
def test_schedules_of_ones_own_that_differ_are_refused_by_what_they_give(y):
    """Functions are not compared, but the learning rates that follow from them."""

    def job(comm):
        start, stop = CUTS[2][comm.rank : comm.rank + 2]
        options = {
            "schedule": (lambda step: 1.0, lambda step: 0.5)[comm.rank],
            "validation": None,
            "steps": 2,
            "seed": 0,
        }
        return fit(X[start:stop], y[start:stop], ("f1", "min_recall")[int(y.max() > 1)], comm=comm, **options)

    for problem in in_all(2, job):
        with pytest.raises(
            ValueError, match="all processes need the same settings, but schedule, schedule of every step differ"
        ):
            raise problem


@pytest.mark.usefixtures("nothing_may_be_compiled")
@pytest.mark.parametrize("train", [
    lambda comm, **options: fit(X, np.arange(11) % 2, comm=comm, **options),
    lambda comm, **options: MeasureClassifier(comm=comm, **options).fit(X, np.arange(11) % 2),
], ids=["fit", "estimator"])  # fmt: skip
@pytest.mark.parametrize("options, message", [
    ({"learning_rate": -1}, "process 1 of 2: learning_rate must be a positive"),
    ({"optimizer": "addam"}, "process 1 of 2: unknown optimi[sz]er 'addam'"),
])  # fmt: skip
def test_a_setting_that_is_wrong_in_one_process_is_refused_in_all(train, options, message):
    for problem in in_all(2, lambda comm: train(comm, **(options if comm.rank else {}))):
        with pytest.raises(ValueError, match=message):
            raise problem


def test_processes_agree_on_equal_settings_and_name_all_that_differ():
    assert in_all(3, lambda comm: agree(comm, {"a": "1", "b": "2"})) == [None] * 3
    for problem in in_all(3, lambda comm: agree(comm, {"a": "1", "b": str(comm.rank // 2), "c": str(comm.rank)})):
        with pytest.raises(ValueError, match="but b, c differ: process 2 of 3 has b = 1, and process 0 0. Give all"):
            raise problem


def test_an_error_of_all_processes_is_reported_by_the_first_and_ends_the_others_silently():
    errors = in_all(3, lambda comm: all_succeed(comm, lambda: linear(0)))
    assert [isinstance(error, SystemExit) for error in errors] == [False, True, True]
    assert {error.code for error in errors[1:]} == {1} and len({str(error) for error in errors}) == 1
    assert all(isinstance(error, ValueError) for error in errors)
    with pytest.raises(ValueError, match="n_features"), abort_on_error(ThreadComm(1, 2, threading.Barrier(2), [])):
        raise errors[1]


def test_all_succeed_gives_each_process_its_own_value():
    assert in_all(3, lambda comm: all_succeed(comm, lambda: comm.rank)) == [0, 1, 2]


def test_a_callback_is_called_in_the_first_process_and_answers_in_all():
    calls = []

    def job(comm):
        return on_root(comm, lambda step: calls.append(comm.rank) or step == 2)(2)

    assert in_all(3, job) == [True] * 3 and calls == [0]


def test_indices_among_all_rows_become_those_of_each_process():
    indices = np.array([10, 0, 4, 3])
    found = in_all(2, lambda comm: local_indices(comm, indices, np.diff(CUTS[2])[comm.rank]).tolist())
    assert found == [[0, 3], [6, 0]]


@pytest.mark.parametrize("size", CUTS)
def test_slices_of_all_processes_cover_the_rows_in_their_order(size):
    slices = in_all(size, lambda comm: local_slice(comm, 11))
    assert [row for part in slices for row in range(11)[part]] == list(range(11))


# -- in a single process ---------------------------------------------------------------------------------------------


def test_no_communicator_stands_for_the_local_one_and_a_given_one_for_itself():
    comm = ThreadComm(0, 2, threading.Barrier(2), [])
    assert communicator(None) is LOCAL and communicator(LOCAL) is LOCAL and communicator(comm) is comm
    with pytest.raises(ValueError, match="comm must be a communicator of mpi4py, got 'world'"):
        communicator("world")


def test_the_local_communicator_gives_what_a_job_of_one_process_gives():
    def job(comm):
        total = np.empty(11)
        comm.Allreduce(X[:, 0], total)
        own = local_indices(comm, np.array([3, 0]), 11).tolist()
        return comm.rank, comm.size, comm.bcast("a"), allgather(comm, X).tolist(), local_slice(comm, 11), own, *total

    assert in_all(1, job) == [job(LOCAL)]
    with pytest.raises(SystemExit):
        LOCAL.Abort(1)


def test_rows_and_functions_of_a_single_process_are_not_wrapped():
    functions = TrainFunctions(linear(3))
    rows, labels = ["one text", "another"], [0, 1]
    assert distribute_rows(LOCAL, 2, lambda: rows) is rows
    assert gather_vectors(LOCAL, 2, labels, None) == (labels, None)
    assert distributed(functions, LOCAL) is functions and functions.comm is LOCAL
    comm = ThreadComm(0, 2, threading.Barrier(2), [])
    spread_functions = distributed(functions, comm)
    assert isinstance(spread_functions, DistributedFunctions) and spread_functions.comm is comm


def test_an_error_in_a_single_process_is_its_own():
    def fail():
        raise TypeError("no matrix")

    with pytest.raises(TypeError, match="^no matrix$"):
        all_succeed(LOCAL, fail)
    with pytest.raises(TypeError, match="^no matrix$"), abort_on_error(LOCAL):
        fail()


# -- on MPI ----------------------------------------------------------------------------------------------------------

MPIRUN = shutil.which("mpirun", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
SETTINGS = {  # Open MPI's, for a container's root and for more processes than cores; others need none
    **{f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")},
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def has_mpi() -> bool:
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        return False
    return MPIRUN is not None


needs_mpi = pytest.mark.skipif(not has_mpi(), reason="needs mpi4py and mpirun: the extra `mpi`")


def environment() -> dict[str, str]:
    paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, **SETTINGS, "PYTHONPATH": paths}


def launched(size: int, *arguments: Any, seconds: float = 240) -> subprocess.CompletedProcess:
    job = [str(MPIRUN), "-n", str(size), sys.executable, *map(str, arguments)]
    return subprocess.run(job, capture_output=True, text=True, timeout=seconds, env=environment())


def mpirun(size: int, *arguments: Any, seconds: float = 240) -> subprocess.CompletedProcess:
    return launched(size, Path(__file__).parents[1] / "mpi_jobs.py", *arguments, seconds=seconds)


def written(size: int, out: Path, *arguments: Any) -> list[Any]:
    """The JSON that each process of a successful job wrote."""
    done = mpirun(size, *arguments, out)
    assert done.returncode == 0, done.stderr
    return [json.loads(Path(f"{out}.{rank}").read_text()) for rank in range(size)]


@needs_mpi
@pytest.mark.parametrize("size", [1, 2, 4])
def test_every_algorithm_reaches_the_weights_of_one_process(size, tmp_path):
    for gaps in written(size, tmp_path / "gaps", "every_algorithm"):
        assert len(gaps) == 8
        assert max(gaps.values()) < 1e-10, gaps


@needs_mpi
@pytest.mark.parametrize("size", [2, 3])
def test_several_classes_end_as_in_one_process(size, tmp_path):
    for gaps in written(size, tmp_path / "gaps", "several_classes"):
        assert len(gaps) == 4 and max(gaps.values()) < 1e-9, gaps


@needs_mpi
def test_several_labels_end_as_in_one_process(tmp_path):
    for gaps in written(3, tmp_path / "gaps", "several_labels"):
        assert len(gaps) == 3 and max(gaps.values()) < 1e-9, gaps


@needs_mpi
@pytest.mark.parametrize("job", ["two_phases", "text", "classifier"])
def test_phases_texts_and_the_estimator_end_as_in_one_process(job, tmp_path):
    for gaps in written(2, tmp_path / "gaps", job):
        assert max(gaps.values()) < 1e-10


@needs_mpi
def test_the_command_line_trains_and_reports_once(tmp_path):
    from aesara_nondecomp import load_model

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)).round(3)
    lines = [f"{a},{b},{'yes' if a + b > 0.5 else 'no'}" for a, b in X]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,bought", *lines]))
    options = ["train", str(tmp_path / "rows.csv"), "--target", "bought", "--steps", "40"]
    options += ["--network", "mlp", "--hidden", "4"]  # as "auto" takes one for the rows of several processes
    single = [sys.executable, "-m", "aesara_nondecomp", *options, "--out", str(tmp_path / "one")]
    assert subprocess.run(single, env=environment(), capture_output=True).returncode == 0
    done = launched(2, "-m", "aesara_nondecomp", *options, "--mpi", "--verbose", "--out", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("threshold") == 1 and "rows: 120, " in done.stderr
    one, two = (load_model(tmp_path / name) for name in ("one", "two"))
    np.testing.assert_allclose(two.decision_function(X), one.decision_function(X), atol=1e-4)


@needs_mpi
def test_a_killed_process_ends_the_job_and_another_number_of_them_resumes_it(tmp_path):
    undisturbed = mpirun(2, "checkpointed", tmp_path / "whole.npz", tmp_path / "whole_checkpoint.npz")
    assert undisturbed.returncode == 0, undisturbed.stderr
    checkpoint = tmp_path / "checkpoint.npz"
    killed = mpirun(2, "checkpointed", tmp_path / "unused.npz", checkpoint, 1, 130, seconds=60)
    assert killed.returncode != 0
    assert not (tmp_path / "unused.npz").exists() and checkpoint.exists()
    resumed = mpirun(3, "checkpointed", tmp_path / "resumed.npz", checkpoint)
    assert resumed.returncode == 0, resumed.stderr
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "resumed.npz") as again:
        assert whole["steps"] == again["steps"] == 200
        for name in whole.files:
            np.testing.assert_allclose(again[name], whole[name], atol=1e-10)


@needs_mpi
@pytest.mark.parametrize("validation", ["0.2", "3", "null"])
def test_one_process_resumes_what_several_began_and_several_what_one_began(validation, tmp_path):
    for before, after in ((2, 1), (1, 2)):
        out, checkpoint = tmp_path / f"{before}.npz", tmp_path / f"{before}_checkpoint.npz"
        for size, stop in ((before, 30), (after, 0)):
            done = mpirun(size, "stopped_or_resumed", out, checkpoint, validation, stop)
            assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "1.npz") as one, np.load(tmp_path / "2.npz") as two:
        assert one["steps"] == two["steps"] > 30
        for name in one.files:
            np.testing.assert_allclose(one[name], two[name], atol=1e-10)


@needs_mpi
def test_a_checkpoint_that_cannot_be_written_ends_no_job_and_is_told_once(tmp_path):
    assert written(2, tmp_path / "out", "full_disk") == [[200, 1], [200, 0]]


@needs_mpi
def test_an_error_in_one_process_ends_the_job_with_its_message():
    failed = mpirun(2, "failing", seconds=60)
    assert failed.returncode != 0
    assert "the disk is full" in failed.stderr
    assert "process 1 of 2 failed" in failed.stderr and "resume=True" in failed.stderr


@needs_mpi
@pytest.mark.parametrize("job, message", [
    ("differing", "all processes need the same settings, but learning_rate differ: process 1 of 2 has"),
    ("refused_uncaught", "process 1 of 2: features must be finite"),
    ("diverging", r"training diverged in step 2 at a learning rate of 1e\+30"),
    ("failing_in_all", "the disk is full"),
])  # fmt: skip
def test_an_error_of_all_processes_ends_the_job_with_one_traceback(job, message):
    ended = mpirun(2, job, seconds=60)
    assert ended.returncode != 0
    assert re.search(message, ended.stderr) and ended.stderr.count("Traceback (most recent call last)") == 1


@needs_mpi
def test_the_command_line_refuses_other_files_and_options_in_one_line(tmp_path):
    lines = [f"{k % 7},{'yes' if k % 3 else 'no'}" for k in range(40)]
    for name, rows in (("rows.csv", lines), ("other.csv", lines[:-1])):
        (tmp_path / name).write_text("\n".join(["a,bought", *rows]))
    job = [sys.executable, "-m", "aesara_nondecomp", "train", "rows.csv", "--mpi", "--out", "m", "--target", "bought"]
    changes = {
        "the training file": ["rows.csv", "other.csv"],
        "there is no file|No such file": ["rows.csv", "nowhere.csv"],
        "target": ["bought", "a"],
    }
    jobs = {message: (job, [new if word == old else word for word in job]) for message, (old, new) in changes.items()}
    no_folder = [word if word != "m" else "nowhere/m" for word in job]
    for message, (first, other) in {**jobs, "nowhere": (no_folder, no_folder)}.items():
        command = [str(MPIRUN), "-n", "1", *first, ":", "-n", "1", *other]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment(), cwd=tmp_path)
        errors = [line for line in ended.stderr.splitlines() if line.startswith("aesara-nondecomp: error:")]
        assert ended.returncode == 1 and len(errors) == 1 and re.search(message, errors[0]), ended.stderr
        assert "Traceback" not in ended.stderr and not (tmp_path / "m").exists()


@needs_mpi
def test_bad_rows_in_one_process_are_refused_in_all(tmp_path):
    for not_finite, lengths in written(2, tmp_path / "messages", "refused"):
        assert not_finite.startswith("process 1 of 2: features must be finite")
        assert lengths.startswith("process 1 of 2: ")
