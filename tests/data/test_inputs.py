"""A model's way in: what was learned of the training rows makes the same rows of later inputs."""

import json

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp.data import InputEncoder, LazyRows, Standardiser, prepare_rows, read_table

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 3))

FAR = {
    "seconds": 1.7e9 + 60 * np.arange(50.0),
    "1e9 + small": 1e9 + X[:, 0],
    "1e8 + normal": 1e8 + X[:, 1],
    "ids": np.arange(50) + 2**40,
    "1e-30": 1e-30 * X[:, 0],
    "1e-40": 1e-40 * X[:, 0],
    "1e-200": 1e-200 * X[:, 0],
    "1e200": 1e200 * X[:, 0],
}


@pytest.mark.parametrize("name", FAR)
def test_a_column_keeps_what_it_says_wherever_it_lies(name):
    column = FAR[name]
    largest = np.abs(column - column[0]).max()
    near = (column - column[0]) / largest
    rows = InputEncoder.fit(column[:, None]).transform(column[:, None])
    assert rows.dtype == np.float32 and len(np.unique(rows)) == len(np.unique(column))
    np.testing.assert_allclose(rows[:, 0], (near - near.mean()) / near.std(), atol=2e-6)


def test_a_column_too_large_to_be_measured_is_refused_by_its_index():
    with pytest.raises(ValueError, match=r"float64 can hold, but column 1 \(from 0\) is too large"):
        InputEncoder.fit(np.column_stack([X[:, 0], 1e308 * np.sign(X[:, 0])]))


def test_a_memory_map_is_centred_before_it_becomes_float32(tmp_path):
    wide = (1e9 + X).astype("float64")
    np.save(tmp_path / "X.npy", wide)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    encoder = InputEncoder.fit(mapped)
    rows = encoder.transform(mapped)
    assert isinstance(rows, LazyRows) and rows.dtype == np.float32
    np.testing.assert_array_equal(rows[:], InputEncoder.fit(wide).transform(wide))


def test_float32_rows_become_what_standardising_makes_of_them_bit_for_bit():
    rows = X.astype("float32")
    expected = Standardiser.fit(rows).transform(rows)
    assert InputEncoder.fit(rows).transform(rows).tobytes() == expected.tobytes()


def test_sparse_rows_are_neither_standardised_nor_made_dense():
    sparse = scipy.sparse.random(20, 5, density=0.3, format="csr", random_state=0)
    encoder = InputEncoder.fit(sparse)
    rows = encoder.transform(sparse)
    assert encoder.standardiser is None and scipy.sparse.issparse(rows) and rows.dtype == np.float32


def test_numbers_that_the_dtype_cannot_hold_are_refused_unless_they_are_scaled():
    large = np.where(np.eye(3) > 0, 1e39, 0.0)
    assert np.isfinite(InputEncoder.fit(large).transform(large)).all()
    with pytest.raises(ValueError, match="finite in float32.*row 0, column 0"):
        prepare_rows(large, "float32")


ENCODERS = {
    "matrix": lambda: InputEncoder.fit(X),
    "unscaled": lambda: InputEncoder.fit(X, standardize=False),
    "table": lambda: InputEncoder.fit({"a": [1, 2, None], "b": ["x", "y", "x"]}),
    "names": lambda: InputEncoder(names=("a", "b", "c")),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_an_encoder_survives_json(name):
    encoder = ENCODERS[name]()
    again = InputEncoder.from_dict(json.loads(json.dumps(encoder.as_dict())))
    assert (again.table, again.vocabulary, again.names) == (encoder.table, encoder.vocabulary, encoder.names)
    if encoder.standardiser is not None:
        for mine, its in zip(encoder.standardiser, again.standardiser):
            np.testing.assert_array_equal(mine, its)
    assert (again.standardiser is None) == (encoder.standardiser is None)


def test_an_encoder_of_texts_makes_token_ids_and_survives_json():
    pytest.importorskip("nltk", reason="needs the extra text")
    encoder = InputEncoder.fit(["good day", "bad day", "good night"])
    again = InputEncoder.from_dict(json.loads(json.dumps(encoder.as_dict())))
    ids = encoder.transform(["good day"])
    assert ids.dtype == np.int32 and np.array_equal(ids, again.transform(["good day"]))
    assert encoder.encode(ids) is ids


def test_a_table_of_numbers_may_come_as_a_matrix_and_one_with_categories_may_not():
    numbers = InputEncoder.fit({"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_array_equal(numbers.transform(X[:, :2]), numbers.transform({"b": X[:, 1], "a": X[:, 0]}))
    with pytest.raises(ValueError, match="the 2 columns seen in training, got 3"):
        numbers.transform(X)
    mixed = InputEncoder.fit({"a": X[:, 0], "c": ["u", "v"] * 25})
    with pytest.raises(ValueError, match="rows must be a table with the columns a, c, as in training, got ndarray"):
        mixed.transform(X[:, :2])


def test_a_model_of_a_matrix_takes_a_frame_of_numbers_by_its_names_or_as_it_stands():
    frame = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    named = InputEncoder(names=("c", "a", "b"))
    np.testing.assert_array_equal(InputEncoder().encode(frame), X)
    np.testing.assert_array_equal(named.encode(frame), X[:, [2, 0, 1]])
    with pytest.raises(ValueError, match="trained on a matrix of numbers, but column 'c' holds text"):
        InputEncoder().encode({"a": [1.0], "c": ["red"]})


@pytest.mark.parametrize("names, message", [
    ("abcd", "features must have the 3 columns seen in training, got 4"),
    ("a", "features must have the 3 columns seen in training, got 1"),
    ("", "features must not be empty"),
])  # fmt: skip
def test_a_frame_with_other_columns_than_the_matrix_of_training_is_refused_as_a_matrix_is(names, message):
    frame = {name: X[:, k % 3] for k, name in enumerate(names)}
    with pytest.raises(ValueError, match=message):
        InputEncoder.fit(X).transform(frame)
    with pytest.raises(ValueError, match=message):
        InputEncoder().encode(frame, 3)


def test_a_number_of_a_table_that_is_not_finite_is_refused_by_column_and_row():
    table = {"c": ["u", "v"] * 25, "x": X[:, 0].copy(), "z": X[:, 1].copy()}
    encoder = InputEncoder.fit(table)
    table["z"][7] = -np.inf
    message = r"column 'z' must hold finite numbers, got -inf in row 8 \(from 1\). Correct that cell, or drop the row"
    for refused in (encoder.transform, InputEncoder.fit, lambda table: encoder.encode(table)[[40, 7]]):
        with pytest.raises(ValueError, match=message):
            refused(table)
    block = read_table(table)._replace(first_row=4096)
    with pytest.raises(ValueError, match=r"got -inf in row 4104 \(from 1\)"):
        encoder.transform(block)
    assert np.isfinite(encoder.encode(table)[np.delete(np.arange(50), 7)]).all()  # a row that is not read may be
    with pytest.raises(ValueError, match=r"column 'x' must hold finite .* got a missing value in row 3 \(from 1\)"):
        InputEncoder.fit(X[:, :2]).transform({"x": [0.5, 1.5, None], "z": [1, 2, 3]})


def test_only_a_table_has_categorical_columns_to_name():
    with pytest.raises(ValueError, match="only a table has categorical columns"):
        InputEncoder.fit(X, categorical=["a"])
