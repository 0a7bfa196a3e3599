/* The rule of an optimiser, as both updates use it, and the norm of a gradient.

   Needs three macros before it, which `ops.update` writes for each optimiser of `ops.optimisers`:
   FOR_EACH_SLOT(DO), one DO(k) for each slot; RULE_CONSTANTS, declarations from the doubles `learning_rate` and `t`;
   and RULE_STEP, the statements that move `p` and the slots `s0`, `s1` along `g` with `lr` and `decay`, all of type
   number. */
#ifndef AESARA_NONDECOMP_RULE_H
#define AESARA_NONDECOMP_RULE_H

#include "arrays.h"

#define SLOT_PARAMETER(k) number *__restrict__ S##k,
#define SLOT_DATA(k) data_of<number>(slots[k]),

/* Sum of squares; by eight partial sums, which vectorise. */
template <typename number> NOINLINE static double squares(const npy_intp size, const number *__restrict__ G) {
    number lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    const npy_intp whole = size - size % 8;
    for (npy_intp j = 0; j < whole; j += 8)
        for (int k = 0; k < 8; k++) lane[k] += G[j + k] * G[j + k];
    for (npy_intp j = whole; j < size; j++) lane[j & 7] += G[j] * G[j];
    double square = 0;
    for (int k = 0; k < 8; k++) square += lane[k];
    return square;
}

/* Share of the way from the running average to the new weights that is left after step t. */
static inline double left_of_way(double averaging, double t) {
    return averaging == 0 ? 0.0 : 1.0 - (1.0 - averaging) / (1.0 - pow(averaging, t));
}

static inline double entry_of(PyArrayObject *vector, npy_intp position) {
    return *(double *) PyArray_GETPTR1(vector, position);
}

static inline bool all_in_place(const Arrays &arrays, npy_intp size) {
    for (PyArrayObject *array : arrays)
        if (!PyArray_IS_C_CONTIGUOUS(array) || PyArray_SIZE(array) != size) return false;
    return true;
}

static inline void pass_all_on(const Arrays &inputs, const Outputs &outputs) {
    PyArrayObject *const *input = inputs.begin();
    for (PyArrayObject **out : outputs) pass_on(*input++, out);
}

#endif
