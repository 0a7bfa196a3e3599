"""Where a network with attention looks."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.models import attention, plot_attention

pytest.importorskip("nltk", reason="needs the extra text")
matplotlib = pytest.importorskip("matplotlib", reason="needs the extra plots")

TEXTS = ["good", "bad", "a good film", "such a bad film"] * 5
LABELS = ["up", "down"] * 10


@pytest.fixture(scope="module")
def model():
    return an.fit(TEXTS, LABELS, "qmean", network="attention", steps=1, batch_size=8, validation=None, seed=0)


def test_attention_gives_each_token_the_weight_that_is_read_out(model):
    texts = ["a good unheardof film", "bad"]
    found = attention(model, texts)
    assert [[token for token, _ in row] for row in found] == [["a", "good", "unheardof", "film"], ["bad"]]
    weights = model.read_out("attention_weights", texts)
    for row, expected in zip(found, weights):
        assert [weight for _, weight in row] == expected[: len(row)].tolist()
        assert sum(weight for _, weight in row) == pytest.approx(1, abs=1e-6)


def test_the_picture_shows_tokens_as_they_are_beside_the_predictions(model, tmp_path):
    texts = ["a $x^2 good film", "bad"]
    figure = plot_attention(model, texts, tmp_path / "attention.png")
    shown = [[text.get_text().split("\n")[0] for text in axis.texts] for axis in figure.axes]
    assert shown == [[token for token, _ in row] for row in attention(model, texts)]
    assert [axis.get_ylabel() for axis in figure.axes] == model.predict(texts).tolist()
    assert (tmp_path / "attention.png").stat().st_size > 1000


def test_a_model_of_numbers_and_too_many_texts_are_refused(model):
    of_numbers = an.fit(np.eye(4), [0, 1] * 2, "qmean", network="linear", validation=None, steps=1, seed=0)
    with pytest.raises(ValueError, match="attention needs a model trained on texts"):
        attention(of_numbers, ["good"])
    for texts in ([], ["good"] * 21):
        with pytest.raises(ValueError, match="texts must be 1 to 20"):
            plot_attention(model, texts)
