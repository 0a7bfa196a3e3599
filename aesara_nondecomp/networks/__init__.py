"""Networks: a symbolic input, symbolic scores and shared parameters."""

from aesara_nondecomp.networks.build import build
from aesara_nondecomp.networks.feedforward import linear, mlp
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.networks.recurrent import attention, lstm

__all__ = ["Network", "attention", "build", "linear", "lstm", "mlp"]
