/* Whether rows are finite, for Ops that are the first to read them. */
#ifndef AESARA_NONDECOMP_FINITE_H
#define AESARA_NONDECOMP_FINITE_H

#include "arrays.h"

template <typename number> struct Exponent;
template <> struct Exponent<npy_float> {
    typedef npy_uint32 word;
    static const word full = 0x7f800000u;
};
template <> struct Exponent<npy_double> {
    typedef npy_uint64 word;
    static const word full = 0x7ff0000000000000ull;
};

/* Compares bits: with -ffast-math the compiler takes a comparison of numbers to be always true. */
template <typename number> NOINLINE static bool all_finite(npy_intp entries, const number *x) {
    typedef typename Exponent<number>::word word;
    const word full = Exponent<number>::full;
    word strange = 0;
    for (npy_intp k = 0; k < entries; k++) {
        word bits;
        memcpy(&bits, x + k, sizeof(bits));
        strange |= (bits & full) == full;
    }
    return !strange;
}

template <typename number> static bool check_rows(PyArrayObject *rows, PyArrayObject **finite) {
    Contiguous x(rows);
    return x && put_bool(finite, all_finite(x.dim(0) * x.dim(1), x.data<number>()));
}

#endif
