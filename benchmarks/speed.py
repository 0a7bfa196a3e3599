"""Time of one DUPLE training step (Adam, float32): this package, PyTorch, torch.compile, JAX and the bare products.

All of them run in one process, in turn, on the same data, two processor cores and two threads. Figures are medians
over the rounds, with the quartiles as their spread. A peer that is not installed, or fails, is named and left out.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import time
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any

import numpy as np

from benchmarks import gemm_floor, speed_classes, speed_peers
from benchmarks.experiment import write_json
from benchmarks.processes import THREADS, status_of_process

PRIOR = 0.2
BLOCK_SECONDS = 0.02  # a turn: long against the clock's resolution and the wake-up of a thread pool
PAUSE = 0.05  # seconds before a turn: OpenBLAS's threads spin for up to 0.03 after their last product
WARM_BLOCKS = 10  # untimed blocks at the start of a turn, until caches are full and each thread has a core
# Batch, columns, hidden layers, and the largest ratios to PyTorch and to JAX that meet the goal.
CASES: dict[str, tuple[int, int, tuple[int, ...], float, float]] = {
    "64x22-32": (64, 22, (32,), 0.15, 0.5),
    "256x123-64": (256, 123, (64,), 0.4, 0.7),
    "1000x123-128": (1000, 123, (128,), 0.8, 0.9),
    "5000x123-256": (5000, 123, (256,), 1.0, 1.0),
    "512x54-64-64": (512, 54, (64, 64), 0.5, 0.8),
}
FLOOR_GOAL, LARGE_BATCH = 1.5, 1000
PEERS = {
    "torch": speed_peers.torch_step,
    "torch_compile": speed_peers.torch_compiled_step,
    "jax": speed_peers.jax_step,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--json", metavar="FILE", help="file to write the cases to")
    cases = [*CASES, speed_classes.NAME]
    parser.add_argument("--cases", nargs="+", default=cases, choices=cases, metavar="CASE", help=", ".join(cases))
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS, metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=30, help="turns of each contestant (default 30)")
    parser.add_argument("--here", action="store_true", help="time in this process, with the threads that it has")


def main(options: argparse.Namespace) -> int:
    """Time the cases; 1 if a ratio exceeds its goal or a peer is missing."""
    if not options.here:
        return _with_two_threads(options)
    contestants, missing = _available(options.peers)
    for name, reason in missing.items():
        print(f"without {name}: {reason}", flush=True)
    cases = []
    for name in options.cases:
        timed = _case_of_classes if name == speed_classes.NAME else _case
        cases.append(timed(name, contestants, options.rounds))
        print(_line(cases[-1]), flush=True)
    if options.json:
        write_json(options.json, {"cases": cases, "missing": missing, **_machine()})
    return 0 if all(_holds(case) for case in cases) else 1


def _with_two_threads(options: argparse.Namespace) -> int:
    """Run in another process, because libraries read their thread counts when they are loaded."""
    if hasattr(os, "sched_setaffinity"):  # inherited; JAX starts as many threads as it has cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    arguments = ["speed", "--here", "--rounds", str(options.rounds)]
    arguments += ["--cases", *options.cases, "--peers", *options.peers]
    return status_of_process([*arguments, *(["--json", options.json] if options.json else [])])


def _available(peers: Sequence[str]) -> tuple[dict[str, Callable], dict[str, str]]:
    """Builders of the steps that work on this machine, and why the others do not."""
    from aesara_nondecomp.drivers import RewardWeights

    builders: dict[str, Callable] = {"ours": speed_peers.our_step}
    missing = {}
    tiny = _made(8, 3, (4,))
    for name in peers:
        build = PEERS[name]
        try:
            build(tiny)(RewardWeights(1.0, 1.0))
            builders[name] = build
        except Exception as problem:  # a peer's compiler may raise anything
            missing[name] = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
    return builders, missing


def _made(batch: int, d: int, hidden: tuple[int, ...]) -> speed_peers.Case:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(batch, d)).astype("float32")
    y = np.where(np.arange(batch) < max(1, round(PRIOR * batch)), 1, -1).astype("float32")
    return speed_peers.Case(X, y, hidden, PRIOR)


def _case(name: str, builders: dict[str, Callable], rounds: int) -> dict[str, Any]:
    batch, d, hidden, torch_goal, jax_goal = CASES[name]
    case = _made(batch, d, hidden)
    runs = {contestant: _loop(build(case), case) for contestant, build in builders.items()}
    runs["gemm_floor"] = gemm_floor.step_products(batch, case.widths)
    times = interleaved(runs, rounds)
    medians = {contestant: round(float(np.median(values)), 5) for contestant, values in times.items()}
    figures: dict[str, Any] = {"case": name, "batch": batch, "d": d, "hidden": list(hidden)}
    figures.update({f"{contestant}_ms": medians.get(contestant) for contestant in ("ours", *PEERS, "gemm_floor")})
    figures.update({f"ours_over_{peer}": _ratio(medians, peer) for peer in PEERS})
    figures["ours_over_floor"] = _ratio(medians, "gemm_floor")
    figures["goals"] = {"torch": torch_goal, "jax": jax_goal, **({"floor": FLOOR_GOAL} if batch >= LARGE_BATCH else {})}
    figures["quartiles_ms"] = {c: [round(float(q), 5) for q in np.quantile(v, (0.25, 0.75))] for c, v in times.items()}
    return figures


def _case_of_classes(name: str, builders: dict[str, Callable], rounds: int) -> dict[str, Any]:
    """The step of several classes, beside that of two and PyTorch's."""
    batch, d, hidden = speed_classes.BATCH, speed_classes.COLUMNS, speed_classes.HIDDEN
    two = _made(batch, d, hidden)
    times = interleaved(speed_classes.contestants(_loop(builders["ours"](two), two), list(builders)), rounds)
    medians = {contestant: round(float(np.median(values)), 5) for contestant, values in times.items()}
    figures: dict[str, Any] = {"case": name, "batch": batch, "d": d, "hidden": list(hidden)}
    figures.update({f"{contestant}_ms": medians.get(contestant) for contestant in ("ours", "binary", "torch")})
    figures.update({f"ours_over_{other}": _ratio(medians, other) for other in ("binary", "torch")})
    figures["goals"] = speed_classes.GOALS
    figures["quartiles_ms"] = {c: [round(float(q), 5) for q in np.quantile(v, (0.25, 0.75))] for c, v in times.items()}
    return figures


def _loop(step: speed_peers.Step, case: speed_peers.Case) -> Callable[[], None]:
    """One step of DUPLE for Q-mean: weights from the driver, the contestant's step, class sums to the driver."""
    from aesara_nondecomp.drivers import DUPLE, RewardWeights

    driver = DUPLE("qmean", case.prior)
    driver.refresh(step(RewardWeights(0.5, 0.5)))

    def run() -> None:
        driver.observe(step(driver.weights()))

    return run


def interleaved(runs: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Time several functions in turn, in an order that rotates from round to round.

    There is a pause before each turn, because threads of the function before still spin and would take a core from the
    next one. Then the function runs untimed for a while, to reach the state of a long run.

    Parameters
    ----------
    runs : dict of str to callable
        The functions, without arguments, by name.
    rounds : int
        Number of turns of each.

    Returns
    -------
    dict of str to list of float
        Milliseconds per call, one mean for each round.
    """
    repeats = {name: _repeats(run) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for k in range(rounds):
        names = list(runs)
        for name in names[k % len(names) :] + names[: k % len(names)]:
            run, n = runs[name], repeats[name]
            time.sleep(PAUSE)
            for _ in range(WARM_BLOCKS * n):
                run()
            begun = time.perf_counter()
            for _ in range(n):
                run()
            times[name].append(1e3 * (time.perf_counter() - begun) / n)
    return times


def _repeats(run: Callable[[], Any]) -> int:
    """How many calls fill one turn."""
    seconds = []
    for _ in range(10):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return max(1, round(BLOCK_SECONDS / min(seconds)))


def _ratio(medians: dict[str, float], peer: str) -> float | None:
    return round(medians["ours"] / medians[peer], 3) if peer in medians else None


def _holds(case: dict[str, Any]) -> bool:
    ratios = {peer: case[f"ours_over_{peer}"] for peer in case["goals"]}
    return all(ratio is not None and ratio <= case["goals"][peer] for peer, ratio in ratios.items())


def _line(case: dict[str, Any]) -> str:
    def shown(value: float | None, form: str) -> str:
        return "    -" if value is None else format(value, form)

    names = [key[: -len("_ms")] for key in case if key.endswith("_ms") and key != "quartiles_ms"]
    times = "  ".join(f"{name} {shown(case[f'{name}_ms'], '8.3f')}" for name in names)
    ratios = ", ".join(
        f"/{peer} {shown(case[f'ours_over_{peer}'], '.2f')} (goal {goal})" for peer, goal in case["goals"].items()
    )
    return f"{case['case']:<13} ms: {times}   {ratios}"


def _machine() -> dict[str, Any]:
    """When, on what, and with which versions."""
    versions = {"python": platform.python_version()}
    for package in ("numpy", "aesara", "scipy-openblas32", "torch", "jax"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    today = datetime.date.today().isoformat()
    return {"date": today, "processor": processor(), "threads": THREADS, "versions": versions}


def processor() -> str:
    """Name of the processor, as far as the system knows it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
