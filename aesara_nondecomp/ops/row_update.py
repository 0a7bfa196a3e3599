"""An optimiser's update of the rows of an embedding table that a batch looked up, as one Op, in place.

Differences from the update of a whole matrix by `FusedUpdate`, all of which follow from leaving other rows alone:

- the moments of a row decay only in steps that look it up, while the bias corrections of Adam go by the global step
  count ("lazy" Adam: a rare word keeps its momentum for its next appearance, instead of drifting on without one);
- weight decay acts on a row only in those steps;
- row 0 is padding, and never moves.

The running average costs the rows looked up alone, and is yet that of every step: by the recursion of `FusedUpdate`
a row that has stood still since step s comes nearer to its value by the factor d^(t-s) (1 - d^s) / (1 - d^t), the
telescoped product over the steps since, so each row remembers its last step and catches up when it is next used.
"""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp.ops.embedding import summed_rows
from aesara_nondecomp.ops.fused import FusedOp, c_number
from aesara_nondecomp.ops.update import SQUARES, Rule


def caught_up(averages: np.ndarray, table: np.ndarray, touched: np.ndarray, t: float, averaging: float) -> np.ndarray:
    """The running averages (V, d) of all rows at step t, from each row's average at its last step `touched` (V,)."""
    return _towards(averages, table, _left(touched, t, averaging))


def _left(since, t: float, d: float) -> np.ndarray:
    """Share of the way from average to row that is left after standing still from step `since` (an array) to t."""
    if t == 0:
        return np.ones_like(since)
    return np.where(since == t, 1.0, d ** (t - since) * (1 - d**since) / (1 - d**t))


def _towards(averages, rows, left) -> np.ndarray:
    return (rows - left[:, None] * (rows - averages)).astype(rows.dtype)


class RowUpdate(FusedOp):
    """In-place ascent step of the rows of one table.

    Inputs: learning_rate (), averaging (), t () before the step: float64 scalars; decay (n,): float64, of which the
    entry `position` counts; ids (b, T) int32, the gradient of their rows (T b, d); table (V, d), its running average,
    the last step of each row (V,) float64, and the slots of the optimiser.
    Outputs: table, average, last steps and slots, updated in place; the gradient's Euclidean norm (float64).
    """

    __props__ = ("rule", "position")

    def __init__(self, rule: Rule, position: int):
        self.rule, self.position = rule, position
        self.destroy_map = {k: [6 + k] for k in range(3 + len(rule.slots))}

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(x) for x in given]
        if len(inputs) != 9 + len(self.rule.slots):
            raise TypeError(f"RowUpdate needs {9 + len(self.rule.slots)} inputs, got {len(inputs)}")
        outputs = [x.type() for x in inputs[6:]]
        return Apply(self, inputs, [*outputs, at.TensorType("float64", shape=())()])

    def perform(self, node, inputs, outputs):
        learning_rate, averaging, t, decay, ids, gradients, table, average, touched, *slots = inputs
        rows, g = summed_rows(ids, gradients)
        d, now = float(averaging), float(t) + 1.0
        average[rows] = _towards(average[rows], table[rows], _left(touched[rows], now - 1, d))
        settings = (float(learning_rate), float(decay[self.position]), now)
        table[rows], new_slots = self.rule.step(table[rows], g, [slot[rows] for slot in slots], *settings)
        for slot, value in zip(slots, new_slots):
            slot[rows] = value
        average[rows] = _towards(average[rows], table[rows], np.full(len(rows), _step_left(d, now)))
        touched[rows] = now
        norm = np.asarray(np.sqrt(np.sum(np.square(g, dtype="float64"))))
        for out, value in zip(outputs, [table, average, touched, *slots, norm]):
            out[0] = value

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + SQUARES + _SUMMED_ROWS

    def c_support_code_apply(self, node, name):
        slots = range(len(self.rule.slots))
        prefetch = " ".join(f"fetch({x} + ahead * d, d);" for x in ("P", "A", *(f"S{k}" for k in slots)))
        # A function, and not inlined, for the sake of __restrict__: see `FusedUpdate`.
        return f"""
        template <typename number> ALONE
        static double moved(
                const SummedRows<number> &sums, const npy_intp d, double * __restrict__ touched,
                number * __restrict__ P, number * __restrict__ A,
                {"".join(f"number * __restrict__ S{k}, " for k in slots)}
                const double learning_rate, const double averaging, const double t, const number decay) {{
            const number lr = (number) learning_rate; (void) lr; (void) decay;
            const number left = (number) (averaging == 0 ? 0.0 : 1.0 - (1.0 - averaging) / (1.0 - pow(averaging, t)));
            {self.rule.c_constants()}
            const number * __restrict__ G = sums.sums;
            double square = 0;
            for (npy_intp k = 0; k < sums.count; k++, G += d) {{
                const npy_intp row = sums.rows[k], first = row * d;
                if (k + 4 < sums.count) {{ const npy_intp ahead = sums.rows[k + 4]; {prefetch} }}
                const double since = touched[row], before = t - 1.0;
                const number still = (number) (since == before ? 1.0 : since == 0 ? 0.0 : pow(averaging, before - since)
                                               * (1.0 - pow(averaging, since)) / (1.0 - pow(averaging, before)));
                touched[row] = t;
                square += squares(d, G);
                for (npy_intp j = 0; j < d; j++) {{
                    number p = P[first + j], g = G[j];
                    const number average = p - still * (p - A[first + j]);
                    {"".join(f"number s{k} = S{k}[first + j];" for k in slots)}
                    {self.rule.c_step()}
                    {"".join(f"S{k}[first + j] = s{k};" for k in slots)}
                    P[first + j] = p;
                    A[first + j] = p - left * (p - average);
                }}
            }}
            return square;
        }}
        """

    def c_body(self, node, name, inputs, outputs, sub):
        learning_rate, averaging, t, decay, ids, gradients, table, average, touched, *slots = inputs
        norm, fail = outputs[-1], sub["fail"]
        in_place = " && ".join(
            f"PyArray_IS_C_CONTIGUOUS({x}) && PyArray_SIZE({x}) == V * d" for x in (table, average, *slots)
        )
        pointers = ", ".join(f"(number*) PyArray_DATA({x})" for x in (table, average, *slots))
        pass_on = "\n".join(
            f"Py_XDECREF({outputs[o]}); {outputs[o]} = {inputs[source]}; Py_INCREF({outputs[o]});"
            for o, (source,) in self.destroy_map.items()
        )
        return f"""
        typedef {c_number(node.inputs[6].dtype)} number;
        Contiguous ids({ids}), gradients({gradients});
        if (!(ids && gradients)) {{ {fail} }}
        const npy_intp V = PyArray_DIM({table}, 0), d = PyArray_DIM({table}, 1), b = ids.dim(0), T = ids.dim(1);
        if (gradients.dim(0) != T * b || gradients.dim(1) != d || PyArray_SIZE({touched}) != V || !({in_place})) {{
            PyErr_SetString(PyExc_ValueError, "RowUpdate needs a contiguous table, its average and slots of its size, "
                            "a last step per row, and a gradient per token");
            {fail}
        }}
        SummedRows<number> sums(V, d, b, T, ids.data<npy_int>(), gradients.data<number>());
        if (!sums.valid()) {{ {fail} }}
        const double square = moved<number>(
            sums, d, (double*) PyArray_DATA({touched}), {pointers}, *(double*) PyArray_DATA({learning_rate}),
            *(double*) PyArray_DATA({averaging}), *(double*) PyArray_DATA({t}) + 1.0,
            (number) *(double*) PyArray_GETPTR1({decay}, {self.position}));
        {pass_on}
        Py_XDECREF({norm});
        {norm} = (PyArrayObject*) PyArray_EMPTY(0, NULL, NPY_DOUBLE, 0);
        if (!{norm}) {{ {fail} }}
        *(double*) PyArray_DATA({norm}) = sqrt(square);
        """

    def c_code_cache_version(self):
        return 5, self.rule.c_constants(), self.rule.c_step()


def _step_left(d: float, t: float) -> float:
    return 0.0 if d == 0 else 1.0 - (1.0 - d) / (1.0 - d**t)


_SUMMED_ROWS = """
/* The rows lie far apart, and waiting for memory would take longer than the update itself. */
template <typename number> static inline void fetch(const number *row, npy_intp d) {
    for (npy_intp j = 0; j < d; j += 64 / sizeof(number)) __builtin_prefetch(row + j, 1);
}

/* The distinct rows that a batch looked up, without padding, and the sums of their gradients.
   The index of all rows comes from calloc, which costs only the pages that are written to. */
template <typename number>
struct SummedRows {
    npy_int *place;   /* of each row of the table: 1 + its position here, 0 if it was not looked up */
    npy_int *rows;
    number *sums;
    npy_intp count;
    bool in_range;
    SummedRows(npy_intp V, npy_intp d, npy_intp b, npy_intp T, const npy_int *ids, const number *gradients)
        : place((npy_int*) calloc(V + 1, sizeof(npy_int))), rows((npy_int*) malloc(sizeof(npy_int) * (b * T + 1))),
          sums(NULL), count(0), in_range(true) {
        if (!place || !rows) return;
        for (npy_intp k = 0; k < b * T && in_range; k++) in_range = 0 <= ids[k] && ids[k] < V;
        if (!in_range) return;
        for (npy_intp t = 0; t < T; t++)
            for (npy_intp r = 0; r < b; r++) {
                const npy_int row = ids[r * T + t];
                if (row && !place[row]) { rows[count++] = row; place[row] = (npy_int) count; }
            }
        sums = (number*) calloc(count * d + 1, sizeof(number));
        if (!sums) return;
        for (npy_intp t = 0; t < T; t++)
            for (npy_intp r = 0; r < b; r++, gradients += d) {
                const npy_int row = ids[r * T + t];
                if (!row) continue;
                number * __restrict__ to = sums + (npy_intp) (place[row] - 1) * d;
                for (npy_intp j = 0; j < d; j++) to[j] += gradients[j];
            }
    }
    ~SummedRows() { free(place); free(rows); free(sums); }
    bool valid() const {
        if (!in_range) PyErr_SetString(PyExc_IndexError, "token ids must be row numbers of the embedding table");
        else if (!place || !rows || !sums) PyErr_NoMemory();
        return in_range && place && rows && sums;
    }
};
"""
