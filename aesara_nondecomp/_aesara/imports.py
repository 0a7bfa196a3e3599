"""The only module that imports Aesara: configured first, and without its import-time warnings.

All other modules say ``from aesara_nondecomp._aesara.imports import aesara, at``.
"""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aesara_nondecomp._aesara import failures, setup

_HARMLESS = (
    "Using NumPy C-API based implementation",  # the fallback that `doctor` reports
    "We did not find a dynamic library",  # Aesara looks for a name ending in plain ".so"; the linker finds it
)


def _is_news(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_HARMLESS)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Disable the garbage collector during the import: its objects stay, and going through them again takes long."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()  # these two make all objects old ones; else the next collection goes through them as new ones
            gc.unfreeze()
            gc.enable()


setup.configure()
logging.getLogger("aesara.tensor.blas").addFilter(_is_news)
missing_compiler = setup.compiler_problem()
if missing_compiler is not None:
    setup.add_flags({"cxx": ""})  # what runs then, `ops.library` says

with _without_collecting(), failures.explained_import():
    import aesara
    import aesara.tensor as at
    from aesara.gradient import DisconnectedType
    from aesara.graph.basic import Apply
    from aesara.link.c.op import COp
    from aesara.link.c.params_type import ParamsType
    from aesara.scalar import int32
    from aesara.tensor.blas_headers import blas_header_text
    from aesara.tensor.random.type import RandomGeneratorType

if aesara.config.warn_float64 != "ignore":
    warnings.warn(
        f"warn_float64={aesara.config.warn_float64} is set to 'ignore', as class sums and duals are float64 whatever "
        "the network is. Leave it out of AESARA_FLAGS.",
        stacklevel=2,
    )
    aesara.config.warn_float64 = "ignore"


def jax_mode() -> tuple[Any, Any]:
    """Aesara's mode that compiles through JAX, and its registry of JAX implementations; JAX is imported here.

    Returns
    -------
    mode : aesara.compile.mode.Mode
        Compiles through JAX.
    registry : functools.singledispatch function
        From the type of an Op to its JAX implementation.

    Raises
    ------
    ImportError
        If JAX is missing.
    """
    try:
        import jax
    except ImportError:
        raise ImportError("backend='jax' needs JAX: pip install 'aesara-nondecomp[jax]'") from None
    from aesara.link.jax.dispatch import jax_funcify

    # Aesara's own module disables this if floatX is float32; class sums and dual weights are float64.
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call, unused-ignore]
    return aesara.compile.mode.get_mode("JAX"), jax_funcify


__all__ = [
    "Apply", "COp", "DisconnectedType", "ParamsType", "RandomGeneratorType", "aesara", "at", "blas_header_text",
    "int32", "jax_mode", "missing_compiler",
]  # fmt: skip
