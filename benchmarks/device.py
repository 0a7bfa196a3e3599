"""The JAX backend on a GPU: weights of every algorithm against those of the C backend, and the time of a step.

Without a GPU that JAX can use, one line says so and nothing is run; ``--cpu`` runs the same on JAX's CPU device.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import aesara_nondecomp as an
from aesara_nondecomp import networks
from aesara_nondecomp.cli import doctor
from benchmarks.experiment import write_json

GOAL = 1e-5
ALGORITHMS = (("duple", "qmean"), ("denim", "kld"), ("dame", "f1"), ("cross_entropy", "f1"), ("struct_ann", "f1"))
BACKENDS = ("c", "jax")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--cpu", action="store_true", help="run on JAX's CPU device where there is no GPU")
    parser.add_argument("--batch", type=int, default=5000, help="rows of a timed step (default 5000)")
    parser.add_argument("--json", help="file to write the results to")


def main(options: argparse.Namespace) -> int:
    """Check and time; 1 if weights differ by more than the goal."""
    found = doctor.jax_devices()
    if isinstance(found, str):
        print(f"device: JAX {found}, nothing to check (pip install 'aesara-nondecomp[jax]')")
        return 0
    gpus = [name for name in found if "cpu" not in name.lower()]
    if not gpus and not options.cpu:
        print(f"device: JAX sees no GPU, only {', '.join(found)}, nothing to check (--cpu checks that)")
        return 0
    gaps = {**_gaps_of_algorithms(), **_gaps_of_networks()}
    for name, gap in gaps.items():
        print(f"{name:<14} largest difference from the C backend's weights {gap:.1e}")
    times = {backend: _milliseconds(backend, options.batch) for backend in BACKENDS}
    for backend, value in times.items():
        print(f"{backend:<14} {value:8.3f} ms a step, batch {options.batch}, 123 -> 256, Adam")
    if options.json:
        write_json(options.json, {"devices": found, "gaps": gaps, "goal": GOAL, "step_ms": times})
    return 0 if max(gaps.values()) <= GOAL else 1


def _gaps_of_algorithms(steps: int = 100) -> dict[str, float]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 20)).astype("float32")
    y = (X[:, 0] + rng.normal(size=2000) > 1.5).astype(int)
    shared = [an.TrainFunctions(an.mlp(20, (32,), activation="tanh", seed=0), "sgd", name) for name in BACKENDS]
    gaps = {}
    for algorithm, measure in ALGORITHMS:
        given: dict[str, Any] = {
            "algorithm": algorithm,
            "steps": steps,
            "batch_size": 256,
            "learning_rate": 0.05,
            "seed": 0,
        }
        ends = [an.fit(X, y, measure, network=functions, seed=0, **given).parameters for functions in shared]
        gaps[algorithm] = _largest_gap(*ends)
    return gaps


def _gaps_of_networks(steps: int = 50) -> dict[str, float]:
    rng = np.random.default_rng(0)
    ids = rng.integers(1, 200, (64, 20)).astype("int32")
    ids[np.arange(20) >= rng.integers(1, 21, 64)[:, None]] = 0
    y = np.where(rng.random(64) < 0.3, 1, -1).astype("float32")
    gaps = {}
    for build in (networks.lstm, networks.attention):
        ends = []
        for name in BACKENDS:
            functions = an.TrainFunctions(build(200, 16, 16, seed=0), "sgd", name)
            for _ in range(steps):
                functions.set_objective((1.0, 1.0, 0.5, 0.5), 0.1)
                functions.ascend(ids, y)
            ends.append(functions.parameters())
        gaps[build.__name__] = _largest_gap(*ends)
    return gaps


def _largest_gap(ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> float:
    return max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs))


def _milliseconds(backend: str, batch: int, steps: int = 50) -> float:
    """Median time of a step of `fit`, with batches and duals; with JAX the rows are on the device."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4 * batch, 123)).astype("float32")
    y = (X[:, 0] + rng.normal(size=len(X)) > 1.5).astype(int)
    times: list[float] = []
    options: dict[str, Any] = {"network": (256,), "steps": steps, "batch_size": batch, "backend": backend, "seed": 0}
    an.fit(X, y, "qmean", on_step=lambda step: times.append(time.perf_counter()), **options)
    return float(np.median(np.diff(times)[5:])) * 1e3
