"""``python -m aesara_nondecomp``: the command line, as ``aesara-nondecomp`` is."""

import sys

from aesara_nondecomp.cli import main

if __name__ == "__main__":
    sys.exit(main())
