"""Networks: a symbolic input, symbolic scores and shared parameters."""

from aesara_nondecomp.networks.feedforward import linear, mlp
from aesara_nondecomp.networks.network import Network

__all__ = ["Network", "linear", "mlp"]
