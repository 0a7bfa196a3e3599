"""The compiled step: one graph for every measure and algorithm, and what stands around it.

Reading order: `optimiser_state` (the update graph), `backends` (C++ and JAX), `train_functions` (the compiled
functions), `prefetch` and `device_rows` (rows on their way to a step), `symbolic_measure` (a measure of your own).
"""

from aesara_nondecomp.step.symbolic_measure import symbolic_measure
from aesara_nondecomp.step.train_functions import TrainFunctions

__all__ = ["TrainFunctions", "symbolic_measure"]
