"""Threads over the rows of a batch, for the C code of Ops: one crew for all of them.

Rows are divided into as many parts as the private OpenBLAS has threads, which meanwhile gets one for each. So whatever
is done with a row beside the product is shared too, and a busy machine costs little: who calls takes part, and takes
up all parts that no one else has begun, while OpenBLAS would wait for a thread that the system has put aside. Which
rows belong to a part depends on the number of threads alone, so results do not depend on who takes it.

After its work a thread looks out for more for a fifth of a millisecond, letting others go first, then sleeps: to be
woken takes up to a tenth of one on a virtual machine, and the next layer of the same step comes sooner.
"""

from __future__ import annotations

ROW_THREADS = """
#ifdef openblas_set_num_threads
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* A thread that leaves signals to those of the interpreter, but for its own faults, which are told of so. */
static bool start_thread(void *(*serve)(void *), void *self) {
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

/* One job at a time, since Ops hold the interpreter's lock. All modules share one crew: see `the_crew`.
   The ticket says in one number which job it is, how many parts it has, and which is to be taken next. A job's function
   and data stay as they are until all its parts are done, so whoever draws a part has read the right ones. */
struct RowCrew {
    typedef unsigned long long Ticket;
    pid_t owner;  /* a forked child has no threads but the one that forked */
    int threads, sleeping, done, waiting;
    Ticket ticket;
    void (*call)(const void *, int);
    const void *data;
    pthread_mutex_t mutex;
    pthread_cond_t wake, finished;

    static int next_of(Ticket ticket) { return ticket & 0xff; }
    static int parts_of(Ticket ticket) { return (ticket >> 8) & 0xff; }
    bool open(Ticket *seen) const {
        *seen = __atomic_load_n(&ticket, __ATOMIC_SEQ_CST);
        return next_of(*seen) < parts_of(*seen);
    }
    bool draw(Ticket seen) {
        return __atomic_compare_exchange_n(&ticket, &seen, seen + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }

    /* Takes parts until there are none left. */
    void work() {
        Ticket seen;
        while (open(&seen)) {
            if (!draw(seen)) continue;
            call(data, next_of(seen));
            if (__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST) < parts_of(seen)) continue;
            if (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST)) signal(&finished);
        }
    }
    void signal(pthread_cond_t *condition) {
        pthread_mutex_lock(&mutex);
        pthread_cond_broadcast(condition);
        pthread_mutex_unlock(&mutex);
    }
    bool all_done(int parts) const { return __atomic_load_n(&done, __ATOMIC_SEQ_CST) == parts; }
    void wait(int parts) {
        /* For about as long as it takes to be woken; not yielding, as another process would be let in. */
        for (int k = 0; k < 100000; k++) if (all_done(parts)) return;
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&waiting, 1, __ATOMIC_SEQ_CST);
        while (!all_done(parts)) pthread_cond_wait(&finished, &mutex);
        __atomic_store_n(&waiting, 0, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&mutex);
    }
    void look_out() {
        struct timespec begun, now;
        Ticket seen;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        do {
            for (int k = 0; k < 8; k++) { if (open(&seen)) return; sched_yield(); }
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begun.tv_sec) * 1000000000LL + now.tv_nsec - begun.tv_nsec < 200000);
        pthread_mutex_lock(&mutex);
        __atomic_add_fetch(&sleeping, 1, __ATOMIC_SEQ_CST);
        while (!open(&seen)) pthread_cond_wait(&wake, &mutex);
        __atomic_add_fetch(&sleeping, -1, __ATOMIC_SEQ_CST);
        pthread_mutex_unlock(&mutex);
    }
    static void *serve(void *self) {
        for (;;) { ((RowCrew*) self)->work(); ((RowCrew*) self)->look_out(); }
        return NULL;
    }
    void grow(int wanted) {
        while (threads < wanted && start_thread(serve, this)) threads++;
    }
    void run(int parts, void (*given)(const void *, int), const void *with) {
        grow(parts - 1);  /* where no thread can be had, this one does it all */
        call = given; data = with; done = 0;
        __atomic_store_n(&ticket, (((ticket >> 16) + 1) << 16) | ((Ticket) parts << 8), __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&sleeping, __ATOMIC_SEQ_CST)) signal(&wake);
        work();
        wait(parts);
    }
};

/* The crew of this process, made by the first who asks; NULL if there is no memory for it. */
static RowCrew *the_crew() {
    static const char *name = "_aesara_nondecomp_row_crew";
    static RowCrew *crew = NULL;
    if (crew && crew->owner == getpid()) return crew;
    PyObject *capsule = PySys_GetObject(name);
    crew = capsule ? (RowCrew*) PyCapsule_GetPointer(capsule, name) : NULL;
    if (crew && crew->owner == getpid()) return crew;
    crew = (RowCrew*) calloc(1, sizeof(RowCrew));
    if (!crew) return NULL;
    crew->owner = getpid();
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->wake, NULL);
    pthread_cond_init(&crew->finished, NULL);
    capsule = PyCapsule_New(crew, name, NULL);
    if (!capsule || PySys_SetObject(name, capsule)) PyErr_Clear();  /* this module then has a crew of its own */
    Py_XDECREF(capsule);
    return crew;
}
#endif

template <typename work> struct RowJob {
    const work *of_rows;
    npy_intp rows;
    int parts;
    static void call(const void *self, int part) {
        const RowJob *own = (const RowJob*) self;
        (*own->of_rows)(part, own->rows * part / own->parts, own->rows * (part + 1) / own->parts);
    }
};

/* How many parts some work on the rows of a batch is worth, and OpenBLAS on one thread as long as this stands. */
struct RowThreads {
    enum {MOST = 64};
    int count, before;
    RowThreads(npy_intp rows, double multiply_adds) : count(1), before(0) {
#ifdef openblas_set_num_threads
        const int allowed = openblas_get_num_threads();
        const double useful = multiply_adds / 4e6 < rows / 16 ? multiply_adds / 4e6 : rows / 16;
        if (allowed < 2 || useful < 2 || !the_crew()) return;
        before = allowed;
        count = (int) (useful < allowed ? useful : allowed);
        if (count > MOST) count = MOST;
        openblas_set_num_threads(1);
#else
        (void) rows; (void) multiply_adds;
#endif
    }
    ~RowThreads() {
#ifdef openblas_set_num_threads
        if (before) openblas_set_num_threads(before);
#endif
    }
    /* Calls of_rows(part, first row, row after the last) for every part. */
    template <typename work> void run(npy_intp rows, const work &of_rows) const {
        const RowJob<work> job = {&of_rows, rows, count};
#ifdef openblas_set_num_threads
        if (count > 1) return the_crew()->run(count, RowJob<work>::call, &job);
#endif
        RowJob<work>::call(&job, 0);
    }
};
"""
