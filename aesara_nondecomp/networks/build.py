"""The table of networks: each is built by its name, or again from the description kept with a saved model.

A network is added by a builder, in a module of this folder, and a row of `BUILDERS`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple

from aesara_nondecomp._checks import choose, require
from aesara_nondecomp.networks.feedforward import Shapes, linear, mlp, mlp_shapes
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.networks.recurrent import attention, attention_shapes, lstm, lstm_shapes
from aesara_nondecomp.networks.tabular import tabular, tabular_shapes


class Builder(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    build : callable
        Takes the size (number of columns or of words), then its options, and by keyword ``dtype``, ``seed``, and
        ``n_scores`` if it can have more than one.
    takes : {"numbers", "tokens"}
        Rows of feature columns, or of token ids.
    shapes : callable or None
        Takes what a description holds, and returns the shapes of the parameters. Without it, a network is built from
        a model file before the file is known to hold its weights.
    """

    build: Callable[..., Network]
    takes: Literal["numbers", "tokens"]
    shapes: Callable[..., Shapes] | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options beside size, dtype, n_scores and seed, in the order of the builder's signature."""
        return tuple(name for name in self._named if name not in ("dtype", "n_scores", "seed"))

    @property
    def takes_n_scores(self) -> bool:
        """Whether it makes networks of more than one score."""
        return "n_scores" in self._named

    @property
    def _named(self) -> list[str]:
        """What the builder takes beside the size."""
        return list(inspect.signature(self.build).parameters)[1:]


BUILDERS: Mapping[str, Builder] = {
    "attention": Builder(attention, "tokens", attention_shapes),
    "linear": Builder(linear, "numbers", partial(mlp_shapes, hidden=())),  # describes itself as the mlp that it is
    "lstm": Builder(lstm, "tokens", lstm_shapes),
    "mlp": Builder(mlp, "numbers", mlp_shapes),
    "tabular": Builder(tabular, "numbers", tabular_shapes),
}


def make(name: str, size: int, dtype: str = "float32", n_scores: int = 1, **options: Any) -> Network:
    """Build a network by its name.

    Parameters
    ----------
    name : {"attention", "linear", "lstm", "mlp", "tabular"}
        Of the builder.
    size : int
        Number of feature columns, or of words of the vocabulary; at least 1.
    dtype : {"float32", "float64"}, default "float32"
        Of parameters and scores.
    n_scores : int, default 1
        Number of scores of a row: of several classes one for each.
    **options : object
        Options of the builder, such as ``hidden``, and ``seed``.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If the name is unknown, where the nearest is suggested; for an option that the network does not take, or more
        than one score where it has one; for a value that its builder refuses.
    """
    builder = choose("network", name, BUILDERS)
    foreign = [option for option in options if option not in (*builder.options, "seed")]
    known = ", ".join(builder.options) or "no options"
    require(not foreign, f"network={name!r} takes {known}", ", ".join(foreign))
    if n_scores != 1:
        require(builder.takes_n_scores, f"network={name!r} has one score: leave n_scores out", n_scores)
        options["n_scores"] = n_scores
    return builder.build(size, dtype=dtype, **options)


def takes_tokens(name: str) -> bool:
    """Whether the rows of a network are token ids, and not feature columns.

    Parameters
    ----------
    name : {"attention", "linear", "lstm", "mlp", "tabular"}
        Of the builder.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        If the name is unknown; the nearest is suggested.
    """
    return choose("network", name, BUILDERS).takes == "tokens"


def build(description: Mapping[str, Any], *, dtype: str | None = None) -> Network:
    """Build the network of a `Network.description` again, with fresh parameters.

    Parameters
    ----------
    description : mapping
        The name of the builder under "builder", and its arguments.
    dtype : {"float32", "float64"}, optional
        Default: the described one.

    Returns
    -------
    Network

    Raises
    ------
    ValueError
        If the builder is unknown.
    """
    arguments = {**description, **({"dtype": dtype} if dtype else {})}
    return choose("network builder", arguments.pop("builder", None), BUILDERS).build(**arguments)


def parameter_shapes(description: Mapping[str, Any]) -> Shapes:
    """The shapes of the parameters of the network that `build` makes, as a rule without making it.

    Parameters
    ----------
    description : mapping
        As for `build`.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If the builder is unknown, or a size is below 1.
    """
    arguments = dict(description)
    builder = choose("network builder", arguments.pop("builder", None), BUILDERS)
    if builder.shapes is not None:
        return builder.shapes(**arguments)
    return [p.get_value(borrow=True).shape for p in builder.build(**arguments).parameters]
