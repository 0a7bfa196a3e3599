/* The weighted rewards of a batch of K classes: the objective, its confusion sums, and its derivative in the scores. */
#ifndef AESARA_NONDECOMP_CELL_REWARDS_H
#define AESARA_NONDECOMP_CELL_REWARDS_H

#include "arrays.h"
#include "elementary.h"

/* Rows taken at a time. Their scores are turned, so that loops over rows run in vectors however few classes there are.
 */
enum { CELL_ROWS = 64 };

/* The softmax of a block, row i of class k at [k * CELL_ROWS + i]: exponentials relative to the largest, whose own is
   1, the sum of the others, the logarithm of the sum of all, and the first class that is the largest. Where a score is
   NaN, the sums are. */
template <typename number> struct Softmax {
    number *power, others[CELL_ROWS], log_sum[CELL_ROWS];
    npy_int32 first[CELL_ROWS];
};

template <typename number>
NOINLINE static void largest_of(npy_intp K, const number *__restrict__ z, number *__restrict__ largest) {
    for (int i = 0; i < CELL_ROWS; i++) largest[i] = z[i];
    for (npy_intp k = 1; k < K; k++)
        for (int i = 0; i < CELL_ROWS; i++) {
            const number next = z[k * CELL_ROWS + i];
            largest[i] = next > largest[i] ? next : largest[i];
        }
}

/* scale * f + shift; the largest score is taken off first, as the shift would be rounded away beside it. */
template <typename number>
NOINLINE static void shifted_scores(npy_intp K, const number *__restrict__ f, const number *__restrict__ most,
                                    const number *__restrict__ shift, const number scale, number *__restrict__ z) {
    for (npy_intp k = 0; k < K; k++)
        for (int i = 0; i < CELL_ROWS; i++) z[k * CELL_ROWS + i] = scale * (f[k * CELL_ROWS + i] - most[i]) + shift[k];
}

template <typename number>
NOINLINE static void exponentials(npy_intp K, const number *__restrict__ largest, number *__restrict__ power,
                                  number *__restrict__ others, npy_int32 *__restrict__ first) {
    for (int i = 0; i < CELL_ROWS; i++) first[i] = -1, others[i] = 0;
    for (npy_intp k = K - 1; k >= 0; k--)
        for (int i = 0; i < CELL_ROWS; i++)
            first[i] = power[k * CELL_ROWS + i] == largest[i] ? (npy_int32) k : first[i];
    for (npy_intp k = 0; k < K; k++)
        for (int i = 0; i < CELL_ROWS; i++) {
            const number relative = exponential(power[k * CELL_ROWS + i] - largest[i]);
            power[k * CELL_ROWS + i] = relative;
            others[i] += first[i] == k ? 0 : relative;
        }
}

template <typename number>
NOINLINE static void log_sums(const number *__restrict__ others, number *__restrict__ log_sum) {
    for (int i = 0; i < CELL_ROWS; i++) log_sum[i] = log_one_plus_any(others[i]);
}

template <typename number>
static void take_softmax(npy_intp K, const number *f, const number *shift, const number scale, Softmax<number> *of) {
    number largest[CELL_ROWS];
    largest_of(K, f, largest);
    shifted_scores(K, f, largest, shift, scale, of->power);
    largest_of(K, of->power, largest);
    exponentials(K, largest, of->power, of->others, of->first);
}

/* What weights the rewards of a cell. */
struct CellWeights {
    npy_intp cells, K;
    const npy_int32 *target;
    const double *gains, *logs;
};

/* ln softmax(f + shift)_y; the logarithm is of 1 and the others, so that a loss near 0 keeps its digits. */
template <typename number>
static inline double log_share(const Softmax<number> &shifted, int i, const number *f, const number *shift,
                               npy_intp y) {
    const npy_intp most = shifted.first[i] < 0 ? 0 : shifted.first[i];
    return ((double) f[y] - f[most]) + ((double) shift[y] - shift[most]) - shifted.log_sum[i];
}

/* The sums of row i of a block, with scores f, in cell c, and its slope. */
template <typename number>
static inline void add_row(const CellWeights &cells, npy_intp c, int i, const double weight, const number per_row,
                           const number scale, const number *f, const number *shift, const Softmax<number> &of,
                           const Softmax<number> &shifted, double *sum, number *__restrict__ slope) {
    const npy_intp K = cells.K, y = cells.target[c];
    const double *gains = cells.gains + c * K;
    const number *power = of.power + i, *power_shifted = shifted.power + i, log = (number) cells.logs[c];
    const number inverse = 1 / (1 + of.others[i]), inverse_shifted = log / (1 + shifted.others[i]);
    number mean = 0;
    for (npy_intp k = 0; k < K; k++) {
        const number share = power[k * CELL_ROWS] * inverse;
        sum[k] += weight * share;
        mean += (number) gains[k] * share;
    }
    const number ascent = per_row * scale * inverse, descent = per_row * inverse_shifted;
    for (npy_intp k = 0; k < K; k++)
        slope[k] = ascent * power[k * CELL_ROWS] * ((number) gains[k] - mean) - descent * power_shifted[k * CELL_ROWS];
    slope[y] += per_row * log;
    if (of.others[i] == of.others[i]) sum[K + of.first[i]] += weight; /* no class where a score is NaN */
    sum[2 * K] += weight * (1 + log_share(shifted, i, f, shift, y));
    sum[2 * K + 1] += weight;
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

/* Room for the shift in the type of the scores, that of the probabilities, which is 0, the turned scores of a block,
   and the exponentials of both rewards. */
template <typename number> struct CellRoom {
    number *shift;
    explicit CellRoom(npy_intp K) : shift((number *) calloc((2 + 3 * CELL_ROWS) * K, sizeof(number))) {}
    CellRoom(const CellRoom &) = delete;
    ~CellRoom() { free(shift); }
};

/* Adds the confusion sums of a batch to `sum`, and writes the derivative of the objective in each score. */
template <typename number>
static void add_confusion(npy_intp b, const CellWeights &cells, const number *f, const npy_int32 *cell,
                          const number *weight, const double per_weight, const number scale, number *shift, double *sum,
                          number *slope) {
    const npy_intp K = cells.K, size = CELL_ROWS * K;
    number *none = shift + K, *turned = none + K;
    Softmax<number> of, other;
    of.power = turned + size, other.power = of.power + size;
    Softmax<number> &shifted = scale != 1 || memcmp(none, shift, sizeof(number) * K) ? other : of;
    for (npy_intp start = 0; start < b; start += CELL_ROWS, f += size, slope += size) {
        const int rows = b - start < CELL_ROWS ? (int) (b - start) : (int) CELL_ROWS;
        for (int i = 0; i < rows; i++)
            for (npy_intp k = 0; k < K; k++) turned[k * CELL_ROWS + i] = f[i * K + k];
        take_softmax(K, turned, none, scale, &of);
        if (&shifted != &of) take_softmax(K, turned, shift, (number) 1, &other);
        log_sums(shifted.others, shifted.log_sum);
        for (int i = 0; i < rows; i++) {
            const npy_intp row = start + i, c = cell[row];
            if (c < 0)
                memset(slope + i * K, 0, sizeof(number) * K);
            else
                add_row(cells, c, i, (double) weight[row], (number) (per_weight * weight[row]), scale, f + i * K, shift,
                        of, shifted, sum + c * (2 * K + 2), slope + i * K);
        }
    }
}

/* The sum of the weights; -1, with a Python error set, on a cell or target out of range or a weight below 0. */
template <typename number>
static double total_of_cells(const CellWeights &cells, npy_intp b, const npy_int32 *cell, const number *weight) {
    double total = 0;
    bool right = true;
    for (npy_intp c = 0; c < cells.cells; c++) right = right && cells.target[c] >= 0 && cells.target[c] < cells.K;
    for (npy_intp i = 0; i < b; i++) {
        right = right && cell[i] >= -1 && cell[i] < cells.cells && (cell[i] < 0 || weight[i] >= 0);
        total += cell[i] < 0 ? 0.0 : (double) weight[i];
    }
    if (right) return total;
    PyErr_Format(PyExc_ValueError,
                 "cell_rewards needs cells from -1 to %zd, targets from 0 to %zd and weights of at least 0",
                 (Py_ssize_t) cells.cells - 1, (Py_ssize_t) cells.K - 1);
    return -1.0;
}

template <typename number>
static bool cell_rewards(PyArrayObject *scores, PyArrayObject *row_cells, PyArrayObject *row_weights,
                         PyArrayObject *targets, PyArrayObject *gains, PyArrayObject *logs, PyArrayObject *shifts,
                         PyArrayObject *temperature, PyArrayObject **objective, PyArrayObject **sums,
                         PyArrayObject **slope) {
    Contiguous f(scores), cell(row_cells), weight(row_weights), target(targets), G(gains), l(logs), s(shifts);
    if (!(f && cell && weight && target && G && l && s)) return false;
    const npy_intp b = f.dim(0), K = f.dim(1), m = target.dim(0), dims[2] = {m, 2 * K + 2};
    if (K < 2 || cell.dim(0) != b || weight.dim(0) != b || G.dim(0) != m || G.dim(1) != K || l.dim(0) != m ||
        s.dim(0) != K)
        return fail_with(PyExc_ValueError,
                         "cell_rewards needs scores of two or more classes, a cell and a weight for each row, gains, a "
                         "log weight and a target for each cell, and a shift for each class");
    const CellWeights cells = {m, K, target.data<npy_int32>(), G.data<double>(), l.data<double>()};
    const double total = total_of_cells(cells, b, cell.data<npy_int32>(), weight.data<number>());
    if (total < 0) return false;
    const CellRoom<number> room(K);
    if (!room.shift) return PyErr_NoMemory() != NULL;
    if (!new_output(objective, 0, NULL, f.type()) || !new_output(sums, 2, dims, NPY_DOUBLE) ||
        !new_output(slope, 2, PyArray_DIMS(f.array), f.type()))
        return false;
    double *sum = data_of<double>(*sums), value = 0.0;
    memset(sum, 0, sizeof(double) * m * (2 * K + 2));
    for (npy_intp k = 0; k < K; k++) room.shift[k] = (number) s.data<double>()[k];
    add_confusion(b, cells, f.data<number>(), cell.data<npy_int32>(), weight.data<number>(),
                  total > 0 ? 1.0 / total : 0.0, (number) (1.0 / scalar_of(temperature)), room.shift, sum,
                  data_of<number>(*slope));
    /* What has no weight is left out, not multiplied by it: its sum may be infinite. */
    for (npy_intp c = 0; c < m; c++, sum += 2 * K + 2) {
        for (npy_intp k = 0; k < K; k++) value += cells.gains[c * K + k] == 0 ? 0.0 : cells.gains[c * K + k] * sum[k];
        value += cells.logs[c] == 0 ? 0.0 : cells.logs[c] * sum[2 * K];
    }
    *data_of<number>(*objective) = (number) (total > 0 ? value / total : 0.0);
    return true;
}

#endif
