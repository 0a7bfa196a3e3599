"""Settings and fixtures of the whole suite. Compiled modules go to Aesara's usual cache: a second run is quick."""

import os
import signal
import zlib

import numpy as np
import pytest

from aesara_nondecomp._aesara import setup

# Aesara reads its flags at its first import, so they are set here, before any test module is collected.
# A rewrite that fails is a defect; by default Aesara only logs it and goes on with the slower graph.
setup.add_flags({"on_opt_error": "raise"})

# From Python 3.14 on argparse colours its words, off a terminal too where FORCE_COLOR is set, as on some CI.
os.environ["PYTHON_COLORS"] = "0"

make_generator = np.random.default_rng


def pytest_configure():
    """Let tests send Ctrl-C: a suite that was started in the background inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Seed what a test leaves unseeded by its name, so that what fails once fails again; generators still differ."""
    seeds = np.random.SeedSequence(zlib.crc32(item.nodeid.encode()))
    np.random.default_rng = lambda seed=None: make_generator(seeds.spawn(1)[0] if seed is None else seed)
    np.random.seed(seeds.generate_state(1))


def pytest_unconfigure():
    """Give NumPy its function back, for whoever runs pytest inside another program."""
    np.random.default_rng = make_generator


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
