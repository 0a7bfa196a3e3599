"""What all trained models have in common: the scores of their networks, copies and pickles."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp import networks
from aesara_nondecomp._checks import choose, require
from aesara_nondecomp._numeric import mean_of_networks
from aesara_nondecomp.data import InputEncoder, check_tokens
from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.models.model_checks import network_names
from aesara_nondecomp.networks import Network

NOT_CALIBRATED = (
    "this model is not calibrated. Train it with validation rows, or call model.calibrate(X, y) with labelled rows "
    "that were not trained on."
)
COPIED = ("parameters", "voters", "rule", "thresholds")  # by a shallow copy too, as they are changed in place


class NetworkModel:
    """Base of `Model`, `ClassModel` and `MultilabelModel`: one network or several, whose mean score counts.

    Attributes
    ----------
    functions : TrainFunctions, ClassFunctions or LabelFunctions
        The compiled functions to score with.
    parameters : list of array
        The weights of the first network.
    voters : list of list of array
        Those of the others.
    encoder : InputEncoder
        Turns inputs into rows of the network.
    """

    functions: Any
    parameters: list[NDArray[Any]]
    voters: list[list[NDArray[Any]]]
    encoder: InputEncoder

    @property
    def network_description(self) -> dict[str, Any]:
        """Description from which `networks.build` makes the network; empty for a graph of your own."""
        found: dict[str, Any] = self.functions.network.description
        return found

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the network's columns; None if they have no names."""
        names = self.encoder.feature_names
        return None if names is None else list(names)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Compute the scores of the positive class; memory maps are read chunk by chunk.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As raw as the training rows; the columns of a table are matched by name.

        Returns
        -------
        array, shape (n,)
            A row above `threshold` is predicted positive.

        Raises
        ------
        ValueError
            If X is unusable, or of a different kind than the training rows.
        """
        return self._scores(self._rows(X))

    def network_scores(self, X: Any) -> NDArray[Any]:
        """Compute the scores of every network; `decision_function` gives their mean, by which they vote.

        Parameters
        ----------
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n, k) or (n, k, K)
            Of k networks; of several classes or labels without a rule.

        Raises
        ------
        ValueError
            As in `decision_function`.
        """
        return self._network_scores(self._rows(X))

    def decision_blocks(self, blocks: Iterable[Any]) -> Iterator[NDArray[Any]]:
        """Compute the scores of one block of rows after another, such as the chunks of a file that memory cannot hold.

        Parameters
        ----------
        blocks : iterable of matrix, table or list of str
            Each as in `decision_function`. Where each has a multiple of 4,096 rows, scores are to the last bit those of
            all rows at once.

        Yields
        ------
        array, shape (n,)
            The scores of a block.

        Raises
        ------
        ValueError
            If a block is unusable, or of a different kind than the training rows.

        Warns
        -----
        UserWarning
            After the last block, if blocks held categories that training did not: how many cells of which column.
        """
        return self.score_blocks(blocks)

    def score_blocks(self, blocks: Iterable[Any]) -> Iterator[NDArray[Any]]:
        """Compute the network's own scores of one block of rows after another.

        Parameters
        ----------
        blocks : iterable of matrix, table or list of str
            As in `decision_blocks`.

        Yields
        ------
        array, shape (n,) or (n, K)
            Of a model of several classes without its rule, from which its probabilities follow.

        Warns
        -----
        UserWarning
            As in `decision_blocks`.
        """
        yield from self._of_blocks(blocks, self._scores)

    def network_score_blocks(self, blocks: Iterable[Any]) -> Iterator[NDArray[Any]]:
        """Compute the scores of every network, of one block of rows after another.

        Parameters
        ----------
        blocks : iterable of matrix, table or list of str
            As in `decision_blocks`.

        Yields
        ------
        array, shape (n, k) or (n, k, K)
            Of k networks.

        Warns
        -----
        UserWarning
            As in `decision_blocks`.
        """
        yield from self._of_blocks(blocks, self._network_scores)

    def read_out(self, name: str, X: Any) -> NDArray[Any]:
        """Compute an extra output of the network, such as "attention_weights" (n, T) of `networks.attention`.

        Parameters
        ----------
        name : str
            Name of the extra output.
        X : matrix, shape (n, d), table or list of str
            As in `decision_function`.

        Returns
        -------
        array, shape (n, ...)

        Raises
        ------
        ValueError
            If the network has no such extra output, or X is unusable.
        """
        known = self.functions.network.extras
        require(bool(known), "read_out needs a network with extras, such as networks.attention", name)
        choose("extra", name, known)
        rows = self._rows(X)
        return self._mean(lambda weights: self.functions.extra(name, rows, self.encoder.standardiser, weights))

    # -- copies and pickles --------------------------------------------------------------------------------------

    def __copy__(self) -> Any:
        own = {name: copy.deepcopy(value) for name, value in self._fields().items() if name in COPIED}
        return replace(cast(Any, self), **own)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        memo[id(self.functions)] = self.functions
        return replace(cast(Any, self), **{name: copy.deepcopy(value, memo) for name, value in self._fields().items()})

    def _fields(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(cast(Any, self))}

    def __getstate__(self) -> dict[str, Any]:
        """All fields, with the functions replaced by what they are built from."""
        state = self._fields()
        if self.functions is not None:  # the estimator removes them and restores them itself
            require_description(self, "pickled")
            state["functions"] = (self.network_description, self.functions.optimizer, self.functions.backend)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["functions"] is not None:
            description, *options = state["functions"]
            state = {**state, "functions": None}
            self.__dict__.update(state)
            self.functions = self._build(networks.build(description), *options)
            return
        self.__dict__.update(state)

    def _build(self, network: Network, *options: Any) -> Any:
        """Functions of a network that was built again, with the optimiser and the backend."""
        raise NotImplementedError

    # -- parts ---------------------------------------------------------------------------------------------------

    def _rows(self, X: Any, unknown: UnknownCategories | None = None) -> Any:
        """Encoded rows, not yet standardised; their entries are checked chunk by chunk, as they are read."""
        network = self.functions.network
        if network.takes_tokens and (self.encoder.vocabulary is None or np.ndim(X) == 2):
            return check_tokens(X, network.n_words)
        return self.encoder.encode(X, network.n_columns, unknown=unknown)

    def _of_blocks(self, blocks: Iterable[Any], scores_of: Callable[[Any], NDArray[Any]]) -> Iterator[NDArray[Any]]:
        unknown = UnknownCategories()
        for X in blocks:
            yield scores_of(self._rows(X, unknown))
        unknown.warn()

    def _scores(self, rows: Any) -> NDArray[Any]:
        return self._mean(lambda weights: self.functions.scores(rows, self.encoder.standardiser, weights))

    def _network_scores(self, rows: Any) -> NDArray[Any]:
        of_each = [self.functions.scores(rows, self.encoder.standardiser, w) for w in (self.parameters, *self.voters)]
        return np.stack(of_each, axis=1)

    def _mean(self, output: Callable[[list[NDArray[Any]]], NDArray[Any]]) -> NDArray[Any]:
        """An output of the functions, averaged over the networks."""
        return mean_of_networks(output(parameters) for parameters in (self.parameters, *self.voters))


def require_description(model: NetworkModel, done: str) -> None:
    """Refuse a model whose network cannot be built again.

    Parameters
    ----------
    model : NetworkModel
        Of any kind.
    done : str
        What was to be done, as a participle.

    Raises
    ------
    ValueError
        If its network has no description.
    """
    if not model.network_description:
        raise ValueError(
            f"this model cannot be {done}: its network is a graph of your own, which has no description to build it "
            f"from again. Networks made by `mlp` and `linear`, `tabular`, `lstm` and `attention` can be {done}; or "
            "keep `parameters` yourself."
        )


def weights_by_name(model: NetworkModel) -> dict[str, NDArray[Any]]:
    """The weights of all networks, as files hold them.

    Parameters
    ----------
    model : NetworkModel
        Of any kind.

    Returns
    -------
    dict of str to array
    """
    names = network_names(len(model.voters))
    return {
        f"{name}.{k}": value
        for name, parameters in zip(names, (model.parameters, *model.voters))
        for k, value in enumerate(parameters)
    }


def plain_label(label: Any) -> Any:
    """A label as JSON can hold it.

    Parameters
    ----------
    label : object
        Of a model.

    Returns
    -------
    bool, int, float, str or dict
        Bytes and dates are dicts, which `label_from` reads.

    Raises
    ------
    ValueError
        If it is of another type.
    """
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bytes):
        return {"bytes": label.hex()}
    if isinstance(label, datetime.datetime):
        return {"datetime": label.isoformat(timespec="microseconds")}
    if isinstance(label, datetime.date):
        return {"date": label.isoformat()}
    saved = isinstance(label, (bool, int, float, str))
    require(saved, "only labels that are booleans, numbers, text, bytes or dates can be saved", label)
    return label


def label_from(stored: Any) -> Any:
    """A label of a model file, of which `plain_label` made what JSON can hold.

    Parameters
    ----------
    stored : bool, int, float, str or dict
        From the file.

    Returns
    -------
    bool, int, float, str, bytes, datetime.date or datetime.datetime

    Raises
    ------
    ValueError
        If it is no label.
    """
    if not isinstance(stored, dict):
        return stored
    read = {"bytes": bytes.fromhex, "datetime": datetime.datetime.fromisoformat, "date": datetime.date.fromisoformat}
    (kind, text), *others = stored.items()
    require(kind in read and not others, f"a label is one of {', '.join(read)}, or a plain value", stored)
    return read[kind](text)
