"""Time of one DUPLE step against one cross-entropy step, on the same network, batch and optimiser (Adam).

Three steps are timed in interleaved rounds and compared by medians:

- DUPLE: weights from the duals, the compiled step, class sums back to the driver;
- the same loop with the fixed weights of cross-entropy;
- a step compiled for cross-entropy alone, as a user of Aesara would write it: mean softplus, no class sums, no driver.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import drivers, measures
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops import FusedUpdate
from aesara_nondecomp.step.backends import compile_c
from benchmarks.experiment import write_json
from benchmarks.speed import interleaved

CASES = ((64, 22, (32,)), (256, 123, (64,)), (512, 54, (64, 64)), (1000, 123, (128,)), (5000, 123, (256,)))
GOAL = 1.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--rounds", type=int, default=30, help="rounds of the three in turn (default 30)")
    parser.add_argument("--json", help="file to write the cases to")


def main(options: argparse.Namespace) -> int:
    """Time every case; 1 if a ratio exceeds the goal."""
    results = [_case(batch, d, hidden, options.rounds) for batch, d, hidden in CASES]
    for result in results:
        print(
            "batch {batch:>5}, {d:>3} -> {hidden:<9} DUPLE {duple_ms:7.3f} ms   cross-entropy by weights "
            "{cross_entropy_ms:7.3f} ms ({duple_over_cross_entropy:.2f})   plain {plain_ms:7.3f} ms "
            "({duple_over_plain:.2f})".format(**result)
        )
    if options.json:
        write_json(options.json, {"cases": results, "goal": GOAL})
    return 0 if all(result["duple_over_plain"] <= GOAL for result in results) else 1


def _case(batch: int, d: int, hidden: tuple[int, ...], rounds: int) -> dict:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(batch, d)).astype("float32")
    y = np.where(rng.random(batch) < 0.2, 1, -1).astype("float32")
    contestants = {
        "duple_ms": _loop(drivers.DUPLE(measures.QMean(), 0.2), d, hidden, X, y),
        "cross_entropy_ms": _loop(drivers.CrossEntropy(0.2), d, hidden, X, y),
        "plain_ms": _plain_cross_entropy(d, hidden, X, y),
    }
    medians = {name: float(np.median(times)) for name, times in interleaved(contestants, rounds).items()}
    return {
        "batch": batch,
        "d": d,
        "hidden": "-".join(map(str, hidden)),
        **{name: round(value, 4) for name, value in medians.items()},
        "duple_over_cross_entropy": round(medians["duple_ms"] / medians["cross_entropy_ms"], 3),
        "duple_over_plain": round(medians["duple_ms"] / medians["plain_ms"], 3),
    }


def _loop(driver: drivers.Driver, d: int, hidden: tuple[int, ...], X: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    functions = an.TrainFunctions(an.mlp(d, hidden, seed=0))
    driver.refresh(functions.class_sums(X, y))

    def step() -> None:
        sigmoid_pos, sigmoid_neg, logistic_pos, logistic_neg = driver.weights()
        functions.set_objective((sigmoid_pos / 0.2, sigmoid_neg / 0.8, logistic_pos / 0.2, logistic_neg / 0.8), 1e-4)
        sums, _ = functions.ascend(X, y)
        driver.observe(sums)

    return step


def _plain_cross_entropy(d: int, hidden: tuple[int, ...], X: np.ndarray, y: np.ndarray) -> Callable[[], None]:
    network, optimiser = an.mlp(d, hidden, seed=0), an.optimisers.Adam()
    labels = at.vector("y", dtype="float32")
    objective = -at.mean(at.softplus(-labels * network.scores[:, 0]))
    gradients = aesara.grad(objective, network.parameters)

    def like(p: Any) -> Any:
        return aesara.shared(np.zeros_like(p.get_value()))

    t, *slots = aesara.shared(np.asarray(0.0)), *[like(p) for _ in optimiser.slots for p in network.parameters]
    averages = [like(p) for p in network.parameters]
    rate, averaging, decay = (aesara.shared(np.asarray(v)) for v in (1e-4, 0.0, np.zeros(len(network.parameters))))
    moves: list[tuple] = []
    for k, (p, gradient) in enumerate(zip(network.parameters, gradients)):
        own = p, *slots[k :: len(network.parameters)], averages[k]
        new_t, *new, _ = FusedUpdate(optimiser, k)(rate, averaging, t, decay, p, gradient, *own[1:])
        moves += [*([] if moves else [(t, new_t)]), *zip(own, new)]
    function = compile_c([network.inputs, labels], objective, "plain", updates=moves)
    return lambda: function(X, y)
