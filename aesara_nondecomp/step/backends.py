"""From symbolic graphs to functions: the only caller of ``aesara.function``."""

from __future__ import annotations

from aesara_nondecomp._aesara import compiler_flags
from aesara_nondecomp._aesara.imports import RandomGeneratorType, aesara, at, jax_mode


def symbolic_values(build, n_inputs: int):
    """Compile a function of float64 scalars, for use off the training path, without C code.

    Parameters
    ----------
    build : callable (n_inputs symbolic float64 scalars -> list of symbolic scalars)
    n_inputs : int

    Returns
    -------
    callable (n_inputs floats -> list of arrays)
    """
    inputs = [at.scalar(dtype="float64") for _ in range(n_inputs)]
    # No rewrites and no C: one evaluation is a few scalar operations, and the derivative must be the literal one.
    mode = aesara.compile.mode.Mode(linker="py", optimizer=None)
    return aesara.function(inputs, build(*inputs), mode=mode, on_unused_input="ignore")


def compile_c(inputs, outputs, name, updates=()):
    """A function of arrays through C++; its inputs are trusted to be of the right type."""
    # Intermediate arrays are kept for the next call (`allow_gc`): a step of 5000 rows would else spend a quarter of its
    # time on fresh memory. FusedUpdate works in place from the start, so no rewrite has to find that out.
    mode = aesara.compile.mode.get_default_mode().clone(link_kwargs={"allow_gc": False})
    compiler_flags.cache_march_flags()
    compiled = aesara.function(inputs, outputs, updates=updates, name=name, mode=mode, accept_inplace=True)
    compiled.trust_input = True  # arrays are checked once, where they enter the package
    return compiled


def compile_jax(inputs, outputs, name, updates=()):
    """The same through JAX. Shared variables, updated or set, are arguments of what JAX traces: it traces once.

    Random numbers, such as dropout masks, follow from a key that the graph's own generators draw for each call: other
    numbers than through C++, but seeded, stored and restored with those generators alike.

    Raises
    ------
    ValueError
        If an Op of the graph has no translation to JAX.
    """
    from aesara_nondecomp.ops.jax_dispatch import translations, untranslatable

    mode, table = jax_mode()
    for op_type, translation in translations().items():
        table.register(op_type, lambda op, translation=translation, **kwargs: translation(op))
    generators = _generators([*_listed(outputs), *(new for _, new in updates)])
    keys = [generator.type() for generator in generators]
    options = {"updates": updates, "givens": list(zip(generators, keys)), "name": name, "mode": mode}
    try:
        compiled = aesara.function([*inputs, *keys], outputs, **options, accept_inplace=True)
    except NotImplementedError as problem:
        strange = untranslatable(_listed(outputs), table)
        raise ValueError(
            f"backend='jax' cannot take this network: {', '.join(strange) or problem} has no translation to JAX. "
            "Build the layer of other operations, or use backend='c'."
        ) from problem
    compiled.trust_input = True
    return _with_keys(compiled, generators) if generators else compiled


def _listed(outputs) -> list:
    return outputs if isinstance(outputs, list) else [outputs]


def _generators(outputs) -> list:
    """The shared random generators that a graph starts from."""
    roots = dict.fromkeys(aesara.graph.basic.graph_inputs(outputs))
    return [root for root in roots if isinstance(root.type, RandomGeneratorType)]


def _with_keys(compiled, generators):
    """A function whose last inputs are keys in the form that Aesara's translation of random variables takes."""

    def call(*arguments):
        rngs = [generator.get_value(borrow=True) for generator in generators]
        return compiled(*arguments, *({"jax_state": rng.integers(2**32, size=2, dtype="uint32")} for rng in rngs))

    return call


BACKENDS = {"c": compile_c, "jax": compile_jax}
