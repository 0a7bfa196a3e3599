"""Functions that threads and forked processes share: models score as they should, and one training runs at a time."""

import itertools
import os
import re
import threading
from dataclasses import replace

import numpy as np
import pytest
from processes import in_a_process

from aesara_nondecomp import TrainFunctions, fit, mlp
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.drivers import CrossEntropy
from aesara_nondecomp.step.locks import ForkedLock, TrainingLock, lock_of
from aesara_nondecomp.training import train

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = X[:, 0] + RNG.normal(size=300) > 1
SIGNS = np.where(Y, 1, -1)
QUICK = {"measure": "qmean", "steps": 60, "batch_size": 32, "validation": None}


@pytest.fixture(scope="module")
def shared():
    functions = TrainFunctions(mlp(3, (4,), seed=0), "adam")
    functions.compile(evaluation=True)
    return functions


@pytest.fixture(scope="module")
def model(shared):
    return fit(X, Y, network=shared, seed=0, **QUICK)


def assert_same_bits(found, expected):
    assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected)) and len(found) == len(expected)


def loop(functions, seed, steps=60):
    """A training loop of one's own."""
    functions.initialise(seed)
    functions.configure()
    batches = MiniBatches(X.astype("float32"), SIGNS, 32, seed)
    list(itertools.islice(train(functions, CrossEntropy(0.2), batches, learning_rate=0.01), steps))
    return functions.parameters()


def trained(network, **options):
    return fit(X, Y, network=network, seed=1, **QUICK, **options).parameters


TRAININGS = {
    "fit on its functions": trained,
    "fit on its network": lambda shared: trained(shared.network, optimizer="adam"),
    "a loop of one's own": lambda shared: loop(shared, 1),
}


@pytest.mark.parametrize("training", TRAININGS)
def test_a_model_scores_as_alone_while_another_thread_trains_its_functions(training, shared, model):
    scores, weights = model.decision_function(X), TRAININGS[training](shared)
    started, ended, found = threading.Event(), threading.Event(), []

    def score():
        while not ended.is_set():
            found.append(model.decision_function(X))
            started.set()

    thread = threading.Thread(target=score)
    thread.start()
    try:
        assert started.wait(60)
        again = TRAININGS[training](shared)
    finally:
        ended.set()
        thread.join()
    assert_same_bits(found, [scores] * len(found))
    assert_same_bits(again, weights)


def test_scoring_does_not_wait_for_a_training(shared, model):
    scored = []

    def score_in_a_thread(step):
        thread = threading.Thread(target=lambda: scored.append(model.decision_function(X)))
        thread.start()
        thread.join(60)  # it would wait for ever, as this callback is a part of the training
        return True

    expected = model.decision_function(X)
    fit(X, Y, network=shared, seed=1, on_step=score_in_a_thread, **QUICK)
    assert_same_bits(scored, [expected])


@pytest.mark.parametrize("other", ["functions", "network"])
def test_a_callback_that_trains_the_same_functions_is_refused_at_once(other, shared):
    again = shared if other == "functions" else shared.network
    expected = fit(X, Y, network=shared, seed=0, **QUICK).parameters
    with pytest.raises(RuntimeError, match="in training, and a callback cannot train them too.*network of its own"):
        fit(X, Y, network=shared, seed=0, on_step=lambda step: fit(X, Y, network=again, **QUICK), **QUICK)
    assert_same_bits(fit(X, Y, network=shared, seed=0, **QUICK).parameters, expected)


def test_fits_on_shared_functions_in_threads_come_one_after_another(shared):
    expected = [fit(X, Y, network=shared, seed=seed, **QUICK).parameters for seed in range(3)]
    found = [None] * 3

    def work(seed):
        network = shared if seed < 2 else shared.network  # also through functions of their own
        options = {} if seed < 2 else {"optimizer": "adam"}
        found[seed] = fit(X, Y, network=network, seed=seed, **QUICK, **options).parameters

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for mine, wanted in zip(found, expected):
        assert_same_bits(mine, wanted)


def test_a_loop_of_ones_own_is_refused_while_another_thread_trains(shared):
    problems = []

    def loop_in_a_thread(step):
        def run():
            try:
                loop(shared, 1, steps=1)
            except RuntimeError as problem:
                problems.append(str(problem))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
        return True

    fit(X, Y, network=shared, seed=1, on_step=loop_in_a_thread, **QUICK)
    assert len(problems) == 1
    assert re.search("another thread trains these functions: give each thread functions of its own", problems[0])


def test_who_holds_the_lock_may_train(shared):
    expected = loop(shared, 3)
    with shared.lock:
        assert_same_bits(loop(shared, 3), expected)
        fit(X, Y, network=shared, seed=1, **QUICK)


def test_networks_of_the_same_parameters_share_a_lock():
    network = mlp(3, (4,), seed=0)
    assert lock_of(network) is lock_of(network.head_network()) is TrainFunctions(network).lock
    assert lock_of(network) is not lock_of(mlp(3, (4,), seed=0))


def test_weights_of_other_types_and_orders_are_scored_and_of_other_shapes_refused(model):
    expected = model.decision_function(X)
    wide = replace(model, parameters=[np.asfortranarray(value.astype("float64")) for value in model.parameters])
    assert np.array_equal(wide.decision_function(X), expected)
    with pytest.raises(ValueError, match=r"parameters of shapes \[\(3, 4\), .* are needed, got"):
        replace(model, parameters=model.parameters[:-1]).predict(X)


# -- forks -----------------------------------------------------------------------------------------------------------

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@needs_fork
def test_a_child_forked_while_another_thread_predicts_and_trains_can_do_both():
    code = """
import signal, threading
functions = t.TrainFunctions(t.mlp(3, (4,), seed=0), "adam")
model = t.fit(t.X, t.Y, network=functions, seed=0, **t.QUICK)
expected, ended = model.decision_function(t.X).tobytes(), threading.Event()
def score():
    while not ended.is_set():
        model.decision_function(t.X)
def hold():
    with functions.lock.training():
        ended.wait(60)
threads = [threading.Thread(target=work) for work in (score, score, hold)]
for thread in threads:
    thread.start()
for _ in range(15):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs is killed
        same = model.decision_function(t.X).tobytes() == expected
        again = t.fit(t.X, t.Y, network=functions, seed=0, **t.QUICK)
        os._exit(0 if same and again.decision_function(t.X).tobytes() == expected else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
ended.set()
"""
    assert in_a_process(code, "test_shared_functions") == ["0"] * 15


@pytest.mark.parametrize("kind", [ForkedLock, TrainingLock, lambda: ForkedLock(threading.Lock)])
def test_a_lock_is_renewed_only_if_another_thread_holds_it(kind):
    lock = kind()
    lock.renew()
    with lock:
        pass
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()
    assert not lock.acquire(blocking=False)
    lock.renew()
    assert lock.acquire(blocking=False)
    lock.release()


def test_the_forking_threads_own_training_goes_on_in_the_child():
    lock = TrainingLock()
    with lock.training():
        lock.renew()
        with pytest.raises(RuntimeError, match="in training"), lock.training():
            pass
    with lock.training():
        pass
