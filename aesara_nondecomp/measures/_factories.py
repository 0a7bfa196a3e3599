"""Measures by name: what a catalogue's table of factories says, and the errors about a wrong name or parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from aesara_nondecomp._checks import choose, shown, suggestion
from aesara_nondecomp.measures.elsewhere import meaning_of

Factories = Mapping[str, Callable[..., Any]]


def parameter_names(name: str, factories: Factories) -> tuple[str, ...]:
    """Names of the parameters that the factory of a measure takes."""
    factory = choose("measure", name, factories)
    fixed = factory.keywords if isinstance(factory, partial) else {}
    return tuple(parameter for parameter in signature(factory).parameters if parameter not in fixed)


def required_parameters(name: str, factories: Factories) -> Mapping[str, Any]:
    """Parameters of a measure that have no default, each with an example value."""
    factory: Any = choose("measure", name, factories)
    measure: Any = factory.func if isinstance(factory, partial) else factory
    known = parameter_names(name, factories)
    return {parameter: value for parameter, value in measure.required_parameters.items() if parameter in known}


def make(spec: Any, parameters: Mapping[str, Any], factories: Factories, base: type) -> Any:
    """The measure that a name and parameters, or a measure of the class `base`, stand for."""
    if isinstance(spec, base):
        if parameters:
            raise TypeError(f"{spec} has its parameters already; give a name to set {sorted(parameters)}.")
        return spec
    if not isinstance(spec, str):
        own = "Make one of a function of the two rates: measures.pseudolinear, measures.concave, symbolic_measure. "
        raise ValueError(
            f"a measure must be given by its name or as a {base.__name__}, got {shown(spec)}. "
            f"{own if callable(spec) else ''}{suggestion('', tuple(factories))}"
        )
    if spec not in factories and (meaning := meaning_of(spec, factories)):
        raise ValueError(f"unknown measure {spec!r}. {meaning} Known: {', '.join(factories)}.")
    factory = choose("measure", spec, factories)
    _check_parameters(spec, parameters, factories)
    return factory(**parameters)


def makes(measure: Any, *catalogues: Factories) -> bool:
    """Whether a measure is of a class of the catalogues, so that its name and parameters say what it is."""
    factories = [factory for each in catalogues for factory in each.values()]
    return type(measure) in [factory.func if isinstance(factory, partial) else factory for factory in factories]


def _check_parameters(name: str, given: Mapping[str, Any], factories: Factories) -> None:
    known = parameter_names(name, factories)
    for parameter in given:
        if parameter not in known:
            raise TypeError(f"{name!r} has no parameter {parameter!r}. {suggestion(parameter, known)}")
    for parameter, value in required_parameters(name, factories).items():
        if parameter not in given:
            raise TypeError(
                f"{name!r} needs the parameter {parameter}, got none. Give it one, such as {parameter}={shown(value)}."
            )
