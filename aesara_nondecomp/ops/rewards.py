"""The weighted rewards of a batch as one Op: objective, class sums, and the way back to the scores.

For a row with score f, signed weight y (the sign is the class, the size the row's weight, 0 marks
padding) and margin u = sign(y) f, spec 1.2 defines

- the sigmoid reward  1 / (1 + exp(-u / temperature)),
- the logistic reward  1 - ln(1 + exp(-u)),
- the count reward  1 if the label rule "+1 iff f > 0" gives the row's own class, else 0.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, DisconnectedType, at
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums, reward_slopes
from aesara_nondecomp.ops.elementary import ELEMENTARY
from aesara_nondecomp.ops.fused import FusedOp, c_number

N_SUMS = len(ClassSums._fields)


class RewardSums(FusedOp):
    """Inputs: scores (b,) or (b, 1); y (b,); weights (4,) float64; temperature () float64.

    Outputs: the objective (scalar), the class sums (8,) float64 in the order of `rates.ClassSums`,
    and d objective / d scores, in the shape of the scores.
    """

    __props__ = ()

    def make_node(self, scores, y, weights, temperature):
        scores, y = at.as_tensor_variable(scores), at.as_tensor_variable(y)
        if scores.ndim not in (1, 2) or y.ndim != 1 or scores.dtype != y.dtype:
            raise TypeError(
                "reward_sums needs scores of shape (b,) or (b, 1) and y of shape (b,), of one float type, "
                f"got scores with {scores.ndim} dimensions ({scores.dtype}) and y with {y.ndim} ({y.dtype}). "
                "Reshape or cast them."
            )
        weights, temperature = at.as_tensor_variable(weights), at.as_tensor_variable(temperature)
        if (weights.dtype, temperature.dtype, weights.ndim, temperature.ndim) != ("float64", "float64", 1, 0):
            raise TypeError("reward_sums needs float64 weights of shape (4,) and a float64 scalar temperature")
        objective = at.TensorType(scores.dtype, shape=())()
        sums = at.TensorType("float64", shape=(N_SUMS,))()
        return Apply(self, [scores, y, weights, temperature], [objective, sums, scores.type()])

    def connection_pattern(self, node):
        """Which outputs can be differentiated in which inputs, as Aesara asks."""
        return [[True, False, False]] + [[False, False, False]] * 3

    def grad(self, inputs, output_gradients):
        slope = self(*inputs)[2]
        return [output_gradients[0] * slope] + [DisconnectedType()() for _ in inputs[1:]]

    def perform(self, node, inputs, outputs):
        scores, y, weights, temperature = inputs
        if scores.shape not in (y.shape, (*y.shape, 1)) or weights.shape != (4,):
            raise ValueError(
                f"reward_sums needs one score per label and 4 weights, got scores {scores.shape}, "
                f"labels {y.shape} and weights {weights.shape}"
            )
        objective, sums, slope = reward_sums_numpy(scores.ravel(), y, weights, float(temperature))
        outputs[0][0] = np.asarray(objective, dtype=scores.dtype)
        outputs[1][0] = np.array(sums)
        outputs[2][0] = slope.reshape(scores.shape).astype(scores.dtype)

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + ELEMENTARY + _ROW_REWARDS

    def c_body(self, node, name, inputs, outputs, sub):
        scores, y, weights, temperature = inputs
        objective, sums, slope = outputs
        fail = sub["fail"]
        return f"""
        {{
        typedef {c_number(node.inputs[0].dtype)} number;
        PyArrayObject *f_array = PyArray_GETCONTIGUOUS({scores});
        PyArrayObject *y_array = PyArray_GETCONTIGUOUS({y});
        if (!f_array || !y_array) {{ Py_XDECREF(f_array); Py_XDECREF(y_array); {fail} }}
        const npy_intp b = PyArray_SIZE(y_array), n_sums = {N_SUMS};
        if (PyArray_DIM(f_array, 0) != b || PyArray_SIZE(f_array) != b || PyArray_DIM({weights}, 0) != 4) {{
            PyErr_Format(PyExc_ValueError, "reward_sums needs one score per label and 4 weights, "
                         "got %zd scores, %zd labels and %zd weights", (Py_ssize_t) PyArray_SIZE(f_array),
                         (Py_ssize_t) b, (Py_ssize_t) PyArray_DIM({weights}, 0));
            Py_DECREF(f_array); Py_DECREF(y_array); {fail}
        }}
        Py_XDECREF({objective}); Py_XDECREF({sums}); Py_XDECREF({slope});
        {objective} = (PyArrayObject*) PyArray_EMPTY(0, NULL, PyArray_TYPE(f_array), 0);
        {sums} = (PyArrayObject*) PyArray_ZEROS(1, &n_sums, NPY_DOUBLE, 0);
        {slope} = (PyArrayObject*) PyArray_EMPTY(PyArray_NDIM(f_array), PyArray_DIMS(f_array),
                                                 PyArray_TYPE(f_array), 0);
        if (!{objective} || !{sums} || !{slope}) {{ Py_DECREF(f_array); Py_DECREF(y_array); {fail} }}

        const number *f = (const number*) PyArray_DATA(f_array), *label = (const number*) PyArray_DATA(y_array);
        number *out = (number*) PyArray_DATA({slope});
        double *sum = (double*) PyArray_DATA({sums});
        const npy_intp w_stride = PyArray_STRIDE({weights}, 0);
        double w[4];
        for (int k = 0; k < 4; k++) w[k] = *(double*) (PyArray_BYTES({weights}) + k * w_stride);
        const number scale = (number) (1.0 / *(double*) PyArray_DATA({temperature}));
        double total = 0.0;
        for (npy_intp i = 0; i < b; i++) total += label[i] < 0 ? -(double) label[i] : (double) label[i];
        const number per_row = (number) (total > 0 ? 1.0 / total : 0.0);

        number sigmoid[ROWS], logistic[ROWS];
        for (npy_intp start = 0; start < b; start += ROWS) {{
            const npy_intp rows = b - start < ROWS ? b - start : ROWS;
            row_rewards(rows, f + start, label + start, w, scale, per_row, sigmoid, logistic, out + start);
            for (npy_intp i = 0; i < rows; i++) {{
                const double y = label[start + i], weight = y < 0 ? -y : y;
                if (weight == 0) continue;
                const int negative = y < 0, right = negative ? f[start + i] <= 0 : f[start + i] > 0;
                sum[0 + negative] += weight * sigmoid[i];
                sum[2 + negative] += weight * logistic[i];
                sum[4 + negative] += right ? weight : 0.0;
                sum[6 + negative] += weight;
            }}
        }}
        double value = 0.0;
        for (int k = 0; k < 4; k++) value += w[k] == 0 ? 0.0 : w[k] * sum[k];
        *(number*) PyArray_DATA({objective}) = (number) (total > 0 ? value / total : 0.0);
        Py_DECREF(f_array); Py_DECREF(y_array);
        }}
        """

    def c_code_cache_version(self):
        return (4,)


_ROW_REWARDS = """
enum {ROWS = 256};  /* taken at a time: first their rewards, in vectors, then their sums */

/* Rewards of some rows, and the derivative of the objective in their scores. */
template <typename number> ALONE
static void row_rewards(npy_intp rows, const number * __restrict__ f, const number * __restrict__ label,
                        const double *weights, const number scale, const number per_row,
                        number * __restrict__ sigmoid, number * __restrict__ logistic, number * __restrict__ slope) {
    const number s_pos = (number) weights[0], s_neg = (number) weights[1];
    const number l_pos = (number) weights[2], l_neg = (number) weights[3];
    for (npy_intp i = 0; i < rows; i++) {
        const number u = label[i] < 0 ? -f[i] : f[i], size = u < 0 ? -u : u;
        /* Only exp(-|u|) is taken, so nothing overflows. */
        const number small = exponential(-size), share = 1 / (1 + small);
        const number small_t = exponential(-size * scale), share_t = 1 / (1 + small_t);
        sigmoid[i] = u > 0 ? share_t : small_t * share_t;
        logistic[i] = 1 - log_one_plus(small) - (u < 0 ? size : 0);
        const number sigmoid_slope = small_t * share_t * share_t * scale;
        const number logistic_slope = u > 0 ? small * share : share;
        const number ascent = (label[i] < 0 ? s_neg : s_pos) * sigmoid_slope
                              + (label[i] < 0 ? l_neg : l_pos) * logistic_slope;
        slope[i] = label[i] == 0 ? 0 : label[i] * per_row * ascent;
    }
}
"""


def reward_sums_numpy(scores, y, weights, temperature=1.0):
    """The Op in NumPy, in float64: (objective, class sums as `rates.ClassSums`, d objective / d scores).

    Parameters
    ----------
    scores, y : arrays, shape (b,). Scores, and signed weights (0 = padding).
    weights : array, shape (4,). As for `reward_sums`.
    temperature : float > 0.
    """
    signed, f = np.asarray(y, dtype="float64"), np.asarray(scores, dtype="float64")
    sums = class_sums(f, signed, temperature)
    sigmoid_slope, logistic_slope = reward_slopes(np.sign(signed) * f, temperature)
    of_sigmoid, of_logistic = (np.where(signed > 0, weights[k], weights[k + 1]) for k in (0, 2))
    total = (sums.n_pos + sums.n_neg) or 1.0
    slope = signed / total * (of_sigmoid * sigmoid_slope + of_logistic * logistic_slope)
    return float(np.dot(weights, sums[:4])) / total, sums, slope


_OP = RewardSums()


def reward_sums(scores, y, weights, temperature=1.0):
    """Weighted objective of a batch and its class sums.

    The objective is the mean over the batch of ``weights[k] * reward``, that is
    (weights . (A+_sigmoid, A-_sigmoid, A+_logistic, A-_logistic)) / sum of abs(y), where A are sums
    of rewards over a class.  Weights of 1/p and 1/(1-p) times the duals make it the prior-normalised
    objective of spec 1.3.

    Parameters
    ----------
    scores : symbolic vector or column, shape (b,) or (b, 1). Raw output of the last linear unit.
    y : symbolic vector, shape (b,), dtype of the scores. Signed weights: +w positive, -w negative, 0 padding.
    weights : symbolic vector, shape (4,), float64.
    temperature : symbolic float64 scalar or float > 0, of the sigmoid reward.

    Returns
    -------
    objective : symbolic scalar, to be maximised; differentiable in the scores.
    sums : symbolic float64 vector, shape (8,): class sums (positive, negative) of the sigmoid, logistic and
        count rewards, then the class weights. Not differentiable.

    Raises
    ------
    TypeError
        If dimensions or types do not fit, so that (n, 1) scores never meet (n,) labels by broadcasting.
    ValueError
        At run time, if there is not one score per label, or the weights are not 4.
    """
    temperature = at.as_tensor_variable(temperature, dtype="float64") if np.isscalar(temperature) else temperature
    objective, sums, _ = _OP(scores, y, weights, temperature)
    return objective, sums
