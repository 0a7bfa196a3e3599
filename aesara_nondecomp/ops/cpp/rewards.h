/* The weighted rewards of a batch: the objective, its class sums, and its derivative in the scores. */
#ifndef AESARA_NONDECOMP_REWARDS_H
#define AESARA_NONDECOMP_REWARDS_H

#include "arrays.h"
#include "elementary.h"

/* Rows taken at a time: first their rewards, in vectors, then their sums. And the class sums: those of three rewards
   and of the weights, each over the positives and over the negatives. Those of a cell: of the same rewards, and
   weights. */
enum { REWARD_ROWS = 256, CLASS_SUMS = 8, CELL_SUMS = 4 };

/* The weights of the two rewards of a row: those of its class, or those of its cell. */
template <typename number> struct ClassWeights {
    const number s_pos, s_neg, l_pos, l_neg;
    explicit ClassWeights(const double *weights)
        : s_pos((number) weights[0]), s_neg((number) weights[1]), l_pos((number) weights[2]),
          l_neg((number) weights[3]) {}
    number sigmoid(npy_intp, number label) const { return label < 0 ? s_neg : s_pos; }
    number logistic(npy_intp, number label) const { return label < 0 ? l_neg : l_pos; }
};
template <typename number> struct RowWeights {
    const number *__restrict__ of_sigmoid, *__restrict__ of_logistic;
    number sigmoid(npy_intp i, number) const { return of_sigmoid[i]; }
    number logistic(npy_intp i, number) const { return of_logistic[i]; }
};

/* Rewards of some rows, and the derivative of the objective in their scores. */
template <typename number, typename Weights>
NOINLINE static void row_rewards(npy_intp rows, const number *__restrict__ f, const number *__restrict__ label,
                                 const Weights weights, const number scale, const number per_row,
                                 number *__restrict__ sigmoid, number *__restrict__ logistic,
                                 number *__restrict__ slope) {
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
            weights.sigmoid(i, label[i]) * sigmoid_slope + weights.logistic(i, label[i]) * logistic_slope;
        slope[i] = label[i] == 0 ? 0 : label[i] * per_row * ascent;
    }
}

/* Adds the rewards of some rows to the class sums. */
template <typename number>
static void add_class_sums(npy_intp rows, const number *f, const number *label, const number *sigmoid,
                           const number *logistic, double *sum) {
    for (npy_intp i = 0; i < rows; i++) {
        const double y = label[i], weight = y < 0 ? -y : y;
        if (weight == 0) continue;
        const int negative = y < 0, right = negative ? f[i] <= 0 : f[i] > 0;
        sum[0 + negative] += weight * sigmoid[i];
        sum[2 + negative] += weight * logistic[i];
        sum[4 + negative] += right ? weight : 0.0;
        sum[6 + negative] += weight;
    }
}

/* Adds the class sums of a batch to `sum`, and writes the derivative of the objective in each score. */
template <typename number>
static void add_rewards(npy_intp b, const number *f, const number *label, const double *weights, const number scale,
                        const number per_row, double *sum, number *slope) {
    number sigmoid[REWARD_ROWS], logistic[REWARD_ROWS];
    const ClassWeights<number> of_class(weights);
    for (npy_intp start = 0; start < b; start += REWARD_ROWS) {
        const npy_intp rows = b - start < REWARD_ROWS ? b - start : (npy_intp) REWARD_ROWS;
        row_rewards(rows, f + start, label + start, of_class, scale, per_row, sigmoid, logistic, slope + start);
        add_class_sums(rows, f + start, label + start, sigmoid, logistic, sum);
    }
}

/* Adds the rewards of some rows to the sums of their cells: of the sigmoid, logistic and count reward, and weights. */
template <typename number>
static void add_cell_sums(npy_intp rows, const number *f, const number *label, const npy_int32 *cell,
                          const number *sigmoid, const number *logistic, double *sums) {
    for (npy_intp i = 0; i < rows; i++) {
        const double y = label[i], weight = y < 0 ? -y : y;
        if (weight == 0) continue;
        double *sum = sums + (npy_intp) CELL_SUMS * cell[i];
        const int right = y < 0 ? f[i] <= 0 : f[i] > 0;
        sum[0] += weight * sigmoid[i];
        sum[1] += weight * logistic[i];
        sum[2] += right ? weight : 0.0;
        sum[3] += weight;
    }
}

/* Whether all cells of a class have the same weights; negatives are even. */
static bool by_class_alone(const double *weights, npy_intp m) {
    for (npy_intp k = 4; k < 2 * m; k++)
        if (weights[k] != weights[k % 4]) return false;
    return m >= 2;
}

/* The same with weights for each cell, of which the sums are taken too. */
template <typename number>
static void add_cell_rewards(npy_intp b, const number *f, const number *label, const npy_int32 *cell,
                             const double *weights, npy_intp m, const number scale, const number per_row,
                             double *class_sum, double *cell_sums, number *slope) {
    number sigmoid[REWARD_ROWS], logistic[REWARD_ROWS], of_sigmoid[REWARD_ROWS], of_logistic[REWARD_ROWS];
    const RowWeights<number> of_cell = {of_sigmoid, of_logistic};
    /* Then the very same loop as without cells, so that results are equal to the last bit. */
    const bool by_class = by_class_alone(weights, m);
    const double of_classes[4] = {m > 1 ? weights[2] : 0, m ? weights[0] : 0, m > 1 ? weights[3] : 0,
                                  m ? weights[1] : 0};
    const ClassWeights<number> of_class(of_classes);
    for (npy_intp start = 0; start < b; start += REWARD_ROWS) {
        const npy_intp rows = b - start < REWARD_ROWS ? b - start : (npy_intp) REWARD_ROWS;
        for (npy_intp i = 0; i < rows && !by_class; i++) {
            const double *weight = weights + 2 * (npy_intp) cell[start + i];
            of_sigmoid[i] = (number) weight[0], of_logistic[i] = (number) weight[1];
        }
        if (by_class)
            row_rewards(rows, f + start, label + start, of_class, scale, per_row, sigmoid, logistic, slope + start);
        else
            row_rewards(rows, f + start, label + start, of_cell, scale, per_row, sigmoid, logistic, slope + start);
        add_class_sums(rows, f + start, label + start, sigmoid, logistic, class_sum);
        add_cell_sums(rows, f + start, label + start, cell + start, sigmoid, logistic, cell_sums);
    }
}

/* -- the Ops ------------------------------------------------------------------------------------------------------ */

template <typename number> static double total_weight(const number *label, npy_intp b) {
    double total = 0.0;
    for (npy_intp i = 0; i < b; i++) total += label[i] < 0 ? -(double) label[i] : (double) label[i];
    return total;
}

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
    double *sum = data_of<double>(*sums), value = 0.0;
    const double total = total_weight(label, b);
    memset(sum, 0, sizeof(double) * n_sums);
    add_rewards(b, f.data<number>(), label, of_rewards, (number) (1.0 / scalar_of(temperature)),
                (number) (total > 0 ? 1.0 / total : 0.0), sum, data_of<number>(*slope));
    /* A class without a weight is left out, not multiplied by it: its sum may be infinite. */
    for (int k = 0; k < 4; k++) value += of_rewards[k] == 0 ? 0.0 : of_rewards[k] * sum[k];
    *data_of<number>(*objective) = (number) (total > 0 ? value / total : 0.0);
    return true;
}

template <typename number>
static bool cell_reward_sums(PyArrayObject *scores, PyArrayObject *labels, PyArrayObject *cells, PyArrayObject *weights,
                             PyArrayObject *temperature, PyArrayObject **objective, PyArrayObject **class_sums,
                             PyArrayObject **cell_sums, PyArrayObject **slope) {
    Contiguous f(scores), y(labels), c(cells), w(weights);
    if (!(f && y && c && w)) return false;
    const npy_intp b = y.size(), m = w.dim(0), n_class_sums = CLASS_SUMS, of_cells[2] = {m, CELL_SUMS};
    if (f.dim(0) != b || f.size() != b || c.size() != b || w.size() != 2 * m) {
        PyErr_Format(PyExc_ValueError,
                     "cell_reward_sums needs one score and one cell per label and 2 weights per cell, got %zd scores, "
                     "%zd labels, %zd cells and %zd weights",
                     (Py_ssize_t) f.size(), (Py_ssize_t) b, (Py_ssize_t) c.size(), (Py_ssize_t) w.size());
        return false;
    }
    const npy_int32 *cell = c.data<npy_int32>();
    const number *label = y.data<number>();
    for (npy_intp i = 0; i < b; i++) {
        const bool inside = cell[i] >= 0 && cell[i] < m;
        if (!inside || (label[i] != 0 && (cell[i] & 1) != (label[i] > 0))) {
            PyErr_Format(PyExc_ValueError,
                         "cells must lie in 0 .. %zd, odd for positives and even for negatives, got %d in row %zd",
                         (Py_ssize_t) m - 1, (int) cell[i], (Py_ssize_t) i);
            return false;
        }
    }
    if (!new_output(objective, 0, NULL, f.type()) || !new_output(class_sums, 1, &n_class_sums, NPY_DOUBLE) ||
        !new_output(cell_sums, 2, of_cells, NPY_DOUBLE) ||
        !new_output(slope, PyArray_NDIM(f.array), PyArray_DIMS(f.array), f.type()))
        return false;
    const double *of_cell = w.data<double>(), total = total_weight(label, b);
    double *sums = data_of<double>(*cell_sums), value = 0.0;
    memset(data_of<double>(*class_sums), 0, sizeof(double) * CLASS_SUMS);
    memset(sums, 0, sizeof(double) * CELL_SUMS * m);
    add_cell_rewards(b, f.data<number>(), label, cell, of_cell, m, (number) (1.0 / scalar_of(temperature)),
                     (number) (total > 0 ? 1.0 / total : 0.0), data_of<double>(*class_sums), sums,
                     data_of<number>(*slope));
    /* A cell without a weight is left out, not multiplied by it: its sum may be infinite. */
    for (npy_intp k = 0; k < m; k++)
        for (int reward = 0; reward < 2; reward++)
            if (of_cell[2 * k + reward] != 0) value += of_cell[2 * k + reward] * sums[CELL_SUMS * k + reward];
    *data_of<number>(*objective) = (number) (total > 0 ? value / total : 0.0);
    return true;
}

#endif
