/* The weighted rewards of a batch: the objective, its class sums, and its derivative in the scores. */
#ifndef AESARA_NONDECOMP_REWARDS_H
#define AESARA_NONDECOMP_REWARDS_H

#include "arrays.h"
#include "elementary.h"

/* Rows taken at a time: first their rewards, in vectors, then their sums. And the class sums: those of three rewards
   and of the weights, each over the positives and over the negatives. */
enum { REWARD_ROWS = 256, CLASS_SUMS = 8 };

/* Rewards of some rows, and the derivative of the objective in their scores. */
template <typename number>
NOINLINE static void row_rewards(npy_intp rows, const number *__restrict__ f, const number *__restrict__ label,
                                 const double *weights, const number scale, const number per_row,
                                 number *__restrict__ sigmoid, number *__restrict__ logistic,
                                 number *__restrict__ slope) {
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
        const number ascent =
            (label[i] < 0 ? s_neg : s_pos) * sigmoid_slope + (label[i] < 0 ? l_neg : l_pos) * logistic_slope;
        slope[i] = label[i] == 0 ? 0 : label[i] * per_row * ascent;
    }
}

/* Adds the class sums of a batch to `sum`, and writes the derivative of the objective in each score. */
template <typename number>
static void add_rewards(npy_intp b, const number *f, const number *label, const double *weights, const number scale,
                        const number per_row, double *sum, number *slope) {
    number sigmoid[REWARD_ROWS], logistic[REWARD_ROWS];
    for (npy_intp start = 0; start < b; start += REWARD_ROWS) {
        const npy_intp rows = b - start < REWARD_ROWS ? b - start : (npy_intp) REWARD_ROWS;
        row_rewards(rows, f + start, label + start, weights, scale, per_row, sigmoid, logistic, slope + start);
        for (npy_intp i = 0; i < rows; i++) {
            const double y = label[start + i], weight = y < 0 ? -y : y;
            if (weight == 0) continue;
            const int negative = y < 0, right = negative ? f[start + i] <= 0 : f[start + i] > 0;
            sum[0 + negative] += weight * sigmoid[i];
            sum[2 + negative] += weight * logistic[i];
            sum[4 + negative] += right ? weight : 0.0;
            sum[6 + negative] += weight;
        }
    }
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

template <typename number>
static bool reward_sums(PyArrayObject *scores, PyArrayObject *labels, PyArrayObject *weights,
                        PyArrayObject *temperature, PyArrayObject **objective, PyArrayObject **sums,
                        PyArrayObject **slope) {
    Contiguous f(scores), y(labels), w(weights);
    if (!(f && y && w)) return false;
    const npy_intp b = y.size(), n_sums = CLASS_SUMS;
    if (f.dim(0) != b || f.size() != b || w.dim(0) != 4) {
        PyErr_Format(PyExc_ValueError,
                     "reward_sums needs one score per label and 4 weights, got %zd scores, %zd labels and %zd weights",
                     (Py_ssize_t) f.size(), (Py_ssize_t) b, (Py_ssize_t) w.dim(0));
        return false;
    }
    if (!new_output(objective, 0, NULL, f.type()) || !new_output(sums, 1, &n_sums, NPY_DOUBLE) ||
        !new_output(slope, PyArray_NDIM(f.array), PyArray_DIMS(f.array), f.type()))
        return false;
    const number *label = y.data<number>();
    const double *of_rewards = w.data<double>();
    double *sum = data_of<double>(*sums), total = 0.0, value = 0.0;
    memset(sum, 0, sizeof(double) * n_sums);
    for (npy_intp i = 0; i < b; i++) total += label[i] < 0 ? -(double) label[i] : (double) label[i];
    add_rewards(b, f.data<number>(), label, of_rewards, (number) (1.0 / scalar_of(temperature)),
                (number) (total > 0 ? 1.0 / total : 0.0), sum, data_of<number>(*slope));
    /* A class without a weight is left out, not multiplied by it: its sum may be infinite. */
    for (int k = 0; k < 4; k++) value += of_rewards[k] == 0 ? 0.0 : of_rewards[k] * sum[k];
    *data_of<number>(*objective) = (number) (total > 0 ? value / total : 0.0);
    return true;
}

#endif
