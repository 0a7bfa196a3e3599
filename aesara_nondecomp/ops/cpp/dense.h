/* A dense layer, forward and backward. Rows are taken so many at a time that intermediate results stay in a core's own
   cache until they are used: a batch of 5000 rows spends a third of its time on memory otherwise.

   Needs the macro FOR_EACH_ACTIVATION(CASE) before it, which `ops.dense` writes from the table of `ops.activations`:
   one CASE(code, (value in z), (slope in a)) for each activation, so that all of them share one compiled module. Code 0
   is the identity. */
#ifndef AESARA_NONDECOMP_DENSE_H
#define AESARA_NONDECOMP_DENSE_H

#include <algorithm>

#include "arrays.h"
#include "blas.h"
#include "elementary.h"
#include "finite.h"
#include "threads.h"

/* Row by row out = activation(out + bias). */
template <typename number>
NOINLINE static void activate(int activation, npy_intp rows, npy_intp h, const number *__restrict__ bias,
                              number *__restrict__ out) {
#define VALUE_CASE(code, value, slope)                \
    case code:                                        \
        for (npy_intp i = 0; i < rows; i++, out += h) \
            for (npy_intp j = 0; j < h; j++) {        \
                const number z = out[j] + bias[j];    \
                out[j] = value;                       \
            }                                         \
        break;
    switch (activation) { FOR_EACH_ACTIVATION(VALUE_CASE) }
#undef VALUE_CASE
}

/* dz = up times the slope of the activation, from its output. */
template <typename number>
NOINLINE static void before_activation(int activation, npy_intp entries, const number *__restrict__ out,
                                       const number *__restrict__ up, number *__restrict__ dz) {
#define SLOPE_CASE(code, value, slope)           \
    case code:                                   \
        for (npy_intp k = 0; k < entries; k++) { \
            const number a = out[k];             \
            (void) a;                            \
            dz[k] = up[k] * slope;               \
        }                                        \
        break;
    switch (activation) { FOR_EACH_ACTIVATION(SLOPE_CASE) }
#undef SLOPE_CASE
}

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

/* Sets `finite`, unless NULL, to whether x is: looked at right before the product takes it from the cache. */
template <typename number>
static void forward_rows(int activation, npy_intp b, npy_intp d, npy_intp h, const number *x, const number *W,
                         const number *bias, number *out, bool *finite) {
    const RowThreads threads(b, layer_work(b, d, h));
    bool of_chunk[RowThreads::MOST];
    threads.run(b, [=, &of_chunk](int chunk, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        of_chunk[chunk] = true;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            if (finite && !all_finite(rows * d, x + i * d)) of_chunk[chunk] = false;
            row_major_product(0, 0, (int) rows, (int) h, (int) d, x + i * d, W, out + i * h);
            activate(activation, rows, h, bias, out + i * h);
        }
    });
    if (finite) *finite = std::all_of(of_chunk, of_chunk + threads.count, [](bool each) { return each; });
}

/* The gradient before the activation, some rows at a time; that of the identity is the one given. */
template <typename number> struct Slopes {
    const int activation;
    const npy_intp h;
    const number *out, *upstream;
    number *room;
    Slopes(int activation, npy_intp h, npy_intp most, const number *out, const number *upstream)
        : activation(activation), h(h), out(out), upstream(upstream),
          room(activation ? (number *) malloc(sizeof(number) * (most * h + 1)) : NULL) {}
    Slopes(const Slopes &) = delete;
    ~Slopes() { free(room); }
    bool failed() const { return activation && !room; }
    const number *of_rows(npy_intp first, npy_intp rows) const {
        if (!activation) return upstream + first * h;
        before_activation(activation, rows * h, out + first * h, upstream + first * h, room);
        return room;
    }
};

/* False where memory is short. */
template <typename number>
static bool input_gradient_rows(int activation, npy_intp b, npy_intp d, npy_intp h, const number *out,
                                const number *upstream, const number *W, number *gradient) {
    const RowThreads threads(b, layer_work(b, d, h));
    bool failed[RowThreads::MOST] = {};
    threads.run(b, [&](int chunk, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        const Slopes<number> slopes(activation, h, most, out, upstream);
        if ((failed[chunk] = slopes.failed())) return;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            row_major_product(0, 1, (int) rows, (int) d, (int) h, slopes.of_rows(i, rows), W, gradient + i * d);
        }
    });
    return std::none_of(failed, failed + threads.count, [](bool each) { return each; });
}

/* Adds the column sums of some rows: short runs in the array's own type (fast), the runs in double (exact enough). */
template <typename number>
NOINLINE static void add_columns(npy_intp rows, npy_intp h, const number *__restrict__ dz, number *__restrict__ column,
                                 double *__restrict__ total) {
    for (npy_intp start = 0; start < rows; start += 64) {
        const npy_intp end = start + 64 < rows ? start + 64 : rows;
        memset(column, 0, sizeof(number) * h);
        for (npy_intp i = start; i < end; i++, dz += h)
            for (npy_intp j = 0; j < h; j++) column[j] += dz[j];
        for (npy_intp j = 0; j < h; j++) total[j] += column[j];
    }
}

/* The gradients of the weights from one chunk of rows: zero at first. */
template <typename number> struct WeightSums {
    number *dW, *column;
    double *total;
    WeightSums() : dW(NULL), column(NULL), total(NULL) {}
    WeightSums(const WeightSums &) = delete;
    bool allocate(npy_intp d, npy_intp h) {
        dW = (number *) calloc(d * h + 1, sizeof(number));
        column = (number *) malloc(sizeof(number) * (h + 1));
        total = (double *) calloc(h + 1, sizeof(double));
        return dW && column && total;
    }
    ~WeightSums() {
        free(dW);
        free(column);
        free(total);
    }
};

/* False where memory is short. */
template <typename number>
static bool weight_gradient_rows(int activation, npy_intp b, npy_intp d, npy_intp h, const number *out,
                                 const number *upstream, const number *x, number *dW, number *db) {
    const RowThreads threads(b, layer_work(b, d, h));
    WeightSums<number> sums[RowThreads::MOST];
    bool failed[RowThreads::MOST] = {};
    threads.run(b, [&](int chunk, npy_intp start, npy_intp end) {
        const npy_intp most = rows_at_a_time(b, h);
        const Slopes<number> slopes(activation, h, most, out, upstream);
        WeightSums<number> &own = sums[chunk];
        if ((failed[chunk] = slopes.failed() || !own.allocate(d, h))) return;
        for (npy_intp i = start; i < end; i += most) {
            const npy_intp rows = most < end - i ? most : end - i;
            const number *dz = slopes.of_rows(i, rows);
            row_major_product(1, 0, (int) d, (int) h, (int) rows, x + i * d, dz, own.dW, (number) (i > start));
            add_columns(rows, h, dz, own.column, own.total);
        }
    });
    if (std::any_of(failed, failed + threads.count, [](bool each) { return each; })) return false;
    memcpy(dW, sums[0].dW, sizeof(number) * d * h);
    for (int k = 1; k < threads.count; k++) {
        for (npy_intp j = 0; j < d * h; j++) dW[j] += sums[k].dW[j];
        for (npy_intp j = 0; j < h; j++) sums[0].total[j] += sums[k].total[j];
    }
    for (npy_intp j = 0; j < h; j++) db[j] = (number) sums[0].total[j];
    return true;
}

/* -- the Ops ------------------------------------------------------------------------------------------------------ */

template <typename number>
static bool dense_layer(int activation, PyArrayObject *rows, PyArrayObject *weights, PyArrayObject *biases,
                        PyArrayObject **out, bool *finite = NULL) {
    Contiguous x(rows), W(weights), bias(biases);
    if (!(x && W && bias)) return false;
    const npy_intp b = x.dim(0), d = W.dim(0), h = W.dim(1);
    if (x.dim(1) != d || bias.dim(0) != h) {
        PyErr_Format(PyExc_ValueError,
                     "dense needs %zd columns (the rows of its weights) and %zd biases, got %zd and %zd",
                     (Py_ssize_t) d, (Py_ssize_t) h, (Py_ssize_t) x.dim(1), (Py_ssize_t) bias.dim(0));
        return false;
    }
    if (!prepare_output(out, b, h, x.type())) return false;
    forward_rows(activation, b, d, h, x.data<number>(), W.data<number>(), bias.data<number>(), data_of<number>(*out),
                 finite);
    return true;
}

template <typename number>
static bool checked_dense_layer(int activation, PyArrayObject *rows, PyArrayObject *weights, PyArrayObject *biases,
                                PyArrayObject **out, PyArrayObject **answer) {
    bool finite;
    return dense_layer<number>(activation, rows, weights, biases, out, &finite) && put_bool(answer, finite);
}

static inline bool same_shape(const Contiguous &out, const Contiguous &upstream) {
    if (upstream.dim(0) == out.dim(0) && upstream.dim(1) == out.dim(1)) return true;
    return fail_with(PyExc_ValueError, "the gradient of a dense layer must have the shape of its output");
}

template <typename number>
static bool dense_input_gradient(int activation, PyArrayObject *output, PyArrayObject *its_gradient,
                                 PyArrayObject *weights, PyArrayObject **dx) {
    Contiguous out(output), upstream(its_gradient), W(weights);
    if (!(out && upstream && W) || !same_shape(out, upstream)) return false;
    const npy_intp b = out.dim(0), d = W.dim(0), h = out.dim(1);
    if (W.dim(1) != h) return fail_with(PyExc_ValueError, "a dense layer's W must be as wide as its output");
    if (!prepare_output(dx, b, d, out.type())) return false;
    if (input_gradient_rows(activation, b, d, h, out.data<number>(), upstream.data<number>(), W.data<number>(),
                            data_of<number>(*dx)))
        return true;
    PyErr_NoMemory();
    return false;
}

template <typename number>
static bool dense_weight_gradient(int activation, PyArrayObject *output, PyArrayObject *its_gradient,
                                  PyArrayObject *rows, PyArrayObject **dW, PyArrayObject **db) {
    Contiguous out(output), upstream(its_gradient), x(rows);
    if (!(out && upstream && x) || !same_shape(out, upstream)) return false;
    const npy_intp b = out.dim(0), d = x.dim(1), h = out.dim(1);
    if (x.dim(0) != b) return fail_with(PyExc_ValueError, "a dense layer's x must have as many rows as its output");
    if (!new_output(db, 1, &h, out.type()) || !prepare_output(dW, d, h, out.type())) return false;
    if (weight_gradient_rows(activation, b, d, h, out.data<number>(), upstream.data<number>(), x.data<number>(),
                             data_of<number>(*dW), data_of<number>(*db)))
        return true;
    PyErr_NoMemory();
    return false;
}

#endif
