"""Every public name says what it is, and the examples in docstrings run."""

import doctest
import inspect
import pkgutil
from importlib import import_module

import pytest

import aesara_nondecomp

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(aesara_nondecomp.__path__, "aesara_nondecomp.")
    if not module.name.endswith("__main__")
)
NEEDS_JAX = ("aesara_nondecomp.step.device_rows", "aesara_nondecomp.ops.jax_dispatch")


def public_members(module):
    """Functions and classes that the module defines under public names, and the public methods of the classes."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(member) or inspect.isclass(member):
            yield f"{module.__name__}.{name}", member
        if inspect.isclass(member):
            for method, function in vars(member).items():
                if inspect.isfunction(function) and not method.startswith("_"):
                    yield f"{module.__name__}.{name}.{method}", getattr(member, method)


@pytest.mark.parametrize("name", MODULES)
def test_public_names_have_docstrings_and_their_examples_run(name):
    if name in NEEDS_JAX:
        pytest.importorskip("jax", reason="the module translates to JAX (extra `jax`)")
    module = import_module(name)
    undocumented = [path for path, member in public_members(module) if not inspect.getdoc(member)]
    assert not undocumented
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
