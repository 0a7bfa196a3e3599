/* The Ops compiled beforehand, as a Python module, for machines without a compiler: `ops.library` binds a function to a
   node of a graph, and runs it on the storage of the node. setup.py builds it; SOURCES is the digest of this folder.

   Written for Python's limited API, so that one build serves all versions of Python. Not linked to a BLAS:
   `ops.library` finds one when the module is loaded, and gives the addresses of its routines and of OpenBLAS's thread
   controls. */
#include <Python.h>

/* In the order of `ops.library`. The last two are NULL where the thread count belongs to other libraries too. */
static struct LoadedBlas {
    void (*sgemm)(char *, char *, const int *, const int *, const int *, const float *, const float *, const int *,
                  const float *, const int *, const float *, float *, const int *);
    void (*dgemm)(char *, char *, const int *, const int *, const int *, const double *, const double *, const int *,
                  const double *, const int *, const double *, double *, const int *);
    void (*sgemv)(char *, const int *, const int *, const float *, const float *, const int *, const float *,
                  const int *, const float *, float *, const int *);
    void (*dgemv)(char *, const int *, const int *, const double *, const double *, const int *, const double *,
                  const int *, const double *, double *, const int *);
    void (*set_threads)(int);
    int (*get_threads)(void);
} loaded_blas;

extern "C" {
static inline void set_loaded_blas_threads(int count) {
    if (loaded_blas.set_threads) loaded_blas.set_threads(count);
}
static inline int get_loaded_blas_threads(void) { return loaded_blas.get_threads ? loaded_blas.get_threads() : 1; }
}

#define AESARA_NONDECOMP_BLAS_IS_DECLARED
#define sgemm_ loaded_blas.sgemm
#define dgemm_ loaded_blas.dgemm
#define sgemv_ loaded_blas.sgemv
#define dgemv_ loaded_blas.dgemv
#define openblas_set_num_threads set_loaded_blas_threads
#define openblas_get_num_threads get_loaded_blas_threads

#include "arrays.h"
#include "denormals.h"

/* The numbers of the node that runs: its parameters, and the constants of its optimiser. */
static thread_local const double *node_numbers;

struct Entry {
    const char *key;
    bool (*function)(PyArrayObject **in, PyArrayObject **out);
};

#include "entries.inc"

struct ArrayType {
    int type, ndim;
    bool fits(PyObject *object) const {
        PyArrayObject *array = (PyArrayObject *) object;
        return PyArray_Check(object) && PyArray_TYPE(array) == type && PyArray_NDIM(array) == ndim &&
               PyArray_ISBEHAVED_RO(array);
    }
};

/* A function bound to a node. */
struct Call {
    enum { MOST = 16 };
    bool (*function)(PyArrayObject **in, PyArrayObject **out);
    int n_inputs, n_outputs;
    double numbers[MOST];
    ArrayType inputs[MOST], outputs[MOST];

    bool read(PyObject *given, double *to) {
        const Py_ssize_t count = PyTuple_Size(given);
        if (count > MOST) return fail_with(PyExc_ValueError, "an Op of the library has too many numbers");
        for (Py_ssize_t k = 0; k < count; k++) to[k] = PyFloat_AsDouble(PyTuple_GetItem(given, k));
        return !PyErr_Occurred();
    }
    bool read(PyObject *given, ArrayType *to, int *count) {
        *count = (int) PyTuple_Size(given);
        if (*count > MOST) return fail_with(PyExc_ValueError, "an Op of the library has too many arrays");
        for (int k = 0; k < *count; k++)
            if (!PyArg_ParseTuple(PyTuple_GetItem(given, k), "ii", &to[k].type, &to[k].ndim)) return false;
        return true;
    }
    bool take_inputs(PyObject *cells, PyArrayObject **in) const {
        for (int k = 0; k < n_inputs; k++) {
            PyObject *value = PyList_GetItem(PyList_GetItem(cells, k), 0);
            if (!value) return false;
            if (!inputs[k].fits(value)) {
                PyErr_Format(PyExc_TypeError, "input %d must be an aligned array of its declared type and dimensions",
                             k);
                return false;
            }
            in[k] = (PyArrayObject *) value;
        }
        return true;
    }
    /* The output of the last call, to be written again: only where nothing else refers to it. */
    void take_outputs(PyObject *cells, PyArrayObject *const *in, PyArrayObject **out) const {
        for (int k = 0; k < n_outputs; k++) {
            PyObject *last = PyList_GetItem(PyList_GetItem(cells, k), 0);
            bool ours = last && Py_REFCNT(last) == 1 && outputs[k].fits(last);
            for (int j = 0; ours && j < n_inputs; j++) ours = (PyObject *) in[j] != last;
            Py_XINCREF(ours ? last : NULL);
            out[k] = ours ? (PyArrayObject *) last : NULL;
        }
    }
    /* The arguments are lists of cells, which are lists of one array each. */
    bool run(PyObject *input_cells, PyObject *output_cells) const {
        PyArrayObject *in[MOST], *out[MOST];
        if (PyList_Size(input_cells) != n_inputs || PyList_Size(output_cells) != n_outputs)
            return fail_with(PyExc_ValueError,
                             "an Op of the library got another number of arrays than it was bound to");
        if (!take_inputs(input_cells, in)) return false;
        take_outputs(output_cells, in, out);
        node_numbers = numbers;
        bool succeeded;
        {
            const FlushToZero no_denormals;
            succeeded = function(in, out);
        }
        for (int k = 0; k < n_outputs; k++) {
            if (succeeded)
                PyList_SetItem(PyList_GetItem(output_cells, k), 0, (PyObject *) out[k]);
            else
                Py_XDECREF(out[k]);
        }
        return succeeded;
    }
};

static const char *const CALL = "aesara_nondecomp.Call";

static void free_call(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, CALL)); }

/* Py_RETURN_NONE of Python 3.12 and 3.13 takes None for immortal. Under an older Python, where a library that was built
   with these runs too, every call would take a reference to None away, until it is freed. */
static PyObject *none() {
    Py_INCREF(Py_None);
    return Py_None;
}

/* bind(key, numbers, types of the inputs, types of the outputs) -> capsule, or None for a key that is not there. */
static PyObject *bind(PyObject *, PyObject *arguments) {
    const char *key;
    PyObject *given, *inputs, *outputs;
    if (!PyArg_ParseTuple(arguments, "sO!O!O!", &key, &PyTuple_Type, &given, &PyTuple_Type, &inputs, &PyTuple_Type,
                          &outputs))
        return NULL;
    const Entry *entry = ENTRIES;
    while (entry->key && strcmp(entry->key, key)) entry++;
    if (!entry->key) return none();
    Call *call = (Call *) calloc(1, sizeof(Call));
    if (!call) return PyErr_NoMemory();
    call->function = entry->function;
    PyObject *capsule = PyCapsule_New(call, CALL, free_call);
    if (!capsule) free(call);
    if (capsule && call->read(given, call->numbers) && call->read(inputs, call->inputs, &call->n_inputs) &&
        call->read(outputs, call->outputs, &call->n_outputs))
        return capsule;
    Py_XDECREF(capsule);
    return NULL;
}

/* run(capsule, input cells, output cells) */
static PyObject *run(PyObject *, PyObject *arguments) {
    PyObject *capsule, *inputs, *outputs;
    if (!PyArg_ParseTuple(arguments, "OO!O!", &capsule, &PyList_Type, &inputs, &PyList_Type, &outputs)) return NULL;
    const Call *call = (const Call *) PyCapsule_GetPointer(capsule, CALL);
    if (!call || !call->run(inputs, outputs)) return NULL;
    return none();
}

/* use_blas(addresses in the order of LoadedBlas) */
static PyObject *use_blas(PyObject *, PyObject *arguments) {
    Py_ssize_t at[6];
    if (!PyArg_ParseTuple(arguments, "nnnnnn", at, at + 1, at + 2, at + 3, at + 4, at + 5)) return NULL;
    static_assert(sizeof(at) == sizeof(loaded_blas), "an address is as large as a Py_ssize_t");
    memcpy((void *) &loaded_blas, at, sizeof(at));
    return none();
}

/* runs_avx2() -> whether this processor runs what is built with -mavx2 -mfma. */
static PyObject *runs_avx2(PyObject *, PyObject *) {
#ifdef __x86_64__
    return PyBool_FromLong(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#else
    return PyBool_FromLong(0);
#endif
}

static PyMethodDef METHODS[] = {
    {"bind", bind, METH_VARARGS, NULL},
    {"run", run, METH_VARARGS, NULL},
    {"use_blas", use_blas, METH_VARARGS, NULL},
    {"runs_avx2", runs_avx2, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#ifndef MODULE_NAME
#define MODULE_NAME _library
#endif
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define INIT_OF(name) PyInit_##name
#define INIT(name) INIT_OF(name)

static PyModuleDef MODULE = {PyModuleDef_HEAD_INIT, TEXT(MODULE_NAME), NULL, -1, METHODS, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC INIT(MODULE_NAME)(void) {
    import_array();
    PyObject *module = PyModule_Create(&MODULE);
    if (module && !PyModule_AddStringConstant(module, "sources", SOURCES)) return module;
    Py_XDECREF(module);
    return NULL;
}
