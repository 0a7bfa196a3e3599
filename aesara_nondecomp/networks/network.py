"""What a network is to the rest of the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.ops import Lookup


class Network:
    """Symbolic scores of an input, with the shared parameters behind them.

    Any Aesara graph will do; `linear` and `mlp` build the common ones.

    Parameters
    ----------
    inputs : symbolic variable
        One mini-batch of rows, shape (b, ...): the root of the graph.
    scores : symbolic vector or column, shape (b,) or (b, 1)
        Raw output of the last linear unit; the rewards squash it themselves.
    parameters : sequence of shared variables
        Everything that trains, all of the dtype of the scores.
    training_scores : symbolic, shape of `scores`, optional
        The scores while training, where dropout and the like differ. Default: `scores`.
    features : symbolic matrix, shape (b, k), optional
        The output of the lower part, for DAME's second phase on the head alone (spec 3.5).
    head : sequence of shared variables, optional
        The parameters above `features`.
    decayed : sequence of shared variables, optional
        The parameters that an L2 penalty applies to. Default: those of two or more dimensions (no biases).
    streams : aesara.tensor.random.utils.RandomStream, optional
        The random numbers of `training_scores`: seeded anew by `initialise`, and part of the training state.
    draw : callable (numpy Generator -> list of arrays), optional
        Fresh initial values of `parameters`. Without it, the values at construction are the initial ones.
    description : dict of plain values, optional
        What built the network, enough to build it again; kept with saved models.
    lookups : sequence of ops.Lookup, optional
        Embedding tables among the parameters, from `ops.lookup`, one each: of these only the rows that a batch looks
        up are moved (`ops.row_update` says how that differs). A table not listed is moved as a whole.
    extras : dict of name to symbolic variable, optional
        Whatever else can be read off the graph, one row per input row: see `TrainFunctions.extra`.

    Raises
    ------
    ValueError, TypeError
        If a parameter is no shared variable or listed twice, the scores are no vector or column, do not depend on
        the input or on a parameter, or `features` and `head` are not given together.
    """

    def __init__(
        self,
        inputs,
        scores,
        parameters: Sequence[Any],
        *,
        training_scores=None,
        features=None,
        head: Sequence[Any] | None = None,
        decayed: Sequence[Any] | None = None,
        streams=None,
        draw: Callable[[np.random.Generator], list[np.ndarray]] | None = None,
        description: dict[str, Any] | None = None,
        lookups: Sequence[Lookup] = (),
        extras: dict[str, Any] | None = None,
    ):
        self.inputs, self.scores = inputs, scores
        self.parameters = list(parameters)
        self.training_scores = scores if training_scores is None else training_scores
        self.features, self.head = features, None if head is None else list(head)
        self.decayed = [p for p in self.parameters if p.ndim >= 2] if decayed is None else list(decayed)
        self.description = description or {}
        self.streams, self._draw = streams, draw
        self.lookups, self.extras = tuple(lookups), dict(extras or {})
        self._check()
        self._initial = [p.get_value() for p in self.parameters]
        self._put(self._initial)

    @property
    def dtype(self) -> str:
        """Float type of scores and parameters."""
        return self.scores.dtype

    @property
    def takes_tokens(self) -> bool:
        """Whether the input is token ids, padded with 0, and not feature columns."""
        return not self.inputs.dtype.startswith("float")

    @property
    def n_words(self) -> int:
        """Number of token ids that all embedding tables hold, where the input is token ids."""
        sizes = [lookup.table.get_value(borrow=True).shape[0] for lookup in self.lookups]
        return min(sizes, default=2**31 - 1)

    @property
    def n_columns(self) -> int | None:
        """Number of feature columns, where the input's static shape tells."""
        shape = self.inputs.type.shape
        return shape[1] if len(shape) == 2 else None

    @property
    def generators(self) -> list[Any]:
        """The shared random generators behind `training_scores`."""
        return [generator for generator, _ in self.streams.state_updates] if self.streams else []

    def initialise(self, seed=None) -> None:
        """Draw fresh values for the parameters, or, for a network without `draw`, put back the first ones.

        The random streams are seeded too, so that equal seeds give equal dropout masks.

        Parameters
        ----------
        seed : int, numpy Generator or None
        """
        rng = np.random.default_rng(seed)
        self._put(self._draw(rng) if self._draw else self._initial)
        if self.streams:
            self.streams.seed(int(rng.integers(2**31)))

    def head_network(self) -> Network:
        """The upper part on its own: features in, the same scores out, sharing the head's parameters.

        It has no dropout, neither of the features nor below them (in PyTorch: the network in `eval` mode, with
        gradients for the head alone). The lower part is frozen, so its units cannot adapt to each other any more, and
        the features are computed once; a head is held back by an L2 penalty.

        Raises
        ------
        ValueError
            If the network was built without the split.
        """
        if self.features is None or self.head is None:
            raise ValueError("this network has no split into lower part and head. Build it with `features` and `head`.")
        features = aesara.tensor.TensorType(self.features.dtype, shape=(None, *self.features.type.shape[1:]))()
        scores = aesara.graph.clone_replace(self.scores, {self.features: features})
        return Network(features, scores, self.head, decayed=[p for p in self.decayed if p in self.head])

    def _put(self, values) -> None:
        for parameter, value in zip(self.parameters, values):
            # In C order, whatever the order given: updates run in place over contiguous memory.
            parameter.set_value(np.array(value, dtype=parameter.dtype, order="C"), borrow=True)

    def _check(self) -> None:
        if self.scores.ndim not in (1, 2) or (self.scores.ndim == 2 and self.scores.type.shape[1] not in (1, None)):
            raise ValueError(f"a network needs scores of shape (b,) or (b, 1), got {self.scores.type}")
        if not self.scores.dtype.startswith("float"):
            raise TypeError(f"a network needs float scores, got {self.scores.dtype}. Cast them.")
        if (self.features is None) != (self.head is None):
            raise ValueError("give `features` and `head` together: the lower part's output and the parameters above it")
        self._check_parameters()
        roots = set(aesara.graph.basic.graph_inputs([self.scores]))
        if self.inputs not in roots:
            raise ValueError("the scores do not depend on `inputs`: pass the variable that the graph starts from")
        unused = [str(p) for p in self.parameters if p not in roots]
        if unused:
            raise ValueError(f"the scores do not depend on the parameters {unused}")
        tables = [lookup.table for lookup in self.lookups]
        if not set(tables) <= set(self.parameters) or len(set(tables)) < len(tables):
            raise ValueError("each table of `lookups` must be a parameter, and be looked up once")

    def _check_parameters(self) -> None:
        shared = aesara.compile.sharedvalue.SharedVariable
        if not self.parameters or not all(isinstance(p, shared) for p in self.parameters):
            raise TypeError("a network needs at least one parameter, each made by aesara.shared(...)")
        if len(set(self.parameters)) < len(self.parameters):
            raise ValueError("a parameter is listed twice")
        wrong = [f"{p} ({p.dtype})" for p in self.parameters if p.dtype != self.dtype]
        if wrong:
            needed = f"parameters need the dtype of the scores, {self.dtype}"
            raise TypeError(f"{needed}, got {', '.join(wrong)}. Cast them.")
