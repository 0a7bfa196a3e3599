"""``python -m aesara_nondecomp``: the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    int
        Exit status: 0 all is well, 1 the command found a problem. (A usage error exits with 2, by argparse.)
    """
    options = _parser().parse_args(arguments)
    return options.command(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m aesara_nondecomp")
    commands = parser.add_subparsers(metavar="command", required=True)
    doctor = commands.add_parser("doctor", help="report what this machine offers, and what is amiss")
    doctor.add_argument("--json", action="store_true", help="print the report as JSON")
    doctor.set_defaults(command=_doctor)
    return parser


def _doctor(options: argparse.Namespace) -> int:
    from aesara_nondecomp.doctor import examine

    report = examine()
    print(json.dumps(report, indent=2) if options.json else "\n".join(_as_lines(report)))
    return 1 if report["problems"] else 0


def _as_lines(report: dict[str, Any]) -> list[str]:
    facts = {name: value for name, value in report.items() if name != "problems"}
    lines = [f"{name:<28}{value}" for name, value in _flatten(facts)]
    return lines + ([f"PROBLEM: {problem}" for problem in report["problems"]] or ["No problem found."])


def _flatten(facts: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            rows += _flatten(value, f"{prefix}{name} ")
        else:
            rows.append((prefix + name, ", ".join(value) if isinstance(value, list) else value))
    return rows


if __name__ == "__main__":
    sys.exit(main())
