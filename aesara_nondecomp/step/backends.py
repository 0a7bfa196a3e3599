"""From symbolic graphs to functions: the only caller of ``aesara.function``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aesara_nondecomp._aesara import compiler_flags, failures
from aesara_nondecomp._aesara.imports import RandomGeneratorType, aesara, at, jax_mode
from aesara_nondecomp.step.locks import ForkedLock

_COMPILING = ForkedLock()  # Aesara compiles for one thread at a time


def symbolic_values(build: Callable[..., Sequence[Any]], n_inputs: int) -> Any:
    """Compile a function of float64 scalars, for use off the training path, without C code.

    Parameters
    ----------
    build : callable
        Takes `n_inputs` symbolic float64 scalars and returns a list of symbolic scalars.
    n_inputs : int
        Number of scalars.

    Returns
    -------
    callable
        Takes `n_inputs` floats and returns a list of arrays of shape ().
    """
    inputs = [at.scalar(dtype="float64") for _ in range(n_inputs)]
    # No rewrites and no C: one evaluation is a few scalar operations, and the derivative must be the literal one.
    mode = aesara.compile.mode.Mode(linker="py", optimizer=None)
    return aesara.function(inputs, build(*inputs), mode=mode, on_unused_input="ignore")


def compile_c(inputs: Sequence[Any], outputs: Any, name: str, updates: Sequence[Any] = ()) -> Any:
    """Compile a function of arrays through C++; without a compiler, its Ops run as `ops.library` says.

    Parameters
    ----------
    inputs : sequence of symbolic variables
        The arguments. The function trusts them to be arrays of exactly these types.
    outputs : symbolic variable or list of them
        What the function returns.
    name : str
        Of the function, in profiles and errors.
    updates : sequence of pairs, optional
        Shared variables and their new values.

    Returns
    -------
    callable

    Raises
    ------
    OSError
        If the folder of compiled code, or that of temporary files, is full or cannot be written to.
    """
    # Intermediate arrays are kept for the next call (`allow_gc`): otherwise a step of 5000 rows spends a quarter of its
    # time on fresh memory. FusedUpdate works in place from the start, so no rewrite has to find that out.
    mode = aesara.compile.mode.get_default_mode().clone(link_kwargs={"allow_gc": False})
    with _COMPILING, failures.explained_compilation(failures.cache_folder(aesara.config)):
        compiler_flags.cache_march_flags()
        compiled = aesara.function(inputs, outputs, updates=updates, name=name, mode=mode, accept_inplace=True)
    compiled.trust_input = True  # arrays are checked once, where they enter the package
    return compiled


def compile_jax(inputs: Sequence[Any], outputs: Any, name: str, updates: Sequence[Any] = ()) -> Any:
    """Compile a function of arrays through JAX.

    Shared variables are arguments of the function that JAX traces, so it is traced once. Random numbers, such as
    dropout masks, follow from a key that the graph's own generators draw for each call: they differ from those of C++,
    but are seeded, stored and restored with the same generators.

    Parameters
    ----------
    inputs : sequence of symbolic variables
        As for `compile_c`.
    outputs : symbolic variable or list of them
        As for `compile_c`.
    name : str
        As for `compile_c`.
    updates : sequence of pairs, optional
        As for `compile_c`.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If an Op of the graph has no JAX implementation; it is named.
    """
    from aesara_nondecomp.ops.jax_dispatch import translations, untranslatable

    mode, table = jax_mode()
    for op_type, translation in translations().items():
        table.register(op_type, lambda op, translation=translation, **kwargs: translation(op))
    generators = _generators([*_listed(outputs), *(new for _, new in updates)])
    keys = [generator.type() for generator in generators]
    options = {"updates": updates, "givens": list(zip(generators, keys)), "name": name, "mode": mode}
    try:
        with _COMPILING:
            compiled = aesara.function([*inputs, *keys], outputs, **options, accept_inplace=True)
    except NotImplementedError as problem:
        unknown = untranslatable(_listed(outputs), table)
        raise ValueError(
            f"backend='jax' cannot take this network: {', '.join(unknown) or problem} has no JAX implementation. "
            "Build the layer of other operations, or use backend='c'."
        ) from problem
    compiled.trust_input = True
    return _with_keys(compiled, generators) if generators else compiled


def _listed(outputs: Any) -> list[Any]:
    return outputs if isinstance(outputs, list) else [outputs]


def _generators(outputs: Sequence[Any]) -> list[Any]:
    """The shared random generators that a graph starts from."""
    roots = dict.fromkeys(aesara.graph.basic.graph_inputs(outputs))
    return [root for root in roots if isinstance(root.type, RandomGeneratorType)]


def _with_keys(compiled: Any, generators: Sequence[Any]) -> Callable[..., Any]:
    """A function whose last inputs are keys in the form that Aesara's translation of random variables takes."""

    def call(*arguments: Any) -> Any:
        rngs = [generator.get_value(borrow=True) for generator in generators]
        return compiled(*arguments, *({"jax_state": rng.integers(2**32, size=2, dtype="uint32")} for rng in rngs))

    return call


BACKENDS: Mapping[str, Callable[..., Any]] = {"c": compile_c, "jax": compile_jax}
