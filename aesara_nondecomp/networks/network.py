"""What the rest of the package needs of a network."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp._checks import random_generator, without_addresses
from aesara_nondecomp.ops import Lookup


class Network:
    """Symbolic scores of an input, and the shared parameters that they depend on.

    Any Aesara graph will do; `make` builds the common ones.

    Parameters
    ----------
    inputs : symbolic variable
        One mini-batch of rows, shape (b, ...): the root of the graph.
    scores : symbolic vector or matrix, shape (b,), (b, 1) or (b, K)
        Raw output of the last linear unit; the rewards apply the sigmoid. Of K > 2 classes one for each.
    parameters : sequence of shared variables
        All that are trained, of the dtype of the scores.
    training_scores : symbolic vector or column, optional
        The scores while training, if they differ, as with dropout. Default: `scores`.
    features : symbolic matrix, shape (b, k), optional
        Output of the lower part, for DAME's second phase on the head alone (docs/algorithms.md 3.5). Default: the
        network has no lower part.
    head : sequence of shared variables, optional
        The parameters above `features`.
    decayed : sequence of shared variables, optional
        The parameters that an L2 penalty applies to. Default: those of two or more dimensions (no biases).
    streams : aesara.tensor.random.utils.RandomStream, optional
        The random numbers of `training_scores`: seeded by `initialise`, and part of the training state.
    draw : callable, optional
        Takes a numpy Generator and returns fresh initial values of `parameters`. Default: the initial values are those
        at construction.
    description : dict, optional
        Plain values from which `build` builds the network again; kept with saved models.
    lookups : sequence of ops.Lookup, optional
        One from `ops.lookup` for each embedding table among the parameters, of which then only the rows that a batch
        looks up are updated (`ops.row_update` says how that differs). A table not listed is updated as a whole.
    extras : dict of str to symbolic variable, optional
        Further outputs, with one row per input row: see `TrainFunctions.extra`.
    member_scores : symbolic matrix, shape (b, k), optional
        The scores of k members, whose mean `scores` is. Each member is trained on its own rewards, and duals follow the
        mean; `training_scores` then have this shape too. Default: one network without members.

    Attributes
    ----------
    dtype : str
        Float type of scores and parameters.
    takes_tokens : bool
        Whether the input is token ids.
    n_words : int
        Number of token ids that all embedding tables hold.
    n_columns : int or None
        Number of feature columns.
    n_scores : int or None
        Number of scores of a row.
    generators : list of shared random generators
        Those behind `training_scores`.
    graph_digest : str
        Of the graphs of the scores, without the values of the parameters.
    fixed_digest : str
        Of the arrays in these graphs that are no parameters, such as an embedding that is not trained.

    Raises
    ------
    ValueError
        If a parameter is listed twice, the scores are no vector or matrix, do not depend on the input or on a
        parameter, `features` and `head` are not given together, or `member_scores` are no matrix of a known width.
    TypeError
        If a parameter is no shared variable of the scores' dtype, or the scores are not floats.
    """

    def __init__(
        self,
        inputs: Any,
        scores: Any,
        parameters: Sequence[Any],
        *,
        training_scores: Any = None,
        features: Any = None,
        head: Sequence[Any] | None = None,
        decayed: Sequence[Any] | None = None,
        streams: Any = None,
        draw: Callable[[np.random.Generator], list[NDArray[Any]]] | None = None,
        description: dict[str, Any] | None = None,
        lookups: Sequence[Lookup] = (),
        extras: dict[str, Any] | None = None,
        member_scores: Any = None,
    ):
        self.inputs, self.scores, self.member_scores = inputs, scores, member_scores
        self.parameters = list(parameters)
        trained = scores if member_scores is None else member_scores
        self.training_scores = trained if training_scores is None else training_scores
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
        return str(self.scores.dtype)

    @property
    def takes_tokens(self) -> bool:
        """Whether the input is token ids, padded with 0, and not feature columns."""
        return not self.inputs.dtype.startswith("float")

    @property
    def n_words(self) -> int:
        """Number of token ids that all embedding tables hold, if the input is token ids."""
        sizes = [lookup.table.get_value(borrow=True).shape[0] for lookup in self.lookups]
        return min(sizes, default=2**31 - 1)

    @property
    def n_columns(self) -> int | None:
        """Number of feature columns; None if the input's static shape does not tell."""
        shape = self.inputs.type.shape
        return shape[1] if len(shape) == 2 else None

    @property
    def n_scores(self) -> int | None:
        """Number of scores of a row; None if neither the static shape nor the description tells."""
        if self.scores.ndim == 1:
            return 1
        found: int | None = self.scores.type.shape[1] or self.description.get("n_scores")
        return found

    @property
    def generators(self) -> list[Any]:
        """The shared random generators behind `training_scores`."""
        return [generator for generator, _ in self.streams.state_updates] if self.streams else []

    @property
    def graph_digest(self) -> str:
        """Tells graphs of one's own apart that have parameters of the same shapes."""
        text = aesara.printing.debugprint([self.scores, self.training_scores], file="str")
        return hashlib.blake2b(without_addresses(text).encode(), digest_size=16).hexdigest()

    @property
    def fixed_digest(self) -> str:
        """Tells graphs of one's own apart that hold other numbers, which `graph_digest` does not see."""
        digest, trained = hashlib.blake2b(digest_size=16), set(self.parameters)
        for variable in aesara.graph.basic.ancestors([self.scores, self.training_scores]):
            if variable.owner is None and variable not in trained:
                value = variable.get_value(borrow=True) if _is_shared(variable) else getattr(variable, "data", None)
                if isinstance(value, np.ndarray):  # neither the rows nor a random generator
                    digest.update(f"{value.dtype} {value.shape}".encode() + value.tobytes())
        return digest.hexdigest()

    def initialise(self, seed: Any = None) -> None:
        """Draw fresh values of the parameters; a network without `draw` returns to its first ones.

        The random streams are seeded too, so that equal seeds give equal dropout masks.

        Parameters
        ----------
        seed : int, numpy Generator or None, optional
            Of the parameters and the streams.
        """
        rng = random_generator(seed)
        self._put(self._draw(rng) if self._draw else self._initial)
        if self.streams:
            self.streams.seed(int(rng.integers(2**31)))

    def head_network(self) -> Network:
        """The upper part alone, from features to the same scores, which shares the head's parameters.

        It has no dropout, neither of the features nor below them (in PyTorch: the network in `eval` mode, with
        gradients for the head alone). The lower part is frozen, so its units cannot co-adapt, and the features are
        computed once; an L2 penalty regularises the head.

        Returns
        -------
        Network

        Raises
        ------
        ValueError
            If the network was built without the split.
        """
        if self.features is None or self.head is None:
            raise ValueError("this network has no split into lower part and head. Build it with `features` and `head`.")
        features = aesara.tensor.TensorType(self.features.dtype, shape=(None, *self.features.type.shape[1:]))()
        outputs = [self.scores] if self.member_scores is None else [self.scores, self.member_scores]
        scores, *members = aesara.graph.clone_replace(outputs, {self.features: features})
        decayed = [p for p in self.decayed if p in self.head]
        return Network(features, scores, self.head, decayed=decayed, member_scores=members[0] if members else None)

    def _put(self, values: Sequence[NDArray[Any]]) -> None:
        for parameter, value in zip(self.parameters, values):
            # In C order, as updates run in place over contiguous memory.
            parameter.set_value(np.array(value, dtype=parameter.dtype, order="C"), borrow=True)

    def _check(self) -> None:
        if self.scores.ndim not in (1, 2):
            raise ValueError(
                f"a network needs scores of shape (b,) or (b, 1), of K classes (b, K), got {self.scores.type}"
            )
        if self.scores.dtype not in ("float32", "float64"):
            raise TypeError(f"a network needs float scores, float32 or float64, got {self.scores.dtype}. Cast them.")
        members = self.member_scores
        if members is not None and (members.ndim != 2 or members.type.shape[1] is None):
            raise ValueError(
                f"member_scores must be a matrix (b, k) of a known number k of members, got {members.type}"
            )
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
        if not self.parameters or not all(map(_is_shared, self.parameters)):
            raise TypeError("a network needs at least one parameter, each made by aesara.shared(...)")
        if len(set(self.parameters)) < len(self.parameters):
            raise ValueError("a parameter is listed twice")
        wrong = [f"{p} ({p.dtype})" for p in self.parameters if p.dtype != self.dtype]
        if wrong:
            needed = f"parameters need the dtype of the scores, {self.dtype}"
            raise TypeError(f"{needed}, got {', '.join(wrong)}. Cast them.")


def _is_shared(variable: Any) -> bool:
    return isinstance(variable, aesara.compile.sharedvalue.SharedVariable)
