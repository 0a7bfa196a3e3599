"""``python -m benchmarks COMMAND``: one command per benchmark, each a module with `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

COMMANDS = {
    "demo": "train on embedded data and compare with cross-entropy; table, JSON and pictures",
    "accuracy": "count measures on test data against the figures the default recipes must reach",
    "paper": "every figure, table and claim of the paper, with baselines; resumable, in parallel",
    "improvements": "direct training against cross-entropy with a threshold, all choices on validation parts",
    "speed": "time of a DUPLE step against PyTorch's and JAX's, and against its matrix products alone",
    "epoch": "an epoch of CoverType's size from arrays to model, against its bare steps and PyTorch; peak memory",
    "target": "whole training from starting Python to a target on ijcnn1, against PyTorch",
    "scoring": "scoring a million rows against its matrix products and memory traffic alone",
    "steps": "time of a DUPLE step against a cross-entropy step",
    "twitter": "the case study of the paper: shares of positive tweets, LSTM and attention from raw text",
    "anchors": "which anchor DENIM should have on text and on tables, on held-out training rows",
    "lstm_speed": "time of an LSTM training step against PyTorch's",
    "scaling": "samples per second on 1, 2 and 4 MPI processes, and a model of more",
    "device": "the JAX backend on a GPU: weights against the C backend's, and the time of a step",
    "coldstart": "seconds from import to the first step, on an empty and on a warm compile cache",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one benchmark; 0 when it ran and holds, 1 when a figure does not hold, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        module = import_module(f"benchmarks.{name}")
        module.add_arguments(commands.add_parser(name, help=summary, description=module.__doc__))
    options = parser.parse_args(arguments)
    try:
        return import_module(f"benchmarks.{options.command}").main(options)
    except (ValueError, OSError) as problem:
        print(f"benchmarks {options.command}: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
