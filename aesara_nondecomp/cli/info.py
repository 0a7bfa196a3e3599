"""The commands that need no data: `measures` and `doctor`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from aesara_nondecomp import measures
from aesara_nondecomp._tables import table_lines
from aesara_nondecomp.cli.report_lines import as_json
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.catalogue import WITH_GROUPS_OR_CONSTRAINTS, example, parameter_names


def list_measures(options: argparse.Namespace) -> int:
    """Print the catalogue of measures.

    Parameters
    ----------
    options : argparse.Namespace
        `json`: print JSON and not a table.

    Returns
    -------
    int
        Exit status 0.
    """
    two: dict[str, Any] = {name: example(name) for name in (*measures.names(), *WITH_GROUPS_OR_CONSTRAINTS)}
    several: dict[str, Any] = {name: multiclass.example(name) for name in multiclass.names()}
    facts: list[dict[str, Any]] = [
        {
            "measure": name,
            "classes": "two or more" if name in two and name in several else "two" if name in two else "more",
            "better": "larger" if measure.greater_is_better else "smaller",
            "drivers": _drivers(measure),
            "parameters": list(parameter_names(name) if name in two else multiclass.parameter_names(name)),
            "needs": _needs(measure),
        }
        for name, measure in {**two, **{name: several[name] for name in several if name not in two}}.items()
    ]
    if options.json:
        print(as_json(facts))
    else:
        rows = [
            (
                fact["measure"],
                fact["classes"],
                fact["better"],
                " ".join(fact["drivers"]) or "report only",
                ", ".join(fact["parameters"]),
                fact["needs"] or "",
            )
            for fact in facts
        ]
        print("\n".join(table_lines(("measure", "classes", "better", "trained by", "parameters", "needs"), rows)))
    return 0


def _drivers(measure: Any) -> list[str]:
    """Algorithms that train for a measure: one of its own, or drivers."""
    own = getattr(measure, "algorithm", None)
    return [own] if own else list(measure.drivers())


def _needs(measure: Any) -> str | None:
    """What `train` needs beside a measure."""
    if isinstance(measure, measures.GroupMeasure):
        return "--groups"
    return "--constraint" if isinstance(measure, measures.Recall) else None


def doctor(options: argparse.Namespace) -> int:
    """Check the installation and report problems.

    Parameters
    ----------
    options : argparse.Namespace
        `json`: print JSON and not lines.

    Returns
    -------
    int
        Exit status: 0 if the installation is sound, 1 if it has a problem.
    """
    from aesara_nondecomp.cli.doctor import examine

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
