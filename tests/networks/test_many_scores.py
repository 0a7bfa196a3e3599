"""Networks of several scores: each is that of a network of one, and descriptions build them again."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aesara_nondecomp import networks
from aesara_nondecomp._aesara.imports import aesara
from aesara_nondecomp.networks import BUILDERS, Builder, build, make, mlp, parameter_shapes
from aesara_nondecomp.step import TrainFunctions

IN_PYTHON = aesara.compile.mode.Mode(linker="py", optimizer=None)
OPTIONS = {
    "linear": {},
    "mlp": {"hidden": (5, 4)},
    "tabular": {"hidden": (5,), "numeric": (0, 2), "bins": ((1, 0.0, 1.0),), "frequencies": 3, "outputs": 2},
    "lstm": {"embedding": 3, "hidden": 4},
    "attention": {"embedding": 3, "hidden": 4, "alignment": 2, "decoder": 5},
}


def values_of(network):
    return [p.get_value() for p in network.parameters]


def scores_of(network, rows):
    return aesara.function([network.inputs], network.scores, mode=IN_PYTHON)(rows)


def rows_of(name):
    rng = np.random.default_rng(0)
    if networks.takes_tokens(name):
        return np.array([[1, 2, 3], [4, 5, 0], [6, 0, 0], [0, 0, 0]], "int32")
    return rng.normal(size=(6, 7))


@pytest.mark.parametrize("name", OPTIONS)
def test_each_score_is_that_of_a_network_of_one_score_on_the_same_trunk(name):
    several = make(name, 7, "float64", n_scores=3, seed=1, **OPTIONS[name])
    rng = np.random.default_rng(2)
    for p in several.parameters[-2:]:  # a linear network starts at 0
        p.set_value(rng.normal(size=p.get_value().shape))
    *trunk, W, b = values_of(several)
    found = scores_of(several, rows_of(name))
    assert found.shape == (len(rows_of(name)), 3)
    single = make(name, 7, "float64", **OPTIONS[name])
    for k in range(3):
        for p, value in zip(single.parameters, (*trunk, W[:, k : k + 1], b[k : k + 1])):
            p.set_value(value)
        np.testing.assert_allclose(found[:, k : k + 1], scores_of(single, rows_of(name)), rtol=1e-12)


@pytest.mark.parametrize("name", OPTIONS)
def test_they_are_built_again_by_their_descriptions_of_plain_values(name):
    network = make(name, 7, n_scores=4, seed=3, **OPTIONS[name])
    again = build(json.loads(json.dumps(network.description)))
    again.initialise(3)
    for one, other in zip(values_of(again), values_of(network)):
        np.testing.assert_array_equal(one, other)
    assert parameter_shapes(network.description) == [value.shape for value in values_of(network)]
    assert network.n_scores == again.n_scores == 4
    assert network.head is None or [p.get_value().shape[-1] for p in network.head] == [4, 4]
    former = {key: value for key, value in network.description.items() if key != "n_scores"}
    assert build(former).n_scores == 1 and parameter_shapes(former)[-1] == (1,)  # files of version 0.1 say nothing


def test_all_networks_of_the_table_are_tried():
    assert OPTIONS.keys() == BUILDERS.keys()


@pytest.mark.parametrize("n_scores", [0, -1, 2.5, "three", None])
@pytest.mark.parametrize("name", OPTIONS)
def test_a_number_of_scores_that_is_none_is_refused(name, n_scores):
    with pytest.raises(ValueError, match="n_scores must be a whole number"):
        make(name, 7, n_scores=n_scores)


def test_a_builder_of_ones_own_that_makes_one_score_is_refused_for_several(monkeypatch):
    def own(n_features, *, dtype="float32", seed=None):
        return mlp(n_features, (), dtype=dtype, seed=seed)

    monkeypatch.setitem(networks.BUILDERS, "own", Builder(own, "numbers"))
    assert make("own", 3).n_scores == 1
    with pytest.raises(ValueError, match="network='own' has one score: leave n_scores out, got 3"):
        make("own", 3, n_scores=3)


def test_two_classes_refuse_several_scores_before_anything_is_compiled():
    with pytest.raises(ValueError, match=r"one score for a row, or scores of shape \(b,\) or \(b, 1\), got 3"):
        TrainFunctions(mlp(2, n_scores=3))
