"""The input block of a tabular network as one fused Op: clipped columns, their periodic features, and bins."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, aesara, at
from aesara_nondecomp.ops.blas import BlasOp

FAR = 1e12  # so far out a clipped column is 3 to the last digit, and the square of this does not overflow


def smooth_clip(xp, x):
    """Clip numbers smoothly into (-3, 3): x / sqrt(1 + (x / 3)^2).

    Parameters
    ----------
    xp : module
        NumPy or JAX's NumPy.
    x : array
        Of any shape.

    Returns
    -------
    array
        Of the shape and type of `x`.
    """
    x = xp.clip(x, -FAR, FAR)
    return x / xp.sqrt(1 + xp.square(x / 3))


def angles(xp, s, W, c):
    """Compute 2 pi s W + c but for whole turns, whose digits would be lost.

    Parameters
    ----------
    xp : module
        NumPy or JAX's NumPy.
    s : array, shape (b, d)
        Clipped columns.
    W : array, shape (d, f)
        Frequencies.
    c : array, shape (d, f)
        Phases.

    Returns
    -------
    array, shape (b, d, f)
        In [-pi, pi].
    """
    turns = s[:, :, None] * W + c * (0.5 / np.pi)
    return 2 * np.pi * (turns - xp.rint(turns))


class Periodic(BlasOp):
    """Columns clipped smoothly, periodic features of them, and the places of columns within bins.

    Notes
    -----
    Inputs: X (b, D); columns (d,) int32, which of them are numeric; W and c (d, f), V (d, f, e), b (d, e); bin_columns
    (k,) int32, bin_low and bin_rate (k,). All but the indices are of one float type.

    Output (b, D + d e + k), side by side: X, its numeric columns as S = x / sqrt(1 + (x / 3)^2); for each of them
    sum_f cos(2 pi S W_f + c_f) V_fe + b_e; and clip((x - bin_low) bin_rate, 0, 1) of X as given.

    Only W, c, V and b have a gradient: the block stands at the bottom of a network.
    """

    __props__ = ()
    header, function = "periodic.h", "periodic_block<number>"
    connected = ((True,), (False,), *((True,),) * 4, *((False,),) * 3)

    def make_node(self, X, columns, W, c, V, b, bin_columns, bin_low, bin_rate):
        inputs = [at.as_tensor_variable(v) for v in (X, columns, W, c, V, b, bin_columns, bin_low, bin_rate)]
        indices, floats = (inputs[1], inputs[6]), [v for k, v in enumerate(inputs) if k not in (1, 6)]
        fits = [v.ndim for v in inputs] == [2, 1, 2, 2, 3, 2, 1, 1, 1] and {v.dtype for v in indices} == {"int32"}
        if not fits or len({v.dtype for v in floats}) > 1 or floats[0].dtype not in ("float32", "float64"):
            raise TypeError(
                "a periodic block needs X (b, D), W and c (d, f), V (d, f, e), b (d, e), bin_low and bin_rate (k,) of "
                "one float type, and int32 columns (d,) and bin_columns (k,), got "
                + ", ".join(f"{v.ndim} dimensions of {v.dtype}" for v in inputs)
            )
        return Apply(self, inputs, [at.TensorType(inputs[0].dtype, shape=(inputs[0].type.shape[0], None))()])

    def grad(self, inputs, output_gradients):
        X, columns, W, c, V, *_ = inputs
        gradients = PeriodicGradient()(output_gradients[0].astype(X.dtype), X, columns, W, c, V)
        nothing = aesara.gradient.grad_not_implemented(self, 0, X, "the block stands at the bottom of a network")
        return [nothing, DisconnectedType()(), *gradients, *(DisconnectedType()() for _ in range(3))]

    def perform(self, node, inputs, outputs):
        X, columns, W, c, V, b, bin_columns, bin_low, bin_rate = inputs
        _check_columns(X, columns, bin_columns)
        own = X.copy()
        own[:, columns] = clipped = smooth_clip(np, X[:, columns])
        features = np.einsum("bdf,dfe->bde", np.cos(angles(np, clipped, W, c)), V) + b
        bins = np.clip((X[:, bin_columns] - bin_low) * bin_rate, 0, 1)
        outputs[0][0] = np.concatenate([own, features.reshape(len(X), b.size), bins], axis=1)


class PeriodicGradient(BlasOp):
    """The gradients of a periodic block's W, c, V and b.

    Notes
    -----
    Inputs: the gradient of the block's output, and X, columns, W, c and V. Outputs (d, f), (d, f), (d, f, e), (d, e).
    """

    __props__ = ()
    header, function = "periodic.h", "periodic_gradient<number>"

    def make_node(self, upstream, X, columns, W, c, V):
        inputs = [at.as_tensor_variable(v) for v in (upstream, X, columns, W, c, V)]
        outputs = [at.TensorType(X.dtype, shape=(None,) * ndim)() for ndim in (2, 2, 3, 2)]
        return Apply(self, inputs, outputs)

    def perform(self, node, inputs, outputs):
        upstream, X, columns, W, c, V = inputs
        _check_columns(X, columns)
        (b, width), (d, _, e) = X.shape, V.shape
        clipped = smooth_clip(np, X[:, columns])
        angle, g = angles(np, clipped, W, c), upstream[:, width : width + d * e].reshape(b, d, e)
        slope = -np.sin(angle) * np.einsum("bde,dfe->bdf", g, V)
        outputs[0][0] = 2 * np.pi * np.einsum("bdf,bd->df", slope, clipped)
        outputs[1][0] = slope.sum(axis=0)
        outputs[2][0] = np.einsum("bdf,bde->dfe", np.cos(angle), g)
        outputs[3][0] = g.sum(axis=0)


def _check_columns(X, *indices):
    if any(np.any((own < 0) | (own >= X.shape[1])) for own in indices):
        raise IndexError(f"the columns of a periodic block must be indices of the {X.shape[1]} columns of its rows")


_OP = Periodic()


def periodic(X, columns, W, c, V, b, bin_columns, bin_low, bin_rate):
    """Put numeric columns, clipped smoothly, beside periodic features of them and places within bins.

    With S = x / sqrt(1 + (x / 3)^2), the features of a numeric column are sum_f cos(2 pi S W_f + c_f) V_fe + b_e; a
    bin gives clip((x - low) rate, 0, 1) of a column as it was given.

    Parameters
    ----------
    X : symbolic matrix, shape (b, D)
        Of float32 or float64.
    columns : symbolic int32 vector, shape (d,)
        Indices of the numeric columns; may be empty. Others stay as they are.
    W : symbolic matrix, shape (d, f)
        Frequencies, in turns, of the type of `X`, as all that follow but the indices.
    c : symbolic matrix, shape (d, f)
        Phases, in radians.
    V : symbolic tensor, shape (d, f, e)
        Weights of the cosines.
    b : symbolic matrix, shape (d, e)
        Biases of the features.
    bin_columns : symbolic int32 vector, shape (k,)
        Indices of the columns of the bins; may be empty.
    bin_low : symbolic vector, shape (k,)
        Where a bin starts.
    bin_rate : symbolic vector, shape (k,)
        One over a bin's width; the output of a bin of rate 0 is 0.

    Returns
    -------
    symbolic matrix, shape (b, D + d e + k)
        Differentiable in `W`, `c`, `V` and `b`.

    Raises
    ------
    TypeError
        If the numbers of dimensions or the dtypes do not fit.
    ValueError
        At run time, if the lengths do not fit.
    IndexError
        At run time, if an index is none of a column of X. The JAX backend does not check.
    """
    return _OP(X, columns, W, c, V, b, bin_columns, bin_low, bin_rate)
