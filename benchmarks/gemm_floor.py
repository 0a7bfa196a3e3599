"""Matrix products alone, by direct calls of the BLAS that this package links: a lower bound for a step or a scoring."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def step_products(rows: int, widths: Sequence[int]) -> Callable[[], None]:
    """The products of one training step of a dense network.

    For each layer these are the forward product, the gradient of the weights, and the gradient of the input, which
    the first layer does not need.

    Parameters
    ----------
    rows : int
        Rows of the mini-batch.
    widths : sequence of int
        Units of each layer, with input and output.

    Returns
    -------
    callable
        Computes them all.
    """
    calls = []
    for layer, (m, n) in enumerate(zip(widths[:-1], widths[1:])):
        x, W, out = (np.ones(shape, dtype="float32") for shape in ((rows, m), (m, n), (rows, n)))
        calls += [product(x, W, out), product(x, out, np.empty_like(W), trans_a=True)]
        if layer:
            calls.append(product(out, W, np.empty_like(x), trans_b=True))
    return _in_turn(calls)


def scoring_products(rows: int, widths: Sequence[int]) -> Callable[[], None]:
    """The products of one forward pass of a dense network."""
    calls = []
    for m, n in zip(widths[:-1], widths[1:]):
        x, W, out = (np.ones(shape, dtype="float32") for shape in ((rows, m), (m, n), (rows, n)))
        calls.append(product(x, W, out))
    return _in_turn(calls)


def product(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, trans_a: bool = False, trans_b: bool = False
) -> Callable[[], None]:
    """A function that computes ``out = op(a) op(b)`` in one call of sgemm.

    Parameters
    ----------
    a, b : array
        C-contiguous float32 matrices.
    out : array
        C-contiguous float32 matrix that gets the product.
    trans_a, trans_b : bool, default False
        Transpose the factor.

    Returns
    -------
    callable
        Computes the product.

    Raises
    ------
    ValueError
        If Aesara runs without a linked BLAS.
    """
    m, n, k = *out.shape, a.shape[0 if trans_a else 1]
    # BLAS is column-major, so it is given the transposed product: out' = op(b)' op(a)'.
    sgemm, flags = _sgemm(), [ctypes.c_char_p(b"T" if trans else b"N") for trans in (trans_b, trans_a)]
    sizes = [ctypes.byref(ctypes.c_int(size)) for size in (n, m, k)]
    strides = [ctypes.byref(ctypes.c_int(x.shape[1])) for x in (b, a, out)]
    one, zero = (ctypes.byref(ctypes.c_float(value)) for value in (1.0, 0.0))
    pb, pa, pc = (x.ctypes.data_as(ctypes.c_void_p) for x in (b, a, out))  # each keeps its array alive
    arguments = (*flags, *sizes, one, pb, strides[0], pa, strides[1], zero, pc, strides[2])

    def call() -> None:
        sgemm(*arguments)

    return call


def linked_blas() -> ctypes.CDLL | None:
    """Load the BLAS that Aesara's C code is linked to; None without one."""
    from aesara_nondecomp._aesara.imports import aesara

    flags = aesara.config.blas__ldflags.split()
    folders = [flag[2:] for flag in flags if flag.startswith("-L")]
    names = [flag[2:] for flag in flags if flag.startswith("-l")]
    if not folders or not names:
        return None
    file = names[0][1:] if names[0].startswith(":") else f"lib{names[0]}.so"
    return ctypes.CDLL(os.path.join(folders[0], file))


def _sgemm() -> Any:
    """The function sgemm of the linked BLAS."""
    from aesara_nondecomp._aesara.imports import aesara

    library = linked_blas()
    if library is None:
        raise ValueError("the floor needs a linked BLAS: pip install scipy-openblas32")
    mapped = [flag.split("=")[1] for flag in aesara.config.blas__ldflags.split() if flag.startswith("-Dsgemm_=")]
    return getattr(library, mapped[0] if mapped else "sgemm_")


def _in_turn(calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    def run() -> None:
        for call in calls:
            call()

    return run
