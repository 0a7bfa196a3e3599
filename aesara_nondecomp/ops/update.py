"""An optimiser's update of all parameters, their slots and their running averages, as one Op, in place."""

from __future__ import annotations

from typing import ClassVar, Protocol

import numpy as np

from aesara_nondecomp._aesara import Apply, COp, at
from aesara_nondecomp.ops.blas import c_number


class Rule(Protocol):
    """What `FusedUpdate` needs to know of an optimiser: see `optimisers.Optimiser`."""

    slots: ClassVar[tuple[str, ...]]

    def step(self, p, g, slots, learning_rate, decay, t):
        """New (parameter, slots) as arrays."""

    def c_constants(self) -> str:
        """C declarations that may use `t` and `learning_rate` (doubles)."""

    def c_step(self) -> str:
        """C statements that move p and the slots s0, s1 ... by the ascent direction g with weight decay `decay`."""


class FusedUpdate(COp):
    """In-place ascent step.

    Inputs: learning_rate (), averaging (), t (): float64 scalars; decay (n,): float64, one per parameter; then n
    parameters, n gradients, the slots (all first slots, all second slots, ...) and n running averages.
    Outputs: t + 1; parameters, slots and averages, updated in place; the gradient's Euclidean norm (float64).

    The running average of the weights is the bias-corrected exponential one: with decay d it moves by
    (1 - d) / (1 - d^t) of the way to the new weights, so that d = 0 is a copy of them.
    """

    __props__ = ("rule", "n")

    def __init__(self, rule: Rule, n: int):
        self.rule, self.n = rule, n
        moved = [2, *self._positions("parameters"), *self._positions("slots"), *self._positions("averages")]
        self.destroy_map = {output: [source] for output, source in enumerate(moved)}

    def _positions(self, group: str) -> range:
        n, k = self.n, len(self.rule.slots)
        start = {"parameters": 4, "gradients": 4 + n, "slots": 4 + 2 * n, "averages": 4 + (2 + k) * n}[group]
        return range(start, start + (k * n if group == "slots" else n))

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(x) for x in given]
        expected = 4 + (3 + len(self.rule.slots)) * self.n
        if len(inputs) != expected:
            raise TypeError(f"FusedUpdate of {self.n} parameters needs {expected} inputs, got {len(inputs)}")
        dtypes = {x.dtype for x in inputs[4:]}
        if len(dtypes) > 1:
            raise TypeError(f"parameters, gradients, slots and averages must share one dtype, got {sorted(dtypes)}")
        outputs = [inputs[source].type() for _, (source,) in sorted(self.destroy_map.items())]
        return Apply(self, inputs, [*outputs, at.TensorType("float64", shape=())()])

    def perform(self, node, inputs, outputs):
        learning_rate, averaging, t, decay = inputs[:4]
        parameters, gradients, slots, averages = (
            [inputs[i] for i in self._positions(group)] for group in ("parameters", "gradients", "slots", "averages")
        )
        t[...] += 1.0
        d = float(averaging)
        to_new = 1.0 if d == 0 else (1.0 - d) / (1.0 - d ** float(t))
        square = 0.0
        for i, (p, g, average) in enumerate(zip(parameters, gradients, averages)):
            own = slots[i :: self.n]
            new_p, new_slots = self.rule.step(p, g, own, float(learning_rate), float(decay[i]), float(t))
            square += float(np.sum(np.square(g, dtype="float64")))
            for old, new in zip((p, *own), (new_p, *new_slots)):
                old[...] = new
            average += (to_new * (p - average)).astype(average.dtype)
        for out, value in zip(outputs, [t, *parameters, *slots, *averages, np.asarray(np.sqrt(square))]):
            out[0] = value

    def c_headers(self, **kwargs):
        return ["<math.h>"]

    def c_code(self, node, name, inputs, outputs, sub):
        learning_rate, averaging, t, decay = inputs[:4]
        norm = outputs[-1]
        moves = "\n".join(self._c_move(i, inputs, outputs, sub["fail"]) for i in range(self.n))
        pass_on = "\n".join(
            f"Py_XDECREF({outputs[o]}); {outputs[o]} = {inputs[source]}; Py_INCREF({outputs[o]});"
            for o, (source,) in self.destroy_map.items()
        )
        return f"""
        {{
        typedef {c_number(node.inputs[4].dtype)} number;
        const double learning_rate = *(double*) PyArray_DATA({learning_rate});
        const double averaging = *(double*) PyArray_DATA({averaging});
        const double t = (*(double*) PyArray_DATA({t}) += 1.0);
        const number to_new = (number) (averaging == 0 ? 1.0 : (1.0 - averaging) / (1.0 - pow(averaging, t)));
        const number lr = (number) learning_rate; (void) lr;
        {self.rule.c_constants()}
        double square = 0;
        {moves}
        {pass_on}
        Py_XDECREF({norm});
        {norm} = (PyArrayObject*) PyArray_EMPTY(0, NULL, NPY_DOUBLE, 0);
        if (!{norm}) {{ {sub["fail"]} }}
        *(double*) PyArray_DATA({norm}) = sqrt(square);
        }}
        """

    def _c_move(self, i: int, inputs, outputs, fail: str) -> str:
        p, g, average = (inputs[self._positions(group)[i]] for group in ("parameters", "gradients", "averages"))
        slots = [inputs[k] for k in self._positions("slots")[i :: self.n]]
        pointers = "".join(
            f"number * __restrict__ S{k} = (number*) PyArray_DATA({slot});" for k, slot in enumerate(slots)
        )
        load = "".join(f"number s{k} = S{k}[j];" for k in range(len(slots)))
        store = "".join(f"S{k}[j] = s{k};" for k in range(len(slots)))
        in_place = " && ".join(
            f"PyArray_IS_C_CONTIGUOUS({x}) && PyArray_SIZE({x}) == size" for x in (p, average, *slots)
        )
        return f"""
        {{
        PyArrayObject *gradient = PyArray_GETCONTIGUOUS({g});
        const npy_intp size = PyArray_SIZE({p});
        if (!gradient || PyArray_SIZE(gradient) != size || !({in_place})) {{
            Py_XDECREF(gradient);
            PyErr_SetString(PyExc_ValueError, "FusedUpdate needs contiguous parameters, and gradients, slots and "
                            "averages of their sizes");
            {fail}
        }}
        const number decay = (number) *(double*) PyArray_GETPTR1({inputs[3]}, {i}); (void) decay;
        number * __restrict__ P = (number*) PyArray_DATA({p}), * __restrict__ A = (number*) PyArray_DATA({average});
        const number * __restrict__ G = (const number*) PyArray_DATA(gradient);
        {pointers}
        number lane[8] = {{0, 0, 0, 0, 0, 0, 0, 0}};  /* eight partial sums: a reduction that vectorises */
        for (npy_intp j = 0; j < size; j++) {{ lane[j & 7] += G[j] * G[j]; }}
        for (int k = 0; k < 8; k++) square += lane[k];
        for (npy_intp j = 0; j < size; j++) {{
            number p = P[j], g = G[j];
            {load}
            {self.rule.c_step()}
            {store}
            P[j] = p;
            A[j] += to_new * (p - A[j]);
        }}
        Py_DECREF(gradient);
        }}
        """

    def c_code_cache_version(self):
        return (2,)
