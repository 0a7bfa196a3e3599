"""The command line ``aesara-nondecomp``.

Reading order: `parser` (commands and options), `tables` (files to arrays), `commands`, `reports` (what is printed),
`facts` (the commands `measures` and `doctor`).
"""

from aesara_nondecomp.cli.main import main

__all__ = ["main"]
