"""Samples per second of data-parallel training on 1, 2 and 4 MPI processes, and a model of 8 to 512.

Each process has one BLAS thread. By the model, a step of K processes on a global batch of b rows takes

    b / K times the measured time per row, the measured fixed time, and an Allreduce of n bytes,
    2 log2(K) latency + 2 (K - 1) / K n / bandwidth.

Latency and bandwidth are fitted to Allreduces between two processes here, or are those of two usual networks.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import drivers
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.parallel import DistributedFunctions, distribute_rows
from benchmarks.experiment import write_json

BATCH, COLUMNS, HIDDEN, PRIOR = 5000, 123, (256,), 0.2
GOAL = 1.6
GROUP = 10
RANKS = (8, 32, 128, 512)
SHARE = 0.1  # of a step, for communication, in the last column of the model


class Wire(NamedTuple):
    """The connection between the processes."""

    latency: float
    """Seconds."""
    bandwidth: float
    """Bytes per second."""

    def allreduce(self, ranks: int, size: int) -> float:
        """Seconds for `size` bytes."""
        return 2 * math.log2(ranks) * self.latency + 2 * (ranks - 1) / ranks * size / self.bandwidth


USUAL = {"10 Gbit/s Ethernet": Wire(30e-6, 1.1e9), "100 Gbit/s InfiniBand": Wire(2e-6, 11e9)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4], help="process counts (default 1 2 4)")
    parser.add_argument("--steps", type=int, default=200, help="steps timed per job (default 200)")
    parser.add_argument("--rounds", type=int, default=5, help="jobs per process count, in turn (default 5)")
    parser.add_argument("--json", help="file to write the results to")
    parser.add_argument("--job", help=argparse.SUPPRESS)


def main(options: argparse.Namespace) -> int:
    """Measure and model; 1 if two processes do less than 1.6 times one process's samples per second."""
    if options.job:
        return _job(options)
    if _mpirun() is None:
        print("scaling: no mpirun or mpi4py here, nothing to measure (pip install 'aesara-nondecomp[mpi]')")
        return 0
    best: dict[int, dict[str, float]] = {}
    for _ in range(options.rounds):
        for ranks in options.ranks:
            result = _launched(ranks, options.steps)
            if ranks not in best or result["step_seconds"] < best[ranks]["step_seconds"]:
                best[ranks] = result
    model = _model(best)
    for line in [*_measured_lines(best), *_modelled_lines(model)]:
        print(line)
    if options.json:
        write_json(options.json, {"measured": {str(k): v for k, v in best.items()}, "model": model, "goal": GOAL})
    return 0 if 1 not in best or 2 not in best or _speed_up(best, 2) >= GOAL else 1


# -- one job ---------------------------------------------------------------------------------------------------------


def _job(options: argparse.Namespace) -> int:
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    step = _step(comm)
    for _ in range(10):
        step()
    comm.Barrier()
    # Ten steps at a time, because the rows of several batches are fetched at once.
    times = [_seconds(lambda: [step() for _ in range(GROUP)]) / GROUP for _ in range(max(1, options.steps // GROUP))]
    typical, fastest = (comm.allreduce(float(value), op=MPI.MAX) for value in (np.median(times), min(times)))
    result = {"ranks": comm.size, "step_seconds": typical, "fastest_seconds": fastest, "bytes": _message_bytes()}
    result.update(_messages(comm))
    if comm.rank == 0:
        Path(options.job).write_text(json.dumps(result), encoding="utf-8")
    return 0


def _step(comm: Any) -> Callable[[], None]:
    """One DUPLE step on the next global batch, as in the training loop; a single process takes it without MPI."""
    rng = np.random.default_rng(0)
    n = 4 * BATCH
    signs = np.where(rng.random(n) < PRIOR, 1, -1)
    own = np.array_split(np.arange(n), comm.size)[comm.rank]
    X = rng.normal(size=(n, COLUMNS)).astype("float32")[own]
    functions: Any = an.TrainFunctions(an.mlp(COLUMNS, HIDDEN, seed=0))
    rows: Any = X
    if comm.size > 1:
        functions, rows = DistributedFunctions(functions, comm), distribute_rows(comm, len(X), lambda: X)
    functions.compile(evaluation=True)
    driver, batches = drivers.DUPLE("qmean", PRIOR), MiniBatches(rows, signs, BATCH, 0)
    first = next(batches)
    driver.refresh(functions.class_sums(first.X, first.y))

    def step() -> None:
        batch, (sigmoid_pos, sigmoid_neg, _, _) = next(batches), driver.weights()
        functions.set_objective((sigmoid_pos / PRIOR, sigmoid_neg / (1 - PRIOR), 0.0, 0.0), 1e-3)
        driver.observe(functions.ascend(batch.X, batch.y)[0])

    return step


def _message_bytes() -> int:
    width = HIDDEN[0]
    return 4 * (8 + COLUMNS * width + width + width + 1)


def _messages(comm: Any) -> dict[str, float]:
    """Median seconds of Allreduces of a small and a large message, and of a step's message."""
    if comm.size == 1:
        return {}
    return {f"allreduce_{name}": _allreduce_seconds(comm, size) for name, size in _SIZES.items()}


_SIZES = {"small": 8, "step": _message_bytes(), "large": 4 * 2**20}


def _allreduce_seconds(comm: Any, size: int, repeats: int = 50) -> float:
    own = np.zeros(size // 4, dtype="float32")
    total = np.empty_like(own)
    comm.Barrier()
    return float(np.median([_seconds(lambda: comm.Allreduce(own, total)) for _ in range(repeats)]))


def _seconds(call: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


# -- launching -------------------------------------------------------------------------------------------------------


def _mpirun() -> str | None:
    from importlib.util import find_spec

    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return shutil.which("mpirun", path=places) if find_spec("mpi4py") else None


def _launched(ranks: int, steps: int) -> dict[str, float]:
    one_thread = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    # Open MPI needs these to run as root in a container, and with more processes than cores.
    allowed = {f"{name}_ALLOW_RUN_AS_ROOT{end}": "1" for name in ("OMPI", "PRTE") for end in ("", "_CONFIRM")}
    if ranks > (os.cpu_count() or 1):
        allowed["PRTE_MCA_rmaps_default_mapping_policy"] = ":OVERSUBSCRIBE"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        job = [sys.executable, "-m", "benchmarks", "scaling", "--job", str(out), "--steps", str(steps)]
        environment = {**os.environ, **one_thread, **allowed}
        subprocess.run([str(_mpirun()), "-n", str(ranks), *job], check=True, env=environment)
        return json.loads(out.read_text(encoding="utf-8"))


# -- the model -------------------------------------------------------------------------------------------------------


def _model(best: dict[int, dict[str, float]]) -> list[dict[str, Any]]:
    """For each connection and number of processes: communication per step, and the batch that hides it."""
    if 1 not in best or 2 not in best:
        return []
    per_row = best[1]["step_seconds"] / BATCH
    fixed = max(0.0, best[2]["step_seconds"] - best[1]["step_seconds"] / 2 - best[2]["allreduce_step"])
    wires = {"between two processes here": _fitted(best[2]), **USUAL}
    rows = []
    for name, wire in wires.items():
        for ranks in RANKS:
            message = wire.allreduce(ranks, int(best[1]["bytes"]))
            # SHARE = message / (message + fixed + per_row b / ranks), solved for b
            batch = max(0.0, ranks * (message * (1 / SHARE - 1) - fixed) / per_row)
            step = BATCH / ranks * per_row + fixed + message
            rows.append({"wire": name, "ranks": ranks, "message_ms": 1e3 * message, "step_ms_at_5000": 1e3 * step,
                         "samples_per_second_at_5000": BATCH / step, "batch_for_tenth": round(batch)})  # fmt: skip
    return rows


def _fitted(two: dict[str, float]) -> Wire:
    latency = two["allreduce_small"] / 2
    return Wire(latency, _SIZES["large"] / max(two["allreduce_large"] - two["allreduce_small"], 1e-9))


def _speed_up(best: dict[int, dict[str, float]], ranks: int) -> float:
    return best[1]["step_seconds"] / best[ranks]["step_seconds"]


def _measured_lines(best: dict[int, dict[str, float]]) -> list[str]:
    cores = os.cpu_count() or 1
    lines = []
    for ranks, result in sorted(best.items()):
        seconds = result["step_seconds"]
        compared = f", {_speed_up(best, ranks):.2f} times one process" if 1 in best else ""
        message = f", Allreduce {1e3 * result['allreduce_step']:.3f} ms" if ranks > 1 else " (no MPI in the step)"
        crowded = f" (more than the {cores} cores)" if ranks > cores else ""
        fastest = 1e3 * result["fastest_seconds"]
        speed = f"{1e3 * seconds:.2f} ms a step (fastest {fastest:.2f}), {BATCH / seconds:,.0f} rows/s"
        lines.append(f"{ranks} processes{crowded}: {speed}{compared}{message}")
    return lines


def _modelled_lines(model: list[dict[str, Any]]) -> list[str]:
    titles = ("wire", "processes", "Allreduce", "step, b = 5000", "rows/s, b = 5000", "b with communication 10 %")
    head = ["", f"| {' | '.join(titles)} |", "|" + "---|" * 6]
    body = [
        f"| {row['wire']} | {row['ranks']} | {row['message_ms']:.2f} ms | {row['step_ms_at_5000']:.2f} ms "
        f"| {row['samples_per_second_at_5000']:,.0f} | {row['batch_for_tenth']:,} |"
        for row in model
    ]
    return head + body if model else []
