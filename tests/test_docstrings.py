"""Every public name has a docstring that numpydoc reads as it was meant, and the examples in docstrings run."""

import dataclasses
import doctest
import inspect
import pkgutil
import re
import warnings
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, SimpleNamespace
from typing import NamedTuple

import pytest

import aesara_nondecomp

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(aesara_nondecomp.__path__, "aesara_nondecomp.")
    if not module.name.endswith("__main__")
)
PUBLIC_MODULES = [name for name in MODULES if "._" not in name]
NEEDS_JAX = ("aesara_nondecomp.step.device_rows", "aesara_nondecomp.ops.jax_dispatch")
METHODS = (FunctionType, classmethod, staticmethod, property, cached_property)
DESCRIBED = ("Parameters", "Other Parameters", "Attributes", "Raises", "Warns")
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
TYPED = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields")


def import_or_skip(name):
    if name in NEEDS_JAX:
        pytest.importorskip("jax", reason="the module translates to JAX (extra `jax`)")
    return import_module(name)


def public_members(module):
    """Path and object of each function and class that a module defines, and of each class's methods and properties."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(member) or inspect.isclass(member):
            yield f"{module.__name__}.{name}", member
        if inspect.isclass(member):
            for method, found in vars(member).items():
                if isinstance(found, METHODS) and not method.startswith("_"):
                    yield f"{module.__name__}.{name}.{method}", inspect.getattr_static(member, method)


# -- what is wrong with a docstring ----------------------------------------------------------------------------------


def signature_names(member):
    """Names of the parameters, with their stars; `self` and `cls` aside."""
    if isinstance(member, (classmethod, staticmethod)):
        parameters = [*inspect.signature(member.__func__).parameters.values()][isinstance(member, classmethod) :]
    elif isinstance(member, (property, cached_property)):
        return []
    else:
        parameters = [*inspect.signature(member).parameters.values()]
        if parameters and parameters[0].name == "self":
            parameters = parameters[1:]
    return [STARS.get(parameter.kind, "") + parameter.name for parameter in parameters]


def documented_names(sections, member):
    """Names in the Parameters section; of a dataclass or named tuple without one, its fields among the Attributes."""
    entries = [*sections["Parameters"], *sections["Other Parameters"]]
    has_fields = inspect.isclass(member) and (dataclasses.is_dataclass(member) or issubclass(member, tuple))
    if not entries and has_fields:
        entries = [entry for entry in sections["Attributes"] if entry.name in signature_names(member)]
    return [entry.name for entry in entries]


def parse(doc):
    """numpydoc's sections of a docstring, and the warnings and errors that it has about it."""
    from numpydoc.docscrape import NumpyDocString

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            sections = NumpyDocString(doc)
        except ValueError as error:  # of a section that stands twice
            return NumpyDocString(""), [str(error)]
    return sections, [str(warning.message).strip().splitlines()[0] for warning in caught]


def own_docstring(member):
    """An override without a docstring takes over the one of its base, which is judged there."""
    return inspect.cleandoc(member.__doc__ or "")


def faults_of_writing(member):
    """Where numpydoc would not read a function, class, method or property as it was meant, as lines."""
    doc = own_docstring(member)
    sections, found = parse(doc)
    first = doc.partition("\n")[0]
    if doc and not first.endswith("."):
        found.append(f"the first line is not a sentence that ends with a period: {first!r}")
    for section in DESCRIBED:
        found += [f"{section}: {entry.name or entry.type} has no description" for entry in sections[section]
                  if not "".join(entry.desc).strip()]  # fmt: skip
    for section in TYPED:
        found += [f"{section}: the type of {entry.name!r} is not a type: {entry.type!r}" for entry in sections[section]
                  if entry.type.endswith(".") or ". " in entry.type]  # fmt: skip
    return found


def faults_of_parameters(member):
    """Whether a docstring documents other parameters than the signature has, or in another order; at most one line."""
    if not own_docstring(member):
        return []
    documented, expected = documented_names(parse(own_docstring(member))[0], member), signature_names(member)
    return [] if documented == expected else [f"documented: {documented}; in the signature: {expected}"]


def report(module, faults):
    """One paragraph per public name that is at fault; empty if none is."""
    found = {path: faults(member) for path, member in public_members(module)}
    return "\n".join(f"{path}\n    " + "\n    ".join(lines) for path, lines in found.items() if lines)


def packages_with_a_reading_order():
    for name in MODULES:
        found = import_module(name) if find_spec(name).submodule_search_locations else None
        if found and "Reading order" in (found.__doc__ or ""):
            yield found


@pytest.mark.parametrize("package", [*packages_with_a_reading_order()], ids=lambda package: package.__name__)
def test_a_reading_order_names_every_module_of_its_package(package):
    modules = {module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")}
    order = package.__doc__.split("Reading order")[1].split(">>>")[0]
    named = set(re.findall(r"`([a-z_0-9]+)`", order))
    assert modules - named == set()


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_numpydoc_reads_every_public_docstring_as_it_was_meant(name):
    pytest.importorskip("numpydoc", reason="the reader of docstrings (extra `dev`)")
    found = report(import_or_skip(name), faults_of_writing)
    if found:
        pytest.fail(found, pytrace=False)


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_every_public_docstring_documents_the_parameters_of_its_signature(name):
    pytest.importorskip("numpydoc", reason="the reader of docstrings (extra `dev`)")
    found = report(import_or_skip(name), faults_of_parameters)
    if found:
        pytest.fail(found, pytrace=False)


@pytest.mark.parametrize("name", MODULES)
def test_public_names_have_docstrings_and_their_examples_run(name):
    module = import_or_skip(name)
    undocumented = [path for path, member in public_members(module) if not inspect.getdoc(member)]
    assert not undocumented
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


# -- the checks themselves -------------------------------------------------------------------------------------------


class Sound(NamedTuple):
    """A named tuple documents its fields.

    Attributes
    ----------
    size : int
        Number of rows, at least 1.
    mean : float
        Of the rows.
    """

    size: int
    mean: float

    @classmethod
    def of(cls, rows, *more, weight=None, **options):
        """Measure the rows.

        Parameters
        ----------
        rows : array-like, shape (n,)
            Finite numbers.
        *more : array-like
            Further rows.
        weight : {"none", "even"} or None, default None
            Of each row.
        **options : float
            Passed on.

        Returns
        -------
        Sound
        """

    @property
    def double(self) -> float:
        """Twice the mean."""
        return 2 * self.mean


class Configured:
    """A class whose attributes are set by subclasses, and whose constructor takes nothing.

    Attributes
    ----------
    size : int
        Number of rows.
    """

    size = 1


def prose_as_type(every):
    """Say in the type's place what belongs below.

    Parameters
    ----------
    every : int >= 1. Steps between two writes.
    """


def two_in_one(a, b):
    """Document two parameters as one.

    Parameters
    ----------
    a, b : int
        Two numbers.
    """


def other_order(a, b):
    """Swap the parameters

    Parameters
    ----------
    b : int
        The second.
    a : int
        The first.

    Raises
    ------
    ValueError
    """


def unknown_section(a):
    """Have a section that numpydoc does not know.

    Arguments
    ---------
    a : int
        The first.
    """


def undocumented(a):
    """Leave the parameter out."""


def judged(member):
    return [*faults_of_writing(member), *faults_of_parameters(member)]


@pytest.mark.parametrize(
    "member", [Sound, Configured, *(inspect.getattr_static(Sound, name) for name in ("of", "double"))]
)
def test_the_checks_pass_a_sound_docstring(member):
    pytest.importorskip("numpydoc")
    assert judged(member) == []


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (prose_as_type, ["every has no description", "the type of 'every' is not a type"]),
        (two_in_one, ["documented: ['a, b']; in the signature: ['a', 'b']"]),
        (other_order, ["first line", "Raises: ValueError has no description", "documented: ['b', 'a'];"]),
        (unknown_section, ["Unknown section Arguments", "documented: []; in the signature: ['a']"]),
        (undocumented, ["documented: []; in the signature: ['a']"]),
    ],
)
def test_the_checks_name_what_is_wrong(member, expected):
    pytest.importorskip("numpydoc")
    found = judged(member)
    assert len(found) == len(expected)
    assert all(part in line for part, line in zip(expected, found))


def test_the_checks_look_at_methods_class_methods_and_properties():
    module = SimpleNamespace(__name__=__name__, Sound=Sound)
    assert [path.rpartition(".")[2] for path, _ in public_members(module)] == ["Sound", "of", "double"]
