"""Data frames of every dtype are taken alike by `fit`, the estimator and the models."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the estimator needs the extra sklearn")
pandas = pytest.importorskip("pandas", reason="needs the extra frames")

from aesara_nondecomp import fit  # noqa: E402
from aesara_nondecomp.estimators import MeasureClassifier  # noqa: E402
from aesara_nondecomp.networks import mlp  # noqa: E402

RNG = np.random.default_rng(0)
N = 200
PLAIN = pandas.DataFrame(
    {"a": RNG.normal(size=N), "b": RNG.integers(0, 9, N), "c": RNG.choice(["u", "v"], N), "d": RNG.normal(size=N) > 0}
)
Y = (PLAIN["a"] + (PLAIN["c"] == "u") > 0.5).to_numpy()
SMALL = {"hidden": (4,), "steps": 30, "validation": None, "network": "mlp"}


def arrow(frame):
    pytest.importorskip("pyarrow", reason="Arrow columns need pyarrow")
    return frame.convert_dtypes(dtype_backend="pyarrow")


def dictionaries(frame):
    pyarrow = pytest.importorskip("pyarrow", reason="Arrow columns need pyarrow")
    kind = pandas.ArrowDtype(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    return arrow(frame).assign(c=frame["c"].astype(kind))


# Each holds the numbers of PLAIN.
FRAMES = {
    "Float64": lambda frame: frame.astype({"a": "Float64", "b": "Int64", "d": "boolean"}),
    "convert_dtypes": lambda frame: frame.convert_dtypes(),
    "Arrow": arrow,
    "Arrow dictionaries": dictionaries,
    "categories": lambda frame: frame.astype({"c": "category"}),
    "objects": lambda frame: frame.astype(object).assign(c=frame["c"]),
    "polars": lambda frame: pytest.importorskip("polars").DataFrame({name: frame[name].to_list() for name in frame}),
}


@pytest.fixture(scope="module")
def expected():
    """Model, estimator and scores of the plain frame."""
    model = fit(PLAIN, Y, seed=0, **options())
    return model, MeasureClassifier(random_state=0, **SMALL).fit(PLAIN, Y), model.decision_function(PLAIN)


def options():
    return {"network": lambda size: mlp(size, SMALL["hidden"], seed=0), "steps": SMALL["steps"], "validation": None}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_taken_whatever_its_dtypes(expected, name):
    model, estimator, scores = expected
    frame = FRAMES[name](PLAIN)
    np.testing.assert_array_equal(model.decision_function(frame), scores)
    np.testing.assert_array_equal(estimator.predict_proba(frame), estimator.predict_proba(PLAIN))
    np.testing.assert_array_equal(fit(frame, Y, seed=0, **options()).decision_function(frame), scores)
    own = MeasureClassifier(random_state=0, **SMALL).fit(frame, Y)
    np.testing.assert_array_equal(own.decision_function(frame), estimator.decision_function(PLAIN))


@pytest.mark.parametrize("name", ["Float64", "convert_dtypes", "Arrow"])
def test_gaps_of_a_frame_are_imputed_whatever_its_dtypes(expected, name):
    gaps = PLAIN.assign(a=PLAIN["a"].where(PLAIN.index % 7 > 0), b=PLAIN["b"].where(PLAIN.index % 5 > 0))
    frame = FRAMES[name](gaps.astype({"b": "Int64"}))
    assert frame["a"].isna().any()
    filled = PLAIN.assign(a=gaps["a"].fillna(PLAIN["a"].median()), b=gaps["b"].fillna(PLAIN["b"].median()))
    np.testing.assert_array_equal(expected[0].decision_function(frame), expected[0].decision_function(filled))


def test_dummies_of_booleans_beside_floats_are_numbers(expected):
    dummies = pandas.get_dummies(PLAIN)
    assert set(map(str, dummies.dtypes)) >= {"bool", "float64"}
    model = fit(dummies, Y, seed=0, **options())
    floats = fit(dummies.astype(float), Y, seed=0, **options())
    np.testing.assert_array_equal(model.decision_function(dummies), floats.decision_function(dummies.astype(float)))
    assert MeasureClassifier(random_state=0, **SMALL).fit(dummies, Y).n_features_in_ == 5


def test_columns_are_matched_by_name_and_others_passed_over(expected):
    model, estimator, scores = expected
    for frame in (PLAIN[["d", "c", "b", "a"]], PLAIN.assign(note="x")[["note", "c", "a", "d", "b"]]):
        np.testing.assert_array_equal(model.decision_function(frame), scores)
        np.testing.assert_array_equal(estimator.predict_proba(frame), estimator.predict_proba(PLAIN))
    with pytest.raises(ValueError, match="the table has no column 'b'. Known: d, c, a"):
        model.predict(PLAIN[["d", "c", "a"]])
    with pytest.raises(ValueError, match=r"the table lacks the columns \['b'\]"):
        estimator.predict(PLAIN[["d", "c", "a"]])


def test_a_saved_index_is_left_out_with_one_warning(expected):
    indexed = PLAIN.reset_index().rename(columns={"index": "Unnamed: 0"})
    for train in (
        lambda: MeasureClassifier(random_state=0, **SMALL).fit(indexed, Y),
        lambda: MeasureClassifier(random_state=0, **SMALL).fit(dict(indexed), Y),
        lambda: fit(indexed, Y, seed=0, **options()),
    ):
        with pytest.warns(UserWarning) as told:
            model = train()
        assert [str(warning.message) for warning in told] == [
            "column 'Unnamed: 0' has no name and numbers the rows: it is left out. Name it to train on it."
        ]
        np.testing.assert_array_equal(model.predict(PLAIN), model.predict(indexed))
    assert list(model.feature_names) == ["a", "b", "d", "c=u", "c=v"]


@pytest.mark.parametrize("kind", ["two classes", "three classes", "labels", "partial_fit"])
def test_categories_of_rows_of_weight_zero_are_not_warned_of(kind):
    rng, n = np.random.default_rng(0), 300
    number, weight = rng.normal(size=n), np.where(np.arange(n) < 20, 0.0, 1.0)
    frame = pandas.DataFrame({"number": number, "kind": np.where(weight == 0, "odd", rng.choice(["u", "v"], n))})
    y = (number > 0.5).astype(int)
    y = {"three classes": y + (number > -0.5), "labels": np.column_stack([y, 1 - y])}.get(kind, y)
    measure = "min_recall" if kind == "three classes" else "f1"
    classifier = MeasureClassifier(measure, network="linear", steps=2, validation=None, random_state=0)
    method = "partial_fit" if kind == "partial_fit" else "fit"
    getattr(classifier, method)(frame, y, sample_weight=weight)
    with pytest.warns(UserWarning, match="categories that training did not hold"):
        classifier.predict(frame)
