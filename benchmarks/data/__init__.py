"""The data sets of the benchmarks, embedded or in a folder; README.md says where each comes from.

`catalogue` lists them. Each family has a module with the loader of its prepared file and the converter that makes this
file from the published one: ``python -m benchmarks data convert NAME FILE... --data-dir DIR``.
"""

from benchmarks.data.catalogue import is_available, load
from benchmarks.data.command import add_arguments, main

__all__ = ["add_arguments", "is_available", "load", "main"]
