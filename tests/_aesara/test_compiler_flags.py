"""The compiler's flags for this processor are found once, kept by processor, and found anew where need be."""

from __future__ import annotations

import json
import os

import pytest

from aesara_nondecomp._aesara import compiler_flags
from aesara_nondecomp._aesara.imports import aesara

CMODULE = aesara.link.c.cmodule
pytestmark = pytest.mark.skipif(
    not aesara.config.cxx or compiler_flags._processor() is None, reason="no compiler, or a processor that is not known"
)


@pytest.fixture()
def asked(tmp_path, monkeypatch):
    """A process that has not asked yet; the times it does."""
    calls = []
    found = ["-march=native"]

    def ask():
        calls.append(1)
        CMODULE.GCC_compiler.march_flags = found

    monkeypatch.setattr(CMODULE.GCC_compiler, "march_flags", None)
    monkeypatch.setattr(CMODULE.GCC_compiler, "compile_args", staticmethod(ask))
    monkeypatch.setattr(
        compiler_flags, "Path", lambda name: tmp_path if name == aesara.config.compiledir else _PATH(name)
    )
    return calls


_PATH = compiler_flags.Path


def anew():
    CMODULE.GCC_compiler.march_flags = None
    compiler_flags.cache_march_flags()
    return CMODULE.GCC_compiler.march_flags


def test_the_compiler_is_asked_once_for_a_processor(asked, monkeypatch):
    assert anew() == anew() == ["-march=native"] and len(asked) == 1
    monkeypatch.setattr(compiler_flags, "_processor", lambda: "another")
    assert anew() == anew() == ["-march=native"] and len(asked) == 2


@pytest.mark.parametrize("text", ["", "{half", "[]", '{"PROCESSOR": 3}', '{"PROCESSOR": [1]}'])
def test_a_damaged_file_is_written_anew(asked, tmp_path, text):
    (tmp_path / compiler_flags._FILE).write_text(text.replace("PROCESSOR", compiler_flags._processor()))
    assert anew() == anew() == ["-march=native"] and len(asked) == 1
    assert list(json.loads((tmp_path / compiler_flags._FILE).read_text())) == [compiler_flags._processor()]


def test_flags_of_the_users_own_are_left_to_aesara(asked):
    with aesara.config.change_flags(gcc__cxxflags="-march=x86-64"):
        assert anew() is None and not asked


def test_a_cache_that_cannot_be_written_to_costs_time_and_nothing_else(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "replace", lambda *paths: (_ for _ in ()).throw(OSError("read-only")))
    assert anew() == anew() == ["-march=native"] and len(asked) == 2
    assert not list(tmp_path.iterdir())


def test_a_compiler_that_aesara_does_not_know_leaves_nothing_behind(asked, monkeypatch, tmp_path):
    monkeypatch.setattr(CMODULE.GCC_compiler, "compile_args", staticmethod(lambda: None))
    assert anew() is None and not list(tmp_path.iterdir())
