"""The compiled step: one graph for every measure and algorithm, and the functions around it.

Reading order: `optimiser_state` (the update graph), `backends` (C++ and JAX), `ascent` (the step), `scoring` (any
number of rows, chunk by chunk), `row_checks` (what these refuse), `weights` (read and replaced), `locks` (of what
threads share), `train_functions` (all functions of a network), `class_functions` (those of a network of K classes),
`label_functions` (of L labels), `prefetch` and `device_rows` (rows on their way to a step), `symbolic_measure` (a
measure from your own formula).
"""

from aesara_nondecomp.step.symbolic_measure import symbolic_measure
from aesara_nondecomp.step.train_functions import TrainFunctions

__all__ = ["TrainFunctions", "symbolic_measure"]
