"""The command line ``aesara-nondecomp``.

Reading order: `main` (arguments to an exit status), `program` (its name, and how signals end it), `parser` (commands
and options), `option_types` (from text to values), `completion` (of them in a shell), `usage` (options that do not go
together), `tables`, `training_tables`, `label_columns` and `model_rows` (files to arrays), `train`, `commands`, `kinds`
(what differs with the kind of labels: `binary_commands`, `class_commands`, `label_commands`), `outputs`, `predictions`,
`report_lines`, `class_report_lines` and `label_report_lines` (what is written), `info` (the commands `measures` and
`doctor`), `doctor` (the installation).
"""

from aesara_nondecomp.cli.main import main, run

__all__ = ["main", "run"]
