"""Time of an LSTM training step against PyTorch's nn.LSTM, medians of interleaved rounds in one process.

Both have an embedding, one LSTM layer, a linear output, cross-entropy and Adam, in float32. Rows are full of random
tokens, so neither side gains from padding. Ours updates the embedding rows of the batch, PyTorch's dense Adam all of
them. There is one process per number of threads, because OpenBLAS and OpenMP read it when they are loaded.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.experiment import write_json
from benchmarks.processes import run_in_process
from benchmarks.speed import interleaved

CASES = ((64, 30), (256, 40))  # rows, tokens
WORDS, WIDTH = 10_000, 64
GOAL = 0.6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--rounds", type=int, default=30, help="rounds of the two in turn (default 30)")
    parser.add_argument("--json", help="file to write the cases to")
    parser.add_argument("--here", action="store_true", help="time in this process, with the threads that it has")


def main(options: argparse.Namespace) -> int:
    """Time both sizes on one and on two threads; 1 if a ratio exceeds the goal."""
    if options.here:
        print(json.dumps([_case(rows, tokens, options.rounds) for rows, tokens in CASES]))
        return 0
    results = [case for threads in (1, 2) for case in _in_process(threads, options.rounds)]
    for case in results:
        print(
            "{rows:>4} x {tokens} tokens, {threads} threads: ours {ours_ms:6.2f} ms   PyTorch {torch_ms:6.2f} ms   "
            "ratio {ratio:.2f}".format(**case)
        )
    if options.json:
        write_json(options.json, {"cases": results, "goal": GOAL})
    return 0 if all(case["ratio"] <= GOAL for case in results) else 1


def _in_process(threads: int, rounds: int) -> list[dict[str, Any]]:
    cases = json.loads(run_in_process(["lstm_speed", "--here", "--rounds", str(rounds)], threads))
    return [{"threads": threads, **case} for case in cases]


def _case(rows: int, tokens: int, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    ids = rng.integers(2, WORDS, (rows, tokens)).astype("int32")
    y = np.where(rng.random(rows) < 0.5, 1, -1).astype("float32")
    steps = {"torch_ms": _torch_step(ids, y), "ours_ms": _our_step(ids, y)}
    medians = {name: round(float(np.median(times)), 3) for name, times in interleaved(steps, rounds).items()}
    return {"rows": rows, "tokens": tokens, **medians, "ratio": round(medians["ours_ms"] / medians["torch_ms"], 3)}


def _our_step(ids: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    import aesara_nondecomp as an

    functions = an.TrainFunctions(an.networks.lstm(WORDS, WIDTH, WIDTH, seed=0))
    functions.configure(averaging=0.99)
    functions.set_objective((0.0, 0.0, 1.0, 1.0), 1e-3)
    return lambda: functions.ascend(ids, y)


def _torch_step(ids: np.ndarray, y: np.ndarray) -> Callable[[], object]:
    try:
        import torch
    except ImportError as missing:
        raise ValueError("the comparison needs PyTorch: pip install 'aesara-nondecomp[peers]'") from missing
    torch.manual_seed(0)
    embedding = torch.nn.Embedding(WORDS, WIDTH)
    layer = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True)
    output = torch.nn.Linear(WIDTH, 1)
    parameters = [p for module in (embedding, layer, output) for p in module.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=1e-3)
    tokens, labels = torch.from_numpy(ids).long(), torch.from_numpy((y > 0).astype("float32"))

    def step() -> None:
        optimiser.zero_grad()
        _, (last, _) = layer(embedding(tokens))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(output(last[0])[:, 0], labels)
        loss.backward()
        optimiser.step()

    return step
