"""Texts to token ids: the vocabulary, batches by length, and `fit` on a list of strings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aesara_nondecomp import Checkpoint, fit, load_model, networks
from aesara_nondecomp.data import MiniBatches, Vocabulary, check_tokens, is_text
from aesara_nondecomp.data.text import check_texts
from aesara_nondecomp.data.tokens import used_width
from aesara_nondecomp.training.recipes import Problem, recipe_for

pytest.importorskip("nltk")

TEXTS = ["Good day, good people :-)", "bad day", "GOOD 😀 café", "", "soooooooo bad", "bad"]


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary.learn(TEXTS, min_count=2)


def test_words_are_learned_by_falling_frequency_and_rare_ones_become_unknown(vocabulary):
    assert vocabulary.words == ("bad", "good", "day")
    assert len(vocabulary) == 5
    ids = vocabulary.transform(["bad news", "good"])
    assert ids.dtype == np.int32
    np.testing.assert_array_equal(ids, [[2, 1], [3, 0]])


def test_tweets_are_split_at_emoji_smileys_handles_and_tags(vocabulary):
    text = "Soooooo HAPPY 😀👍🏽 @user http://t.co/a #great :-) don't"
    expected = ["sooo", "happy", "😀", "👍🏽", "@user", "http://t.co/a", "#great", ":-)", "don't"]
    assert vocabulary.tokens(text) == expected


def test_composed_and_decomposed_letters_are_one_word(vocabulary):
    assert vocabulary.tokens("cafe\u0301") == vocabulary.tokens("caf\u00e9")


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "😀", "日本語", "a", "\x00", "\ud800"])
def test_any_string_is_a_row_of_ids(vocabulary, text):
    ids = vocabulary.transform([text, "bad day"])
    assert ids.shape[0] == 2 and ids.min() >= 0 and ids.max() < len(vocabulary)


def test_a_set_of_empty_texts_has_one_column_of_padding(vocabulary):
    np.testing.assert_array_equal(vocabulary.transform(["", ""]), [[0], [0]])


def test_long_texts_are_cut_and_rare_words_left_out_on_request():
    vocabulary = Vocabulary.learn(TEXTS, min_count=1, max_words=2, max_tokens=3)
    assert vocabulary.transform(["good day good people"]).shape == (1, 3)
    assert vocabulary.words == ("bad", "good")


def test_a_vocabulary_survives_json(vocabulary):
    again = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again == vocabulary
    np.testing.assert_array_equal(again.transform(TEXTS), vocabulary.transform(TEXTS))
    with pytest.raises(ValueError, match="stored vocabulary must name its tokeniser, words"):
        Vocabulary.from_dict({"words": "bad"})
    with pytest.raises(ValueError, match="stored vocabulary must name its tokeniser, words and max_tokens"):
        Vocabulary.from_dict({"tokeniser": "tweets", "words": ["bad"]})


BAD = {
    "a bare string": ("good day", "list of str, got str"),
    "bytes": (b"good", "list of str, got bytes"),
    "None": (None, "list of str, got NoneType"),
    "None inside": (["good", None], "got NoneType 'None' at position 1"),
    "bytes inside": (["good", b"bad"], "got bytes .* at position 1"),
    "a number inside": (["good", 3.5], "got float '3.5' at position 1"),
    "numbers": ([1, 2], "got int '1' at position 0"),
    "no text": ([], "at least one str"),
}


@pytest.mark.parametrize("name", BAD)
def test_input_that_is_no_list_of_strings_gets_one_clear_error(vocabulary, name):
    texts, message = BAD[name]
    for use in (Vocabulary.learn, vocabulary.transform, lambda texts: fit(texts, [0, 1], network="lstm")):
        with pytest.raises(ValueError, match=message):
            use(texts)


def test_texts_without_any_word_cannot_be_learned_from():
    with pytest.raises(ValueError, match="2 texts that are all empty"):
        fit(["", "  "], [0, 1], validation=None)
    with pytest.raises(ValueError, match="some word must occur min_count = 2 times"):
        Vocabulary.learn(["one", "two"])


def test_text_is_told_from_features():
    assert all(map(is_text, (["a", "b"], np.array(["a"]), ("", "a"), [None, "a"], "a", b"a")))
    assert not any(map(is_text, (np.zeros((2, 2)), [[1, 2]], [["a", "b"]], [1.5], np.zeros(3), None, {"a": 1})))


def test_asking_whether_an_iterator_is_text_takes_nothing_from_it():
    texts = iter(["a", "b"])
    assert not is_text(texts) and list(texts) == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "message"),
    [([[0, 9]], "must lie in \\[0, 5\\)"), ([[-1]], "must lie in"), ([[0.5]], "whole numbers"), ([1, 2], "matrix")],
)
def test_ids_that_the_network_does_not_know_are_refused(ids, message):
    with pytest.raises(ValueError, match=message):
        check_tokens(ids, 5)


# -- batches ---------------------------------------------------------------------------------------------------------


def tokens(n=300, width=24, seed=0):
    """Ids whose first column numbers the rows, of random lengths; and signs."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, width + 1, size=n)
    ids = np.where(np.arange(width) < lengths[:, None], 1, 0).astype("int32")
    ids[:, 0] = np.arange(1, n + 1)
    return ids, np.where(rng.random(n) < 0.4, 1, -1)


def copied(batch):
    return batch._replace(X=batch.X.copy(), y=batch.y.copy())


def test_every_row_comes_once_per_epoch_with_its_own_label():
    ids, signs = tokens()
    batches = MiniBatches(ids, signs, 16, 0)
    # Rows are exchanged within chunks of 16 batches; 304 batches are 16 epochs of 19 and whole chunks as well.
    seen = [copied(next(batches)) for _ in range(304)]
    numbers = np.concatenate([batch.X[: batch.rows, 0] for batch in seen])
    np.testing.assert_array_equal(np.bincount(numbers), [0] + [16] * 300)
    for batch in seen:
        assert batch.y.dtype == np.float32
        np.testing.assert_array_equal(batch.y[: batch.rows], signs[batch.X[: batch.rows, 0] - 1])
        assert (batch.X[batch.rows :] == 0).all() and (batch.y[batch.rows :] == 0).all()


def test_batches_hold_rows_of_like_length_and_are_cut_to_the_longest():
    ids, signs = tokens(2000)
    batches = MiniBatches(ids, signs, 16, 0)
    seen = [next(batches).X.copy() for _ in range(112)]
    assert {X.shape[1] for X in seen} == {8, 16, 24}
    assert np.mean([np.ptp(np.count_nonzero(X, axis=1)) for X in seen]) < 4


def test_batches_by_length_continue_from_a_stored_state_to_the_same_rows():
    ids, signs = tokens()
    batches = MiniBatches(ids, signs, 32, 0)
    for _ in range(13):
        next(batches)
    state = json.loads(json.dumps(batches.state()))
    expected = [next(batches).X[:, 0].copy() for _ in range(40)]
    again = MiniBatches(ids, signs, 32, 99)
    again.restore(state)
    np.testing.assert_array_equal([next(again).X[:, 0].copy() for _ in range(40)], expected)


def test_balanced_batches_of_tokens_keep_their_shares():
    ids, signs = tokens()
    batch = next(MiniBatches(ids, signs, 10, 0, sampler="balanced", dtype="float64"))
    assert (batch.y > 0).sum() == 5 and batch.y.dtype == np.float64


@pytest.mark.parametrize(("longest", "width"), [(1, 8), (8, 8), (9, 16), (17, 20), (20, 20), (0, 8)])
def test_the_used_width_is_that_of_the_longest_row_in_steps_of_eight(longest, width):
    ids = np.zeros((3, 20), dtype="int32")
    ids[1, :longest] = 7
    assert used_width(ids) == width


# -- fit -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.5
    texts = [" ".join(rng.permutation(["today", "was", "a", "great" if good else "awful", "day"])) for good in y]
    model = fit(texts, y, "kld", network="lstm", steps=60, batch_size=50, seed=0, validation=0.2)
    return texts, y, model


def test_fit_takes_a_list_of_strings_and_predicts_from_one(trained):
    texts, y, model = trained
    assert (model.predict(texts) == y).mean() > 0.98
    assert model.predict(["a great day"])[0] and not model.predict(["an awful day"])[0]
    assert model.predict([""]).shape == (1,)
    assert model.network_description["vocabulary_size"] == len(model.encoder.vocabulary) == 8


def test_a_saved_text_model_brings_its_vocabulary(trained, tmp_path):
    texts, _, model = trained
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.encoder.vocabulary == model.encoder.vocabulary
    np.testing.assert_array_equal(again.decision_function(texts), model.decision_function(texts))


def test_token_ids_give_the_scores_of_their_texts(trained):
    texts, _, model = trained
    ids = model.encoder.vocabulary.transform(texts)
    np.testing.assert_array_equal(model.decision_function(ids), model.decision_function(texts))
    with pytest.raises(ValueError, match="must lie in"):
        model.decision_function(ids + 10)
    with pytest.raises(ValueError, match="list of str"):
        model.decision_function([None, "day"])


def test_texts_and_a_network_of_ones_own_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match="takes token ids: Vocabulary.transform"):
        fit(["good day", "bad day"], [1, 0], network=networks.lstm(5, 2, 2))
    with pytest.raises(ValueError, match="unknown network 'lstn'. Did you mean 'lstm'"):
        fit(["good day", "bad day"], [1, 0], network="lstn")


def test_texts_and_their_ids_are_trained_by_the_recipe_for_text(trained):
    texts, y, _ = trained
    vocabulary, skewed = Vocabulary.learn(texts), np.arange(200) < 50
    recipe = recipe_for("kld", Problem(0.25, 0.5 / 200, text=True))
    common = {"steps": 2, "batch_size": 200, "seed": 0, "validation": None}
    network = networks.lstm(len(vocabulary))
    by_recipe = fit(texts, skewed, "kld", network="lstm", algorithm=recipe, **common)
    of_texts = fit(texts, skewed, "kld", network="lstm", **common)
    of_ids = fit(vocabulary.transform(texts), skewed, "kld", network=network, **common)
    for model in (of_texts, of_ids):
        for one, other in zip(model.parameters, by_recipe.parameters):
            np.testing.assert_array_equal(one, other)


def test_training_on_texts_resumes_from_a_checkpoint_to_the_same_bits(trained, tmp_path):
    texts, y, _ = trained
    common = {"network": "lstm", "batch_size": 50, "seed": 3, "checkpoint": tmp_path / "run.npz"}
    fit(texts, y, "kld", steps=30, on_step=lambda step: step.step == 13, **common)
    resumed = fit(texts, y, "kld", steps=30, **{**common, "checkpoint": Checkpoint(common["checkpoint"], resume=True)})
    straight = fit(texts, y, "kld", steps=30, **{**common, "checkpoint": tmp_path / "other.npz"})
    for one, other in zip(resumed.parameters, straight.parameters):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("table", [{"text": ["good", "bad"]}, {"good", "bad"}])
def test_a_table_of_texts_is_no_list_of_them(table):
    """Its one text would be the name of its column; a set has no order."""
    with pytest.raises(ValueError, match="of a table, pass its column of texts"):
        check_texts(table)
