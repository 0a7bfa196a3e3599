"""The command line ``aesara-nondecomp``.

Reading order: `main` (arguments to an exit status), `program` (its name, and how signals end it), `parser` (commands
and options), `completion` (of them in a shell), `usage` (options that do not go together), `tables` (files to arrays),
`commands`, `reports` (what is printed), `info` (the commands `measures` and `doctor`), `doctor` (the installation).
"""

from aesara_nondecomp.cli.main import main, run

__all__ = ["main", "run"]
