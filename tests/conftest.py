"""Settings and fixtures of the whole suite. Compiled modules go to Aesara's usual cache: a second run is quick."""

import pytest

from aesara_nondecomp._aesara import setup

# Aesara reads its flags at its first import, so they are set here, before any test module is collected.
# A rewrite that fails is a defect; by default Aesara only logs it and goes on with the slower graph.
setup.add_flags({"on_opt_error": "raise"})


@pytest.fixture
def nothing_may_be_compiled(monkeypatch):
    """Whatever is compiled fails the test."""
    from aesara_nondecomp._aesara.imports import aesara

    def refuse(*args, **kwargs):
        raise AssertionError("something was compiled before the input was checked")

    monkeypatch.setattr(aesara, "function", refuse)


@pytest.fixture
def in_python():
    """Compiles by Aesara's Python implementations, where a graph of many small Ops would take long in C."""
    from aesara_nondecomp._aesara.imports import aesara

    with aesara.config.change_flags(mode="FAST_COMPILE", cxx=""):
        yield
