/* The row-major matrix product of the Ops, by the BLAS that Aesara was given. Where none is linked, the text of
   Aesara's substitute, which declares the same routines without const, stands before this header, and the macro
   AESARA_NONDECOMP_BLAS_IS_DECLARED says so. */
#ifndef AESARA_NONDECOMP_BLAS_H
#define AESARA_NONDECOMP_BLAS_H

#include "arrays.h"
#include "threads.h"

#ifndef AESARA_NONDECOMP_BLAS_IS_DECLARED
extern "C" {
void sgemm_(char *, char *, const int *, const int *, const int *, const float *, const float *, const int *,
            const float *, const int *, const float *, float *, const int *);
void dgemm_(char *, char *, const int *, const int *, const int *, const double *, const double *, const int *,
            const double *, const int *, const double *, double *, const int *);
void sgemv_(char *, const int *, const int *, const float *, const float *, const int *, const float *, const int *,
            const float *, float *, const int *);
void dgemv_(char *, const int *, const int *, const double *, const double *, const int *, const double *, const int *,
            const double *, double *, const int *);
}
#endif

static inline void blas_gemm(char *ta, char *tb, const int *m, const int *n, const int *k, const float *alpha,
                             const float *a, const int *lda, const float *b, const int *ldb, const float *beta,
                             float *c, const int *ldc) {
    sgemm_(ta, tb, m, n, k, alpha, (float *) a, lda, (float *) b, ldb, beta, c, ldc);
}
static inline void blas_gemm(char *ta, char *tb, const int *m, const int *n, const int *k, const double *alpha,
                             const double *a, const int *lda, const double *b, const int *ldb, const double *beta,
                             double *c, const int *ldc) {
    dgemm_(ta, tb, m, n, k, alpha, (double *) a, lda, (double *) b, ldb, beta, c, ldc);
}
static inline void blas_gemv(char *ta, const int *m, const int *n, const float *alpha, const float *a, const int *lda,
                             const float *x, const int *incx, const float *beta, float *y, const int *incy) {
    sgemv_(ta, m, n, alpha, (float *) a, lda, (float *) x, incx, beta, y, incy);
}
static inline void blas_gemv(char *ta, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                             const double *x, const int *incx, const double *beta, double *y, const int *incy) {
    dgemv_(ta, m, n, alpha, (double *) a, lda, (double *) x, incx, beta, y, incy);
}

/* A product of up to 8 million multiply-adds gains tens of microseconds from a second thread, but stalls for
   milliseconds whenever another process holds the second core, since OpenBLAS's threads spin. Only the private OpenBLAS
   is limited: its thread count belongs to no other library of the process. */
#ifdef openblas_set_num_threads
struct OneThreadIfSmall {
    int before;
    explicit OneThreadIfSmall(double multiply_adds) : before(0) {
        if (multiply_adds > 9e3 && multiply_adds < 8e6 && openblas_get_num_threads() > 1) {
            before = openblas_get_num_threads();
            openblas_set_num_threads(1);
        }
    }
    OneThreadIfSmall(const OneThreadIfSmall &) = delete;
    ~OneThreadIfSmall() {
        if (before) openblas_set_num_threads(before);
    }
};
#else
struct OneThreadIfSmall {
    explicit OneThreadIfSmall(double) {}
};
#endif

/* c (m, n) = op(a) op(b) + keep c, all row-major and contiguous; op transposes where asked; keep is 0 or 1.
   BLAS is column-major, so it is given the transposed product: c' = op(b)' op(a)'.
   A matrix times one column takes gemv a third to a half of the time of gemm. */
template <typename number>
static void row_major_product(int trans_a, int trans_b, int m, int n, int k, const number *a, const number *b,
                              number *c, number keep = 0) {
    const number one = 1;
    const int lda = trans_a ? m : k, ldb = trans_b ? k : n;
    if (m == 0 || n == 0) return;
    if (k == 0) {
        if (keep == 0) memset(c, 0, sizeof(number) * (size_t) m * n);
        return;
    }
    if (k == 1 && keep == 0) { /* no sum: gemm takes three times as long as the loop */
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) c[(size_t) i * n + j] = a[i] * b[j];
        return;
    }
    const OneThreadIfSmall threads((double) m * n * k);
    if (n == 1) {
        blas_gemv((char *) (trans_a ? "N" : "T"), trans_a ? &m : &k, trans_a ? &k : &m, &one, a, &lda, b, &n, &keep, c,
                  &n);
        return;
    }
    blas_gemm((char *) (trans_b ? "T" : "N"), (char *) (trans_a ? "T" : "N"), &n, &m, &k, &one, b, &ldb, a, &lda, &keep,
              c, &n);
}

#endif
