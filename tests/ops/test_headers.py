"""The C++ headers of the Ops: read as one text, described, and part of the version of a compiled module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aesara_nondecomp import ops
from aesara_nondecomp._aesara.imports import at
from aesara_nondecomp.ops import FusedUpdate, fused
from aesara_nondecomp.ops.dense import Dense
from aesara_nondecomp.ops.headers import source
from aesara_nondecomp.ops.optimisers import SGD, Momentum

HEADERS = sorted((Path(ops.__file__).parent / "cpp").glob("*.h"))


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_a_header_says_what_it_is_for_and_is_guarded(header):
    text, guard = header.read_text(encoding="utf-8"), f"AESARA_NONDECOMP_{header.stem.upper()}_H"
    assert re.match(rf"/\* .*? \*/\n#ifndef {guard}\n#define {guard}\n", text, re.DOTALL)


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_a_header_is_read_with_all_that_it_includes_each_once(header):
    guards = re.findall(r"^#define (AESARA_NONDECOMP_\w+_H)$", source(header.name), re.MULTILINE)
    assert guards[0] == f"AESARA_NONDECOMP_{header.stem.upper()}_H"
    assert len(guards) == len(set(guards))
    assert '#include "' not in source(header.name)


def version(op):
    """By which Aesara tells the compiled modules of an Op's node."""
    vectors = [at.fvector() for _ in range(3 + len(op.rule.slots))] if isinstance(op, FusedUpdate) else []
    scalars = [at.dscalar(), at.dscalar(), at.dscalar(), at.dvector()]
    node = op.make_node(*scalars, *vectors) if vectors else op.make_node(at.fmatrix(), at.fmatrix(), at.fvector())
    return op.c_code_cache_version_apply(node)


def test_a_change_of_a_header_changes_the_version_of_the_ops_that_include_it(monkeypatch):
    before = version(Dense("relu")), version(FusedUpdate(SGD(), 0))

    def edited(*names):
        return source(*names).replace("e * r + 8.3334519073e-3f", "e * r + 8.3334519074e-3f")

    monkeypatch.setattr(fused, "source", edited)
    assert version(Dense("relu")) != before[0]
    assert version(FusedUpdate(SGD(), 0)) == before[1]  # which has no use for elementary.h


def test_a_change_of_a_rule_or_of_an_activation_changes_the_version(monkeypatch):
    momentum = version(FusedUpdate(Momentum(0.8), 0))
    assert momentum == version(FusedUpdate(Momentum(0.8), 1))  # parameters at run time share a module
    assert momentum != version(FusedUpdate(Momentum(0.9), 0))
    assert version(Dense("relu")) == version(Dense("tanh"))
    before = version(Dense("relu"))
    monkeypatch.setitem(ops.ACTIVATIONS, "another", ops.ACTIVATIONS["tanh"])
    assert version(Dense("relu")) != before
