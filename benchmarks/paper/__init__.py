"""The paper's figures, tables and claims, measured: ``python -m benchmarks paper --help``.

Reading order: `datasets`, `released` (the authors' settings), `methods` (what is compared), `grid` (what a command
runs), `training` (one run), `runner` (many in parallel), `results` (from lines to selected values), `step_cost`,
`figures`, `claims`, `report`, `command`.
"""

from benchmarks.paper.command import add_arguments, main

__all__ = ["add_arguments", "main"]
