"""What every fused Op shares: its C++ function, the call of it, and the version by which Aesara keeps its module."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from aesara_nondecomp._aesara import module_cache
from aesara_nondecomp._aesara.imports import COp, aesara
from aesara_nondecomp.ops import library
from aesara_nondecomp.ops.headers import source


class FusedOp(COp):
    """Base of the Ops whose C++ is a function of a header in `ops/cpp`.

    The function takes the Op's run-time parameters, its inputs, and the addresses of its outputs. It returns whether it
    succeeded; if not, a Python error is set.

    Attributes
    ----------
    header : str
        File that declares the function.
    function : str
        The function, with its template arguments among the names that `c_types` gives.
    connected : tuple of tuple of bool, optional
        For each input, which outputs have a gradient in it; by default all.
    """

    header: ClassVar[str]
    function: ClassVar[str]
    connected: ClassVar[tuple[tuple[bool, ...], ...] | None] = None

    def connection_pattern(self, node):
        """Say which outputs have a gradient in which inputs, as Aesara asks.

        Parameters
        ----------
        node : Apply
            The Op with its inputs and outputs.

        Returns
        -------
        list of list of bool
            For each input, one entry for each output.
        """
        return [list(row) for row in self.connected or [[True] * len(node.outputs)] * len(node.inputs)]

    def c_macros(self) -> str:
        """Write the lines that the header needs before it.

        Returns
        -------
        str
            None by default.
        """
        return ""

    def c_types(self, node) -> dict[str, str]:
        """Name the types that `function` is instantiated with.

        Parameters
        ----------
        node : Apply
            The Op with its inputs and outputs.

        Returns
        -------
        dict
            Name to C type: by default `number`, the type of the first output.
        """
        return {"number": c_number(node.outputs[0].dtype)}

    def c_arguments(self, inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
        """List the arguments of `function` after the run-time parameters.

        Parameters
        ----------
        inputs : sequence of str
            C expressions of type PyArrayObject *.
        outputs : sequence of str
            C variables of that type.

        Returns
        -------
        list of str
            C expressions: by default the inputs, and the addresses of the outputs.
        """
        return [*inputs, *(f"&{out}" for out in outputs)]

    def c_support_code(self, **kwargs):
        return self.c_macros() + source("denormals.h", self.header)

    def c_code(self, node, name, inputs, outputs, sub):
        parameters = [f"{sub['params']}->{field}" for field in self._parameters()]
        types, call = self._c_call(node, parameters, inputs, outputs)
        return f"{{ const FlushToZero no_denormals; {types}if (!{call}) {{ {sub['fail']} }} }}"

    def _parameters(self) -> tuple[str, ...]:
        return self.params_type.fields if self.params_type else ()

    def _c_call(self, node, parameters, inputs, outputs) -> tuple[str, str]:
        """The types and the call of the function."""
        types = "".join(f"typedef {c_type} {alias}; " for alias, c_type in self.c_types(node).items())
        return types, f"{self.function}({', '.join([*parameters, *self.c_arguments(inputs, outputs)])})"

    def c_code_cache_version_apply(self, node):
        # Of the text itself: after a change of a header or a rule, Aesara must not use the module of the former text.
        inputs, outputs = [f"in{k}" for k in range(len(node.inputs))], [f"out{k}" for k in range(len(node.outputs))]
        text = self.c_support_code() + self.c_code(node, "", inputs, outputs, {"fail": "", "params": ""})
        return (hashlib.sha256(text.encode()).hexdigest(),)

    def c_compile_args(self, **kwargs):
        # GCC would not vectorise loops with comparisons, lest a NaN raise a flag of the processor: 8 times as slow.
        # The others save half of the compiler's time: no debugging information, and of the standard headers neither
        # what C++17 has added nor <iostream>, which Aesara includes in each module and no Op here uses.
        return ["-fno-trapping-math", "-g0", "-std=gnu++14", "-D_GLIBCXX_IOSTREAM"]

    def make_c_thunk(self, node, storage_map, compute_map, no_recycling):
        # As Aesara's, but for the cache, which compiles all modules that the graph lacks at the same time.
        nodes = (v.owner for v in storage_map if v.owner is not None and isinstance(v.owner.op, FusedOp))
        storage = [storage_map[v] for v in node.inputs], [storage_map[v] for v in node.outputs]
        linker = module_cache.linker_of(node, no_recycling)
        run, _, _ = linker.make_thunk(*storage, cache=module_cache.GraphCache(nodes))
        thunk = _thunk(run, node, compute_map, *storage)
        thunk.__dict__.update(thunk=run, cthunk=run.cthunk)
        return thunk

    # -- without a compiler --------------------------------------------------------------------------------------

    def library_macros(self) -> str:
        """Write the lines that the header needs before it in the library of compiled Ops.

        Returns
        -------
        str
            Those of `c_macros` by default.
        """
        return self.c_macros()

    def library_numbers(self) -> list[float]:
        """List what a function of the library is given at run time.

        Returns
        -------
        list of float
            By default the run-time parameters.
        """
        return [getattr(self, field) for field in self._parameters()]

    def library_body(self, node) -> str:
        """Write the body of the function that the library has for a node.

        Parameters
        ----------
        node : Apply
            The Op with its inputs and outputs.

        Returns
        -------
        str
            C++ statements over the arrays `in` and `out`, and the `node_numbers` of `library_numbers`.
        """
        parameters = [f"(int) node_numbers[{k}]" for k in range(len(self._parameters()))]
        inputs, outputs = [f"in[{k}]" for k in range(len(node.inputs))], [f"out[{k}]" for k in range(len(node.outputs))]
        types, call = self._c_call(node, parameters, inputs, outputs)
        return f"{types}return {call};"

    def make_py_thunk(self, node, storage_map, compute_map, no_recycling, debug=False):
        call = None if aesara.config.cxx else library.bind(self, node)  # with a compiler NumPy was asked for
        if call is None:
            return super().make_py_thunk(node, storage_map, compute_map, no_recycling, debug)
        storage = [storage_map[v] for v in node.inputs], [storage_map[v] for v in node.outputs]
        return _thunk(partial(call, *storage), node, compute_map, *storage)


def _thunk(run, node, compute_map, inputs, outputs):
    """What Aesara calls to compute a node: `run`, which reads and writes storage."""
    computed = [compute_map[v] for v in node.outputs]

    def thunk():
        run()
        for flag in computed:
            flag[0] = True

    thunk.__dict__.update(inputs=inputs, outputs=outputs, lazy=False)
    return thunk


def c_number(dtype: str) -> str:
    """Name the C type of a float dtype.

    Parameters
    ----------
    dtype : {"float32", "float64"}
        NumPy's name.

    Returns
    -------
    str
        NumPy's C name, "npy_float" or "npy_double".
    """
    return {"float32": "npy_float", "float64": "npy_double"}[dtype]
