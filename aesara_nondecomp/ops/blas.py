"""What an Op that calls BLAS from its C++ needs: declarations, libraries, threads."""

from __future__ import annotations

from aesara_nondecomp._aesara.imports import aesara, blas_header_text
from aesara_nondecomp.ops.fused import FusedOp


class BlasOp(FusedOp):
    """Base of the Ops that multiply matrices, or share rows among threads: with the BLAS that Aesara was given."""

    def c_support_code(self, **kwargs):
        linked = bool(aesara.config.blas__ldflags)
        declared = "" if linked else f"#define AESARA_NONDECOMP_BLAS_IS_DECLARED\n{blas_header_text()}"
        return declared + super().c_support_code(**kwargs)

    def c_libraries(self, **kwargs):
        return aesara.tensor.blas.ldflags()

    def c_compile_args(self, **kwargs):
        flags = aesara.tensor.blas.ldflags(libs=False, flags=True)
        return [*super().c_compile_args(**kwargs), *flags, "-pthread"]

    def c_lib_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, libs_dir=True)

    def c_header_dirs(self, **kwargs):
        return aesara.tensor.blas.ldflags(libs=False, include_dir=True)
