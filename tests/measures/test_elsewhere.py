"""A measure that other libraries have is answered by what is near it in meaning, which can be taken as it stands."""

import re

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import measures
from aesara_nondecomp.measures import catalogue, elsewhere, multiclass

ANSWERS = [
    ("auc", "judges the order of all scores", "'gmean'"),
    ("roc_auc", "judges the order of all scores", "'gmean'"),
    ("ROC AUC", "judges the order of all scores", "'gmean'"),
    ("ap", "judges the order of all scores", "'gmean'"),
    ("average_precision", "judges the order of all scores", "'gmean'"),
    ("logloss", 'algorithm="cross_entropy"', "'accuracy'"),
    ("neg_log_loss", 'algorithm="cross_entropy"', "'accuracy'"),
    ("mcc", "both classes", "'gmean'"),
    ("f1_macro", "'macro_f1' of measures.multiclass", "'gmean'"),
    ("precision", "precision >= 0.9", "'recall'"),
    ("specificity", "tnr >= 0.9", "'recall'"),
    ("matthews_corrcoef", "both classes", "'gmean'"),
]


@pytest.mark.parametrize("name, about, first", ANSWERS)
def test_a_measure_of_another_library_is_answered_by_what_is_near_in_meaning(name, about, first):
    with pytest.raises(ValueError, match=re.escape(f"unknown measure {name!r}. It ")) as told:
        measures.get(name)
    assert about in str(told.value) and f"Take {first}" in str(told.value)


def test_f2_is_answered_by_what_trains_it_and_not_by_a_beta_of_one():
    with pytest.raises(ValueError, match=r"It is measures.get\('fbeta', beta=2\), .* Known") as told:
        measures.get("f2")
    assert "Take" not in str(told.value) and measures.get("fbeta", beta=2).beta == 2


def test_a_name_that_is_unknown_is_said_so_for_labels_of_several_classes_too():
    with pytest.raises(ValueError, match="unknown measure 'f1_macro'. It is 'macro_f1'.* Take 'macro_f1'"):
        an.fit(np.ones((30, 1)), np.arange(30) % 3, "f1_macro")
    with pytest.raises(ValueError, match="Did you mean 'macro_f1'"):
        an.fit(np.ones((30, 1)), np.arange(30) % 3, "macrof1")
    with pytest.raises(ValueError, match="labels for 'jaccard' must be of two classes, got 3"):
        an.fit(np.ones((30, 1)), np.arange(30) % 3, "jaccard")


def test_a_function_given_as_a_measure_is_answered_by_what_makes_one_of_it():
    with pytest.raises(ValueError, match=r"got <function .*Make one .*measures.pseudolinear.*Known: min"):
        measures.get(lambda y, predicted: 1.0)


def test_fit_says_the_same_before_any_training():
    y = np.arange(20) % 2 == 0
    with pytest.raises(ValueError, match="It judges the order of all scores"):
        an.fit(np.ones((20, 1)), y, "auc")


def test_of_several_classes_the_answer_is_one_of_those():
    with pytest.raises(ValueError, match="It judges the order of all scores.* Take 'gmean' or 'min_recall'"):
        multiclass.get("auc")


@pytest.mark.parametrize("name", elsewhere.MEASURES)
def test_what_is_offered_is_in_the_catalogue_and_what_is_there_is_not_called_unknown(name):
    known = {*catalogue.FACTORIES, *catalogue.WITH_GROUPS_OR_CONSTRAINTS}
    assert name not in known
    assert set(elsewhere.MEASURES[name].near) <= known | set(multiclass.names())
    assert elsewhere.meaning_of(name, known) != ""


def test_other_names_are_answered_by_their_spelling():
    assert elsewhere.meaning_of("qmeen", measures.names()) == ""
    with pytest.raises(ValueError, match="Did you mean 'qmean'"):
        measures.get("qmeen")
