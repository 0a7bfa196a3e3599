"""The demo's trees read categories and missing cells as such, and are tuned on rows that they are not trained on."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.data import Dataset
from benchmarks import trees

RNG = np.random.default_rng(0)
N_ROWS = 800
COLOUR = RNG.choice(np.array(["red", "green", "blue", None], dtype=object), N_ROWS)
AGE = RNG.integers(20, 60, N_ROWS)
Y = ((COLOUR == "red") | (COLOUR == "blue") & (AGE > 40)).astype(np.uint8)


def loaded(test_colours):
    test = {"age": np.full(len(test_colours), 30), "colour": np.array(test_colours, dtype=object)}
    y_test = np.array([colour == "red" for colour in test_colours], dtype=np.uint8)
    return Dataset("toy", {"age": AGE, "colour": COLOUR}, Y, test, y_test, None, None, "none")


def test_categories_are_learned_and_an_unseen_one_is_scored(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr(trees, "CONFIGURATIONS", ({"iterations": 20}, {"iterations": 20, "leaves": 7}))
    toy = loaded(["red", "green", None, "violet"])
    found, held_signs = trees.train_trees(toy, seed=0)
    assert len(found) == 2 and len(held_signs) == N_ROWS // 5
    for each in found:
        assert np.isfinite(each.scores).all() and each.scores[0] > 0 > each.scores[1:3].max()
    assert trees.value_of_best(measures.get("f1"), found, np.array([1, -1, -1, -1]), held_signs) == pytest.approx(1)


@pytest.mark.parametrize("name", ["f1", "kld"])
def test_the_held_rows_choose_configuration_and_threshold_whatever_the_test_part_says(name):
    held_signs, signs = np.array([1, 1, -1, -1]), np.array([1, -1, -1, -1])
    good = trees.Trees(scores=np.array([-5.0, 1.0, 1.0, 1.0]), held_scores=np.array([2.0, 1.0, -1.0, -2.0]))
    bad = trees.Trees(scores=np.array([5.0, -5.0, -5.0, -5.0]), held_scores=np.zeros(4))
    measure = measures.get(name)
    value = trees.value_of_best(measure, [bad, good], signs, held_signs)
    perfect = trees.value_of_best(measure, [good._replace(scores=bad.scores)], signs, held_signs)
    assert measure.oriented(value) < measure.oriented(perfect)
