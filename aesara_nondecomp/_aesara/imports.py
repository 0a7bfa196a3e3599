"""The one place that imports Aesara: configured, quiet, and once.

Everything else says ``from aesara_nondecomp._aesara.imports import aesara, at``.
"""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from aesara_nondecomp._aesara import setup

_HARMLESS = (
    "Using NumPy C-API based implementation",  # the fallback that `doctor` reports
    "We did not find a dynamic library",  # Aesara looks for a name ending in plain ".so"; the linker finds it
)


def _is_news(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_HARMLESS)


def _disable_compilation(problem: str) -> None:
    """Run Aesara's Python implementations: slow, but right, and announced once."""
    setup.add_flags({"cxx": ""})
    warnings.warn(
        f"Aesara will run without compiled code, many times slower: {problem}.",
        stacklevel=2,
    )


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Look for no garbage meanwhile: what an import makes stays, and to go through it time and again takes long."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


setup.configure()
logging.getLogger("aesara.tensor.blas").addFilter(_is_news)
_problem = setup.compiler_problem()
if _problem is not None:
    _disable_compilation(_problem)

with warnings.catch_warnings(), _without_collecting():
    # Import-time deprecations inside Aesara and what it imports: nothing a user of this package can act upon.
    warnings.simplefilter("ignore")
    import aesara
    import aesara.tensor as at
    from aesara.gradient import DisconnectedType
    from aesara.graph.basic import Apply
    from aesara.link.c.op import COp
    from aesara.link.c.params_type import ParamsType
    from aesara.scalar import int32
    from aesara.tensor.blas_headers import blas_header_text
    from aesara.tensor.random.type import RandomGeneratorType


def jax_mode():
    """Aesara's mode that compiles through JAX, and its table of translations, Op type by Op type.

    JAX is imported here and not before.

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

    # Aesara's own module switches this off where floatX is float32; class sums and dual weights are float64.
    jax.config.update("jax_enable_x64", True)
    return aesara.compile.mode.get_mode("JAX"), jax_funcify


__all__ = [
    "Apply", "COp", "DisconnectedType", "ParamsType", "RandomGeneratorType", "aesara", "at", "blas_header_text",
    "int32", "jax_mode",
]  # fmt: skip
