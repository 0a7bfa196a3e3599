"""An optimiser's update of a parameter, its slots and its running average, as one Op, in place."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, ParamsType, at, int32
from aesara_nondecomp.ops.fused import FusedOp, c_number


class Rule(Protocol):
    """What `FusedUpdate` needs to know of an optimiser: see `optimisers.Optimiser`."""

    slots: ClassVar[tuple[str, ...]]

    def step(self, p, g, slots, learning_rate, decay, t):
        """New (parameter, slots) as arrays."""

    def c_constants(self) -> str:
        """C declarations that may use `t` and `learning_rate` (doubles)."""

    def c_step(self) -> str:
        """C statements that move p and the slots s0, s1 ... by the ascent direction g with weight decay `decay`."""


SQUARES = """
/* Sum of squares; by eight partial sums, which vectorise. */
template <typename number> ALONE
static double squares(const npy_intp size, const number * __restrict__ G) {
    number lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const npy_intp whole = size - size % 8;
    for (npy_intp j = 0; j < whole; j += 8) for (int k = 0; k < 8; k++) lane[k] += G[j + k] * G[j + k];
    for (npy_intp j = whole; j < size; j++) lane[j & 7] += G[j] * G[j];
    double square = 0;
    for (int k = 0; k < 8; k++) square += lane[k];
    return square;
}
"""


class FusedUpdate(FusedOp):
    """In-place ascent step of one parameter.

    One Op per parameter, not one for all: it has few inputs, so its module is compiled in a fifth of the time, and
    networks of any depth share it.

    Inputs: learning_rate (), averaging (), t () before the step: float64 scalars; decay (n,): float64, of which the
    entry `position` counts; parameter, gradient, the slots of the optimiser, running average.
    Outputs: t + 1; parameter, slots and average, updated in place; the gradient's Euclidean norm (float64).

    The running average of the weights is the bias-corrected exponential one: with decay d it moves by
    (1 - d) / (1 - d^t) of the way to the new weights, so that d = 0 is a copy of them. It is computed from the
    share of the way that is left, which is exactly 0 then.
    """

    __props__ = ("rule", "position")
    params_type = ParamsType(position=int32)

    def __init__(self, rule: Rule, position: int):
        self.rule, self.position = rule, position
        in_place = [4, *range(6, 7 + len(rule.slots))]
        self.destroy_map = {output: [source] for output, source in enumerate(in_place, start=1)}

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(x) for x in given]
        expected = 7 + len(self.rule.slots)
        if len(inputs) != expected:
            raise TypeError(f"FusedUpdate needs {expected} inputs, got {len(inputs)}")
        dtypes = {x.dtype for x in inputs[4:]}
        if len(dtypes) > 1:
            raise TypeError(f"parameter, gradient, slots and average must share one dtype, got {sorted(dtypes)}")
        scalar = at.TensorType("float64", shape=())
        moved = [inputs[source].type() for (source,) in self.destroy_map.values()]
        return Apply(self, inputs, [scalar(), *moved, scalar()])

    def perform(self, node, inputs, outputs, params=None):
        learning_rate, averaging, t, decay, p, g, *slots, average = inputs
        now, d = float(t) + 1.0, float(averaging)
        left = 0.0 if d == 0 else 1.0 - (1.0 - d) / (1.0 - d**now)
        decay_of_p = float(decay[self.position])
        new_p, new_slots = self.rule.step(p, g, slots, float(learning_rate), decay_of_p, now)
        for old, new in zip((p, *slots), (new_p, *new_slots)):
            old[...] = new
        average[...] = p - left * (p - average)
        norm = np.sqrt(np.sum(np.square(g, dtype="float64")))
        for out, value in zip(outputs, [np.asarray(now), p, *slots, average, np.asarray(norm)]):
            out[0] = value

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + SQUARES

    def c_support_code_apply(self, node, name):
        slots = range(len(self.rule.slots))
        # A function, and not inlined, since GCC heeds __restrict__ there only: else the loop is not vectorised.
        return f"""
        template <typename number>
        static ALONE double moved(
                const npy_intp size, number * __restrict__ P, number * __restrict__ A, const number * __restrict__ G,
                {"".join(f"number * __restrict__ S{k}, " for k in slots)}
                const double learning_rate, const double t, const number decay, const number left) {{
            const number lr = (number) learning_rate; (void) lr; (void) decay;
            {self.rule.c_constants()}
            for (npy_intp j = 0; j < size; j++) {{
                number p = P[j], g = G[j];
                {"".join(f"number s{k} = S{k}[j];" for k in slots)}
                {self.rule.c_step()}
                {"".join(f"S{k}[j] = s{k};" for k in slots)}
                P[j] = p;
                A[j] = p - left * (p - A[j]);
            }}
            return squares(size, G);
        }}
        """

    def c_body(self, node, name, inputs, outputs, sub):
        learning_rate, averaging, t, decay, p, g, *slots, average = inputs
        new_t, *moved, norm = outputs
        fail, position = sub["fail"], f"{sub['params']}->position"
        in_place = " && ".join(
            f"PyArray_IS_C_CONTIGUOUS({x}) && PyArray_SIZE({x}) == size" for x in (p, average, *slots)
        )
        pointers = ", ".join(f"(number*) PyArray_DATA({x})" for x in (p, average, "gradient", *slots))
        pass_on = "\n".join(
            f"Py_XDECREF({out}); {out} = {x}; Py_INCREF({out});" for out, x in zip(moved, (p, *slots, average))
        )
        return f"""
        {{
        typedef {c_number(node.inputs[4].dtype)} number;
        PyArrayObject *gradient = PyArray_GETCONTIGUOUS({g});
        const npy_intp size = PyArray_SIZE({p});
        if (!gradient || PyArray_SIZE(gradient) != size || PyArray_SIZE({decay}) <= {position} || !({in_place})) {{
            Py_XDECREF(gradient);
            PyErr_SetString(PyExc_ValueError, "FusedUpdate needs a decay of its own, a contiguous parameter, and a "
                            "gradient, slots and an average of its size");
            {fail}
        }}
        Py_XDECREF({new_t}); Py_XDECREF({norm});
        {new_t} = (PyArrayObject*) PyArray_EMPTY(0, NULL, NPY_DOUBLE, 0);
        {norm} = (PyArrayObject*) PyArray_EMPTY(0, NULL, NPY_DOUBLE, 0);
        if (!{new_t} || !{norm}) {{ Py_DECREF(gradient); {fail} }}
        const double averaging = *(double*) PyArray_DATA({averaging}), t = *(double*) PyArray_DATA({t}) + 1.0;
        const number left = (number) (averaging == 0 ? 0.0 : 1.0 - (1.0 - averaging) / (1.0 - pow(averaging, t)));
        const number decay = (number) *(double*) PyArray_GETPTR1({decay}, {position});
        const double square = moved<number>(size, {pointers}, *(double*) PyArray_DATA({learning_rate}), t, decay, left);
        *(double*) PyArray_DATA({new_t}) = t;
        *(double*) PyArray_DATA({norm}) = sqrt(square);
        Py_DECREF(gradient);
        {pass_on}
        }}
        """

    def c_code_cache_version(self):
        # Of the rule's text too: Aesara would go on using the module compiled for an earlier wording of it.
        return 8, self.rule.c_constants(), self.rule.c_step()
