/* An optimiser's update of the rows of an embedding table that a batch looked up, in place. Needs the macros of
   rule.h. */
#ifndef AESARA_NONDECOMP_ROW_UPDATE_H
#define AESARA_NONDECOMP_ROW_UPDATE_H

#include "arrays.h"
#include "rule.h"

#define LOAD_SLOT(k) number s##k = S##k[first + j];
#define STORE_SLOT(k) S##k[first + j] = s##k;
#define FETCH_SLOT(k) fetch(S##k + ahead * d, d);

/* The rows lie far apart, and waiting for memory would take longer than the update itself. */
template <typename number> static inline void fetch(const number *row, npy_intp d) {
    for (npy_intp j = 0; j < d; j += 64 / sizeof(number)) __builtin_prefetch(row + j, 1);
}

/* The distinct rows that a batch looked up, without padding, and the sums of their gradients.
   The index of all rows comes from calloc, which costs only the pages that are written to. */
template <typename number> struct SummedRows {
    npy_int *place; /* of each row of the table: 1 + its position here, 0 if it was not looked up */
    npy_int *rows;
    number *sums;
    npy_intp count;
    bool in_range;
    SummedRows(npy_intp V, npy_intp d, npy_intp b, npy_intp T, const npy_int *ids, const number *gradients)
        : place((npy_int *) calloc(V + 1, sizeof(npy_int))), rows((npy_int *) malloc(sizeof(npy_int) * (b * T + 1))),
          sums(NULL), count(0), in_range(true) {
        if (!place || !rows) return;
        for (npy_intp k = 0; k < b * T && in_range; k++) in_range = 0 <= ids[k] && ids[k] < V;
        if (!in_range) return;
        for (npy_intp t = 0; t < T; t++)
            for (npy_intp r = 0; r < b; r++) {
                const npy_int row = ids[r * T + t];
                if (row && !place[row]) {
                    rows[count++] = row;
                    place[row] = (npy_int) count;
                }
            }
        sums = (number *) calloc(count * d + 1, sizeof(number));
        if (!sums) return;
        for (npy_intp t = 0; t < T; t++)
            for (npy_intp r = 0; r < b; r++, gradients += d) {
                const npy_int row = ids[r * T + t];
                if (!row) continue;
                number *__restrict__ to = sums + (npy_intp) (place[row] - 1) * d;
                for (npy_intp j = 0; j < d; j++) to[j] += gradients[j];
            }
    }
    SummedRows(const SummedRows &) = delete;
    ~SummedRows() {
        free(place);
        free(rows);
        free(sums);
    }
    bool valid() const {
        if (!in_range) return fail_with(PyExc_IndexError, "token ids must be row indices of the embedding table");
        if (!place || !rows || !sums) PyErr_NoMemory();
        return place && rows && sums;
    }
};

/* Share of the way from a row's running average to the row that is left at step t, standing still since `since`. */
static inline double left_standing_still(double averaging, double since, double t) {
    if (since == t) return 1.0;
    if (since == 0) return 0.0;
    return pow(averaging, t - since) * (1.0 - pow(averaging, since)) / (1.0 - pow(averaging, t));
}

/* Returns the sum of squares of the gradient. */
template <typename number>
NOINLINE static double step_rows(const SummedRows<number> &sums, const npy_intp d, double *__restrict__ touched,
                                 number *__restrict__ P, number *__restrict__ A,
                                 FOR_EACH_SLOT(SLOT_PARAMETER) const double learning_rate, const double averaging,
                                 const double t, const number decay) {
    const number lr = (number) learning_rate;
    (void) lr;
    (void) decay;
    const number left = (number) left_of_way(averaging, t);
    RULE_CONSTANTS;
    const number *__restrict__ G = sums.sums;
    double square = 0;
    for (npy_intp k = 0; k < sums.count; k++, G += d) {
        const npy_intp row = sums.rows[k], first = row * d;
        if (k + 4 < sums.count) {
            const npy_intp ahead = sums.rows[k + 4];
            fetch(P + ahead * d, d);
            fetch(A + ahead * d, d);
            FOR_EACH_SLOT(FETCH_SLOT);
        }
        const number still = (number) left_standing_still(averaging, touched[row], t - 1.0);
        touched[row] = t;
        square += squares(d, G);
        for (npy_intp j = 0; j < d; j++) {
            number p = P[first + j], g = G[j];
            const number average = p - still * (p - A[first + j]);
            FOR_EACH_SLOT(LOAD_SLOT);
            RULE_STEP;
            FOR_EACH_SLOT(STORE_SLOT);
            P[first + j] = p;
            A[first + j] = p - left * (p - average);
        }
    }
    return square;
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

/* `in_place`: the table, its running average, the slots; and `touched`, the last step of each row. */
template <typename number>
static bool update_rows(int position, PyArrayObject *learning_rate, PyArrayObject *averaging, PyArrayObject *t,
                        PyArrayObject *decay, PyArrayObject *tokens, PyArrayObject *along, PyArrayObject *touched,
                        Arrays in_place, PyArrayObject **new_touched, Outputs moved, PyArrayObject **norm) {
    PyArrayObject *const table = in_place.begin()[0], *const average = in_place.begin()[1];
    PyArrayObject *const *slots = in_place.begin() + 2;
    const npy_intp V = PyArray_DIM(table, 0), d = PyArray_DIM(table, 1);
    Contiguous ids(tokens), gradients(along);
    if (!(ids && gradients)) return false;
    const npy_intp b = ids.dim(0), T = ids.dim(1);
    if (gradients.dim(0) != T * b || gradients.dim(1) != d || PyArray_SIZE(decay) <= position ||
        !all_in_place({touched}, V) || !all_in_place(in_place, V * d))
        return fail_with(PyExc_ValueError, "RowUpdate needs a decay of its own, a contiguous table, its average and "
                                           "slots of its size, a last step per row, and a gradient per token");
    SummedRows<number> sums(V, d, b, T, ids.data<npy_int>(), gradients.data<number>());
    if (!sums.valid() || !new_output(norm, 0, NULL, NPY_DOUBLE)) return false;
    const double square =
        step_rows<number>(sums, d, data_of<double>(touched), data_of<number>(table), data_of<number>(average),
                          FOR_EACH_SLOT(SLOT_DATA) scalar_of(learning_rate), scalar_of(averaging), scalar_of(t) + 1.0,
                          (number) entry_of(decay, position));
    (void) slots;
    *data_of<double>(*norm) = sqrt(square);
    pass_on(touched, new_touched);
    pass_all_on(in_place, moved);
    return true;
}

#undef LOAD_SLOT
#undef STORE_SLOT
#undef FETCH_SLOT

#endif
