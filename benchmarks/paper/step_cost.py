"""Time of a step of DUPLE and of STRUCT-ANN: same network, batch and optimiser, without compilation."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from aesara_nondecomp import TrainFunctions, data, drivers, measures, mlp, train
from benchmarks.experiment import write_json

ROUNDS, ROWS_PER_ROUND = 7, 10_000


class Case(NamedTuple):
    """A batch and a network."""

    measure: str
    batch: int
    prior: float
    features: int = 54
    hidden: tuple[int, ...] = (64, 64)


CASES = (
    Case("min", 512, 0.1), Case("qmean", 512, 0.1), Case("min", 512, 0.02), Case("min", 6000, 0.1),
    Case("f1", 512, 0.1), Case("kld", 512, 0.1), Case("f1", 50_000, 0.1),
)  # fmt: skip
"""6000 rows is STRUCT-ANN's batch in the authors' code; 50,000 is a whole training set, IJCNN1's."""
DIRECT = {"min": drivers.DUPLE, "qmean": drivers.DUPLE, "f1": drivers.DAME, "kld": drivers.DENIM}


def step_costs(out: Path) -> list[dict]:
    """Median milliseconds of a step of each case; measured once, then read from ``out/step_cost.json``."""
    path = out / "step_cost.json"
    if not path.is_file():
        write_json(str(path), [_measured(case) for case in CASES])
    return json.loads(path.read_text("utf-8"))


def _measured(case: Case) -> dict:
    rng = np.random.default_rng(0)
    signs = np.where(rng.random(4 * case.batch) < case.prior, 1, -1)
    X = (rng.normal(size=(len(signs), case.features)) + 0.3 * signs[:, None]).astype("float32")
    functions = TrainFunctions(mlp(case.features, case.hidden, seed=0))
    direct = DIRECT[case.measure](measures.get(case.measure), case.prior, eps=0.5 / len(signs))
    loops = {
        "direct": _loop(functions, direct, X, signs, case),
        "struct_ann": _loop(functions, drivers.StructANN(case.measure), X, signs, case),
    }
    times: dict[str, list[float]] = {name: [] for name in loops}
    repeats = max(2, ROWS_PER_ROUND // case.batch)
    for _ in range(ROUNDS):
        for name, step in loops.items():
            begun = time.perf_counter()
            for _ in range(repeats):
                step()
            times[name].append((time.perf_counter() - begun) / repeats * 1e3)
    medians = {f"{name}_ms": round(float(np.median(values)), 4) for name, values in times.items()}
    return {**case._asdict(), **medians, "ratio": round(medians["struct_ann_ms"] / medians["direct_ms"], 2)}


def _loop(functions: TrainFunctions, driver: drivers.Driver, X, signs, case: Case) -> Callable[[], object]:
    steps = train(functions, driver, data.MiniBatches(X, signs, case.batch, 0), learning_rate=1e-4)
    next(steps)  # compiles
    return lambda: next(steps)
