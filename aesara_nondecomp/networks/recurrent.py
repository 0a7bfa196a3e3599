"""Networks of token ids: the last state of an LSTM, and attention over its states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp._checks import positive_int, random_generator
from aesara_nondecomp.networks.feedforward import Shapes, _dense_shapes, _weights, check_common
from aesara_nondecomp.networks.network import Network
from aesara_nondecomp.ops import attention_pool, dense, lookup
from aesara_nondecomp.ops import dropout as dropped
from aesara_nondecomp.ops import lstm as lstm_layer

Graph = tuple[Any, Any, tuple[Any, Any], dict[str, Any]]  # lookup, features, parameters of the head, extras


def lstm(
    vocabulary_size: int,
    embedding: int = 64,
    hidden: int = 64,
    *,
    dropout: float = 0.0,
    dtype: str = "float32",
    n_scores: int = 1,
    seed: Any = None,
) -> Network:
    """Linear scores of the last state of an LSTM over embedded tokens.

    Parameters
    ----------
    vocabulary_size : int
        Number of token ids, at least 1; 0 is padding, after, before or between the tokens of a row.
    embedding : int, default 64
        Width of a token's embedding, at least 1.
    hidden : int, default 64
        Width of the state, at least 1.
    dropout : float, default 0
        Of the last state while training, in [0, 1).
    dtype : {"float32", "float64"}, default "float32"
        Of parameters and scores.
    n_scores : int, default 1
        Number of output units: of several classes one for each.
    seed : int, numpy Generator or None, optional
        Of the initial weights (embeddings normal with variance 1 / width; input weights Glorot 2010 and recurrent
        ones orthogonal, per gate; bias of the forget gate 1) and of the dropout masks.

    Returns
    -------
    Network
        Takes int32 token ids (b, T), for any T. `features` are the last states: 0 for a row of padding.

    Raises
    ------
    ValueError
        For a size below 1, dropout outside [0, 1) or another dtype.

    Notes
    -----
    Source: section 5.5 of the paper (64-dimensional embeddings and states).
    """
    n_words, d, h, k = _sizes(vocabulary_size, embedding=embedding, hidden=hidden, n_scores=n_scores)

    def draw(rng: np.random.Generator) -> list[NDArray[Any]]:
        return [*_encoder_values(n_words, d, h, rng), *_layer(h, k, rng)]

    def build(ids: Any, parameters: Sequence[Any]) -> Graph:
        table, W, U, bias, W_out, b_out = parameters
        words = lookup(table, ids)
        last, _ = lstm_layer(words.rows, ids, W, U, bias)
        return words, last, (W_out, b_out), {}

    names = ("embeddings", "W", "U", "bias", "W_out", "b_out")
    description = {"builder": "lstm", "vocabulary_size": n_words, "embedding": d, "hidden": h, "n_scores": k}
    return _network(build, draw, names, description, dropout, dtype, seed)


def attention(
    vocabulary_size: int,
    embedding: int = 64,
    hidden: int = 64,
    alignment: int = 64,
    decoder: int = 64,
    *,
    dropout: float = 0.0,
    dtype: str = "float32",
    n_scores: int = 1,
    seed: Any = None,
) -> Network:
    """Linear scores of a decoder state that attends to the states h_t of an LSTM encoder.

    The alignment is a feed-forward layer with a masked softmax, a = softmax_t(v . tanh(h_t W_a + b_a)), and the
    decoder state is s = tanh(c W_d + b_d) of the context c = sum_t a_t h_t. The label is the decoder's only output, so
    this is the first step of the decoder of Bahdanau, Cho and Bengio (2015) from the state 0, whose terms vanish.

    Parameters
    ----------
    vocabulary_size : int
        As for `lstm`.
    embedding : int, default 64
        As for `lstm`.
    hidden : int, default 64
        As for `lstm`.
    alignment : int, default 64
        Width of the alignment layer, at least 1.
    decoder : int, default 64
        Width of the decoder state, at least 1.
    dropout : float, default 0
        Of the decoder state while training, in [0, 1).
    dtype : {"float32", "float64"}, default "float32"
        Of parameters and scores.
    n_scores : int, default 1
        Number of output units: of several classes one for each.
    seed : int, numpy Generator or None, optional
        As for `lstm`; both dense layers start as Glorot 2010.

    Returns
    -------
    Network
        Takes int32 token ids (b, T), for any T. `features` are the decoder states; `extras["attention_weights"]` are
        the a_t, shape (b, T), whose sum over the tokens of a row is 1.

    Raises
    ------
    ValueError
        For a size below 1, dropout outside [0, 1) or another dtype.

    Notes
    -----
    Source: section 5.5 of the paper.
    """
    n_words, d, h, a, s, k = _sizes(
        vocabulary_size, embedding=embedding, hidden=hidden, alignment=alignment, decoder=decoder, n_scores=n_scores
    )

    def draw(rng: np.random.Generator) -> list[NDArray[Any]]:
        layers = [_layer(h, a, rng), _layer(a, 1, rng)[:1], _layer(h, s, rng), _layer(s, k, rng)]
        return [*_encoder_values(n_words, d, h, rng), *(value for layer in layers for value in layer)]

    def build(ids: Any, parameters: Sequence[Any]) -> Graph:
        table, W, U, bias, W_align, b_align, v, W_decoder, b_decoder, W_out, b_out = parameters
        words = lookup(table, ids)
        _, states = lstm_layer(words.rows, ids, W, U, bias)
        # A bias on the energies would cancel in the softmax.
        energies = dense(dense(states, W_align, b_align, "tanh"), v, np.zeros(1, dtype))
        context, weights = attention_pool(energies, states, ids)
        state = dense(context, W_decoder, b_decoder, "tanh")
        return words, state, (W_out, b_out), {"attention_weights": weights}

    names = ("embeddings", "W", "U", "bias", "W_align", "b_align", "v", "W_decoder", "b_decoder", "W_out", "b_out")
    description = {"builder": "attention", "vocabulary_size": n_words, "embedding": d, "hidden": h}
    description.update(alignment=a, decoder=s, n_scores=k)
    return _network(build, draw, names, description, dropout, dtype, seed)


def lstm_shapes(vocabulary_size: int, embedding: int = 64, hidden: int = 64, n_scores: int = 1, **_: Any) -> Shapes:
    """The shapes of the parameters of an `lstm`.

    Parameters
    ----------
    vocabulary_size : int
        As for `lstm`.
    embedding : int, default 64
        As for `lstm`.
    hidden : int, default 64
        As for `lstm`.
    n_scores : int, default 1
        As for `lstm`.
    **_ : object
        All else has no effect on them.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If a size is below 1.
    """
    n_words, d, h, k = _sizes(vocabulary_size, embedding=embedding, hidden=hidden, n_scores=n_scores)
    return [*_encoder_shapes(n_words, d, h), *_dense_shapes([h, k])]


def attention_shapes(
    vocabulary_size: int,
    embedding: int = 64,
    hidden: int = 64,
    alignment: int = 64,
    decoder: int = 64,
    n_scores: int = 1,
    **_: Any,
) -> Shapes:
    """The shapes of the parameters of an `attention`.

    Parameters
    ----------
    vocabulary_size : int
        As for `attention`.
    embedding : int, default 64
        As for `attention`.
    hidden : int, default 64
        As for `attention`.
    alignment : int, default 64
        As for `attention`.
    decoder : int, default 64
        As for `attention`.
    n_scores : int, default 1
        As for `attention`.
    **_ : object
        All else has no effect on them.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If a size is below 1.
    """
    n_words, d, h, a, s, k = _sizes(
        vocabulary_size, embedding=embedding, hidden=hidden, alignment=alignment, decoder=decoder, n_scores=n_scores
    )
    return [*_encoder_shapes(n_words, d, h), *_dense_shapes([h, a, 1])[:3], *_dense_shapes([h, s, k])]


def _encoder_shapes(n_words: int, d: int, h: int) -> Shapes:
    return [(n_words, d), (d, 4 * h), (h, 4 * h), (4 * h,)]


def _network(
    build: Callable[[Any, Sequence[Any]], Graph],
    draw: Callable[[np.random.Generator], list[NDArray[Any]]],
    names: Sequence[str],
    description: dict[str, Any],
    dropout: float,
    dtype: str,
    seed: Any,
) -> Network:
    """A network from the graph that `build` makes of ids and parameters."""
    check_common(dropout, dtype)
    rng = random_generator(seed)
    parameters = [aesara.shared(value.astype(dtype), name=name) for name, value in zip(names, draw(rng))]
    ids = at.TensorType("int32", shape=(None, None))("ids")
    words, features, head, extras = build(ids, parameters)
    streams = aesara.tensor.random.utils.RandomStream(int(rng.integers(2**31))) if dropout else None
    training = dense(dropped(features, streams, dropout), *head) if dropout else None
    return Network(
        ids,
        dense(features, *head),
        parameters,
        training_scores=training,
        features=features,
        head=head,
        streams=streams,
        draw=draw,
        # An L2 penalty on embeddings would act only on the words of a batch.
        decayed=[p for p in parameters if p.ndim == 2 and p is not words.table],
        description={**description, "dropout": dropout, "dtype": dtype},
        lookups=[words],
        extras=extras,
    )


def _sizes(vocabulary_size: int, **widths: int) -> list[int]:
    return [positive_int(name, value) for name, value in {"vocabulary_size": vocabulary_size, **widths}.items()]


def _encoder_values(n_words: int, d: int, h: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    table = rng.normal(0.0, d**-0.5, (n_words, d))
    table[0] = 0.0
    W = np.hstack([_weights(d, h, "glorot", rng) for _ in range(4)])
    U = np.hstack([_orthogonal(h, rng) for _ in range(4)])
    return [table, W, U, np.repeat([0.0, 1.0, 0.0, 0.0], h)]


def _layer(fan_in: int, fan_out: int, rng: np.random.Generator) -> list[NDArray[Any]]:
    return [_weights(fan_in, fan_out, "glorot", rng), np.zeros(fan_out)]


def _orthogonal(h: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A random rotation, uniformly distributed (Saxe et al. 2014)."""
    rotation, triangle = np.linalg.qr(rng.normal(size=(h, h)))
    signed: NDArray[np.float64] = rotation * np.sign(np.diag(triangle))
    return signed
