/* Rows standardised as they are scored, and whether they are finite. */
#ifndef AESARA_NONDECOMP_SCALING_H
#define AESARA_NONDECOMP_SCALING_H

#include <algorithm>

#include "arrays.h"
#include "finite.h"
#include "threads.h"

/* In double, whatever the rows and the result are, so that a column far from 0 keeps the digits that differ. */
template <typename number, typename result>
NOINLINE static void standardise_row(npy_intp d, const number *__restrict__ x, const double *__restrict__ mean,
                                     const double *__restrict__ scale, result most, result *__restrict__ to) {
    for (npy_intp j = 0; j < d; j++) {
        const result z = (result) ((x[j] - mean[j]) / scale[j]);
        to[j] = z > most ? most : z < -most ? -most : z;
    }
}

/* -- the Op ------------------------------------------------------------------------------------------------------- */

template <typename number, typename result>
static bool standardise_rows(PyArrayObject *given, PyArrayObject *means, PyArrayObject *scales, PyArrayObject *clip,
                             PyArrayObject **out, PyArrayObject **answer) {
    Contiguous x(given), mean(means), scale(scales);
    if (!(x && mean && scale)) return false;
    const npy_intp b = x.dim(0), d = x.dim(1);
    if (mean.dim(0) != d || scale.dim(0) != d)
        return fail_with(PyExc_ValueError, "standardising needs a mean and a scale for each column");
    if (!prepare_output(out, b, d, sizeof(result) == sizeof(npy_float) ? NPY_FLOAT : NPY_DOUBLE)) return false;
    const number *rows = x.data<number>();
    const double *mean_of = mean.data<double>(), *scale_of = scale.data<double>();
    const result most = (result) scalar_of(clip);
    result *to = data_of<result>(*out);
    const RowThreads threads(b, 40.0 * b * d);
    bool finite[RowThreads::MOST];
    threads.run(b, [=, &finite](int chunk, npy_intp start, npy_intp end) {
        finite[chunk] = true;
        for (npy_intp i = start; i < end; i++) {
            finite[chunk] &= all_finite(d, rows + i * d);
            standardise_row(d, rows + i * d, mean_of, scale_of, most, to + i * d);
        }
    });
    return put_bool(answer, std::all_of(finite, finite + threads.count, [](bool each) { return each; }));
}

#endif
