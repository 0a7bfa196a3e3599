"""Interrupted runs: resumed, they end as if undisturbed, to the last bit; what does not fit is refused."""

import contextlib
import dis
import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import Checkpoint, EarlyStopping, Network, Recipe, TrainFunctions, mlp
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._communicator import LOCAL
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, ClassWeighted, CrossEntropy, Mix, WarmStart
from aesara_nondecomp.models.archive import read_archive, write_archive
from aesara_nondecomp.training import checkpoints
from aesara_nondecomp.training.recipes import Phase, Problem, recipe_for
from aesara_nondecomp.training.validation_monitor import ValidationMonitor

N_ROWS, D, STEPS = 240, 4, 60


def fit(*data, **options):
    """`an.fit` on all rows at a constant rate, unless a test says otherwise."""
    return an.fit(*data, **{"validation": None, "schedule": "constant", **options})


def toy(seed: int = 0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N_ROWS) < N_ROWS // 4, 1, -1)
    return rng.standard_normal((N_ROWS, D)) + 0.5 * y[:, None], y


X, Y = toy()
VALIDATION = toy(seed=1)


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def same(first, second) -> bool:
    return len(first) == len(second) and all(a.tobytes() == b.tobytes() for a, b in zip(first, second))


def without_clock(history):
    return [step._replace(seconds=0.0) for step in history]


def stop_at(step_number: int):
    return lambda step: step.step == step_number


def interrupted_fit(functions, path, stops, every=500, **options):
    """Stopped after each of the given steps and resumed from the file, with everything in memory spoilt between."""
    for stop in stops:
        stopped = fit(
            X, Y, network=functions, checkpoint=Checkpoint(path, every, resume=True), on_step=stop_at(stop), **options
        )
        assert len(stopped.history) == stop
        functions.initialise(1000 + stop)
    return fit(X, Y, network=functions, checkpoint=Checkpoint(path, every, resume=True), **options)


def recipe(*phases, averaging=0.9):
    return Recipe(tuple(phases), learning_rate=0.02, averaging=averaging)


P = 0.25
RUNS = {
    "DUPLE": {"algorithm": recipe(Phase(DUPLE("gmean", P)))},
    "DUPLE, dual steps": {"algorithm": recipe(Phase(DUPLE("min", P, dual="step")))},
    "DUPLE on new weights": {"measure": "qmean", "algorithm": "paper"},
    "Mix": {"measure": "qmean"},
    "DENIM": {"algorithm": recipe(Phase(DENIM("qmeasure", P, eps=1 / 480)))},
    "WarmStart, DENIM": {"measure": "kld"},
    "WarmStart, short": {"algorithm": recipe(Phase(WarmStart(CrossEntropy(P), 20, DUPLE("qmean", P))))},
    "DAME": {"measure": "f1"},
    "DAME in rounds": {"algorithm": recipe(Phase(DAME("f1", P, inner_steps=7, round_rows=50)))},
    "DAME, pseudo-concave": {"measure": "cqreward"},
    "DAME on the head": {"measure": "f1", "algorithm": "paper"},
    "fixed weights": {"measure": "f1", "algorithm": "cross_entropy"},
    "three phases": {"algorithm": recipe(*(Phase(ClassWeighted(P), share) for share in (0.2, 0.3, 0.5)))},
    "stratified, weighted": {"measure": "qmean", "sampler": "stratified", "sample_weight": np.arange(N_ROWS) % 3},
    "cosine, weight decay": {"measure": "f1", "schedule": "cosine", "l2": 0.01},
    "validation": {"measure": "f1", "validation": EarlyStopping(VALIDATION, every=4, patience=None)},
    "validation share": {"measure": "f1", "validation": EarlyStopping(0.3, every=4, patience=None)},
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_resumed_run_ends_as_the_undisturbed_one(name, functions, path):
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, **RUNS[name]}
    undisturbed = fit(X, Y, network=functions, **options)
    # 12, 30: ends of phases; 37: between two periodic checkpoints.
    resumed = interrupted_fit(functions, path, (1, 12, 30, 37), every=10, **options)
    assert same(undisturbed.parameters, resumed.parameters)
    assert without_clock(undisturbed.history) == without_clock(resumed.history)
    assert undisturbed.evaluations == resumed.evaluations and undisturbed.best_step == resumed.best_step


def test_dropout_goes_on_with_the_same_masks(path):
    dropping = TrainFunctions(mlp(D, (6,), dropout=0.4, seed=0))
    options = {"measure": "qmean", "seed": 3, "steps": 30, "batch_size": 32}
    undisturbed = fit(X, Y, network=dropping, **options)
    assert same(undisturbed.parameters, interrupted_fit(dropping, path, (11,), **options).parameters)


def test_the_velocity_of_momentum_is_kept(path):
    functions = TrainFunctions(mlp(D, (6,), seed=0), "momentum")
    options = {"measure": "qmean", "seed": 3, "steps": 30, "batch_size": 32}
    undisturbed = fit(X, Y, network=functions, **options)
    assert same(undisturbed.parameters, interrupted_fit(functions, path, (11,), **options).parameters)


@pytest.mark.parametrize("validation", [None, 0.3])
def test_an_unseeded_run_goes_on_with_its_own_random_numbers(validation, functions, path):
    seen = []
    options = {"steps": 40, "batch_size": 32, "validation": validation, "network": functions}

    def watch(step):
        seen.append((step.step, functions.parameters()))
        return step.step == 20

    fit(X, Y, "qmean", on_step=watch, checkpoint=path, **options)
    first_weights = seen[-1][1]
    resumed = fit(X, Y, "qmean", on_step=watch, checkpoint=Checkpoint(path, resume=True), **options)
    again = fit(X, Y, "qmean", checkpoint=Checkpoint(path, resume=True), **options)
    assert [number for number, _ in seen] == list(range(1, 41))
    assert not same(first_weights, seen[20][1]) and same(resumed.parameters, again.parameters)


def test_a_finished_run_is_returned_without_another_step(functions, path):
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    made = []
    first = fit(X, Y, "qmean", checkpoint=path, **options)
    resumed = Checkpoint(path, resume=True)
    again = fit(X, Y, "qmean", checkpoint=resumed, on_step=made.append, **options)
    assert made == [] and same(first.parameters, again.parameters) and first.history == again.history


def test_a_run_out_of_patience_is_returned_without_another_step(functions, path):
    stopping = EarlyStopping(VALIDATION, every=5, patience=2)
    options = {"seed": 3, "steps": 400, "batch_size": 32, "network": functions, "validation": stopping}
    made = []
    first = fit(X, Y, "f1", checkpoint=path, **options)
    again = fit(X, Y, "f1", checkpoint=Checkpoint(path, resume=True), on_step=made.append, **options)
    assert len(first.history) < 400 and made == [] and same(first.parameters, again.parameters)


def test_a_recipe_can_be_used_again(functions):
    mine = recipe(Phase(Mix(DUPLE("qmean", P), CrossEntropy(P))))
    first, second = (fit(X, Y, algorithm=mine, network=functions, seed=3, steps=20, batch_size=32) for _ in range(2))
    assert same(first.parameters, second.parameters)


# -- a full disk -----------------------------------------------------------------------------------------------------


def full_disk_at(monkeypatch, *failing: int):
    """Let some of the writes fail, counted from 1."""
    count, write = itertools.count(1), checkpoints.write_archive

    def write_or_fail(path, *content):
        if next(count) in failing:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, *content)

    monkeypatch.setattr(checkpoints, "write_archive", write_or_fail)


def test_a_write_that_fails_ends_no_run_and_is_told_once(functions, path, monkeypatch):
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    undisturbed = fit(X, Y, "qmean", **options)
    full_disk_at(monkeypatch, 2, 3, 6)  # of 6, after 10 steps each
    message = r"checkpoint after 20 steps could not be written: .*No space left.*run.npz'. Training goes on"
    with pytest.warns(UserWarning, match=message) as caught:
        model = fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=10), **options)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert same(model.parameters, undisturbed.parameters)
    assert read_archive(path, "checkpoint")[1]["history"].shape[0] == 50
    resumed = fit(X, Y, "qmean", checkpoint=Checkpoint(path, resume=True), **options)
    assert same(resumed.parameters, undisturbed.parameters)


# -- Ctrl-C ----------------------------------------------------------------------------------------------------------


def interrupt_at(step_number: int):
    def press(step):
        if step.step == step_number:
            raise KeyboardInterrupt

    return press


def test_ctrl_c_returns_the_averaged_weights_so_far_and_says_so(functions):
    path_of_weights = []
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    fit(X, Y, "qmean", on_step=lambda step: path_of_weights.append(functions.averaged_parameters()), **options)
    with pytest.warns(UserWarning, match="interrupted after 40 of 60 steps") as caught:
        model = fit(X, Y, "qmean", on_step=interrupt_at(40), **options)
    assert len(caught) == 1 and caught[0].filename == __file__
    assert same(model.parameters, path_of_weights[39]) and len(model.history) == 40


def test_ctrl_c_returns_the_best_weights_by_validation(functions):
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    with pytest.warns(UserWarning, match="interrupted after 55"):
        stopping = EarlyStopping(VALIDATION, every=5, patience=None, tune_threshold=False)
        model = fit(X, Y, "f1", on_step=interrupt_at(55), validation=stopping, **options)
    assert model.value(*VALIDATION) == max(e.value for e in model.evaluations)


class Scored:
    """In place of compiled functions: the given scores at each evaluation."""

    comm = LOCAL

    def __init__(self, scores):
        self._scores = iter(scores)

    def using(self, parameters):
        return contextlib.nullcontext()

    def scores(self, rows):
        return next(self._scores)


def interrupted_at_line(number, evaluate, *arguments):
    """Call `ValidationMonitor.evaluate` with Ctrl-C before the given line; whether that line is reached."""

    def follow(frame, event, _):
        if event == "line" and frame.f_lineno == first + number:
            raise KeyboardInterrupt
        return follow

    code = ValidationMonitor.evaluate.__code__
    first, former = code.co_firstlineno, sys.gettrace()
    sys.settrace(lambda frame, *_: follow if frame.f_code is code else None)
    try:
        evaluate(*arguments)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(former)
    return False


@pytest.mark.parametrize("keep_all", [False, True])
def test_ctrl_c_at_any_line_of_an_evaluation_leaves_the_weights_of_the_best_one(keep_all):
    signs = np.array([-1, -1, 1, 1])
    worse, better = np.array([1.0, -1, 1, 1]), np.array([-1.0, -1, 1, 1])
    code = ValidationMonitor.evaluate.__code__
    interrupted = 0
    for number in range(max(line for _, line in dis.findlinestarts(code) if line) - code.co_firstlineno + 1):
        functions = Scored([worse, better])
        monitor = ValidationMonitor(None, signs, None, an.measures.get("f1"), None, None, keep_all=keep_all)
        monitor.evaluate(functions, [worse], 1)
        interrupted += interrupted_at_line(number, monitor.evaluate, functions, [better], 2)
        assert monitor.snapshots[monitor.best].parameters == [[worse], [better]][monitor.best]
        assert not keep_all or set(range(len(monitor.evaluations))) <= set(monitor.snapshots)
    assert interrupted > 5


def test_ctrl_c_while_a_checkpoint_is_written_returns_the_model(functions, path, monkeypatch):
    written = []

    def press(archive, *_, **__):
        written.append(archive)
        if len(written) == 40:
            archive._writing = True  # as when the signal comes before the member is handed out
            raise KeyboardInterrupt
        return open_member(archive, *_, **__)

    open_member = zipfile.ZipFile.open
    monkeypatch.setattr(zipfile.ZipFile, "open", press)
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    with pytest.warns(UserWarning, match="interrupted after"):
        model = fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=1), **options)
    assert model.interrupted and [p.name for p in path.parent.iterdir()] == [path.name]


def test_ctrl_c_before_the_first_step_is_raised(functions, monkeypatch):
    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(functions, "ascend", press)
    with pytest.raises(KeyboardInterrupt):
        fit(X, Y, "qmean", network=functions, seed=3, steps=5, batch_size=32)


def test_a_run_goes_on_after_ctrl_c_from_its_last_checkpoint(functions, path):
    options = {"seed": 3, "steps": STEPS, "batch_size": 32, "network": functions}
    undisturbed = fit(X, Y, "qmean", **options)
    with pytest.warns(UserWarning, match="interrupted"):
        fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=25), on_step=interrupt_at(40), **options)
    made = []
    resumed = fit(
        X, Y, "qmean", checkpoint=Checkpoint(path, resume=True), on_step=lambda s: made.append(s.step), **options
    )
    assert made[0] == 26 and same(undisturbed.parameters, resumed.parameters)


# -- Refusals --------------------------------------------------------------------------------------------------------


@pytest.fixture
def stopped(functions, path):
    """A checkpoint after 10 of 60 steps, and the options it was written with."""
    options = {"X": X, "y": Y, "measure": "qmean", "network": functions, "seed": 3, "steps": STEPS, "batch_size": 32}
    fit(**options, checkpoint=path, on_step=stop_at(10))
    return options


RECIPE = recipe_for("qmean", Problem(0.25, eps=0.5 / N_ROWS))
CHANGES = {
    "features": {"X": np.where(np.arange(N_ROWS)[:, None] == 7, X + 1e-3, X)},
    "labels": {"y": np.where(np.arange(N_ROWS) == 7, -Y, Y)},
    "sample_weight": {"sample_weight": np.where(np.arange(N_ROWS) == 7, 2.0, 1.0)},
    "measure": {"measure": "gmean"},
    "recipe": {"algorithm": "duple_ns"},
    "learning_rate": {"learning_rate": 0.02},
    "schedule": {"schedule": "cosine"},
    "schedule of every step": {"steps": 210, "schedule": lambda step: 0.0 if step % 2 else 1.0},
    "averaging": {"averaging": 0.5},
    "l2": {"l2": 0.1},
    "temperature": {"algorithm": RECIPE._replace(temperature=2.0)},
    "batch_size": {"batch_size": 31},
    "sampler": {"sampler": "balanced"},
    "normalize": {"algorithm": RECIPE._replace(normalize="batch")},
    "steps": {"steps": 61},
    "seed": {"seed": 4},
    "validation": {"validation": VALIDATION},
    "prior": {"prior": 0.3},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_checkpoint_of_another_run_is_refused_by_name(name, stopped, path):
    if name == "schedule of every step":  # of 210 steps every second one has the same factor
        path.unlink()
        fit(**{**stopped, "steps": 210}, checkpoint=path, on_step=stop_at(10))
    with pytest.raises(ValueError, match=f"is of another run: it differs in .*{name}.*another path"):
        fit(**{**stopped, **CHANGES[name]}, checkpoint=Checkpoint(path, resume=True))


def test_a_checkpoint_of_another_measure_of_ones_own_of_the_same_name_is_refused(functions, path):
    def saved(cost):
        return an.measures.pseudolinear("saved", a=lambda p: (0, cost * p, 1 - p), b=(1, 0, 0))

    options = {"network": functions, "seed": 3, "steps": STEPS, "batch_size": 32}
    fit(X, Y, saved(1), **options, checkpoint=path, on_step=stop_at(10))
    with pytest.raises(ValueError, match="is of another run: it differs in measure, recipe"):
        fit(X, Y, saved(5), **options, checkpoint=Checkpoint(path, resume=True))
    assert len(fit(X, Y, saved(1), **options, checkpoint=Checkpoint(path, resume=True)).history) == STEPS


def test_a_checkpoint_of_another_network_or_optimiser_is_refused(stopped, path):
    del stopped["network"]
    with pytest.raises(ValueError, match="differs in network"):
        fit(**stopped, network=mlp(D, (7,)), optimizer="adam", checkpoint=Checkpoint(path, resume=True))
    with pytest.raises(ValueError, match="differs in optimizer"):
        fit(**stopped, network=mlp(D, (6,)), optimizer="sgd", checkpoint=Checkpoint(path, resume=True))


def own_network(activation):
    rows, rng = at.matrix("rows", dtype="float32"), np.random.default_rng(0)
    W, V = (aesara.shared(rng.normal(size=shape).astype("float32")) for shape in ((D, 3), (3, 1)))
    streams = at.random.utils.RandomStream()
    kept = streams.bernoulli(0.5, size=rows.shape).astype("float32")
    scores = [at.dot(activation(at.dot(below, W)), V) for below in (rows, kept * rows)]
    return Network(rows, scores[0], [W, V], training_scores=scores[1], streams=streams)


def test_a_checkpoint_of_another_network_of_ones_own_is_refused(stopped, path):
    path.unlink()
    fit(**{**stopped, "network": own_network(at.tanh)}, checkpoint=path, on_step=stop_at(10))
    resume = Checkpoint(path, resume=True)
    with pytest.raises(ValueError, match="differs in network graph"):
        fit(**{**stopped, "network": own_network(at.sigmoid)}, checkpoint=resume)
    assert len(fit(**{**stopped, "network": own_network(at.tanh)}, checkpoint=resume).history) == STEPS


@pytest.mark.parametrize("wrap", [aesara.shared, at.constant])
def test_a_checkpoint_of_other_fixed_numbers_in_a_network_of_ones_own_is_refused(wrap, stopped, path):
    def through(factor):
        fixed = wrap(factor * np.eye(3, dtype="float32"))
        return own_network(lambda values: at.tanh(at.dot(values, fixed)))

    path.unlink()
    fit(**{**stopped, "network": through(1)}, checkpoint=path, on_step=stop_at(10))
    resume = Checkpoint(path, resume=True)
    with pytest.raises(ValueError, match="differs in fixed numbers of the network"):
        fit(**{**stopped, "network": through(2)}, checkpoint=resume)
    assert len(fit(**{**stopped, "network": through(1)}, checkpoint=resume).history) == STEPS


def leave_out(path, *names):
    """Rewrite a checkpoint without parts of its fingerprint."""
    header, arrays = read_archive(path, "checkpoint")
    for name in names:
        del header["fingerprint"][name]
    write_archive(path, "checkpoint", header, arrays)


def test_a_checkpoint_that_does_not_tell_what_was_added_later_is_resumed(stopped, path):
    leave_out(path, "backend", "schedule of every step")
    assert len(fit(**stopped, checkpoint=Checkpoint(path, resume=True)).history) == STEPS
    path.unlink()
    fit(**{**stopped, "network": own_network(at.tanh)}, checkpoint=path, on_step=stop_at(10))
    leave_out(path, "network graph", "fixed numbers of the network")
    resumed = fit(**{**stopped, "network": own_network(at.tanh)}, checkpoint=Checkpoint(path, resume=True))
    assert len(resumed.history) == STEPS


def test_a_run_that_would_replace_an_unfinished_one_says_so_before_training(stopped, path):
    made = []
    message = r"run\.npz' holds an unfinished run of 10 steps, which this run will replace.*resume=True.*another path"
    with pytest.warns(UserWarning, match=message) as told:
        fit(**stopped, checkpoint=path, on_step=lambda step: made.append(len(told)))
    assert made[0] == 1 and len(told) == 1
    fit(**stopped, checkpoint=path)  # it has replaced it, and is finished


def test_a_finished_checkpoint_of_several_networks_and_a_run_out_of_patience_are_replaced_silently(functions, path):
    folds = {"validation": EarlyStopping(2, every=10), "seed": 3, "steps": 20, "batch_size": 32, "network": functions}
    with pytest.warns(UserWarning, match="holds an unfinished run of 30 steps"):
        fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=10), on_step=stop_at(30), **folds)
        fit(X, Y, "qmean", checkpoint=path, **folds)
    patient = {**folds, "steps": 500, "validation": EarlyStopping(VALIDATION, every=1, patience=1)}
    assert len(fit(X, Y, "qmean", checkpoint=path, **patient).history) < 500
    fit(X, Y, "qmean", checkpoint=path, **{**folds, "steps": 2})


def test_two_runs_on_one_path_at_once_are_warned_of(stopped, path):
    of_another_run = read_archive(path, "checkpoint")
    path.unlink()

    def other(step):
        if step.step in (10, 20):
            write_archive(path, "checkpoint", *of_another_run)

    with pytest.warns(UserWarning, match=r"another run has written the checkpoint .*run\.npz'") as told:
        fit(**stopped, checkpoint=Checkpoint(path, every=5), on_step=other)
    assert len(told) == 1


def test_how_often_checkpoints_are_written_may_change(stopped, path):
    assert len(fit(**stopped, checkpoint=Checkpoint(path, every=7, resume=True)).history) == STEPS


def test_a_damaged_checkpoint_is_refused(stopped, path):
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="checkpoint file of aesara_nondecomp is needed.*not usable"):
        fit(**stopped, checkpoint=Checkpoint(path, resume=True))


@pytest.mark.parametrize("changes, message", [
    ({"checkpoint": "no/such/folder/run.npz"}, "in a folder that exists"),
])  # fmt: skip
def test_unusable_checkpoint_options_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        fit(X, Y, **changes)


@pytest.mark.parametrize("options, message", [
    ({"path": 3}, "checkpoint must be the path of a file, such as 'run.npz', got 3"),
    ({"path": "run.npz", "every": 2.5}, "every must be a whole number of at least 1, got 2.5"),
    ({"path": "run.npz", "resume": "yes"}, "resume must be True or False, got 'yes'"),
])  # fmt: skip
def test_a_checkpoint_checks_its_fields(options, message):
    with pytest.raises(ValueError, match=message):
        Checkpoint(**options)


def test_resuming_without_a_file_starts_at_the_start(functions, path):
    options = {"seed": 3, "steps": 20, "batch_size": 32, "network": functions}
    assert same(
        fit(X, Y, checkpoint=Checkpoint(path, resume=True), **options).parameters, fit(X, Y, **options).parameters
    )


def test_a_checkpoint_holds_plain_arrays_and_json_only(stopped, path):
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                array = np.load(member, allow_pickle=False)
            assert array.dtype.kind in "fiuU"
            if name == "header.npy":
                assert json.loads(array.tobytes())["format"] == "aesara_nondecomp checkpoint"


# -- Other processes -------------------------------------------------------------------------------------------------

SCRIPT = """
import os, random, signal, sys, time
import numpy as np
from aesara_nondecomp import Checkpoint, EarlyStopping, TrainFunctions, fit, mlp
from aesara_nondecomp.models.archive import read_archive

folder = sys.argv[1]
rows = np.load(os.path.join(folder, "rows.npz"))
functions = TrainFunctions(mlp(rows["X"].shape[1], (6,), seed=0))

def train(name, steps, on_step=None, **kept):
    return fit(rows["X"], rows["y"], "kld", network=functions, seed=3, steps=steps, batch_size=32,
               validation=EarlyStopping(0.3, patience=None), schedule="constant",
               checkpoint=Checkpoint(os.path.join(folder, name + ".npz"), **kept), on_step=on_step)

def kill_at_33(step):
    if step.step == 33:
        os.kill(os.getpid(), signal.SIGKILL)
"""

KILL = (
    SCRIPT
    + """
train("killed", 60, kill_at_33, every=10)
"""
)

RESUME = (
    SCRIPT
    + """
first = []
model = train("killed", 60, lambda step: first.append(step.step), resume=True)
assert first[0] == 31, first[0]
np.savez(os.path.join(folder, "resumed.npz"), *model.parameters)
"""
)

# Forks share what is compiled, so that a restart costs nothing and the kills fall on training and writing alone.
KILL_20_TIMES = (
    SCRIPT
    + """
STEPS = 3000
draw, path = random.Random(0), os.path.join(folder, "disturbed.npz")

def fork_that_trains(begun):
    child = os.fork()
    if child == 0:
        train("disturbed", STEPS, lambda step: os.write(begun, b".") and time.sleep(0.0005), resume=True,
              every=3)
        os._exit(0)
    return child

train("warm", 5)
start = time.perf_counter()
train("warm", 30, every=3)
longest = max(0.03, 0.6 * (time.perf_counter() - start))  # of a few checkpoints, as a busy disk takes long for each
reached = []
for _ in range(20):
    tell, begun = os.pipe()
    child = fork_that_trains(begun)
    os.read(tell, 1)
    time.sleep(draw.uniform(0.0, longest))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the run was over before it was killed"
    if os.path.exists(path):
        reached.append(len(read_archive(path, "checkpoint")[1]["history"]))
    os.close(tell), os.close(begun)
assert reached == sorted(reached) and len(set(reached)) > 3, reached
ends = [train("disturbed", STEPS, resume=True), train("undisturbed", STEPS)]
for name, model in zip(("disturbed", "undisturbed"), ends):
    np.savez(os.path.join(folder, name + "-end.npz"), *model.parameters)
"""
)


def run_script(script: str, folder) -> int:
    np.savez(folder / "rows.npz", X=X, y=Y)
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def arrays_of(path) -> list[np.ndarray]:
    with np.load(path) as archive:
        return [archive[name] for name in archive.files]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_process_is_continued_by_another_one(tmp_path, functions):
    undisturbed = fit(
        X, Y, "kld", network=functions, seed=3, steps=60, batch_size=32, validation=EarlyStopping(0.3, patience=None)
    )
    assert run_script(KILL, tmp_path) == -signal.SIGKILL
    assert run_script(RESUME, tmp_path) == 0
    assert same(arrays_of(tmp_path / "resumed.npz"), undisturbed.parameters)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_20_kills_at_random_moments_leave_a_whole_file_and_the_same_weights_in_the_end(tmp_path):
    assert run_script(KILL_20_TIMES, tmp_path) == 0
    assert same(arrays_of(tmp_path / "undisturbed-end.npz"), arrays_of(tmp_path / "disturbed-end.npz"))
