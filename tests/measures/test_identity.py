"""What tells measures apart: two different ones never stand under one text."""

from __future__ import annotations

import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.measures.identity import by_text


def own(name, weight):
    """A measure of one's own: a weighted accuracy."""
    return measures.pseudolinear(name, (0, weight, 1 - weight), (1, 0, 0))


def test_measures_come_once_each_by_their_texts_in_their_order():
    beta = measures.get("fbeta", beta=2)
    assert by_text([beta, measures.get("f1"), measures.FBeta(2)]) == {"fbeta(beta=2)": beta, "f1": measures.get("f1")}


@pytest.mark.parametrize("of", [lambda measure: measure, Averaged], ids=["two classes", "several labels"])
def test_two_different_measures_of_one_text_are_refused(of):
    with pytest.raises(ValueError, match="texts that tell them apart, got '.*cost' twice"):
        by_text([of(own("cost", 0.2)), of(own("cost", 0.3))])
