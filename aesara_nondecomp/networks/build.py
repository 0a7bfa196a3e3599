"""Networks built again from their descriptions, as kept with saved models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from aesara_nondecomp._checks import choose
from aesara_nondecomp.networks.feedforward import mlp
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.networks.recurrent import attention, lstm

# `linear` describes itself as the mlp that it is.
BUILDERS: Mapping[str, Callable[..., Network]] = {"attention": attention, "lstm": lstm, "mlp": mlp}


def build(description: Mapping[str, Any], *, dtype: str | None = None) -> Network:
    """The network that a `Network.description` describes, with fresh parameters.

    Parameters
    ----------
    description : mapping. The name of the builder under "builder", and its arguments.
    dtype : str, optional. Another float type than the described one.

    Raises
    ------
    ValueError
        If the builder is unknown.
    """
    arguments = {**description, **({"dtype": dtype} if dtype else {})}
    return choose("network builder", arguments.pop("builder", None), BUILDERS)(**arguments)
