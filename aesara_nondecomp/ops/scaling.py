"""Standardising rows as one Op, for models that score rows as they come."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp.ops.blas import BlasOp
from aesara_nondecomp.ops.fused import ALL_FINITE, c_number


class Standardise(BlasOp):
    """Inputs: rows x (b, d); means (d,), scales (d,) and clip (), in float64. Outputs: the rows standardised and cut,
    and whether those given are finite ().

    As `data.Standardiser`, to the last bit: subtraction and division in float64, then rounded to the type of the rows,
    then cut at +-clip.
    """

    __props__ = ()

    def make_node(self, x, mean, scale, clip):
        x, *numbers = (at.as_tensor_variable(v) for v in (x, mean, scale, clip))
        if [v.ndim for v in (x, *numbers)] != [2, 1, 1, 0] or {v.dtype for v in numbers} != {"float64"}:
            raise TypeError("standardising needs rows (b, d), and float64 means (d,), scales (d,) and clip ()")
        return Apply(self, [x, *numbers], [x.type(), at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        x, mean, scale, clip = inputs
        with np.errstate(over="ignore", invalid="ignore"):
            moved = ((x - mean) / scale).astype(x.dtype)
        outputs[0][0] = np.clip(moved, -clip.astype(x.dtype), clip.astype(x.dtype))
        outputs[1][0] = np.asarray(np.isfinite(x).all())

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + ALL_FINITE + _STANDARDISE

    def c_body(self, node, name, inputs, outputs, sub):
        x, mean, scale, clip = inputs
        out, answer = outputs
        return f"""
        typedef {c_number(node.inputs[0].dtype)} number;
        Contiguous x({x}), mean({mean}), scale({scale});
        if (!(x && mean && scale)) {{ {sub["fail"]} }}
        const npy_intp b = x.dim(0), d = x.dim(1);
        if (mean.dim(0) != d || scale.dim(0) != d) {{
            PyErr_SetString(PyExc_ValueError, "standardising needs a mean and a scale for each column");
            {sub["fail"]}
        }}
        if (!fits(&{out}, b, d, x.type())) {{ {sub["fail"]} }}
        const number *rows = x.data<number>(), most = (number) *(double*) PyArray_DATA({clip});
        const double *means = mean.data<double>(), *scales = scale.data<double>();
        number *to = (number*) PyArray_DATA({out});
        const RowThreads threads(b, 40.0 * b * d);
        bool finite[RowThreads::MOST];
        threads.run(b, [=, &finite](int part, npy_intp start, npy_intp end) {{
            finite[part] = true;
            for (npy_intp i = start; i < end; i++) {{
                finite[part] &= all_finite(d, rows + i * d);
                standardise_row(d, rows + i * d, means, scales, most, to + i * d);
            }}
        }});
        const bool all = std::all_of(finite, finite + threads.count, [](bool part) {{ return part; }});
        if (!put_answer(&{answer}, all)) {{ {sub["fail"]} }}
        """

    def c_code_cache_version(self):
        return (5,)


_STANDARDISE = """
template <typename number> ALONE
static void standardise_row(npy_intp d, const number * __restrict__ x, const double * __restrict__ mean,
                            const double * __restrict__ scale, number most, number * __restrict__ to) {
    for (npy_intp j = 0; j < d; j++) {
        const number z = (number) ((x[j] - mean[j]) / scale[j]);
        to[j] = z > most ? most : z < -most ? -most : z;
    }
}
"""

standardise = Standardise()
