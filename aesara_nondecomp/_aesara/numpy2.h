/* What Aesara 2.9's C code takes from NumPy 1 and Python 2, where they are gone: put before all that it compiles. */
#ifndef AESARA_NONDECOMP_NUMPY2_H
#define AESARA_NONDECOMP_NUMPY2_H

/* Not for the small programs that Aesara compiles, without folders of headers, to find the flags of the processor. */
#if __has_include(<Python.h>) && __has_include(<numpy/arrayobject.h>)

#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/npy_math.h>

#define NPY_PY3K 1
#if __has_include(<numpy/npy_3kcompat.h>)
#include <numpy/npy_3kcompat.h> /* before the names below, as that of NumPy 2.0 has functions of these names */
#endif
#define PyInt_Check PyLong_Check
#define PyInt_AsLong PyLong_AsLong
#define PyInt_FromLong PyLong_FromLong
#define PyArray_MoveInto PyArray_CopyInto

/* A descriptor whose members are read as before. */
struct AesaraDescr {
    PyArray_Descr *own;
    _PyArray_LegacyDescr *operator->() const { return (_PyArray_LegacyDescr *) own; }
    operator PyArray_Descr *() const { return own; }
    operator PyObject *() const { return (PyObject *) own; }
};
static inline AesaraDescr aesara_descr(const PyArrayObject *array) {
    AesaraDescr descr = {PyArray_DESCR(array)};
    return descr;
}
#define PyArray_DESCR(array) aesara_descr(array)

/* Complex numbers with members. */
struct aesara_npy_complex64 {
    npy_float real, imag;
};
struct aesara_npy_complex128 {
    npy_double real, imag;
};
#define npy_complex64 aesara_npy_complex64
#define npy_complex128 aesara_npy_complex128

/* "All axes". */
#undef NPY_MAXDIMS
#define NPY_MAXDIMS 32
#define AESARA_AXIS(axis) ((axis) == NPY_MAXDIMS ? NPY_RAVEL_AXIS : (axis))
typedef PyArrayObject *AesaraArray;
static inline PyObject *aesara_max(AesaraArray a, int axis, AesaraArray out) {
    return PyArray_Max(a, AESARA_AXIS(axis), out);
}
static inline PyObject *aesara_min(AesaraArray a, int axis, AesaraArray out) {
    return PyArray_Min(a, AESARA_AXIS(axis), out);
}
static inline PyObject *aesara_argmax(AesaraArray a, int axis, AesaraArray out) {
    return PyArray_ArgMax(a, AESARA_AXIS(axis), out);
}
static inline PyObject *aesara_cumsum(AesaraArray a, int axis, int type, AesaraArray out) {
    return PyArray_CumSum(a, AESARA_AXIS(axis), type, out);
}
static inline PyObject *aesara_cumprod(AesaraArray a, int axis, int type, AesaraArray out) {
    return PyArray_CumProd(a, AESARA_AXIS(axis), type, out);
}
#undef PyArray_Max
#undef PyArray_Min
#undef PyArray_ArgMax
#undef PyArray_CumSum
#undef PyArray_CumProd
#define PyArray_Max aesara_max
#define PyArray_Min aesara_min
#define PyArray_ArgMax aesara_argmax
#define PyArray_CumSum aesara_cumsum
#define PyArray_CumProd aesara_cumprod

#endif
#endif
