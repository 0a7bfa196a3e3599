/* The masked LSTM, forward and backward. Rows of a batch never meet until the gradients of the weights are added up, so
   each thread takes a chunk of the rows through all steps. Products are taken step by step: they are as fast as one
   large one, and their results are used while they are in the cache. */
#ifndef AESARA_NONDECOMP_LSTM_H
#define AESARA_NONDECOMP_LSTM_H

#include <deque>

#include "arrays.h"
#include "blas.h"
#include "elementary.h"
#include "threads.h"

/* One valid row: gates from their sums, then cell and state. */
template <typename number>
NOINLINE static void lstm_row(npy_intp h, number *__restrict__ i, number *__restrict__ f, number *__restrict__ g,
                              number *__restrict__ o, const number *__restrict__ bias,
                              const number *__restrict__ before, number *__restrict__ cell,
                              number *__restrict__ state) {
    for (npy_intp j = 0; j < h; j++) {
        const number in = logistic(i[j] + bias[j]), keep = logistic(f[j] + bias[h + j]);
        const number candidate = hyperbolic_tangent(g[j] + bias[2 * h + j]), out = logistic(o[j] + bias[3 * h + j]);
        const number c = keep * before[j] + in * candidate;
        i[j] = in;
        f[j] = keep;
        g[j] = candidate;
        o[j] = out;
        cell[j] = c;
        state[j] = out * hyperbolic_tangent(c);
    }
}

/* Rows `start` to `stop` of the batch, all their tokens. */
template <typename number>
static void lstm_forward_rows(npy_intp start, npy_intp stop, npy_intp T, npy_intp b, npy_intp d, npy_intp h,
                              const number *x, const npy_int *mask, const number *W, const number *U,
                              const number *bias, number *gates, number *cells, number *states, number *last) {
    const int rows = (int) (stop - start), width = (int) (4 * h);
    memset(last + start * h, 0, sizeof(number) * rows * h); /* the state before the first token, until the end */
    for (npy_intp t = 0; t < T; t++) {
        const npy_intp row = t * b + start, before = row - b;
        const number *c_before = t ? cells + before * h : last + start * h;
        const number *h_before = t ? states + before * h : last + start * h;
        number *a = gates + row * width, *c = cells + row * h, *s = states + row * h;
        row_major_product(0, 0, rows, width, (int) d, x + row * d, W, a);
        if (t) row_major_product(0, 0, rows, width, (int) h, h_before, U, a, (number) 1);
        for (npy_intp r = start; r < stop; r++, a += width, c += h, s += h, c_before += h, h_before += h) {
            if (mask[r * T + t]) {
                lstm_row(h, a, a + h, a + 2 * h, a + 3 * h, bias, c_before, c, s);
            } else {
                memcpy(c, c_before, sizeof(number) * h);
                memcpy(s, h_before, sizeof(number) * h);
            }
        }
    }
    if (T) memcpy(last + start * h, states + ((T - 1) * b + start) * h, sizeof(number) * rows * h);
}

template <typename number>
static void lstm_forward(npy_intp T, npy_intp b, npy_intp d, npy_intp h, const number *x, const npy_int *mask,
                         const number *W, const number *U, const number *bias, number *gates, number *cells,
                         number *states, number *last) {
    const RowThreads threads(b, 4.0 * h * (d + h) * T * b);
    threads.run(b, [=](int, npy_intp start, npy_intp stop) {
        lstm_forward_rows(start, stop, T, b, d, h, x, mask, W, U, bias, gates, cells, states, last);
    });
}

/* One valid row: gradients before the activations; dc becomes that of the cell before, dh is used up. */
template <typename number>
NOINLINE static void lstm_row_back(npy_intp h, const number *__restrict__ i, const number *__restrict__ f,
                                   const number *__restrict__ g, const number *__restrict__ o,
                                   const number *__restrict__ before, const number *__restrict__ cell,
                                   number *__restrict__ dh, number *__restrict__ dc, number *__restrict__ di,
                                   number *__restrict__ df, number *__restrict__ dg, number *__restrict__ dout) {
    for (npy_intp j = 0; j < h; j++) {
        const number s = hyperbolic_tangent(cell[j]), to_cell = dc[j] + dh[j] * o[j] * (1 - s * s);
        di[j] = to_cell * g[j] * i[j] * (1 - i[j]);
        df[j] = to_cell * before[j] * f[j] * (1 - f[j]);
        dg[j] = to_cell * i[j] * (1 - g[j] * g[j]);
        dout[j] = dh[j] * s * o[j] * (1 - o[j]);
        dc[j] = to_cell * f[j];
        dh[j] = 0;
    }
}

/* What the backward pass of one chunk of rows needs, and its part of the gradients of the weights. */
template <typename number> struct LstmWork {
    number *dgates, *dh, *dc, *no_cells, *dW, *dU;
    double *db;
    LstmWork(npy_intp rows, npy_intp d, npy_intp h)
        : dgates(zeros(rows * 4 * h)), dh(zeros(rows * h)), dc(zeros(rows * h)), no_cells(zeros(h)),
          dW(zeros(d * 4 * h)), dU(zeros(h * 4 * h)), db((double *) calloc(4 * h + 1, sizeof(double))) {}
    LstmWork(const LstmWork &) = delete;
    ~LstmWork() {
        free(dgates);
        free(dh);
        free(dc);
        free(no_cells);
        free(dW);
        free(dU);
        free(db);
    }
    bool allocated() const { return dgates && dh && dc && no_cells && dW && dU && db; }
    static number *zeros(npy_intp count) { return (number *) calloc(count + 1, sizeof(number)); }
};

template <typename number>
static void lstm_backward_rows(npy_intp start, npy_intp stop, npy_intp T, npy_intp b, npy_intp d, npy_intp h,
                               bool of_last, const number *upstream, const number *x, const npy_int *mask,
                               const number *W, const number *U, const number *states, const number *cells,
                               const number *gates, number *dx, LstmWork<number> &own) {
    const int rows = (int) (stop - start), width = (int) (4 * h);
    if (of_last) memcpy(own.dh, upstream + start * h, sizeof(number) * rows * h);
    for (npy_intp t = T - 1; t >= 0; t--) {
        const npy_intp row = t * b + start;
        if (!of_last)
            for (npy_intp k = 0; k < rows * h; k++) own.dh[k] += upstream[row * h + k];
        for (npy_intp r = 0; r < rows; r++) {
            const number *a = gates + (row + r) * width, *cell = cells + (row + r) * h;
            number *da = own.dgates + r * width;
            if (mask[(start + r) * T + t])
                lstm_row_back(h, a, a + h, a + 2 * h, a + 3 * h, t ? cell - b * h : own.no_cells, cell, own.dh + r * h,
                              own.dc + r * h, da, da + h, da + 2 * h, da + 3 * h);
            else
                memset(da, 0, sizeof(number) * width);
            for (npy_intp j = 0; j < width; j++) own.db[j] += da[j];
        }
        row_major_product(1, 0, (int) d, width, rows, x + row * d, own.dgates, own.dW, (number) 1);
        row_major_product(0, 1, rows, (int) d, width, own.dgates, W, dx + row * d);
        if (t == 0) break; /* the state before the first token is 0 */
        row_major_product(1, 0, (int) h, width, rows, states + (row - b) * h, own.dgates, own.dU, (number) 1);
        row_major_product(0, 1, rows, (int) h, width, own.dgates, U, own.dh, (number) 1);
    }
}

/* False where memory is short. */
template <typename number>
static bool lstm_backward(npy_intp T, npy_intp b, npy_intp d, npy_intp h, bool of_last, const number *upstream,
                          const number *x, const npy_int *mask, const number *W, const number *U, const number *states,
                          const number *cells, const number *gates, number *dx, number *dW, number *dU, number *db) {
    const RowThreads threads(b, 8.0 * h * (d + h) * T * b);
    std::deque<LstmWork<number>> work;
    for (int k = 0; k < threads.count; k++) {
        work.emplace_back(b / threads.count + 1, d, h);
        if (!work.back().allocated()) return false;
    }
    threads.run(b, [&](int chunk, npy_intp start, npy_intp stop) {
        lstm_backward_rows(start, stop, T, b, d, h, of_last, upstream, x, mask, W, U, states, cells, gates, dx,
                           work[chunk]);
    });
    memcpy(dW, work[0].dW, sizeof(number) * d * 4 * h);
    memcpy(dU, work[0].dU, sizeof(number) * h * 4 * h);
    for (int k = 1; k < threads.count; k++) {
        for (npy_intp j = 0; j < d * 4 * h; j++) dW[j] += work[k].dW[j];
        for (npy_intp j = 0; j < h * 4 * h; j++) dU[j] += work[k].dU[j];
        for (npy_intp j = 0; j < 4 * h; j++) work[0].db[j] += work[k].db[j];
    }
    for (npy_intp j = 0; j < 4 * h; j++) db[j] = (number) work[0].db[j];
    return true;
}

/* -- the Ops ------------------------------------------------------------------------------------------------------ */

template <typename number>
static bool lstm_layer(PyArrayObject *inputs, PyArrayObject *tokens, PyArrayObject *input_weights,
                       PyArrayObject *state_weights, PyArrayObject *biases, PyArrayObject **last,
                       PyArrayObject **states, PyArrayObject **cells, PyArrayObject **gates) {
    Contiguous x(inputs), mask(tokens), W(input_weights), U(state_weights), bias(biases);
    if (!(x && mask && W && U && bias)) return false;
    const npy_intp b = mask.dim(0), T = mask.dim(1), d = W.dim(0), h = U.dim(0);
    if (x.dim(0) != T * b || x.dim(1) != d || W.dim(1) != 4 * h || U.dim(1) != 4 * h || bias.dim(0) != 4 * h)
        return fail_with(PyExc_ValueError, "an LSTM needs x (T b, d), mask (b, T), W (d, 4 h), U (h, 4 h) and "
                                           "bias (4 h,), and got other sizes");
    if (!prepare_output(last, b, h, x.type()) || !prepare_output(states, T * b, h, x.type()) ||
        !prepare_output(cells, T * b, h, x.type()) || !prepare_output(gates, T * b, 4 * h, x.type()))
        return false;
    lstm_forward(T, b, d, h, x.data<number>(), mask.data<npy_int>(), W.data<number>(), U.data<number>(),
                 bias.data<number>(), data_of<number>(*gates), data_of<number>(*cells), data_of<number>(*states),
                 data_of<number>(*last));
    return true;
}

template <typename number>
static bool lstm_gradient(int of_last, PyArrayObject *output_gradient, PyArrayObject *inputs, PyArrayObject *tokens,
                          PyArrayObject *input_weights, PyArrayObject *state_weights, PyArrayObject *all_states,
                          PyArrayObject *all_cells, PyArrayObject *all_gates, PyArrayObject **dx, PyArrayObject **dW,
                          PyArrayObject **dU, PyArrayObject **db) {
    Contiguous upstream(output_gradient), x(inputs), mask(tokens), W(input_weights), U(state_weights);
    Contiguous states(all_states), cells(all_cells), gates(all_gates);
    if (!(upstream && x && mask && W && U && states && cells && gates)) return false;
    const npy_intp b = mask.dim(0), T = mask.dim(1), d = W.dim(0), h = U.dim(0), width = 4 * h;
    if (upstream.dim(0) != (of_last ? b : T * b) || upstream.dim(1) != h || gates.dim(0) != T * b)
        return fail_with(PyExc_ValueError, "the gradient of an LSTM must have the shape of its output");
    if (!new_output(db, 1, &width, x.type()) || !prepare_output(dx, T * b, d, x.type()) ||
        !prepare_output(dW, d, width, x.type()) || !prepare_output(dU, h, width, x.type()))
        return false;
    if (lstm_backward(T, b, d, h, of_last, upstream.data<number>(), x.data<number>(), mask.data<npy_int>(),
                      W.data<number>(), U.data<number>(), states.data<number>(), cells.data<number>(),
                      gates.data<number>(), data_of<number>(*dx), data_of<number>(*dW), data_of<number>(*dU),
                      data_of<number>(*db)))
        return true;
    PyErr_NoMemory();
    return false;
}

#endif
