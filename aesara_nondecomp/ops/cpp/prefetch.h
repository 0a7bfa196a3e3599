/* Rows of a large matrix, copied by a thread of its own while Python and the steps go on. */
#ifndef AESARA_NONDECOMP_PREFETCH_H
#define AESARA_NONDECOMP_PREFETCH_H

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "arrays.h"
#include "threads.h"

/* Its methods are called under the interpreter's lock, which the thread never takes: so it waits for nothing but this
   struct's own mutex. */
struct RowPrefetcher {
    enum State { IDLE, REQUESTED, COPYING, COPIED };
    State state;
    bool serving;
    pid_t owner; /* a forked child has no threads but the one that forked */
    const char *from;
    const npy_int64 *indices;
    char *to;
    npy_intp count, size;
    PyArrayObject *kept[3];
    pthread_mutex_t mutex;
    pthread_cond_t requested, copied;

    void copy_rows() const {
        for (npy_intp i = 0; i < count; i++) {
            if (indices[i] < 0)
                memset(to + i * size, 0, size);
            else
                memcpy(to + i * size, from + indices[i] * size, size);
        }
    }
    /* Begun and ended with the mutex held. */
    void serve_request() {
        state = COPYING;
        pthread_mutex_unlock(&mutex);
        copy_rows();
        pthread_mutex_lock(&mutex);
        state = COPIED;
        pthread_cond_signal(&copied);
    }
    static void *serve(void *prefetcher) {
        RowPrefetcher *self = (RowPrefetcher *) prefetcher;
        pthread_mutex_lock(&self->mutex);
        for (;;) {
            while (self->state != REQUESTED) pthread_cond_wait(&self->requested, &self->mutex);
            self->serve_request();
        }
        return NULL;
    }
    void find_thread() {
#ifdef openblas_set_num_threads
        if (!serving && openblas_get_num_threads() > 1) serving = start_thread(serve, this);
#endif
    }
    /* In a new process the mutex and the thread of its parent are void. */
    void renew_after_fork() {
        if (owner == getpid()) return;
        owner = getpid();
        serving = false;
        if (state == COPYING) state = REQUESTED; /* by the parent's thread; copying again does no harm */
        pthread_mutex_init(&mutex, NULL);
        pthread_cond_init(&requested, NULL);
        pthread_cond_init(&copied, NULL);
    }
    bool begin(PyArrayObject *x, PyArrayObject *rows, PyArrayObject *buffer) {
        PyArrayObject *given[3] = {x, rows, buffer};
        for (int k = 0; k < 3; k++)
            if (!PyArray_IS_C_CONTIGUOUS(given[k]))
                return fail_with(PyExc_ValueError, "prefetching needs contiguous arrays");
        if (PyArray_DIM(buffer, 0) != PyArray_DIM(rows, 0) || PyArray_DIM(buffer, 1) != PyArray_DIM(x, 1))
            return fail_with(PyExc_ValueError, "prefetching needs a buffer with a row for each index");
        from = data_of<char>(x);
        to = data_of<char>(buffer);
        indices = data_of<npy_int64>(rows);
        count = PyArray_DIM(rows, 0);
        size = PyArray_DIM(x, 1) * PyArray_ITEMSIZE(x);
        for (npy_intp i = 0; i < count; i++)
            if (indices[i] >= PyArray_DIM(x, 0))
                return fail_with(PyExc_IndexError, "prefetching needs indices of rows that are there");
        for (int k = 0; k < 3; k++) {
            kept[k] = given[k];
            Py_INCREF(given[k]);
        }
        renew_after_fork();
        find_thread();
        pthread_mutex_lock(&mutex);
        state = REQUESTED;
        pthread_cond_signal(&requested);
        pthread_mutex_unlock(&mutex);
        return true;
    }
    bool has_request_for(const PyArrayObject *buffer) const { return state != IDLE && kept[2] == buffer; }
    void end(bool wanted) {
        if (state == IDLE) return;
        renew_after_fork();
        pthread_mutex_lock(&mutex);
        if (state == REQUESTED && wanted) serve_request();
        while (state == COPYING) pthread_cond_wait(&copied, &mutex);
        state = IDLE;
        pthread_mutex_unlock(&mutex);
        for (int k = 0; k < 3; k++) Py_CLEAR(kept[k]);
    }
};

/* -- the Op ------------------------------------------------------------------------------------------------------- */

static inline bool prefetch_rows(PyArrayObject *x, PyArrayObject *indices, PyArrayObject *buffer, PyArrayObject *wanted,
                                 PyArrayObject **begun) {
    static RowPrefetcher prefetcher; /* one for each compiled module; all zeros, so idle */
    const bool goes_on = *data_of<npy_int8>(wanted) != 0;
    if (goes_on || prefetcher.has_request_for(buffer)) prefetcher.end(goes_on);
    const bool begins = goes_on && PyArray_DIM(indices, 0) > 0;
    return (!begins || prefetcher.begin(x, indices, buffer)) && put_bool(begun, begins);
}

#endif
