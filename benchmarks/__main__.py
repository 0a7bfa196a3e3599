"""``python -m benchmarks COMMAND``: one command per benchmark, each a module with `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

COMMANDS = {
    "demo": "train on the embedded data and compare with cross-entropy; table, JSON and figures",
    "accuracy": "test values of the default recipes on real data, against their goals",
    "rivals": "plain calls of ours against tuned boosted trees and others, on fresh splits; resumable, in parallel",
    "cells": "worst groups, gaps between groups and several classes against their rivals, each with its goal",
    "prevalence": "prevalence estimates of a plain call against boosted trees', under shifted prevalences",
    "paper": "every figure, table and claim of the paper, with baselines; resumable, in parallel",
    "twitter": "the paper's case study: prevalence of positive tweets, LSTM and attention on raw text",
    "speed": "time of a DUPLE step against PyTorch, JAX and its matrix products alone",
    "step_cost": "time of a DUPLE step against a cross-entropy step",
    "epoch": "an epoch of CoverType's size against its bare steps and against PyTorch; peak memory",
    "time_to_target": "training on ijcnn1 from starting Python to a target value, against PyTorch",
    "scoring": "scoring a million rows against the matrix products alone",
    "lstm_speed": "time of an LSTM training step against PyTorch",
    "coldstart": "seconds from import to the first step, with an empty and with a warm compile cache",
    "scaling": "samples per second on 1, 2 and 4 MPI processes, and a model of more",
    "device": "the JAX backend on a GPU: weights against the C backend, and the time of a step",
    "data": "convert published data sets to the files that the other commands read",
}
FORMER = {"steps": "step_cost", "target": "time_to_target"}
"""Former names of commands, which still work."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if its goals hold, 1 if one is missed, 2 for wrong usage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        module = import_module(f"benchmarks.{name}")
        aliases = [former for former, present in FORMER.items() if present == name]
        command = commands.add_parser(name, aliases=aliases, help=summary, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.main)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except (ValueError, OSError) as problem:
        print(f"benchmarks {options.command}: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
