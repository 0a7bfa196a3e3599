"""Rows that a compiled function cannot take, in words: it says so itself by types and graphs.

A step takes some microseconds, so rows are looked at before a call only where many are scored at once; after a call
that failed they are looked at everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp.networks import Network


def check_shape(network: Network, X: Any) -> None:
    """Refuse what is no batch of rows for a network.

    Parameters
    ----------
    network : Network
        Tells the number of columns, if its input's static shape does.
    X : object
        To be an array, LazyRows or CSR matrix, shape (n, ...).

    Raises
    ------
    ValueError
        If it has no shape, or another one.
    """
    columns = None if network.takes_tokens else network.n_columns
    fits = len(getattr(X, "shape", ())) == network.inputs.ndim and columns in (None, *X.shape[1:2])
    if not fits:
        form = "(n, ...)" if network.inputs.ndim != 2 else f"(n, {columns or 'd'})"
        one = " A single row x is x[None]." if len(getattr(X, "shape", ())) == 1 else ""
        got = f"shape {X.shape}" if hasattr(X, "shape") else type(X).__name__
        raise ValueError(f"this network needs rows as an array of shape {form}, got {got}.{one}")


def step_on(network: Network, compiled: Callable[..., Any], X: Any, **of_rows: Any) -> Any:
    """Call a compiled step; if it fails, say which of the rows it cannot take.

    Parameters
    ----------
    network : Network
        Of the step.
    compiled : callable (X, ...)
        The step; it takes what there is of the rows by position.
    X : array, shape (b, ...)
        The rows.
    **of_rows : array, shape (b,)
        As for `check_step`, in the order of the step.

    Returns
    -------
    object
        What the step returns.

    Raises
    ------
    ValueError
        If rows, or what belongs to them, are of another shape or dtype.
    """
    try:
        return compiled(X, *of_rows.values())
    except Exception:
        check_step(network, X, **of_rows)
        raise


def check_step(network: Network, X: Any, **of_rows: Any) -> None:
    """Refuse rows that a step on a network cannot take.

    Parameters
    ----------
    network : Network
        Of the step.
    X : object
        The rows.
    **of_rows : object
        What the step takes for each row, by name: "cell" as int32, all else in the network's dtype.

    Raises
    ------
    ValueError
        If a shape or a dtype is another one.
    """
    check_shape(network, X)
    _check_dtype("rows", X, network.inputs.dtype)
    for name, values in of_rows.items():
        shape = np.shape(values)
        require(
            shape == (X.shape[0],), f"{name} must have one value for each of the {X.shape[0]} rows", f"shape {shape}"
        )
        _check_dtype(name, values, "int32" if name == "cell" else network.dtype)


def _check_dtype(name: str, values: Any, dtype: str) -> None:
    found = getattr(values, "dtype", type(values).__name__)
    if found != dtype:
        raise ValueError(f"a step needs {name} of dtype {dtype}, got {found}. Use np.asarray({name}, {dtype!r}).")
