"""Direct training against cross-entropy with a threshold, by one protocol for both."""

from studies.improvements.command import add_arguments, main

__all__ = ["add_arguments", "main"]
