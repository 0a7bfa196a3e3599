"""A keyword of another library is answered by what does its work here, and where it is given."""

import inspect

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimator needs the extra `sklearn`")

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp.training import foreign_parameters as foreign  # noqa: E402

X, Y = np.ones((20, 2)), np.arange(20) % 2


def fit(**more):
    an.fit(X, Y, **more)


def make(**more):
    an.MeasureClassifier(**more)


def fit_classifier(**more):
    an.MeasureClassifier().fit(X, Y, **more)


ANSWERS = [
    (("class_weight", "pos_weight", "scale_pos_weight"), (fit, make, fit_classifier), "`sample_weight` weighs rows"),
    (("eval_set", "validation_fraction"), (fit, make, fit_classifier), "`validation` takes"),
    (("n_estimators",), (fit, make, fit_classifier), "`steps` says how long"),
    (("early_stopping_rounds",), (fit, make, fit_classifier), "patience"),
    (("random_state",), (fit,), "`seed` here"),
    (("seed",), (make, fit_classifier), "`random_state` here"),
    (("steps", "random_state", "measure"), (fit_classifier,), "one of the classifier itself"),
    (("sample_weight",), (make,), "the method fit"),
]


@pytest.mark.parametrize(
    "function, name, answer",
    [(function, name, answer) for names, functions, answer in ANSWERS for name in names for function in functions],
)
def test_a_keyword_of_another_library_is_answered_by_what_does_its_work(function, name, answer):
    with pytest.raises(TypeError, match=f"has no parameter '{name}': ") as told:
        function(**{name: 1})
    assert answer in str(told.value)


@pytest.mark.parametrize("table, function", [
    (foreign.OF_FIT, an.fit), (foreign.OF_CLASSIFIER, an.MeasureClassifier.__init__),
])  # fmt: skip
def test_no_keyword_that_is_taken_is_called_foreign(table, function):
    assert not set(table) & set(inspect.signature(function).parameters)
