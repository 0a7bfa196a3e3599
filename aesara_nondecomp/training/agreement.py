"""What the processes of a job must have in common, before they exchange rows: the arguments of `fit`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aesara_nondecomp.models.network_model import NetworkModel
from aesara_nondecomp.networks import Network
from aesara_nondecomp.ops.optimisers import Optimiser
from aesara_nondecomp.parallel import Communicator, agree
from aesara_nondecomp.step import TrainFunctions
from aesara_nondecomp.training.early_stopping import EarlyStopping
from aesara_nondecomp.training.fingerprint import plain
from aesara_nondecomp.training.folds import is_pair


def agree_on_arguments(comm: Communicator, arguments: Mapping[str, Any], **more: Any) -> None:
    """Check that all processes were given the same arguments.

    Parameters
    ----------
    comm : communicator
        Of the processes.
    arguments : mapping of str to object
        Checked arguments of `fit`, without the rows of each process.
    **more : object
        Further arguments.

    Raises
    ------
    ValueError
        In all processes, if arguments differ.
    """
    if comm.size > 1:
        agree(comm, _texts({**arguments, **more}))


def _texts(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Arguments by name, as texts that are equal in all processes if these are; none that only the first process uses.

    Functions count as equal here: what follows from them is in the run's `fingerprint`.
    """
    used = {name: value for name, value in arguments.items() if name != "progress"}
    used["checkpoint"] = used["checkpoint"] is not None  # the first process writes it
    return {name: json.dumps(plain(_stated(value)), default=str) for name, value in used.items()}


def _stated(value: Any) -> Any:
    """An argument as a value that `plain` tells apart."""
    if isinstance(value, EarlyStopping):
        rows = "rows of each process" if is_pair(value.validation) else value.validation
        return [rows, value.every, value.patience, value.tune_threshold, value.refit]
    if isinstance(value, NetworkModel):
        return [_stated(value.functions.network), value.parameters, *value.voters]
    if isinstance(value, TrainFunctions):
        return [_stated(value.network), repr(value.optimizer), value.backend]
    if isinstance(value, Network):
        return value.description or [*(str(p.type) for p in value.parameters), value.graph_digest]
    return repr(value) if isinstance(value, Optimiser) else value
