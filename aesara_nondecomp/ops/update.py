"""An optimiser's update of a parameter, its slots and its running average, as one Op, in place."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from numbers import Real

import numpy as np

from aesara_nondecomp._aesara.imports import Apply, ParamsType, at, int32
from aesara_nondecomp.ops.fused import FusedOp, c_number
from aesara_nondecomp.ops.optimisers import Optimiser


def rule_macros(rule: Optimiser) -> str:
    """Write an optimiser's rule as the macros that cpp/rule.h needs.

    Parameters
    ----------
    rule : Optimiser
        How to take a step.

    Returns
    -------
    str
        One line for each macro.
    """
    macros = {
        "FOR_EACH_SLOT(DO)": " ".join(f"DO({k})" for k in range(len(rule.slots))),
        "RULE_CONSTANTS": rule.c_constants(),
        "RULE_STEP": rule.c_step(),
    }
    # A macro is one line, in which a comment would have no end.
    lines = {name: " ".join(re.sub("//.*", "", text).split()) for name, text in macros.items()}
    return "".join(f"#define {name} {text}\n" for name, text in lines.items())


class RuleOp(FusedOp):
    """Base of the Ops that apply an optimiser's rule: in the library of compiled Ops, whatever its constants are."""

    def c_macros(self) -> str:
        return rule_macros(self.rule)

    def library_macros(self) -> str:
        # The constants are read at run time, after the run-time parameters: the rule writes their names into its C++.
        rule, first = copy.copy(self.rule), len(super().library_numbers())
        for k, name in enumerate(self._constants(), start=first):
            object.__setattr__(rule, name, _Expression(f"node_numbers[{k}]"))
        return rule_macros(rule)

    def library_numbers(self) -> list[float]:
        return [*super().library_numbers(), *(float(getattr(self.rule, name)) for name in self._constants())]

    def _constants(self) -> list[str]:
        own = [field.name for field in fields(self.rule)] if is_dataclass(self.rule) else []
        return [name for name in own if isinstance(getattr(self.rule, name), Real)]


@dataclass(frozen=True)
class _Expression:
    """Stands for a number where a rule writes it into its C++."""

    text: str

    def __repr__(self) -> str:
        return self.text


class FusedUpdate(RuleOp):
    """In-place ascent step of one parameter.

    One Op per parameter, not one for all: it has few inputs, so its module is compiled in a fifth of the time, and
    networks of any depth share it.

    Parameters
    ----------
    rule : Optimiser
        How to take a step.
    position : int
        Entry of the parameter's weight decay in `decay`.

    Notes
    -----
    Inputs: learning_rate (), averaging (), t () before the step: float64 scalars; decay (n,) float64; parameter,
    gradient, the slots of the optimiser, running average.
    Outputs: t + 1; parameter, slots and average, updated in place; the gradient's Euclidean norm (float64).

    The running average of the weights is the bias-corrected exponential one: with decay d it moves by
    (1 - d) / (1 - d^t) of the way to the new weights, so that d = 0 is a copy of them. It is computed from the
    share of the way that is left, which is exactly 0 then.
    """

    __props__ = ("rule", "position")
    params_type = ParamsType(position=int32)
    header, function = "update.h", "update_parameter<number>"

    def __init__(self, rule: Optimiser, position: int):
        self.rule, self.position = rule, position
        in_place = [4, *range(6, 7 + len(rule.slots))]
        self.destroy_map = {output: [source] for output, source in enumerate(in_place, start=1)}

    def make_node(self, *given):
        inputs = [at.as_tensor_variable(x) for x in given]
        expected = 7 + len(self.rule.slots)
        if len(inputs) != expected:
            raise TypeError(f"FusedUpdate needs {expected} inputs, got {len(inputs)}")
        dtypes = {x.dtype for x in inputs[4:]}
        if len(dtypes) > 1:
            raise TypeError(f"parameter, gradient, slots and average must share one dtype, got {sorted(dtypes)}")
        scalar = at.TensorType("float64", shape=())
        updated = [inputs[source].type() for (source,) in self.destroy_map.values()]
        return Apply(self, inputs, [scalar(), *updated, scalar()])

    def perform(self, node, inputs, outputs, params=None):
        learning_rate, averaging, t, decay, p, g, *slots, average = inputs
        now = float(t) + 1.0
        settings = (float(learning_rate), float(decay[self.position]), now)
        new_p, new_slots = self.rule.step(p, g, slots, *settings)
        for old, new in zip((p, *slots), (new_p, *new_slots)):
            old[...] = new
        average[...] = p - left_of_way(float(averaging), now) * (p - average)
        norm = np.sqrt(np.sum(np.square(g, dtype="float64")))
        for out, value in zip(outputs, [np.asarray(now), p, *slots, average, np.asarray(norm)]):
            out[0] = value

    def c_types(self, node) -> dict[str, str]:
        return {"number": c_number(node.inputs[4].dtype)}

    def c_arguments(self, inputs, outputs) -> list[str]:
        *settings, parameter, gradient = inputs[:6]
        new_t, *updated, norm = (f"&{out}" for out in outputs)
        return [*settings, gradient, braced([parameter, *inputs[6:]]), new_t, braced(updated), norm]


def left_of_way(averaging: float, t: float) -> float:
    """Fraction of the gap between running average and weights that remains after step t.

    Parameters
    ----------
    averaging : float
        Decay of the average, in [0, 1).
    t : float
        Number of the step, at least 1.

    Returns
    -------
    float
        In [0, 1].
    """
    return 0.0 if averaging == 0 else 1.0 - (1.0 - averaging) / (1.0 - averaging**t)


def braced(expressions: Sequence[str]) -> str:
    """Write a C initialiser list.

    Parameters
    ----------
    expressions : sequence of str
        C expressions.

    Returns
    -------
    str
        The list, in braces.
    """
    return f"{{{', '.join(expressions)}}}"
