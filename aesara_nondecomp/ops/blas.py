"""What an Op that calls BLAS from its C code needs: headers, libraries, one row-major product, threads."""

from __future__ import annotations

from aesara_nondecomp._aesara.imports import aesara, blas_header_text
from aesara_nondecomp.ops.fused import FusedOp
from aesara_nondecomp.ops.threads import ROW_THREADS

_DECLARATIONS = """
extern "C" {
void sgemm_(char*, char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dgemm_(char*, char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemv_(char*, const int*, const int*, const float*, const float*, const int*, const float*, const int*,
            const float*, float*, const int*);
void dgemv_(char*, const int*, const int*, const double*, const double*, const int*, const double*, const int*,
            const double*, double*, const int*);
}
"""

# Aesara's substitute for a BLAS has overloads of the same names, taking a and b without const: one name each for both.
_NAMES = """
static void blas_sgemm(char *ta, char *tb, const int *m, const int *n, const int *k, const float *alpha,
                       const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c,
                       const int *ldc) {
    sgemm_(ta, tb, m, n, k, alpha, (float*) a, lda, (float*) b, ldb, beta, c, ldc);
}
static void blas_dgemm(char *ta, char *tb, const int *m, const int *n, const int *k, const double *alpha,
                       const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c,
                       const int *ldc) {
    dgemm_(ta, tb, m, n, k, alpha, (double*) a, lda, (double*) b, ldb, beta, c, ldc);
}
static void blas_gemv(char *ta, const int *m, const int *n, const float *alpha, const float *a, const int *lda,
                      const float *x, const int *incx, const float *beta, float *y, const int *incy) {
    sgemv_(ta, m, n, alpha, (float*) a, lda, (float*) x, incx, beta, y, incy);
}
static void blas_gemv(char *ta, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                      const double *x, const int *incx, const double *beta, double *y, const int *incy) {
    dgemv_(ta, m, n, alpha, (double*) a, lda, (double*) x, incx, beta, y, incy);
}
"""

# A product of up to 8 million multiply-adds gains tens of microseconds from a second thread, but stalls milliseconds
# whenever another process holds the second core, since OpenBLAS's threads spin. Only the private OpenBLAS that
# `_setup` links is told so: its thread count belongs to no other library in the process.
_THREADS = """
#ifdef openblas_set_num_threads
extern "C" { void openblas_set_num_threads(int); int openblas_get_num_threads(void); }
struct OneThreadIfSmall {
    int before;
    explicit OneThreadIfSmall(double multiply_adds) : before(0) {
        if (multiply_adds > 9e3 && multiply_adds < 8e6 && openblas_get_num_threads() > 1) {
            before = openblas_get_num_threads();
            openblas_set_num_threads(1);
        }
    }
    ~OneThreadIfSmall() { if (before) openblas_set_num_threads(before); }
};
#else
struct OneThreadIfSmall { explicit OneThreadIfSmall(double) {} };
#endif
"""

_PRODUCT = """
/* c (m, n) = op(a) op(b) + keep c, all row-major and contiguous; op transposes where asked; keep is 0 or 1.
   BLAS is column-major, so it is given the transposed product: c' = op(b)' op(a)'.
   A matrix times one column takes gemv a third to a half of the time of gemm. */
template <typename number, typename gemm>
static void row_major_product(gemm xgemm, int trans_a, int trans_b, int m, int n, int k,
                              const number *a, const number *b, number *c, number keep = 0) {
    const number one = 1;
    const int lda = trans_a ? m : k, ldb = trans_b ? k : n;
    if (m == 0 || n == 0) return;
    if (k == 0) { if (keep == 0) memset(c, 0, sizeof(number) * (size_t) m * n); return; }
    if (k == 1 && keep == 0) {  /* no sum: gemm takes three times as long as the loop */
        for (int i = 0; i < m; i++) for (int j = 0; j < n; j++) c[(size_t) i * n + j] = a[i] * b[j];
        return;
    }
    const OneThreadIfSmall threads((double) m * n * k);
    if (n == 1) {
        blas_gemv((char*) (trans_a ? "N" : "T"), trans_a ? &m : &k, trans_a ? &k : &m, &one, a, &lda, b, &n,
                  &keep, c, &n);
        return;
    }
    xgemm((char*) (trans_b ? "T" : "N"), (char*) (trans_a ? "T" : "N"), &n, &m, &k, &one, b, &ldb, a, &lda,
          &keep, c, &n);
}
"""


class BlasOp(FusedOp):
    """Base of the Ops that multiply matrices in their own C code, with the BLAS that Aesara was given."""

    def c_support_code(self, **kwargs):
        linked = bool(aesara.config.blas__ldflags)
        blas = _DECLARATIONS if linked else blas_header_text()
        return super().c_support_code(**kwargs) + blas + _NAMES + _THREADS + ROW_THREADS + _PRODUCT

    def c_libraries(self, **kwargs):
        return aesara.tensor.blas.ldflags()

    def c_compile_args(self, **kwargs):
        flags = aesara.tensor.blas.ldflags(libs=False, flags=True)
        return [*super().c_compile_args(**kwargs), *flags, "-pthread"]

    def c_lib_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, libs_dir=True)

    def c_header_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, include_dir=True)


def gemm_name(dtype: str) -> str:
    """BLAS's matrix product of a float dtype."""
    return {"float32": "blas_sgemm", "float64": "blas_dgemm"}[dtype]
