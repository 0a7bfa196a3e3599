/* Arrays of an Op: contiguous inputs, outputs of the wanted shape, and scalars. */
#ifndef AESARA_NONDECOMP_ARRAYS_H
#define AESARA_NONDECOMP_ARRAYS_H

#include <Python.h>
#include <numpy/arrayobject.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

/* For a loop over arrays in a function of its own: GCC heeds __restrict__ only in the parameters of a function that is
   not inlined, and does not vectorise the loop otherwise. */
#define NOINLINE __attribute__((noinline))

/* Of Ops whose number of arrays depends on the optimiser. */
typedef std::initializer_list<PyArrayObject *> Arrays;
typedef std::initializer_list<PyArrayObject **> Outputs;

/* A contiguous reference, dropped at the end of its scope. False, with a Python error set, where memory is short. */
struct Contiguous {
    PyArrayObject *array;
    explicit Contiguous(PyArrayObject *any) : array(PyArray_GETCONTIGUOUS(any)) {}
    Contiguous(const Contiguous &) = delete;
    ~Contiguous() { Py_XDECREF(array); }
    operator bool() const { return array != NULL; }
    npy_intp dim(int axis) const { return PyArray_DIM(array, axis); }
    npy_intp size() const { return PyArray_SIZE(array); }
    int type() const { return PyArray_TYPE(array); }
    template <typename number> const number *data() const { return (const number *) PyArray_DATA(array); }
};

template <typename number> static inline number *data_of(PyArrayObject *array) {
    return (number *) PyArray_DATA(array);
}
static inline double scalar_of(PyArrayObject *array) { return *data_of<double>(array); }

static inline bool new_output(PyArrayObject **out, int ndim, const npy_intp *dims, int type) {
    Py_XDECREF(*out);
    *out = (PyArrayObject *) PyArray_EMPTY(ndim, const_cast<npy_intp *>(dims), type, 0);
    return *out != NULL;
}

/* A matrix of the wanted shape: that of the last call where it fits, else a new one. */
static inline bool prepare_output(PyArrayObject **out, npy_intp rows, npy_intp columns, int type) {
    const npy_intp dims[2] = {rows, columns};
    if (*out && PyArray_DIM(*out, 0) == rows && PyArray_DIM(*out, 1) == columns && PyArray_IS_C_CONTIGUOUS(*out))
        return true;
    return new_output(out, 2, dims, type);
}

static inline bool put_bool(PyArrayObject **out, bool answer) {
    if (!new_output(out, 0, NULL, NPY_BOOL)) return false;
    *data_of<npy_bool>(*out) = answer;
    return true;
}

/* An input that was updated in place is its own output. */
static inline void pass_on(PyArrayObject *input, PyArrayObject **out) {
    Py_INCREF(input);
    Py_XDECREF(*out);
    *out = input;
}

static inline bool fail_with(PyObject *error, const char *message) {
    PyErr_SetString(error, message);
    return false;
}

#endif
