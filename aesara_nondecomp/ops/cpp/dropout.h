/* Units dropped from a layer while it is trained. */
#ifndef AESARA_NONDECOMP_DROPOUT_H
#define AESARA_NONDECOMP_DROPOUT_H

#include "arrays.h"

template <typename number>
NOINLINE static void keep_some(npy_intp size, const number *__restrict__ x, const npy_int64 *__restrict__ kept,
                               number scale, number *__restrict__ out) {
    for (npy_intp k = 0; k < size; k++) out[k] = x[k] * (number) kept[k] * scale;
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

template <typename number>
static bool drop_units(PyArrayObject *layer, PyArrayObject *mask, PyArrayObject *scale, PyArrayObject **out) {
    Contiguous x(layer), kept(mask);
    if (!(x && kept)) return false;
    if (kept.dim(0) != x.dim(0) || kept.dim(1) != x.dim(1))
        return fail_with(PyExc_ValueError, "dropout needs one entry of the mask for each unit of each row");
    if (!prepare_output(out, x.dim(0), x.dim(1), x.type())) return false;
    keep_some(x.size(), x.data<number>(), kept.data<npy_int64>(), (number) scalar_of(scale), data_of<number>(*out));
    return true;
}

#endif
