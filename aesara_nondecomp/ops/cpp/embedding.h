/* Rows of an embedding table, looked up by token ids, in time-major order: row t * b + r is that of ids[r, t]. */
#ifndef AESARA_NONDECOMP_EMBEDDING_H
#define AESARA_NONDECOMP_EMBEDDING_H

#include "arrays.h"

template <typename number> static bool look_up(PyArrayObject *all_rows, PyArrayObject *tokens, PyArrayObject **out) {
    Contiguous table(all_rows), ids(tokens);
    if (!(table && ids)) return false;
    const npy_intp V = table.dim(0), d = table.dim(1), b = ids.dim(0), T = ids.dim(1);
    if (!prepare_output(out, T * b, d, table.type())) return false;
    number *to = data_of<number>(*out);
    const npy_int *id = ids.data<npy_int>();
    for (npy_intp t = 0; t < T; t++)
        for (npy_intp r = 0; r < b; r++, to += d) {
            const npy_intp row = id[r * T + t];
            if (row < 0 || row >= V)
                return fail_with(PyExc_IndexError, "token ids must be row indices of the embedding table. Encode text "
                                                   "with the network's own vocabulary.");
            memcpy(to, table.data<number>() + row * d, sizeof(number) * d);
        }
    return true;
}

#endif
