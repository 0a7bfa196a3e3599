"""The paper's figures, tables and claims, measured: ``python -m benchmarks paper --help``.

Reading order: `datasets`, `methods` (what is compared), `grid` (what a command runs), `runner` (one run, and many in
parallel), `results` (from lines to selected values), `figures`, `claims`, `report`.
"""

from benchmarks.paper.command import add_arguments, main

__all__ = ["add_arguments", "main"]
