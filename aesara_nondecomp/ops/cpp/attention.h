/* Attention over the valid tokens of a row, and its gradient. Sequences are matrices in time-major order: row t * b + r
   holds token t of row r. */
#ifndef AESARA_NONDECOMP_ATTENTION_H
#define AESARA_NONDECOMP_ATTENTION_H

#include "arrays.h"

/* Softmax of one row's energies (`stride` apart) over its valid tokens. */
template <typename number>
static void masked_softmax(npy_intp T, npy_intp stride, const number *e, const npy_int *mask, number *a) {
    number largest = -INFINITY, total = 0;
    for (npy_intp t = 0; t < T; t++)
        if (mask[t] && e[t * stride] > largest) largest = e[t * stride];
    for (npy_intp t = 0; t < T; t++) {
        a[t] = mask[t] ? (number) exp(e[t * stride] - largest) : 0;
        total += a[t];
    }
    for (npy_intp t = 0; t < T; t++)
        if (total > 0) a[t] /= total;
}

/* -- the Ops ------------------------------------------------------------------------------------------------------ */

template <typename number>
static bool attention_pool(PyArrayObject *alignments, PyArrayObject *all_states, PyArrayObject *tokens,
                           PyArrayObject **context, PyArrayObject **weights) {
    Contiguous energies(alignments), states(all_states), mask(tokens);
    if (!(energies && states && mask)) return false;
    const npy_intp b = mask.dim(0), T = mask.dim(1), h = states.dim(1);
    if (energies.dim(0) != T * b || energies.dim(1) != 1 || states.dim(0) != T * b)
        return fail_with(PyExc_ValueError, "attention needs one energy and one state per token of the mask");
    if (!prepare_output(context, b, h, states.type()) || !prepare_output(weights, b, T, states.type())) return false;
    number *c = data_of<number>(*context), *a = data_of<number>(*weights);
    memset(c, 0, sizeof(number) * b * h);
    for (npy_intp r = 0; r < b; r++, a += T, c += h) {
        masked_softmax(T, b, energies.data<number>() + r, mask.data<npy_int>() + r * T, a);
        for (npy_intp t = 0; t < T; t++) {
            const number *s = states.data<number>() + (t * b + r) * h;
            if (a[t] != 0)
                for (npy_intp j = 0; j < h; j++) c[j] += a[t] * s[j];
        }
    }
    return true;
}

template <typename number>
static bool attention_gradient(PyArrayObject *context_gradient, PyArrayObject *attention_weights,
                               PyArrayObject *all_states, PyArrayObject **denergies, PyArrayObject **dstates) {
    Contiguous upstream(context_gradient), weights(attention_weights), states(all_states);
    if (!(upstream && weights && states)) return false;
    const npy_intp b = weights.dim(0), T = weights.dim(1), h = states.dim(1);
    if (upstream.dim(0) != b || upstream.dim(1) != h || states.dim(0) != T * b)
        return fail_with(PyExc_ValueError, "the gradient of attention must have the shape of its context");
    if (!prepare_output(denergies, T * b, 1, states.type()) || !prepare_output(dstates, T * b, h, states.type()))
        return false;
    number *de = data_of<number>(*denergies);
    for (npy_intp r = 0; r < b; r++) {
        const number *u = upstream.data<number>() + r * h, *a = weights.data<number>() + r * T;
        double mean = 0;
        for (npy_intp t = 0; t < T; t++) {
            const npy_intp row = t * b + r;
            const number *s = states.data<number>() + row * h;
            number *ds = data_of<number>(*dstates) + row * h, slope = 0;
            for (npy_intp j = 0; j < h; j++) {
                ds[j] = a[t] * u[j];
                slope += u[j] * s[j];
            }
            de[row] = slope;
            mean += (double) a[t] * slope;
        }
        for (npy_intp t = 0; t < T; t++) de[t * b + r] = a[t] * (de[t * b + r] - (number) mean);
    }
    return true;
}

#endif
