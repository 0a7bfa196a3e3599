"""What an Op that calls BLAS from its C code needs: headers, libraries and one row-major product."""

from __future__ import annotations

from aesara_nondecomp._aesara import COp, aesara, blas_header_text

_DECLARATIONS = """
extern "C" {
void sgemm_(char*, char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dgemm_(char*, char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
}
"""

# A product of 0.3 to 4 million multiply-adds gains at most 15 us from a second thread, but stalls for milliseconds
# whenever another process holds the second core, since OpenBLAS's threads spin. Only the private OpenBLAS that
# `_setup` links is told so: its thread count belongs to no other library in the process.
_THREADS = """
#ifdef openblas_set_num_threads
extern "C" { void openblas_set_num_threads(int); int openblas_get_num_threads(void); }
struct OneThreadIfSmall {
    int before;
    explicit OneThreadIfSmall(double multiply_adds) : before(0) {
        if (multiply_adds > 2.5e5 && multiply_adds < 4e6 && openblas_get_num_threads() > 1) {
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
/* c (m, n) = op(a) op(b), all row-major and contiguous; op transposes where asked.
   BLAS is column-major, so it is given the transposed product: c' = op(b)' op(a)'. */
template <typename number, typename gemm>
static void row_major_product(gemm xgemm, int trans_a, int trans_b, int m, int n, int k,
                              const number *a, const number *b, number *c) {
    const number one = 1, zero = 0;
    const int lda = trans_a ? m : k, ldb = trans_b ? k : n;
    if (m == 0 || n == 0) return;
    if (k == 0) { memset(c, 0, sizeof(number) * (size_t) m * n); return; }
    const OneThreadIfSmall threads((double) m * n * k);
    xgemm((char*) (trans_b ? "T" : "N"), (char*) (trans_a ? "T" : "N"), &n, &m, &k, &one, b, &ldb, a, &lda,
          &zero, c, &n);
}
"""


class BlasOp(COp):
    """Base of the Ops that multiply matrices in their own C code, with the BLAS that Aesara was given."""

    def c_headers(self, **kwargs):
        return ["<math.h>", "<string.h>"]

    def c_support_code(self, **kwargs):
        linked = bool(aesara.config.blas__ldflags)
        return (_DECLARATIONS if linked else blas_header_text()) + _THREADS + _PRODUCT

    def c_libraries(self, **kwargs):
        return aesara.tensor.blas.ldflags()

    def c_compile_args(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, flags=True)

    def c_lib_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, libs_dir=True)

    def c_header_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, include_dir=True)


def c_number(dtype: str) -> str:
    """The C type of a float dtype."""
    return {"float32": "npy_float", "float64": "npy_double"}[dtype]


def gemm_name(dtype: str) -> str:
    """BLAS's matrix product of a float dtype."""
    return {"float32": "sgemm_", "float64": "dgemm_"}[dtype]
