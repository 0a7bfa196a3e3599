"""Modules that a graph lacks: compiled at the same time, once, whatever fails, is killed or starts beside."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import processes
import pytest

from aesara_nondecomp._aesara import module_cache
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.ops import library_entries
from aesara_nondecomp.ops.dropout import Dropout
from aesara_nondecomp.ops.finite import AllFinite

COMPILER = aesara.link.c.cmodule.GCC_compiler
CASES = {type(node.op): node for node in library_entries.nodes() if isinstance(node.op, (Dropout, AllFinite))}
NODES = [CASES[Dropout], CASES[AllFinite]]
pytestmark = pytest.mark.skipif(not aesara.config.cxx, reason="no compiler")


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A cache of modules in a folder of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    cache = aesara.link.c.cmodule.ModuleCache(str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(aesara.link.c.basic, "get_module_cache", lambda: cache)
    return cache


def module_of(node, graph=()):
    linker = module_cache.linker_of(node)
    return module_cache.GraphCache(graph).module_from_key(linker.cmodule_key(), linker)


def replace_compiler(monkeypatch, before):
    """Let something happen before each module is compiled."""
    compile_str = COMPILER.compile_str

    def compiled(*given, **named):
        before()
        return compile_str(*given, **named)

    monkeypatch.setattr(COMPILER, "compile_str", staticmethod(compiled))


def refuse():
    raise AssertionError("compiled again")


def test_the_modules_of_a_graph_are_compiled_at_the_same_time_and_once(empty_cache, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    replace_compiler(monkeypatch, threading.Barrier(2, timeout=60).wait)  # each compiler waits for the other
    first = module_of(NODES[0], graph=NODES)
    replace_compiler(monkeypatch, refuse)
    second = module_of(NODES[1])
    assert first.instantiate and second.instantiate and first is not second
    assert len([*Path(empty_cache.dirname).glob("*/key.pkl")]) == 2
    again = aesara.link.c.cmodule.ModuleCache(empty_cache.dirname)  # as another process finds it
    assert {module_cache.linker_of(node).cmodule_key() for node in NODES} == set(again.entry_from_key)
    assert [*(tmp_path / "temporary").iterdir()] == []


def test_what_cannot_be_compiled_is_an_error_of_its_own_op_only(empty_cache, capsys):
    op = AllFinite()
    op.c_code = lambda *given: "no C++ at all;"
    broken = op.make_node(*NODES[1].inputs)
    assert module_of(NODES[0], graph=[broken, NODES[0]]).instantiate
    with pytest.raises(aesara.link.c.exceptions.CompileError, match="Compilation failed"):
        module_of(broken)
    assert "C code in this temporary file" in capsys.readouterr().out


def test_an_op_whose_arrays_are_not_used_again_has_a_module_of_its_own():
    node = NODES[0]
    assert module_cache.linker_of(node, node.outputs).cmodule_key() != module_cache.linker_of(node).cmodule_key()


def test_flags_of_the_user_come_after_those_that_save_time():
    with aesara.config.change_flags(gcc__cxxflags="-g -std=gnu++17"):
        flags = module_cache.linker_of(NODES[0]).compile_args()
    assert flags.index("-g0") < flags.index("-g") and flags.index("-std=gnu++14") < flags.index("-std=gnu++17")


# -- processes -------------------------------------------------------------------------------------------------------

FUNCTION = """
import numpy as np
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.ops.finite import AllFinite
x, y = at.fmatrix(), at.dmatrix()
compute = aesara.function([x, y], [AllFinite()(x), AllFinite()(y)])
print(*(int(value) for value in compute(np.ones((2, 2), "float32"), np.full((2, 2), np.inf))))
"""


def start(folder):
    flags = {"AESARA_FLAGS": f"base_compiledir={folder}", "PYTHONPATH": processes.PYTHONPATH}
    command = [sys.executable, "-c", FUNCTION]
    return subprocess.Popen(
        command, env={**os.environ, **flags}, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def test_processes_share_an_empty_cache_in_which_one_was_killed(tmp_path):
    killed = start(tmp_path)
    deadline = time.monotonic() + 100
    while not [*tmp_path.glob("*/*/mod.cpp")] and time.monotonic() < deadline:
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(killed.pid, signal.SIGKILL)
    assert killed.communicate()[0] == ""
    for process in [start(tmp_path) for _ in range(2)]:
        assert process.communicate(timeout=200)[0].split() == ["1", "0"] and process.returncode == 0
    keys = [*tmp_path.glob("*/*/key.pkl")]
    assert len({(key.parent / "mod.cpp").read_text() for key in keys}) == len(keys) == 2  # none was compiled twice
