"""Bad input to an estimator is one clear error, whatever method meets it, before anything is compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

pytest.importorskip("sklearn", reason="the estimators need the extra `sklearn`")

from sklearn.exceptions import DataConversionWarning, NotFittedError  # noqa: E402

from aesara_nondecomp import MeasureClassifier, TrainFunctions, linear, measures  # noqa: E402
from aesara_nondecomp.metrics.quantification import Calibration, Quantifier  # noqa: E402
from aesara_nondecomp.models.model import Model  # noqa: E402

pytestmark = pytest.mark.usefixtures("nothing_may_be_compiled")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)).round(3)
Y = np.where(np.arange(40) < 12, 1, 0)
NAN, INFINITE = X.copy(), X.copy()
NAN[3, 1], INFINITE[5, 0] = np.nan, np.inf


# -- fit and partial_fit ---------------------------------------------------------------------------------------------

DATA = [
    ({"y": np.ones(40, int)}, "exactly two classes, got 1"),
    ({"y": np.arange(40) % 3}, "Only binary classification is supported.*multiclass.*OneVsRestClassifier"),
    ({"X": np.tile(X, (2, 1)), "y": np.arange(80) % 25}, "Only binary classification"),  # and no warning beside it
    ({"y": np.ones((40, 2), int)}, "y should be a 1d array, got an|rows without each label|takes one label a row"),
    ({"y": Y[:30]}, "got 40 rows of features and 30 labels"),
    ({"y": []}, "got 40 rows of features and 0 labels"),
    ({"y": np.where(Y, 1.0, np.nan)}, "y contains NaN"),
    ({"y": np.linspace(0, 1, 40)}, "Unknown label type"),
    ({"y": None}, "y should be a 1d array"),
    ({"X": NAN}, "X contains NaN"),
    ({"X": INFINITE}, "X contains infinity"),
    ({"X": scipy.sparse.csr_matrix(NAN)}, "X contains NaN"),
    ({"X": np.empty((0, 3)), "y": []}, r"0 sample\(s\)"),
    ({"X": X[:1], "y": Y[:1]}, r"1 sample\(s\).*minimum of 2"),
    ({"X": np.empty((40, 0))}, r"0 feature\(s\)"),
    ({"X": np.array([["a", "b", "c"]] * 40)}, "not compatible with arrays of bytes/strings"),
    ({"X": np.array([[{}, 1, 2]] * 40, dtype=object)}, "must be a string or a (real )?number, not 'dict'"),
    ({"X": X + 1j}, "Complex data not supported"),
    ({"X": X[:, 0]}, "Expected 2D array, got 1D array"),
    ({"X": 3.0}, "Expected 2D array, got scalar"),
    ({"X": [[1, 2, 3], [4, 5]] * 20}, "inhomogeneous"),
    ({"sample_weight": -np.ones(40)}, "sample_weight must be finite and not negative"),
    ({"sample_weight": np.ones(39)}, r"sample_weight.shape == \(39,\)"),
    ({"sample_weight": np.full(40, np.nan)}, "contains NaN"),
    ({"sample_weight": Y.astype(float)}, "class"),
    ({"sample_weight": np.zeros(40)}, "class|zero"),
]  # fmt: skip

PARAMETERS = [
    ({"measure": "f11"}, "unknown measure 'f11'. Did you mean 'f1'"),
    ({"measure": 3}, "by its name or as a Measure, got 3"),
    ({"measure": None}, "by its name or as a Measure, got None"),
    ({"measure": "gtppr"}, "no driver trains gtppr directly. Train on 'f1'"),
    ({"measure": "f1", "algorithm": "duple"}, "'duple' cannot train for f1.*Use 'dame'"),
    ({"algorithm": "duplle"}, "unknown algorithm 'duplle'. Did you mean 'duple'"),
    ({"network": "mpl"}, "unknown network 'mpl'. Did you mean 'mlp'"),
    ({"hidden": 8}, r"hidden must be a sequence of widths, such as \(64, 64\), got 8"),
    ({"hidden": (8, 0)}, "a hidden width must be a whole number of at least 1, got 0"),
    ({"activation": "rleu"}, "unknown activation 'rleu'. Did you mean 'relu'"),
    ({"dropout": 1.0}, r"dropout must lie in \[0, 1\)"),
    ({"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
    ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1, got 2.5"),
    ({"optimizer": "addam"}, "unknown optimiser 'addam'. Did you mean 'adam'"),
    ({"learning_rate": 0}, "learning_rate must be a positive finite number, got 0"),
    ({"learning_rate": "fast"}, "learning_rate must be a positive finite number, got 'fast'"),
    ({"averaging": 1.0}, r"averaging must lie in \[0, 1\)"),
    ({"l2": -1}, "l2 must be a finite number of at least 0"),
    ({"sampler": "stratifed"}, "Did you mean 'stratified'"),
    ({"prior": 0.0}, "prior must lie strictly between 0 and 1, got 0.0"),
    ({"prior": 1.0}, "prior must lie strictly between 0 and 1"),
    ({"prior": "half"}, "prior must lie strictly between 0 and 1, got 'half'"),
    ({"pos_label": 7}, "pos_label must be one of the two labels, got 7"),
    ({"dtype": "float16"}, "unknown dtype 'float16'"),
    ({"random_state": "seed"}, "random_state must be an integer"),
]  # fmt: skip

PARAMETERS_OF_FIT = [
    ({"steps": 0}, "steps must be a whole number of at least 1, got 0"),
    ({"steps": 1.5}, "steps must be a whole number of at least 1, got 1.5"),
    ({"schedule": "cosin"}, "unknown schedule 'cosin'. Did you mean 'cosine'"),
    ({"validation": 1.5}, "validation must be 'auto', 'last', a share.* got 1.5"),
    ({"validation": 1}, "a number of folds of at least 2, .* got 1"),
    ({"validation": 13}, "13 folds"),
    ({"validation": "first"}, "validation must be 'auto', 'last', .* got 'first'"),
    ({"validation": None, "patience": 5}, "patience needs"),
    ({"validation": None, "refit": True}, "refit needs rows held out: set validation"),
    ({"validation": 0.5, "patience": 0}, "patience must be a whole number of at least 1"),
    ({"validation": None, "tune_threshold": True}, "tune_threshold needs held-out rows.*set validation"),
    ({"resume": True}, "resume needs a checkpoint"),
    ({"on_step": 3}, "on_step must be a callable"),
]  # fmt: skip


def short(value):
    return str(value)[:50].replace("\n", " ")


FILES = "parts/*.parquet"


@pytest.mark.parametrize("strange, message", [
    ((row for row in X), r"X must be an array, got a generator.*Pass list\(...\)"),
    (FILES, r"files of a table are for fit\(path, target=...\)"),
    (Path("train.csv"), r"An estimator reads no files: give a data frame.* or use fit\(path, target=...\)"),
])  # fmt: skip
def test_what_are_no_rows_in_memory_is_refused_with_the_remedy(strange, message):
    with pytest.raises(ValueError, match=message):
        MeasureClassifier("f1").fit(strange, None if strange is FILES else Y)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("changes, message", DATA, ids=short)
def test_bad_data_are_refused(method, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(MeasureClassifier(steps=5), method)(**{"X": X, "y": Y, **changes})


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("changes, message", PARAMETERS, ids=short)
def test_bad_parameters_are_refused(method, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(MeasureClassifier(**{"steps": 5, **changes}), method)(X, Y)


@pytest.mark.parametrize("changes, message", PARAMETERS_OF_FIT, ids=short)
def test_bad_parameters_of_fit_alone_are_refused(changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        MeasureClassifier(**{"steps": 5, **changes}).fit(X, Y)


def test_an_unknown_parameter_is_a_type_error_and_set_params_names_the_known():
    with pytest.raises(TypeError, match="stepz"):
        MeasureClassifier(stepz=5)
    with pytest.raises(ValueError, match="Invalid parameter 'stepz'.*Valid parameters are"):
        MeasureClassifier().set_params(stepz=5)


def test_a_column_of_labels_is_taken_with_scikit_learns_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"), pytest.raises(AssertionError):
        MeasureClassifier(steps=5).fit(X, Y[:, None])


@pytest.mark.parametrize("rows, message", [
    ((NAN, Y), "X contains NaN"),
    ((X[:, :2], Y), "2 features, but MeasureClassifier is expecting 3"),
    ((X, Y[:30]), "same number of rows"),
    ((X, Y + 1), "labels must be 0 or 1, as in training"),
    ((X[:12], Y[:12]), "rows of both classes"),
    ((X, Y[:, None] * np.ones(2)), "y should be a 1d array"),
])  # fmt: skip
def test_bad_validation_rows_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        MeasureClassifier(steps=5).fit(X, Y, validation=rows)


@pytest.mark.parametrize("share", [0.2, "half", (X, Y, Y)])
def test_validation_rows_of_fit_must_be_a_pair(share):
    with pytest.raises(ValueError, match=r"a pair \(X, y\); a share is a parameter"):
        MeasureClassifier(steps=5).fit(X, Y, validation=share)


@pytest.mark.parametrize("flag, values", [
    ("warm_start", "True or False"), ("resume", "True or False"), ("refit", "True or False"),
    ("tune_threshold", "True, False or 'auto'"),
])  # fmt: skip
def test_a_flag_must_be_true_or_false(flag, values):
    with pytest.raises(ValueError, match=f"{flag} must be {values}, got 'no'"):
        MeasureClassifier(steps=5, **{flag: "no"}).fit(X, Y)


@pytest.mark.parametrize("groups, validation, message", [
    (np.arange(30), "auto", r"validation_groups must hold one value per row, shape \(40,\), got \(30,\)"),
    (np.arange(40), None, "validation_groups need rows to hold out"),
    (np.arange(40), (X, Y), "validation_groups need rows to hold out"),
])  # fmt: skip
def test_bad_groups_are_refused(groups, validation, message):
    estimator = MeasureClassifier(validation=None if validation is None else "auto")
    rows = validation if isinstance(validation, tuple) else None
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, Y, validation=rows, validation_groups=groups)


@pytest.mark.parametrize("arguments, message", [
    ({"classes": [0, 1, 2]}, "two known classes, got"),
    ({"classes": [1, 2]}, r"two known classes, got \[0\] beside \[1, 2\]"),
])  # fmt: skip
def test_partial_fit_refuses_classes_that_are_not_the_two(arguments, message):
    with pytest.raises(ValueError, match=message):
        MeasureClassifier().partial_fit(X, Y, **arguments)


@pytest.mark.parametrize("network", ["linear", linear])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_options_of_the_mlp_are_refused_beside_another_network(method, network):
    with pytest.raises(ValueError, match=r"does not take hidden=\(8,\), dropout=0.5"):
        getattr(MeasureClassifier(network=network, hidden=(8,), dropout=0.5), method)(X, Y)


def test_partial_fit_refuses_a_recipe_of_several_phases():
    with pytest.raises(ValueError, match="needs a recipe of one phase.*a default algorithm"):
        MeasureClassifier(algorithm="paper").partial_fit(X, Y)


# -- predict and its like --------------------------------------------------------------------------------------------


def untrained():
    """A fitted estimator without the cost of one."""
    estimator = MeasureClassifier(network="linear")
    functions = TrainFunctions(linear(3))
    estimator.model_ = Model(functions, functions.parameters(), measures.get("f1"), (0, 1), 0.3)
    estimator.model_.quantifier = Quantifier(0.0, Calibration(1.0, 0.0), 0.3, 0.9, 0.1, 0.8, 0.2)
    estimator.classes_, estimator.n_features_in_ = np.array([0, 1]), 3
    return estimator


FEATURES = [
    (X[:, :2], "X has 2 features, but MeasureClassifier is expecting 3 features"),
    (X[0], "Expected 2D array, got 1D array"),
    (NAN, "X contains NaN"),
    (INFINITE, "X contains infinity"),
    (np.empty((0, 3)), r"0 sample\(s\)"),
    (np.array([["a", "b", "c"]]), "not compatible with arrays of bytes/strings"),
    (np.array([[{}, 1, 2]], dtype=object), "must be a string or a (real )?number, not 'dict'"),
    (scipy.sparse.csr_matrix(X[:, :2]), "X has 2 features"),
    (None, "Expected 2D array|NoneType"),
]  # fmt: skip
METHODS = ["predict", "decision_function", "predict_proba", "predict_prevalence", "score"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("features, message", FEATURES, ids=short)
def test_bad_features_are_refused_whatever_is_asked(method, features, message):
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(untrained(), method)(features, *([Y] if method == "score" else []))


@pytest.mark.parametrize("method", METHODS)
def test_an_estimator_that_was_not_fitted_says_so(method):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(MeasureClassifier(), method)(X, *([Y] if method == "score" else []))


@pytest.mark.parametrize("call", [
    lambda estimator, y, gap: estimator.fit(X, gap(y)),
    lambda estimator, y, gap: estimator.partial_fit(X, gap(y)),
    lambda estimator, y, gap: estimator.partial_fit(X, y, classes=[0, gap(y)[3]]),
    lambda estimator, y, gap: estimator.set_params(pos_label=gap(y)[3]).fit(X, y),
], ids=["fit", "partial_fit", "classes", "pos_label"])  # fmt: skip
def test_missing_values_of_pandas_are_refused_as_labels(call):
    pandas = pytest.importorskip("pandas")

    def gap(values):
        return np.where(np.arange(len(values)) == 3, pandas.NA, np.asarray(values, dtype=object))

    with pytest.raises(ValueError, match="(must not be missing|must be one of the two labels), got <NA>"):
        call(MeasureClassifier(steps=2), np.asarray(Y), gap)
