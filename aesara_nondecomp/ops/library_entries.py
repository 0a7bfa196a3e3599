"""Writes the functions of the library of compiled Ops, and the table of them, for cpp/entries.inc.

`python -m aesara_nondecomp.ops.library_entries > aesara_nondecomp/ops/cpp/entries.inc` after a change of an Op's
arguments, of the activations or of the optimisers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops.attention import AttentionGradient, AttentionPool
from aesara_nondecomp.ops.cell_rewards import CellRewards
from aesara_nondecomp.ops.dense import CheckedDense, Dense, InputGradient, WeightGradient
from aesara_nondecomp.ops.dropout import Dropout
from aesara_nondecomp.ops.embedding import Rows
from aesara_nondecomp.ops.finite import AllFinite
from aesara_nondecomp.ops.headers import source
from aesara_nondecomp.ops.library import key
from aesara_nondecomp.ops.lstm import LSTM, LSTMGradient
from aesara_nondecomp.ops.optimisers import OPTIMISERS
from aesara_nondecomp.ops.periodic import Periodic, PeriodicGradient
from aesara_nondecomp.ops.prefetch import PrefetchRows
from aesara_nondecomp.ops.rewards import CellRewardSums, RewardSums
from aesara_nondecomp.ops.row_update import RowUpdate
from aesara_nondecomp.ops.scaling import Standardise
from aesara_nondecomp.ops.update import FusedUpdate

_FLOATS = ("float32", "float64")


def nodes() -> Iterator[Any]:
    """Make a node of every Op, for every float type and optimiser.

    Yields
    ------
    Apply
        The Op with inputs and outputs of these types.
    """
    for dtype in _FLOATS:
        yield from _nodes_of(dtype)
        for rule in (optimiser() for optimiser in OPTIMISERS.values()):
            yield from _updates(rule, dtype)


def _nodes_of(dtype: str) -> Iterator[Any]:
    v, m, t = (at.TensorType(dtype, shape=(None,) * ndim)() for ndim in (1, 2, 3))
    ids, indices, means, number = at.imatrix(), at.ivector(), at.dvector(), at.dscalar()
    yield Dense("identity").make_node(m, m, v)
    yield CheckedDense("identity").make_node(m, m, v)
    yield InputGradient("identity").make_node(m, m, m)
    yield WeightGradient("identity").make_node(m, m, m)
    yield Dropout().make_node(m, at.lmatrix(), number)
    yield AllFinite().make_node(m)
    yield from (Standardise(result).make_node(m, means, means, number) for result in _FLOATS)
    yield RewardSums().make_node(v, v, means, number)
    yield CellRewardSums().make_node(v, v, indices, at.dmatrix(), number)
    yield Periodic().make_node(m, indices, m, m, t, m, indices, v, v)
    yield PeriodicGradient().make_node(m, m, indices, m, m, t)
    yield Rows().make_node(m, ids)
    yield LSTM().make_node(m, ids, m, m, v)
    yield LSTMGradient(True).make_node(m, m, ids, m, m, m, m, m)
    yield AttentionPool().make_node(m, m, ids)
    yield AttentionGradient().make_node(m, m, m)
    yield PrefetchRows().make_node(m, at.lvector(), m, at.bscalar())
    yield CellRewards().make_node(m, indices, v, indices, at.dmatrix(), means, means, number)


def _updates(rule: Any, dtype: str) -> Iterator[Any]:
    number, decay, ids, touched = at.dscalar(), at.dvector(), at.imatrix(), at.dvector()
    m = at.matrix(dtype=dtype)
    slots = [m] * len(rule.slots)
    yield FusedUpdate(rule, 0).make_node(number, number, number, decay, m, m, *slots, m)
    yield RowUpdate(rule, 0).make_node(number, number, number, decay, ids, m, m, m, touched, *slots)


def text() -> str:
    """Write the functions of the library, and the table of them.

    Returns
    -------
    str
        C++.
    """
    by_key = {key(node.op, node): node for node in nodes()}
    groups: dict[str, dict[str, Any]] = {}
    for own_key, node in by_key.items():
        groups.setdefault(node.op.library_macros(), {})[own_key] = node
    shared = sorted({node.op.header for node in groups[""].values()})
    head = "/* Written by ops/library_entries.py, which says how. Not to be edited. */\n"
    parts = [head, *(f'#include "{header}"\n' for header in shared)]
    for macros, members in sorted(groups.items()):
        parts += _group(macros, members, _guards(*shared)) if macros else _functions(members)
    rows = (f'    {{"{own_key}", f_{own_key}}},\n' for own_key in sorted(by_key))
    return "".join([*parts, "\nstatic const Entry ENTRIES[] = {\n", *rows, "    {NULL, NULL},\n};"])


def _group(macros: str, members: dict[str, Any], guards: set[str]) -> Iterator[str]:
    """Functions of Ops with the same lines before their headers: in a namespace, as others include the headers too."""
    headers = sorted({node.op.header for node in members.values()})
    name = f"n_{min(members)}"
    yield f"\nnamespace {name} {{\n{macros}" + "".join(f'#include "{header}"\n' for header in headers)
    yield from _functions(members)
    ended = [*re.findall(r"^#define (\w+)", macros, re.MULTILINE), *sorted(_guards(*headers) - guards)]
    yield "".join(f"#undef {each}\n" for each in ended) + f"}}\nusing namespace {name};\n"


def _functions(members: dict[str, Any]) -> Iterator[str]:
    for own_key, node in members.items():
        dtypes = ", ".join(dict.fromkeys(v.dtype for v in node.inputs if v.dtype.startswith("float")))
        yield f"/* {node.op} of {dtypes} */\n"
        yield f"static bool f_{own_key}(PyArrayObject **in, PyArrayObject **out) {{ {node.op.library_body(node)} }}\n"


def _guards(*headers: str) -> set[str]:
    return {*re.findall(r"^#ifndef (AESARA_NONDECOMP_\w+_H)$", source(*headers), re.MULTILINE)}


if __name__ == "__main__":
    print(text())
