"""Rows of a large matrix, copied by a thread while Python and the steps go on."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, at
from aesara_nondecomp.ops.blas import BlasOp
from aesara_nondecomp.ops.fused import ANSWER


class PrefetchRows(BlasOp):
    """Inputs: rows x (n, d), numbers (m,) int64, buffer (m, d), wanted () int8. Output: whether anything was begun ().

    Ends the copying that the call before began, then begins to copy the rows x[numbers] into the buffer, zeros where a
    number is -1. The buffer is whole after the next call, for which no numbers will do: it then begins nothing. Until
    then the three arrays are kept alive. They must be contiguous. A call with `wanted` 0 does nothing but give up what
    was begun for this buffer: none of it is read after that.

    The buffer changes after the call, which a graph that goes on with it could not know: it is for functions of this
    Op alone. A thread is started if the private OpenBLAS may use several; without one the next call does it all.
    """

    __props__ = ()

    def make_node(self, x, numbers, buffer, wanted):
        inputs = [at.as_tensor_variable(v) for v in (x, numbers, buffer, wanted)]
        types = [x.dtype, "int64", x.dtype, "int8"]
        if [v.ndim for v in inputs] != [2, 1, 2, 0] or [v.dtype for v in inputs] != types:
            raise TypeError("reading ahead needs rows (n, d), int64 numbers (m,), a buffer of the rows' type, int8 ()")
        return Apply(self, inputs, [at.TensorType("bool", shape=())()])

    def perform(self, node, inputs, outputs):
        x, numbers, buffer, wanted = inputs
        begun = bool(wanted) and len(numbers) > 0
        if begun:
            buffer[:] = np.where(numbers[:, None] < 0, 0, x[numbers])
        outputs[0][0] = np.asarray(begun)

    def c_headers(self, **kwargs):
        return [*super().c_headers(**kwargs), "<pthread.h>", "<signal.h>", "<unistd.h>"]

    def c_support_code(self, **kwargs):
        return super().c_support_code(**kwargs) + ANSWER + _ROW_READER

    def c_body(self, node, name, inputs, outputs, sub):
        x, numbers, buffer, wanted = inputs
        return f"""
        const bool goes_on = *(npy_int8*) PyArray_DATA({wanted}) != 0;
        if (goes_on || row_reader.asked_for({buffer})) row_reader.end(goes_on);
        const bool begins = goes_on && PyArray_DIM({numbers}, 0) > 0;
        if (begins && !row_reader.begin({x}, {numbers}, {buffer})) {{ {sub["fail"]} }}
        if (!put_answer(&{outputs[0]}, begins)) {{ {sub["fail"]} }}
        """

    def c_code_cache_version(self):
        return (2,)


_ROW_READER = """
/* Copies rows in a thread of its own. Its methods are called under the interpreter's lock, which the thread never
   takes: so it waits for no one but this struct's own lock. */
struct RowReader {
    enum State {NOTHING, ASKED, COPYING, COPIED};
    State state;
    bool serving;
    pid_t owner;  /* a forked child has no threads but the one that forked */
    const char *from;
    const npy_int64 *numbers;
    char *to;
    npy_intp count, size;
    PyArrayObject *kept[3];
    pthread_mutex_t mutex;
    pthread_cond_t asked, copied;

    void copy_rows() const {
        for (npy_intp i = 0; i < count; i++) {
            if (numbers[i] < 0) memset(to + i * size, 0, size);
            else memcpy(to + i * size, from + numbers[i] * size, size);
        }
    }
    /* Begun and ended with the mutex held. */
    void take_up() {
        state = COPYING;
        pthread_mutex_unlock(&mutex);
        copy_rows();
        pthread_mutex_lock(&mutex);
        state = COPIED;
        pthread_cond_signal(&copied);
    }
    static void *serve(void *reader) {
        RowReader *self = (RowReader*) reader;
        pthread_mutex_lock(&self->mutex);
        for (;;) {
            while (self->state != ASKED) pthread_cond_wait(&self->asked, &self->mutex);
            self->take_up();
        }
        return NULL;
    }
    void find_thread() {
#ifdef openblas_set_num_threads
        if (!serving && openblas_get_num_threads() > 1) serving = start_thread(serve, this);
#endif
    }
    void settle_in() {
        if (owner == getpid()) return;
        owner = getpid();
        serving = false;
        if (state == COPYING) state = ASKED;  /* by the parent's thread; copying again does no harm */
        pthread_mutex_init(&mutex, NULL);
        pthread_cond_init(&asked, NULL);
        pthread_cond_init(&copied, NULL);
    }
    bool begin(PyArrayObject *x, PyArrayObject *rows, PyArrayObject *buffer) {
        PyArrayObject *given[3] = {x, rows, buffer};
        for (int k = 0; k < 3; k++) {
            if (PyArray_IS_C_CONTIGUOUS(given[k])) continue;
            PyErr_SetString(PyExc_ValueError, "reading ahead needs contiguous arrays");
            return false;
        }
        if (PyArray_DIM(buffer, 0) != PyArray_DIM(rows, 0) || PyArray_DIM(buffer, 1) != PyArray_DIM(x, 1)) {
            PyErr_SetString(PyExc_ValueError, "reading ahead needs a buffer with a row for each number");
            return false;
        }
        from = (const char*) PyArray_DATA(x); to = (char*) PyArray_DATA(buffer);
        numbers = (const npy_int64*) PyArray_DATA(rows);
        count = PyArray_DIM(rows, 0); size = PyArray_DIM(x, 1) * PyArray_ITEMSIZE(x);
        for (npy_intp i = 0; i < count; i++) {
            if (numbers[i] < PyArray_DIM(x, 0)) continue;
            PyErr_SetString(PyExc_IndexError, "reading ahead needs numbers of rows that are there");
            return false;
        }
        for (int k = 0; k < 3; k++) { kept[k] = given[k]; Py_INCREF(given[k]); }
        settle_in();
        find_thread();
        pthread_mutex_lock(&mutex);
        state = ASKED;
        pthread_cond_signal(&asked);
        pthread_mutex_unlock(&mutex);
        return true;
    }
    bool asked_for(const PyArrayObject *buffer) const { return state != NOTHING && kept[2] == buffer; }
    void end(bool wanted) {
        if (state == NOTHING) return;
        settle_in();
        pthread_mutex_lock(&mutex);
        if (state == ASKED && wanted) take_up();
        while (state == COPYING) pthread_cond_wait(&copied, &mutex);
        state = NOTHING;
        pthread_mutex_unlock(&mutex);
        for (int k = 0; k < 3; k++) Py_CLEAR(kept[k]);
    }
};
static RowReader row_reader;  /* of this module: zeros, so nothing is asked for */
"""

prefetch_rows = PrefetchRows()
