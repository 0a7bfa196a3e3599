"""`fit` on data frames, and models that own their way in: columns by name, probabilities, prevalences, files."""

import tracemalloc

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.models.archive import read_archive

pandas = pytest.importorskip("pandas", reason="needs the extra frames")

N_ROWS = 600
RNG = np.random.default_rng(0)
COLOUR = RNG.choice(["red", "green", "blue"], N_ROWS)
AGE = np.where(RNG.random(N_ROWS) < 0.1, np.nan, RNG.normal(40, 10, N_ROWS))
SINCE = 1.7e9 + RNG.integers(0, 3600, N_ROWS)
FRAME = pandas.DataFrame(
    {"since": SINCE, "colour": pandas.Categorical(COLOUR), "member": RNG.random(N_ROWS) < 0.5, "age": AGE}
)
Y = np.where((COLOUR == "red") & (SINCE - 1.7e9 > 1200), "yes", "no")
OPTIONS = {"steps": 300, "batch_size": 64, "seed": 0, "network": (16,)}


def fit(*data, **options):
    """`an.fit` on all rows at a constant rate, unless a test says otherwise."""
    return an.fit(*data, **{"validation": None, "schedule": "constant", **options})


@pytest.fixture(scope="module")
def model():
    return fit(FRAME, Y, "f1", validation=an.EarlyStopping(0.25, patience=None, tune_threshold=False), **OPTIONS)


def test_a_frame_with_categories_missing_values_and_timestamps_is_learned(model):
    assert model.feature_names == [
        "since", "member", "age", "age is missing", "colour=blue", "colour=green", "colour=red",
    ]  # fmt: skip
    assert model.value(FRAME, Y) > 0.95


def test_that_a_number_is_missing_is_learned_where_it_tells_of_the_label():
    missing = RNG.random(N_ROWS) < 0.3
    frame = pandas.DataFrame({"age": np.where(missing, np.nan, AGE), "member": RNG.random(N_ROWS) < 0.5})
    model = fit(frame, np.isnan(frame["age"]), "f1", **OPTIONS)
    assert model.value(frame, np.isnan(frame["age"])) > 0.99
    assert model.predict(pandas.DataFrame({"age": [None, 40.0], "member": [True, True]})).tolist() == [True, False]


def test_a_model_of_a_frame_with_gaps_is_trained_further_on_a_matrix():
    frame = FRAME[["since", "age"]]
    model = fit(frame, Y, "f1", **{**OPTIONS, "steps": 5})
    assert model.feature_names == ["since", "age", "age is missing"]
    matrix = frame.fillna(40.0).to_numpy()
    further = fit(matrix, Y, "f1", **{**OPTIONS, "steps": 5, "network": model, "validation": (matrix[:99], Y[:99])})
    assert further.predict(matrix).shape == (N_ROWS,)


def test_a_column_of_hundreds_of_categories_is_learned_from_the_frequent_ones_with_one_warning():
    city = np.array([f"city {k:03d}" for k in [*np.repeat(np.arange(150), 3), *np.repeat(np.arange(150, 225), 2)]])
    frame = pandas.DataFrame({"city": city, "age": np.nan_to_num(AGE)})
    y = np.isin(city, np.unique(city)[::2])
    with pytest.warns(UserWarning, match="categories: the 200 most frequent") as told:
        model = fit(frame, y, "f1", **{**OPTIONS, "network": "linear"})
    assert len(told) == 1 and len(model.feature_names) == 201
    assert model.value(frame, y) > 0.8


def test_columns_in_another_order_give_the_same_answer_and_a_missing_one_is_named(model):
    turned = FRAME[["age", "member", "colour", "since"]]
    assert np.array_equal(model.decision_function(turned), model.decision_function(FRAME))
    with pytest.raises(ValueError, match="the table has no column 'colour'"):
        model.predict(FRAME.drop(columns="colour"))
    with pytest.raises(ValueError, match="rows must be a table with the columns since, member, age, colour"):
        model.predict(FRAME[["since", "age"]].to_numpy())


def test_a_loaded_model_takes_the_same_raw_frame(model, tmp_path):
    model.save(tmp_path / "frame.model")
    loaded = an.load_model(tmp_path / "frame.model")
    assert np.array_equal(loaded.predict(FRAME), model.predict(FRAME)) and loaded.encoder.table.gaps == ("age",)
    assert np.array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert loaded.predict_prevalence(FRAME, "sld") == model.predict_prevalence(FRAME, "sld")
    header, arrays = read_archive(tmp_path / "frame.model", "model")
    assert header["encoder"]["table"]["categorical"] == ["colour"] and all(a.dtype.kind == "f" for a in arrays.values())


def test_probabilities_are_those_of_the_calibrated_scores_in_the_order_of_the_classes(model):
    probabilities = model.predict_proba(FRAME)
    assert np.allclose(probabilities.sum(axis=1), 1) and model.classes == ("no", "yes")
    assert np.array_equal(probabilities[:, 1], model.quantifier.posteriors(model.decision_function(FRAME)))
    assert abs(model.predict_prevalence(FRAME) - np.mean(model.predict(FRAME) == "yes")) < 1e-12


def test_the_validation_matrix_counts_the_rows_held_out(model):
    best = next(e for e in model.evaluations if e.step == model.best_step)
    assert model.validation_matrix == best.confusion_matrix and model.validation_matrix.n == 150


def test_without_validation_rows_a_model_is_not_calibrated_until_it_is_told_to():
    model = fit(FRAME, Y, "f1", **{**OPTIONS, "steps": 5})
    with pytest.raises(ValueError, match="not calibrated. Train it with validation rows, or call model.calibrate"):
        model.predict_proba(FRAME)
    assert model.calibrate(FRAME, Y) is model and model.predict_proba(FRAME).shape == (N_ROWS, 2)


def test_a_frame_of_float32_numbers_trains_the_model_of_its_matrix_bit_for_bit():
    X = RNG.standard_normal((N_ROWS, 4)).astype("float32")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    of_matrix, of_frame = (fit(rows, Y, **{**OPTIONS, "steps": 20}) for rows in (X, frame))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(of_matrix.parameters, of_frame.parameters))
    assert np.array_equal(of_matrix.decision_function(X), of_frame.decision_function(frame))


def test_a_table_with_rows_held_out_trains_the_model_of_its_matrix_bit_for_bit():
    options = {**OPTIONS, "steps": 30, "validation": 0.3}
    of_table = fit(FRAME, Y, "f1", **options)
    age = FRAME["age"].fillna(of_table.encoder.table.medians[2])  # the median of the rows trained on
    colours = [COLOUR == colour for colour in ("blue", "green", "red")]
    matrix = np.column_stack([SINCE, FRAME["member"], age, np.isnan(AGE), *colours]).astype(np.float64)
    of_matrix = fit(matrix, Y, "f1", **options)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(of_table.parameters, of_matrix.parameters))
    assert np.array_equal(of_table.decision_function(FRAME), of_matrix.decision_function(matrix))


def test_training_on_a_table_takes_little_more_memory_than_the_scaled_rows():
    columns = {f"x{k}": np.random.default_rng(k).normal(size=300_000) for k in range(10)}
    y = columns["x0"] > 1
    options = {"network": (4,), "steps": 60, "averaging": 0.0, "seed": 0}
    fit({name: cells[:1000] for name, cells in columns.items()}, y[:1000], "f1", **options)  # compiles
    tracemalloc.start()
    fit(columns, y, "f1", validation=0.2, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 4 * 10 * 300_000  # the matrix in float64 alone takes 2, and its two parts once more


def test_scores_of_blocks_are_those_of_all_rows_and_unknown_categories_are_counted_once(model):
    frame = pandas.concat([FRAME] * 15, ignore_index=True)
    frame["colour"] = frame["colour"].astype(object)
    frame.loc[[4, 5000], "colour"] = "pink"
    blocks = (frame[start : start + 4096] for start in range(0, len(frame), 4096))
    with pytest.warns(UserWarning) as told:
        scores = np.concatenate(list(model.decision_blocks(blocks)))
    assert [str(warning.message) for warning in told] == [
        "categories that training did not hold are encoded as zeros: 2 of 9000 cells (0.0%) of 'colour': 'pink'."
    ]
    with pytest.warns(UserWarning, match="2 of 9000"):
        assert np.array_equal(scores, model.decision_function(frame))


def test_a_model_goes_on_with_its_encoder_and_its_weights(model):
    changed = FRAME.assign(colour=pandas.Categorical(np.where(COLOUR == "green", "violet", COLOUR)))
    again = fit(changed, Y, "f1", network=model, steps=1, learning_rate=1e-12, batch_size=64, seed=0)
    assert again.encoder is model.encoder
    assert again.decision_function(FRAME) == pytest.approx(model.decision_function(FRAME), abs=1e-5)


def test_a_model_that_standardises_is_not_trained_further_without():
    model = fit(X := RNG.normal(3, 9, (60, 2)), X[:, 0] > 3, steps=5, network=(2,), seed=0)
    with pytest.raises(ValueError, match="this model standardises its rows: leave standardize out"):
        an.fit(X, X[:, 0] > 3, network=model, standardize=False, steps=5)


def test_a_network_given_with_a_table_of_more_columns_is_refused_before_training():
    with pytest.raises(ValueError, match="columns"):
        an.fit(FRAME, Y, network=an.networks.mlp(3, hidden=(2,)), steps=5)


@pytest.mark.parametrize("option, message", [
    ({"optimizer": "adan"}, "adam"),
    ({"backend": "cuda"}, "backend"),
])  # fmt: skip
def test_what_compiles_is_checked_before_the_rows_are_read(option, message):
    with pytest.raises(ValueError, match=message):
        an.fit([], [], **option)


def test_an_estimator_takes_frames_and_matches_columns_by_name():
    pytest.importorskip("sklearn")
    classifier = an.MeasureClassifier("f1", hidden=(16,), steps=200, batch_size=64, random_state=0).fit(FRAME, Y)
    assert classifier.n_features_in_ == 4 and list(classifier.feature_names_in_) == list(FRAME.columns)
    turned = FRAME[FRAME.columns[::-1]]
    assert np.array_equal(classifier.predict(turned), classifier.predict(FRAME))
    with pytest.raises(ValueError, match=r"lacks the columns \['age'\]"):
        classifier.predict(FRAME.drop(columns="age"))
