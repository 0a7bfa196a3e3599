"""Plain calls of ours against tuned rivals; README.md of the benchmarks says how to run it and what is compared."""

from benchmarks.rivals.command import add_arguments, main

__all__ = ["add_arguments", "main"]
