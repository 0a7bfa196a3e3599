"""What tells measures apart: two different ones never stand under one text."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Averaged, multiclass
from aesara_nondecomp.measures.identity import by_text, identity


def own(name, weight):
    """A measure of one's own: a weighted accuracy."""
    return measures.pseudolinear(name, (0, weight, 1 - weight), (1, 0, 0))


class Hits(multiclass.MulticlassMeasure):
    """A measure of K classes of one's own, which does not say in its text what it weighs."""

    name = "hits"

    def __init__(self, power):
        self.power = power

    def _value(self, R, cells, eps):  # noqa: N803 -- of the method
        return np.sum(cells.hits(R) ** self.power)


def test_measures_come_once_each_by_their_texts_in_their_order():
    beta = measures.get("fbeta", beta=2)
    assert by_text([beta, measures.get("f1"), measures.FBeta(2)]) == {"fbeta(beta=2)": beta, "f1": measures.get("f1")}


@pytest.mark.parametrize("of", [lambda measure: measure, Averaged], ids=["two classes", "several labels"])
def test_two_different_measures_of_one_text_are_refused(of):
    with pytest.raises(ValueError, match="texts that tell them apart, got '.*cost' twice"):
        by_text([of(own("cost", 0.2)), of(own("cost", 0.3))])


def test_equal_measures_of_ones_own_are_one_although_their_functions_are_two():
    first, second = (measures.pseudolinear("cost", lambda p: (0, p, 1 - p), (1, 0, 0)) for _ in range(2))
    assert first != second and by_text([first, second]) == {"cost": first}
    assert by_text([Hits(2), Hits(2)]).keys() == {"hits"}


@pytest.mark.parametrize("measure", [*map(measures.catalogue.example, measures.names()),
                                     *map(multiclass.example, multiclass.names()), multiclass.get("worst_cell"),
                                     measures.get("recall"), Averaged("f1", "micro")], ids=str)  # fmt: skip
def test_a_measure_of_the_catalogue_is_known_by_its_text_as_in_checkpoints_of_former_releases(measure):
    assert identity(measure) == str(measure)


CONCAVE = [
    (lambda P, N, p: P + N, lambda P, N, p: (1.0, 1.0)),
    (lambda P, N, p: P + N, lambda P, N, p: (1.0, 1.0 + 1e-6)),
    (lambda P, N, p: P + p * N, lambda P, N, p: (1.0, p)),
]
DIFFERENT = {
    "coefficients": [own("cost", 0.2), own("cost", 0.3)],
    "scale": [measures.pseudolinear("cost", (0, k, k), (2 * k, 0, 0)) for k in (1, 2)],
    "functions": [measures.user.UserConcave("cost", *functions) for functions in CONCAVE],
    "direction": [measures.user.UserConcave("cost", *CONCAVE[0], better) for better in (True, False)],
    "several labels": [Averaged(own("cost", 0.2)), Averaged(own("cost", 0.3)), Averaged(own("cost", 0.3), "micro")],
    "several classes": [Hits(2), Hits(3)],
    "of the catalogue and not": [measures.get("f1"), measures.user.UserPseudolinear("f1", (0, 1, 1), (2, 0, 0))],
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_different_measures_have_different_identities(case):
    assert len(set(map(identity, DIFFERENT[case]))) == len(DIFFERENT[case])


def test_the_identity_of_a_measure_is_that_of_its_copy():
    assert identity(pickle.loads(pickle.dumps(own("cost", 0.2)))) == identity(own("cost", 0.2))


def test_a_measure_that_is_undefined_at_points_has_an_identity():
    def value(P, N, p):  # noqa: N803 -- of the interface
        if P > 0.9:
            raise ZeroDivisionError
        return P

    measure = measures.user.UserConcave("edge", value, lambda P, N, p: (1.0, 0.0))
    assert identity(measure).startswith("edge [")
