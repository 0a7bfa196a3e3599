"""The C code of a dense layer: templates over float and double that `ops.dense` calls.

Rows are taken so many at a time that what is made of them stays in a core's own cache until it has been used: a batch
of 5000 rows spends a third of its time on memory otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from aesara_nondecomp.ops.elementary import ELEMENTARY
from aesara_nondecomp.ops.fused import ALL_FINITE


def support(expressions: Sequence[tuple[str, str]]) -> str:
    """The templates, for activations given by their value in z and their slope in a, as C expressions."""
    values, slopes = zip(*expressions)
    pointwise = _POINTWISE.format(values=_cases("VALUE", values), slopes=_cases("SLOPE", slopes))
    return ELEMENTARY + ALL_FINITE + pointwise + _LAYER


def _cases(macro: str, expressions: Sequence[str]) -> str:
    """One C switch case per activation, so that all of them share one compiled module."""
    return "\n".join(f"    case {code}: {macro}({expression}) break;" for code, expression in enumerate(expressions))


_POINTWISE = """
/* Row by row out = activation(out + bias). */
template <typename number> ALONE
static void activate(int activation, npy_intp rows, npy_intp h, const number * __restrict__ bias,
                     number * __restrict__ out) {{
    #define VALUE(expression) \\
        for (npy_intp i = 0; i < rows; i++, out += h) \\
            for (npy_intp j = 0; j < h; j++) {{ const number z = out[j] + bias[j]; out[j] = expression; }}
    switch (activation) {{
{values}
    }}
    #undef VALUE
}}

/* dz = up times the slope of the activation, from its output. */
template <typename number> ALONE
static void before_activation(int activation, npy_intp entries, const number * __restrict__ out,
                              const number * __restrict__ up, number * __restrict__ dz) {{
    #define SLOPE(expression) \\
        for (npy_intp k = 0; k < entries; k++) {{ const number a = out[k]; (void) a; dz[k] = up[k] * (expression); }}
    switch (activation) {{
{slopes}
    }}
    #undef SLOPE
}}
"""

_LAYER = """
/* Rows whose outputs, h wide, fit into the cache; a multiple of the runs of `add_columns`, and so many that it pays to
   read and write the gradient of the weights once for each time. Inputs are read once either way, and so are the rows
   of a single output. */
static inline npy_intp rows_at_a_time(npy_intp b, npy_intp h) {
    if (h == 1) return b;
    const npy_intp runs = 1024 / (h + 1);
    return 64 * (runs > 4 ? runs : 4);
}

/* In multiply-adds: those of the product, and what it takes to read and write the rows. */
static inline double layer_work(npy_intp b, npy_intp d, npy_intp h) { return (double) b * (d * h + 8 * (d + h)); }

/* Sets `finite`, if there is one, to whether x is: looked at right before the product takes it from the cache. */
template <typename number, typename gemm>
static void layer(gemm xgemm, int activation, npy_intp b, npy_intp d, npy_intp h, const number *x, const number *W,
                  const number *bias, number *out, bool *finite = NULL) {
    const RowThreads threads(b, layer_work(b, d, h));
    bool of_part[RowThreads::MOST];
    threads.run(b, [=, &of_part](int part, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        of_part[part] = true;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            if (finite && !all_finite(rows * d, x + i * d)) of_part[part] = false;
            row_major_product(xgemm, 0, 0, (int) rows, (int) h, (int) d, x + i * d, W, out + i * h);
            activate(activation, rows, h, bias, out + i * h);
        }
    });
    if (finite) *finite = std::all_of(of_part, of_part + threads.count, [](bool part) { return part; });
}

/* The gradient before the activation, some rows at a time; that of the identity, activation 0, is the one given. */
template <typename number>
struct Slopes {
    const int activation;
    const npy_intp h;
    const number *out, *upstream;
    number *room;
    Slopes(int activation, npy_intp h, npy_intp most, const number *out, const number *upstream)
        : activation(activation), h(h), out(out), upstream(upstream),
          room(activation ? (number*) malloc(sizeof(number) * (most * h + 1)) : NULL) {}
    ~Slopes() { free(room); }
    bool failed() const { return activation && !room; }
    const number *of_rows(npy_intp first, npy_intp rows) const {
        if (!activation) return upstream + first * h;
        before_activation(activation, rows * h, out + first * h, upstream + first * h, room);
        return room;
    }
};

template <typename number, typename gemm>
static bool input_gradient(gemm xgemm, int activation, npy_intp b, npy_intp d, npy_intp h, const number *out,
                           const number *upstream, const number *W, number *gradient) {
    const RowThreads threads(b, layer_work(b, d, h));
    bool failed[RowThreads::MOST] = {};
    threads.run(b, [&](int part, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        const Slopes<number> slopes(activation, h, most, out, upstream);
        if ((failed[part] = slopes.failed())) return;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            row_major_product(xgemm, 0, 1, (int) rows, (int) d, (int) h, slopes.of_rows(i, rows), W, gradient + i * d);
        }
    });
    for (int k = 0; k < threads.count; k++) if (failed[k]) return false;
    return true;
}

/* Adds the column sums of some rows: short runs in the array's own type (fast), the runs in double (exact enough). */
template <typename number> ALONE
static void add_columns(npy_intp rows, npy_intp h, const number * __restrict__ dz, number * __restrict__ column,
                        double * __restrict__ total) {
    for (npy_intp start = 0; start < rows; start += 64) {
        const npy_intp end = start + 64 < rows ? start + 64 : rows;
        memset(column, 0, sizeof(number) * h);
        for (npy_intp i = start; i < end; i++, dz += h)
            for (npy_intp j = 0; j < h; j++) column[j] += dz[j];
        for (npy_intp j = 0; j < h; j++) total[j] += column[j];
    }
}

/* One thread's share of the gradients of the weights: zero at first. */
template <typename number>
struct WeightShare {
    number *dW, *column;
    double *total;
    WeightShare() : dW(NULL), column(NULL), total(NULL) {}
    bool room(npy_intp d, npy_intp h) {
        dW = (number*) calloc(d * h + 1, sizeof(number));
        column = (number*) malloc(sizeof(number) * (h + 1));
        total = (double*) calloc(h + 1, sizeof(double));
        return dW && column && total;
    }
    ~WeightShare() { free(dW); free(column); free(total); }
};

template <typename number, typename gemm>
static bool weight_gradient(gemm xgemm, int activation, npy_intp b, npy_intp d, npy_intp h, const number *out,
                            const number *upstream, const number *x, number *dW, number *db) {
    const RowThreads threads(b, layer_work(b, d, h));
    WeightShare<number> shares[RowThreads::MOST];
    bool failed[RowThreads::MOST] = {};
    threads.run(b, [&](int part, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        const Slopes<number> slopes(activation, h, most, out, upstream);
        WeightShare<number> &own = shares[part];
        if ((failed[part] = slopes.failed() || !own.room(d, h))) return;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            const number *dz = slopes.of_rows(i, rows);
            row_major_product(xgemm, 1, 0, (int) d, (int) h, (int) rows, x + i * d, dz, own.dW, (number) (i > start));
            add_columns(rows, h, dz, own.column, own.total);
        }
    });
    for (int k = 0; k < threads.count; k++) if (failed[k]) return false;
    memcpy(dW, shares[0].dW, sizeof(number) * d * h);
    for (int k = 1; k < threads.count; k++) {
        for (npy_intp j = 0; j < d * h; j++) dW[j] += shares[k].dW[j];
        for (npy_intp j = 0; j < h; j++) shares[0].total[j] += shares[k].total[j];
    }
    for (npy_intp j = 0; j < h; j++) db[j] = (number) shares[0].total[j];
    return true;
}
"""
