"""Run the command line as ``python -m aesara_nondecomp``; the same as ``aesara-nondecomp``."""

import sys

from aesara_nondecomp.cli import main

if __name__ == "__main__":
    sys.exit(main())
