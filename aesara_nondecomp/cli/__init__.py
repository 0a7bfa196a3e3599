"""The command line ``aesara-nondecomp``.

Reading order: `main` (arguments to an exit status), `program` (its name, and Ctrl-C while it starts), `parser`
(commands and options), `tables` (files to arrays), `commands`, `reports` (what is printed), `info` (the commands
`measures` and `doctor`), `doctor` (the installation).
"""

from aesara_nondecomp.cli.main import main

__all__ = ["main"]
