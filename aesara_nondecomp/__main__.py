"""Run the command line as ``python -m aesara_nondecomp``; the same as ``aesara-nondecomp``."""

from aesara_nondecomp.cli import run

if __name__ == "__main__":
    run()
