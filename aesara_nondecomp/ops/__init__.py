"""Fused Ops: one C module each, a NumPy ``perform`` as oracle, an analytic gradient.

A plain Aesara graph for the same step needs 20 to 40 C++ modules, each compiled on its own, and
several passes over each matrix.  These four Ops need four modules and one pass:

- `reward_sums`: the weighted objective of a batch and its class sums (objective and gradient);
- `dense`: product, bias and activation of a layer, and the way back;
- `fused_update`: an optimiser's update of every parameter, and of its running average.
"""

from aesara_nondecomp.ops.dense import ACTIVATIONS, dense
from aesara_nondecomp.ops.rewards import reward_sums
from aesara_nondecomp.ops.update import FusedUpdate

__all__ = ["ACTIVATIONS", "FusedUpdate", "dense", "reward_sums"]
