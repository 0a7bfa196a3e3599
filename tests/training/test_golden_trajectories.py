"""The reference runs of the specification, section 6, through the training loop and the compiled step."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from oracles import FixedBatches, LinearProblem

from aesara_nondecomp import TrainFunctions, measures, train
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE
from aesara_nondecomp.networks import Network

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden_trajectories.json").read_text())
INPUTS, RUNS = GOLDEN["inputs"], GOLDEN["runs"]
PROBLEM = LinearProblem(*(np.array(INPUTS[name]) for name in ("X", "y", "w0")))
LITERAL = {"forgetting": 1.0, "evaluate": "new"}
PRECISIONS = pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-10), ("float32", 1e-4)])


def without_bias(dtype):
    """A linear network whose only parameter is w, at the run's first weights."""
    X, w = at.matrix("X", dtype=dtype), aesara.shared(PROBLEM.w.astype(dtype), name="w")
    return Network(X, at.dot(X, w), [w])


@pytest.fixture(scope="module")
def compiled():
    return {dtype: TrainFunctions(without_bias(dtype), "sgd") for dtype in ("float64", "float32")}


def trajectory(functions, driver, dtype, batches=(PROBLEM,)):
    """(step, w, full-data class sums) after each step."""
    functions.initialise()
    stub = FixedBatches(batches, PROBLEM.prior, dtype)
    full = PROBLEM.X.astype(dtype), PROBLEM.y.astype(dtype)
    for step in train(functions, driver, stub, learning_rate=INPUTS["eta"]):
        yield step, functions.parameters()[0], functions.class_sums(*full)


def check_step(record, step, w, sums, tolerance):
    """What the records of all algorithms have in common."""
    assert w == pytest.approx(record["w"], abs=tolerance)
    assert step.gradient_norm == pytest.approx(np.linalg.norm(record["grad"]), abs=tolerance)
    if "P_hat" in record:
        assert sums.rates("sigmoid") == pytest.approx((record["P_hat"], record["N_hat"]), abs=tolerance)


@PRECISIONS
@pytest.mark.parametrize("run, measure, counts", [
    ("duple_qmean", "qmean", False),
    ("duple_min", "min", False),
    ("duple_negkld", "kld", False),
    ("duple_ns_qmean", "qmean", True),
    ("duple_qmean_minibatch", "qmean", False),
])  # fmt: skip
def test_duple_walks_the_golden_trajectory(run, measure, counts, dtype, tolerance, compiled):
    parts = [PROBLEM.part(rows) for rows in INPUTS["minibatches_S0_to_S5"]]
    batches = parts if run.endswith("minibatch") else (PROBLEM,)
    measure = measures.get(measure)
    driver = DUPLE(measure, PROBLEM.prior, counts=counts, **LITERAL)
    steps = trajectory(compiled[dtype], driver, dtype, batches)
    for record, (step, w, sums) in zip(RUNS[run][1:], steps):
        check_step(record, step, w, sums, tolerance)
        assert driver.rates.rates() == pytest.approx(record["avg"], abs=tolerance)
        assert step.duals == pytest.approx({"alpha": record["alpha"], "beta": record["beta"]}, abs=tolerance)
        psi = measure.oriented(measure.value(*driver.rates.rates(), PROBLEM.prior))
        assert psi == pytest.approx(record["psi_avg"], abs=tolerance)


@PRECISIONS
@pytest.mark.parametrize("run, measure, counts", [
    ("denim_negkld", "kld", False),
    ("denim_qmeasure_1", "qmeasure", False),
    ("denim_ns_qmeasure_1", "qmeasure", True),
])  # fmt: skip
def test_denim_walks_the_golden_trajectory(run, measure, counts, dtype, tolerance, compiled):
    # On counts DENIM asks for an eps; the Q-measure does not use it.
    driver = DENIM(measures.get(measure), PROBLEM.prior, counts=counts, eps=1 / 16 if counts else 0.0, **LITERAL)
    steps = trajectory(compiled[dtype], driver, dtype)
    for record, (step, w, sums) in zip(RUNS[run][1:], steps):
        check_step(record, step, w, sums, tolerance)
        assert driver.rates.rates() == pytest.approx(record["r"], abs=tolerance)
        assert driver.q == pytest.approx(record["q"], abs=tolerance)
        for name in ("alpha", "beta", "gamma"):
            got = [step.duals[f"{name}1"], step.duals[f"{name}2"]]
            assert got == pytest.approx(record[name], abs=tolerance)


@PRECISIONS
def test_dame_walks_the_golden_trajectory(dtype, tolerance, compiled):
    measure, rounds = measures.get("f1"), RUNS["dame_f1"]
    driver = DAME(measure, PROBLEM.prior, inner_steps=INPUTS["dame_inner_steps"], **LITERAL)
    steps = trajectory(compiled[dtype], driver, dtype)
    for outer in rounds:
        for inner, (step, w, sums) in zip(outer["inner"], islice(steps, INPUTS["dame_inner_steps"])):
            check_step(inner, step, w, sums, tolerance)
            assert step.duals == pytest.approx({"v": outer["v"]}, abs=tolerance)
            assert driver.weights()[:2] == pytest.approx((inner["weight_P"], inner["weight_N"]), abs=tolerance)
        reached = measure.value(*sums.rates("sigmoid"), PROBLEM.prior)
        assert reached == pytest.approx(outer["measure_after"], abs=tolerance)


def test_the_reference_holds_every_step_of_every_run():
    lengths = {name: len(run) for name, run in RUNS.items()}
    assert len(lengths) == 9
    assert all(length == INPUTS["T"] + (name != "dame_f1") for name, length in lengths.items())
