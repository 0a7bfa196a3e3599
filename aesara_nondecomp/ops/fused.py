"""What every fused Op shares: headers, array helpers, and arithmetic without denormal numbers."""

from __future__ import annotations

from aesara_nondecomp._aesara.imports import COp

# Aesara's headers know no such helper: a contiguous reference that is dropped however the block is left.
_ARRAYS = """
#define ALONE __attribute__((noinline))  /* inlined, the pointers lose their "restrict", and the loop its vectors */

struct Contiguous {
    PyArrayObject *array;
    explicit Contiguous(PyArrayObject *any) : array(PyArray_GETCONTIGUOUS(any)) {}
    ~Contiguous() { Py_XDECREF(array); }
    operator bool() const { return array != NULL; }
    npy_intp dim(int axis) const { return PyArray_DIM(array, axis); }
    int type() const { return PyArray_TYPE(array); }
    template <typename number> const number *data() const { return (const number*) PyArray_DATA(array); }
};

/* An output of the wanted shape: the one of the last call where it fits, else a new one. */
static inline bool fits(PyArrayObject **out, npy_intp rows, npy_intp columns, int type) {
    npy_intp dims[2] = {rows, columns};
    if (*out && PyArray_DIM(*out, 0) == rows && PyArray_DIM(*out, 1) == columns && PyArray_IS_C_CONTIGUOUS(*out))
        return true;
    Py_XDECREF(*out);
    *out = (PyArrayObject*) PyArray_EMPTY(2, dims, type, 0);
    return *out != NULL;
}
"""

# Once the rows of a set are fitted, gradients and Adam's moments sink below 1e-38, where x86 takes some hundred cycles
# for each operation: steps then run three to four times slower. Other processors mind less, and are left alone.
_FLUSH_TO_ZERO = """
#ifdef __SSE__
#include <xmmintrin.h>
/* Denormal numbers are taken and given as 0 as long as this stands; threads started meanwhile inherit it. */
struct FlushToZero {
    unsigned int before;
    FlushToZero() : before(_mm_getcsr()) { _mm_setcsr(before | 0x8040); }
    ~FlushToZero() { _mm_setcsr(before); }
};
#else
struct FlushToZero { FlushToZero() {} };
#endif
"""

# For Ops that look at rows which they are the first to read, and answer; not in every Op, as few do.
ANSWER = """
static inline bool put_answer(PyArrayObject **out, bool answer) {
    Py_XDECREF(*out);
    *out = (PyArrayObject*) PyArray_EMPTY(0, NULL, NPY_BOOL, 0);
    if (*out) *(npy_bool*) PyArray_DATA(*out) = answer;
    return *out != NULL;
}
"""
ALL_FINITE = (
    ANSWER
    + """
#include <algorithm>
template <typename number> struct Exponent;
template <> struct Exponent<npy_float> { typedef npy_uint32 word; static const word full = 0x7f800000u; };
template <> struct Exponent<npy_double> { typedef npy_uint64 word; static const word full = 0x7ff0000000000000ull; };

/* By the bits: whoever compiles with -ffast-math has a comparison of numbers taken to be always true. */
template <typename number> ALONE
static bool all_finite(npy_intp entries, const number *x) {
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
"""
)


class FusedOp(COp):
    """Base of the Ops with C code of their own, which is their `c_body`."""

    def c_headers(self, **kwargs):
        return ["<math.h>", "<string.h>"]

    def c_compile_args(self, **kwargs):
        # GCC would not vectorise loops with comparisons, lest a NaN raise a flag of the processor: 8 times as slow.
        return ["-fno-trapping-math"]

    def c_support_code(self, **kwargs):
        return _ARRAYS + _FLUSH_TO_ZERO

    def c_body(self, node, name, inputs, outputs, sub):
        """The statements of one call, in the terms of Aesara's `c_code`."""
        raise NotImplementedError

    def c_code(self, node, name, inputs, outputs, sub):
        return f"{{ const FlushToZero no_denormals; {self.c_body(node, name, inputs, outputs, sub)} }}"


def c_number(dtype: str) -> str:
    """The C type of a float dtype."""
    return {"float32": "npy_float", "float64": "npy_double"}[dtype]
