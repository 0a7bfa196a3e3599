/* An optimiser's update of a whole parameter, its slots and its running average, in place. Needs the macros of
   rule.h. */
#ifndef AESARA_NONDECOMP_UPDATE_H
#define AESARA_NONDECOMP_UPDATE_H

#include "arrays.h"
#include "rule.h"

#define LOAD_SLOT(k) number s##k = S##k[j];
#define STORE_SLOT(k) S##k[j] = s##k;

/* Returns the sum of squares of the gradient. */
template <typename number>
NOINLINE static double step_parameter(const npy_intp size, number *__restrict__ P, number *__restrict__ A,
                                      const number *__restrict__ G,
                                      FOR_EACH_SLOT(SLOT_PARAMETER) const double learning_rate, const double t,
                                      const number decay, const number left) {
    const number lr = (number) learning_rate;
    (void) lr;
    (void) decay;
    (void) t;
    RULE_CONSTANTS;
    for (npy_intp j = 0; j < size; j++) {
        number p = P[j], g = G[j];
        FOR_EACH_SLOT(LOAD_SLOT);
        RULE_STEP;
        FOR_EACH_SLOT(STORE_SLOT);
        P[j] = p;
        A[j] = p - left * (p - A[j]);
    }
    return squares(size, G);
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

/* `in_place`: the parameter, its slots, its running average. */
template <typename number>
static bool update_parameter(int position, PyArrayObject *learning_rate, PyArrayObject *averaging, PyArrayObject *t,
                             PyArrayObject *decay, PyArrayObject *along, Arrays in_place, PyArrayObject **new_t,
                             Outputs moved, PyArrayObject **norm) {
    PyArrayObject *const parameter = *in_place.begin(), *const average = *(in_place.end() - 1);
    PyArrayObject *const *slots = in_place.begin() + 1;
    const npy_intp size = PyArray_SIZE(parameter);
    Contiguous gradient(along);
    if (!gradient || gradient.size() != size || PyArray_SIZE(decay) <= position || !all_in_place(in_place, size))
        return fail_with(PyExc_ValueError, "FusedUpdate needs a decay of its own, a contiguous parameter, and a "
                                           "gradient, slots and an average of its size");
    if (!new_output(new_t, 0, NULL, NPY_DOUBLE) || !new_output(norm, 0, NULL, NPY_DOUBLE)) return false;
    const double now = scalar_of(t) + 1.0;
    const double square =
        step_parameter<number>(size, data_of<number>(parameter), data_of<number>(average), gradient.data<number>(),
                               FOR_EACH_SLOT(SLOT_DATA) scalar_of(learning_rate), now,
                               (number) entry_of(decay, position), (number) left_of_way(scalar_of(averaging), now));
    (void) slots;
    *data_of<double>(*new_t) = now;
    *data_of<double>(*norm) = sqrt(square);
    pass_all_on(in_place, moved);
    return true;
}

#undef LOAD_SLOT
#undef STORE_SLOT

#endif
