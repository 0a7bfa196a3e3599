"""A concave measure from one symbolic expression: compiled value, safe supergradient by differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aesara_nondecomp import measures
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._checks import shown
from aesara_nondecomp.step.backends import symbolic_values

_INWARDS = (0.0, 1e-6, 1e-3)


def symbolic_measure(
    name: str, expression: Callable[[Any, Any, Any], Any], greater_is_better: bool = True
) -> measures.Concave:
    """A concave measure of your own, for DUPLE, from one Aesara expression.

    Parameters
    ----------
    name : str
        Label of the measure, not empty, and no name of the catalogue.
    expression : callable
        ``expression(P, N, prior)`` is the measure as a symbolic scalar, from symbolic float64 scalars; for example
        ``lambda P, N, p: at.sqrt(P * N)``. Its value must be finite on [0, 1]^2; its derivative may be singular there.
    greater_is_better : bool, default True
        False for an error, which must then be convex.

    Returns
    -------
    measures.Concave
        Its supergradients are finite: where the derivative is not, it is evaluated at a point moved slightly towards
        the centre of the unit square.

    Raises
    ------
    ValueError
        If `name` is none, `expression` does not return a symbolic scalar, the value is not finite somewhere, or random
        and boundary points show that the measure is not concave or that the derivative is no supergradient (as
        Aesara's derivative of ``at.min(at.stack([P, N]))`` on P = N).

    Notes
    -----
    No number is clipped before it is differentiated, which would make the derivative 0 exactly where it should be large
    (docs/algorithms.md 3.2).

    Examples
    --------
    >>> import aesara.tensor as at
    >>> from aesara_nondecomp import symbolic_measure
    >>> print(symbolic_measure("my_gmean", lambda P, N, prior: at.sqrt(P * N)))
    my_gmean
    """

    def build(P: Any, N: Any, prior: Any) -> list[Any]:
        try:
            value = at.as_tensor_variable(expression(P, N, prior), ndim=0)
        except Exception as error:  # a callable can raise anything
            needed = f"{name} needs a function of symbolic (P, N, prior) that returns a symbolic scalar"
            raise ValueError(f"{needed}, such as at.minimum(P, N), but it raised {shown(error)}") from error
        return [value, *aesara.grad(value, [P, N], disconnected_inputs="ignore")]

    compiled = symbolic_values(build, 3)
    sign = 1.0 if greater_is_better else -1.0

    def value(P: float, N: float, prior: float) -> float:
        with np.errstate(all="ignore"):
            return float(compiled(P, N, prior)[0])

    def supergradient(P: float, N: float, prior: float) -> tuple[float, float]:
        for inwards in _INWARDS:
            point = (x + inwards * (0.5 - x) for x in (P, N))
            with np.errstate(all="ignore"):
                _, dP, dN = (float(x) for x in compiled(*point, prior))
            if np.isfinite(dP) and np.isfinite(dN):
                return sign * dP, sign * dN
        raise ValueError(f"{name} needs a finite derivative at or near P = {P}, N = {N}, prior = {prior}")

    return measures.concave(name, value, supergradient, greater_is_better)
