"""The fingerprint of a run: everything that determines it, by which a checkpoint knows it again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp.data.features import row_slices
from aesara_nondecomp.drivers import Driver
from aesara_nondecomp.measures import Averaged, Measure
from aesara_nondecomp.measures.identity import identity
from aesara_nondecomp.metrics import RunningConfusion
from aesara_nondecomp.metrics.class_rates import RunningRates
from aesara_nondecomp.training.cross_fitting import CrossFit
from aesara_nondecomp.training.schedules import factor_at


def fingerprint(fitting: CrossFit, **more: Any) -> dict[str, str]:
    """Digest everything that determines a run.

    Parameters
    ----------
    fitting : CrossFit
        Before its first step.
    **more : object
        Further settings: plain values or lists of arrays.

    Returns
    -------
    dict of str to str
        Short texts by the names of data and settings.
    """
    run, validation, data = fitting.run, fitting.monitor, fitting.data
    schedule = [factor_at(run.settings.schedule, step) for step in range(run.total)]
    network = run.functions.network
    parts = {
        "networks": fitting.count,
        "features": "".join(data.digests[:1]),
        "labels": _digest(run.rows.signs[:, None]),
        "sample_weight": "none" if run.rows.weight is None else _digest(run.rows.weight[:, None]),
        "network": network.description or [str(p.get_value(borrow=True).shape) for p in network.parameters],
        "dtype": network.dtype,
        "backend": run.functions.backend,
        "optimizer": repr(run.functions.optimizer),
        "recipe": [[plain(phase.driver), phase.share, phase.head_only] for phase in run.phases],
        **run.settings._replace(schedule=schedule[:: max(1, run.total // 100)])._asdict(),  # type: ignore[arg-type]
        "schedule of every step": np.array(schedule, dtype="float64"),
        **more,
    }
    if not network.description:
        parts["network graph"] = network.graph_digest
        parts["fixed numbers of the network"] = network.fixed_digest
    if run.rows.cell is not None:
        parts["groups"] = _digest(run.rows.cell[:, None])
    if validation:
        folds = [_digest(rows[:, None]) for fold in data.folds for rows in fold]
        parts["validation"] = [*data.digests[1:], *folds, _digest(validation.signs[:, None])]
        if validation.cell is not None:
            parts["validation"] += [_digest(validation.cell[:, None])]
        parts["evaluations"] = [
            identity(validation.measure), validation.interval, validation.patience, validation.threshold
        ]  # fmt: skip
    return {name: json.dumps(plain(value)) for name, value in parts.items()}


def plain(value: Any) -> Any:
    """A value that JSON can hold: drivers become class and attributes, arrays their digest, others a name.

    Parameters
    ----------
    value : object
        A setting.

    Returns
    -------
    object
    """
    from aesara_nondecomp.drivers.duals import LogDuals, Multipliers
    from aesara_nondecomp.drivers.multiclass import CellDriver  # loading these takes long, and few runs are written
    from aesara_nondecomp.measures.multiclass import Cells

    if isinstance(value, (Driver, CellDriver, RunningRates, RunningConfusion, Cells, LogDuals, Multipliers)):
        return {"class": type(value).__name__, **{name: plain(v) for name, v in vars(value).items()}}
    if isinstance(value, dict):
        return {str(name): plain(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _digest(value.reshape(len(value), -1) if value.ndim else value.reshape(1, 1))
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, type(None))) else _name_of(value)


def _name_of(value: Any) -> str:
    from aesara_nondecomp.measures.multiclass import MulticlassMeasure

    return identity(value) if isinstance(value, (Averaged, Measure, MulticlassMeasure)) else type(value).__name__


def _digest(X: NDArray[Any]) -> str:
    """Digest of an array, read slice by slice."""
    digest = hashlib.blake2b(f"{X.shape} {np.dtype(X.dtype).str}".encode(), digest_size=16)
    for part in row_slices(*X.shape):
        digest.update(np.ascontiguousarray(X[part]).tobytes())
    return digest.hexdigest()
