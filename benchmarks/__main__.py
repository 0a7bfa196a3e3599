"""``python -m benchmarks COMMAND``: one command per benchmark, each a module with `add_arguments` and `main`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

COMMANDS = {
    "demo": "train on embedded data and compare with cross-entropy; table, JSON and pictures",
    "accuracy": "count measures on test data against the figures the default recipes must reach",
    "steps": "time of a DUPLE step against a cross-entropy step",
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
