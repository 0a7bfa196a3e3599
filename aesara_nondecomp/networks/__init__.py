"""Networks: a symbolic input, symbolic scores and shared parameters.

Reading order: `network` (what a network is), `members` (layers that members share), `feedforward`, `tabular` and
`recurrent` (the builders), `build` (their table).
"""

from aesara_nondecomp.networks.build import BUILDERS, Builder, build, make, parameter_shapes, takes_tokens
from aesara_nondecomp.networks.feedforward import linear, mlp
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.networks.recurrent import attention, lstm
from aesara_nondecomp.networks.tabular import tabular

__all__ = [
    "BUILDERS", "Builder", "Network", "attention", "build", "linear", "lstm", "make", "mlp", "parameter_shapes",
    "tabular", "takes_tokens",
]  # fmt: skip
