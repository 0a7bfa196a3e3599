/* A thread pool that shares the rows of a batch; all Ops of a process use one pool.

   Rows are divided into as many chunks as the private OpenBLAS has threads, and OpenBLAS gets one thread for each
   chunk. So whatever is done with a row beside the product is shared too, and a busy machine costs little: the caller
   works too, and takes all chunks that no worker has claimed, while OpenBLAS would wait for a thread that the system
   has put aside. Which rows belong to a chunk depends on the number of threads alone, so results do not depend on who
   works on it. Idle workers spin (yielding) for 200 us, then block: waking one takes up to 100 us on a virtual machine,
   and the next layer of the same step comes sooner.

   While networks are trained in forked processes OpenBLAS has one thread, as each process would start its threads anew,
   and these spin for some 25 ms; then Python's `sys` says among how many threads rows are shared (see
   _aesara/linked_blas.py).

   Without a private OpenBLAS, which declares openblas_set_num_threads as a macro, the caller works alone: the thread
   count of another BLAS may belong to other libraries of the process. */
#ifndef AESARA_NONDECOMP_THREADS_H
#define AESARA_NONDECOMP_THREADS_H

#include "arrays.h"

#ifdef openblas_set_num_threads
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

extern "C" {
void openblas_set_num_threads(int);
int openblas_get_num_threads(void);
}

/* A detached thread that leaves signals to the interpreter's threads, except faults of its own. */
static inline bool start_thread(void *(*serve)(void *), void *self) {
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t others, before;
    sigfillset(&others);
    for (int k = 0; k < 4; k++) sigdelset(&others, faults[k]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    pthread_t thread;
    const bool started = pthread_create(&thread, NULL, serve, self) == 0;
    if (started) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Runs one job at a time, since Ops hold the interpreter's lock. The atomic work counter holds in one number which job
   it is, how many chunks it has, and which is the next. A job's function and data stay as they are until all its chunks
   are done, so a worker that claims a chunk has read the right ones. */
struct ThreadPool {
    typedef unsigned long long Counter;
    pid_t owner; /* a forked child has no threads but the one that forked */
    int workers, sleeping, done, waiting;
    Counter counter;
    void (*call)(const void *, int);
    const void *data;
    pthread_mutex_t mutex;
    pthread_cond_t wake, finished;

    static int next_chunk(Counter counter) { return counter & 0xff; }
    static int chunk_count(Counter counter) { return (counter >> 8) & 0xff; }
    bool has_chunks(Counter *seen) const {
        *seen = __atomic_load_n(&counter, __ATOMIC_SEQ_CST);
        return next_chunk(*seen) < chunk_count(*seen);
    }
    bool claim(Counter seen) {
        return __atomic_compare_exchange_n(&counter, &seen, seen + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }

    /* Until no chunk is left. */
    void work() {
        Counter seen;
        while (has_chunks(&seen)) {
            if (!claim(seen)) continue;
            call(data, next_chunk(seen));
            if (__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST) < chunk_count(seen)) continue;
            if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) notify(&finished);
        }
    }
    void notify(pthread_cond_t *condition) {
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(condition);
        pthread_mutex_unlock(&mutex);
    }
    bool all_done(int chunks) const { return __atomic_load_n(&done, __ATOMIC_SEQ_CST) == chunks; }
    void wait(int chunks) {
        /* Spins for about as long as waking takes, without yielding, which would let another process in. */
        for (int k = 0; k < 100000; k++)
            if (all_done(chunks)) return;
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
        while (!all_done(chunks)) pthread_cond_wait(&finished, &mutex);
        __atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&mutex);
    }
    void wait_for_chunks() {
        struct timespec begun, now;
        Counter seen;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        do {
            for (int k = 0; k < 8; k++) {
                if (has_chunks(&seen)) return;
                sched_yield();
            }
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec < 200000);
        pthread_mutex_lock(&mutex);
        __atomic_add_fetch(&sleeping, 1, __ATOMIC_SEQ_CST);
        while (!has_chunks(&seen)) pthread_cond_wait(&wake, &mutex);
        __atomic_add_fetch(&sleeping, -1, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&mutex);
    }
    static void *serve(void *self) {
        for (;;) {
            ((ThreadPool *) self)->work();
            ((ThreadPool *) self)->wait_for_chunks();
        }
        return NULL;
    }
    void grow(int wanted) {
        while (workers < wanted && start_thread(serve, this)) workers++;
    }
    void run(int chunks, void (*given)(const void *, int), const void *with) {
        grow(chunks - 1); /* where no thread can be started, the caller does all the work */
        call = given;
        data = with;
        done = 0;
        __atomic_store_n(&counter, (((counter >> 16) + 1) << 16) | ((Counter) chunks << 8), __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST)) notify(&wake);
        work();
        wait(chunks);
    }
};

/* The pool of this process, made on the first call and found by all compiled modules in Python's `sys`; NULL if there
   is no memory for it. */
static inline ThreadPool *thread_pool() {
    static const char *name = "_aesara_nondecomp_thread_pool";
    static ThreadPool *pool = NULL;
    if (pool && pool->owner == getpid()) return pool;
    PyObject *capsule = PySys_GetObject(name);
    pool = capsule ? (ThreadPool *) PyCapsule_GetPointer(capsule, name) : NULL;
    if (pool && pool->owner == getpid()) return pool;
    pool = (ThreadPool *) calloc(1, sizeof(ThreadPool));
    if (!pool) return NULL;
    pool->owner = getpid();
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->finished, NULL);
    capsule = PyCapsule_New(pool, name, NULL);
    if (!capsule || PySys_SetObject(name, capsule)) PyErr_Clear(); /* this module then has a pool of its own */
    Py_XDECREF(capsule);
    return pool;
}

static inline int threads_for_rows() {
    PyObject *given = PySys_GetObject("_aesara_nondecomp_row_threads");
    return given ? (int) PyLong_AsLong(given) : openblas_get_num_threads();
}
#endif

template <typename Work> struct RowJob {
    const Work *work;
    npy_intp rows;
    int chunks;
    static void call(const void *self, int chunk) {
        const RowJob *own = (const RowJob *) self;
        const npy_intp rows = own->rows;
        (*own->work)(chunk, rows *chunk / own->chunks, rows * (chunk + 1) / own->chunks);
    }
};

/* How many chunks some work on the rows of a batch is worth; OpenBLAS has one thread as long as this object lives. */
struct RowThreads {
    enum { MOST = 64 };
    int count, before;
    RowThreads(npy_intp rows, double multiply_adds) : count(1), before(0) {
#ifdef openblas_set_num_threads
        const int allowed = threads_for_rows(), of_blas = openblas_get_num_threads();
        const double useful = multiply_adds / 4e6 < rows / 16 ? multiply_adds / 4e6 : rows / 16;
        if (allowed < 2 || useful < 2 || !thread_pool()) return;
        count = (int) (useful < allowed ? useful : allowed);
        if (count > MOST) count = MOST;
        if (of_blas < 2) return;
        before = of_blas;
        openblas_set_num_threads(1);
#else
        (void) rows;
        (void) multiply_adds;
#endif
    }
    RowThreads(const RowThreads &) = delete;
    ~RowThreads() {
#ifdef openblas_set_num_threads
        if (before) openblas_set_num_threads(before);
#endif
    }
    /* Calls work(chunk, first row, row after the last) for every chunk. */
    template <typename Work> void run(npy_intp rows, const Work &work) const {
        const RowJob<Work> job = {&work, rows, count};
#ifdef openblas_set_num_threads
        if (count > 1) return thread_pool()->run(count, RowJob<Work>::call, &job);
#endif
        RowJob<Work>::call(&job, 0);
    }
};

#endif
