"""Direct training against cross-entropy with a threshold, by a protocol that favours neither."""

from benchmarks.improvements.command import add_arguments, main

__all__ = ["add_arguments", "main"]
