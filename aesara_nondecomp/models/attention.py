"""Where a network with attention looks: the tokens of texts with their weights, as a list and as a picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aesara_nondecomp._checks import require
from aesara_nondecomp._figures import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_TEXTS = 20  # a picture of more would not be read


def attention(model: Any, texts: Sequence[str]) -> list[list[tuple[str, float]]]:
    """Pair the tokens of texts with the network's attention to them.

    Parameters
    ----------
    model : Model or ClassModel
        Trained on texts with ``network="attention"``.
    texts : sequence of str
        Texts to read.

    Returns
    -------
    list of list of (str, float)
        For each text its tokens, as many as the network reads, with their weights, which sum to 1.

    Raises
    ------
    ValueError
        If the model was not trained on texts, or its network has no attention.
    """
    vocabulary = model.encoder.vocabulary
    require(vocabulary is not None, "attention needs a model trained on texts, not on numbers or token ids", model)
    weights = model.read_out("attention_weights", texts)
    return [
        list(zip(tokens, row.tolist())) for tokens, row in zip((vocabulary.tokens(text) for text in texts), weights)
    ]


def plot_attention(model: Any, texts: Sequence[str], path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw the tokens of texts, the darker the more the network attends to them, beside its predictions.

    Parameters
    ----------
    model : Model or ClassModel
        As for `attention`.
    texts : sequence of str
        Up to 20 texts.
    path : str or path-like, optional
        Also write the figure to this file, in the format of its suffix.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so it opens no window and is freed with its last reference.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    ValueError
        As for `attention`, or if the texts are none or more than 20.
    """
    require(1 <= len(texts) <= MOST_TEXTS, f"texts must be 1 to {MOST_TEXTS}, to fit a picture", f"{len(texts)} texts")
    rows, predicted = attention(model, texts), model.predict(texts)
    figure = new_figure(max(4.0, 0.95 * max(len(row) for row in rows) + 1.5), 0.75 * len(rows) + 0.4)
    axes = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
    for axis, row, label in zip(axes, rows, predicted):
        weights = np.array([[weight for _, weight in row]]) if row else np.zeros((1, 1))
        axis.imshow(weights, cmap="Blues", aspect="auto", vmin=0, vmax=1)
        for k, (token, weight) in enumerate(row):
            colour = "white" if weight > 0.6 else "black"
            axis.text(k, 0, f"{_short(token)}\n{weight:.2f}", ha="center", va="center", color=colour, parse_math=False)
        axis.set(xticks=[], yticks=[])
        axis.set_ylabel(_short(str(label)), rotation=0, ha="right", va="center", parse_math=False)
    figure.suptitle("Attention to each token, beside the prediction")
    if path is not None:
        save_figure(figure, path, 150)
    return figure


def _short(word: str) -> str:
    return word if len(word) <= 12 else f"{word[:11]}…"
