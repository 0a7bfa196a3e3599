"""Networks of one's own: what does not fit the rows, or does not score each by itself, is refused before training."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import MeasureClassifier, Network, TrainFunctions, networks
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.training.network_probe import check_scores

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)).astype("float32")
Y = X[:, 0] > 0.5
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])


def own(n_scores=1, columns=5, dtype="float32", inputs="float32", change=lambda scores: scores):
    """A linear network, whose first weights are 0."""
    rows, W = at.matrix("rows", dtype=inputs), aesara.shared(np.zeros((columns, n_scores), dtype))
    return Network(rows, change(at.dot(rows.astype(dtype), W)), [W])


REFUSED = {
    "weights of more rows than columns": (lambda: own(columns=7), "cannot score rows of 5 columns and dtype float32"),
    "two scores": (lambda: own(n_scores=2), r"one score for a row, of shape \(b,\) or \(b, 1\), got '2 scores'"),
    "a row of scores": (lambda: own(change=lambda scores: scores.T), "cannot score rows.*return one row of scores"),
    "scores of another dtype": (
        lambda: own(dtype="float64"),
        "input must be float64, as its scores are, got 'float32'",
    ),
    "scores less their mean": (lambda: own(change=lambda scores: scores - scores.mean()), "rows are in its batch"),
    "the first rows alone": (lambda: own(change=lambda scores: scores[:2]), "cannot score rows.*return one row of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_network_of_ones_own_that_does_not_fit_is_refused_before_training(name):
    make, message = REFUSED[name]
    with pytest.raises(ValueError, match=message) as refused:
        an.fit(X, Y, "f1", network=make(), steps=3, on_step=lambda step: pytest.fail("a step was made"))
    assert "Apply node" not in str(refused.value)


def test_of_several_classes_and_labels_too():
    with pytest.raises(ValueError, match="cannot score rows of 5 columns"):
        an.fit(X, CLASSES, "macro_f1", network=own(n_scores=3, columns=7), steps=3)
    with pytest.raises(ValueError, match="rows are in its batch"):
        coupled = own(n_scores=3, change=lambda scores: scores - scores.mean(axis=0))
        an.fit(X, CLASSES, "macro_f1", network=coupled, steps=3)
    with pytest.raises(ValueError, match="2 labels need a Network with as many scores"):
        an.fit(X, np.column_stack([Y, ~Y, Y])[:, :2].astype(int), "macro_f1", network=own(n_scores=3), steps=3)


def batch_normalised():
    """By the rows of the batch, of which the last one has a variance of 0 alone."""
    rows, W = at.matrix("rows", dtype="float32"), aesara.shared(np.zeros((5, 1), "float32"))
    return Network(rows, at.dot((rows - rows.mean(0)) / rows.std(0), W), [W])


def test_normalisation_by_the_batch_is_refused():
    with pytest.raises(ValueError, match="Statistics of a batch, as of batch normalisation, belong in training_scores"):
        check_scores(TrainFunctions(batch_normalised()), X, 1, "")


def undescribed(network):
    """A network of the package, as if it were one's own."""
    return Network(
        network.inputs,
        network.scores,
        network.parameters,
        training_scores=network.training_scores,
        streams=network.streams,
        lookups=network.lookups,
    )


def random_scores():
    rows, W = at.matrix("rows", dtype="float32"), aesara.shared(np.zeros((5, 1), "float32"))
    kept = at.random.utils.RandomStream(0).bernoulli(0.5, size=rows.shape).astype("float32")
    return Network(rows, at.dot(kept * rows, W), [W])


TEXTS = np.where(np.arange(12) < RNG.integers(1, 12, size=(60, 1)), RNG.integers(1, 9, size=(60, 12)), 0).astype(
    "int32"
)
ACCEPTED = {
    "dropout": (lambda: undescribed(networks.mlp(5, (4,), dropout=0.5)), X),
    "an LSTM on padded texts": (lambda: undescribed(networks.lstm(9, 4, 4)), TEXTS),
    "attention on padded texts": (lambda: undescribed(networks.attention(9)), TEXTS),
    "a batch in training": (
        lambda: Network((n := batch_normalised()).inputs, at.dot(n.inputs, n.parameters[0]), n.parameters,
                        training_scores=n.scores), X),
    "columns of large numbers": (lambda: undescribed(networks.mlp(5, (4,))), 1e6 + 1e5 * X),
    "scores that are random": (random_scores, X),
    "no rows": (own, X[:0]),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_random_or_padded_or_coupled_in_training_alone_is_accepted(name):
    make, rows = ACCEPTED[name]
    functions = TrainFunctions(make())
    before = functions.parameters()
    check_scores(functions, rows, 1, "")
    assert all(np.array_equal(a, b) for a, b in zip(before, functions.parameters()))


def test_a_network_of_the_package_compiles_nothing_for_it(monkeypatch):
    functions = TrainFunctions(networks.mlp(5, (4,)))
    monkeypatch.setattr(functions, "scores", lambda *_, **__: pytest.fail("scored"))
    check_scores(functions, X, 1, "")


def test_an_estimator_says_what_its_network_must_be():
    with pytest.raises(ValueError, match="the network function must return a Network, got 3"):
        MeasureClassifier("f1", network=lambda columns: 3, steps=3).fit(X, Y)
    with pytest.raises(ValueError, match="or a function that makes a new Network for a number of columns"):
        MeasureClassifier("f1", network=own(), steps=3).fit(X, Y)
