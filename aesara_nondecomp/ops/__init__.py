"""Fused Ops: one C++ module each, with a NumPy ``perform`` as reference and an analytic gradient.

A plain Aesara graph for the same step needs 20 to 40 C++ modules, each compiled on its own, and several passes over
each matrix. These Ops need one module and one pass each:

- `reward_sums`, `cell_reward_sums`: the weighted objective of a batch and its sums over classes, or over cells, with
  their gradient;
- `dense`: product, bias and activation of a layer, and its backward pass;
- `dropout`: a layer without some of its units, while it is trained;
- `FusedUpdate`: an optimiser's update of a parameter and of its running average;
- `standardise`: standardise rows while they are scored;
- `checked`: check that rows are finite while they are scored;
- `lookup`, `RowUpdate`: rows of an embedding table, and the update of these rows only;
- `lstm`: a masked recurrent layer without a scan, and its backward pass;
- `attention_pool`: masked softmax and weighted mean of the states of a sequence;
- `periodic`: clipped columns, periodic features of them and bins, and their backward pass;
- `cell_rewards`: what `reward_sums` computes, for K classes and any cells of rows.

`prefetch_rows` is not part of a step: it copies the rows of the next steps while the current one runs.

The C++ is in `cpp/*.h`; the tables to extend are `activations.ACTIVATIONS` and `optimisers.OPTIMISERS`. Aesara compiles
the C++ of the Ops that a graph has; where there is no compiler, `library` runs what was compiled at installation.
"""

from aesara_nondecomp.ops.activations import ACTIVATIONS
from aesara_nondecomp.ops.attention import attention_pool
from aesara_nondecomp.ops.cell_rewards import cell_rewards
from aesara_nondecomp.ops.dense import dense
from aesara_nondecomp.ops.dropout import dropout
from aesara_nondecomp.ops.embedding import Lookup, lookup
from aesara_nondecomp.ops.finite import checked
from aesara_nondecomp.ops.lstm import lstm
from aesara_nondecomp.ops.periodic import periodic
from aesara_nondecomp.ops.prefetch import prefetch_rows
from aesara_nondecomp.ops.rewards import cell_reward_sums, reward_sums
from aesara_nondecomp.ops.row_update import RowUpdate
from aesara_nondecomp.ops.scaling import standardise
from aesara_nondecomp.ops.update import FusedUpdate

__all__ = [
    "ACTIVATIONS", "FusedUpdate", "Lookup", "RowUpdate", "attention_pool", "cell_reward_sums", "cell_rewards",
    "checked", "dense", "dropout", "lookup", "lstm", "periodic", "prefetch_rows", "reward_sums", "standardise",
]  # fmt: skip
