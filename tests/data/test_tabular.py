"""Tables to matrices: columns by name and dtype, missing values imputed, categories one-hot encoded."""

import importlib.util
import json
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

from aesara_nondecomp.data.categories import UnknownCategories
from aesara_nondecomp.data.cells import is_missing
from aesara_nondecomp.data.groups import read_groups
from aesara_nondecomp.data.inputs import InputEncoder
from aesara_nondecomp.data.rows import LazyRows
from aesara_nondecomp.data.scaling import Standardiser
from aesara_nondecomp.data.table_columns import is_table, read_table
from aesara_nondecomp.data.tabular import TableEncoder

CELLS = {"age": ["20", "40", "", "60"], "colour": ["red", "blue", "red", "?"]}
MATRIX = np.array([[20, 0, 0, 1], [40, 0, 1, 0], [40, 0, 0, 1], [60, 1, 0, 0]])


def encoded(table, **options):
    return TableEncoder.fit(table, **options).transform(table)


def test_numbers_come_first_with_medians_for_missing_ones_and_categories_become_columns():
    encoder = TableEncoder.fit(CELLS)
    assert encoder.feature_names == ("age", "colour=", "colour=blue", "colour=red")
    np.testing.assert_array_equal(encoder.transform(CELLS), MATRIX)


def test_columns_are_matched_by_name_and_others_passed_over():
    encoder = TableEncoder.fit(CELLS)
    other = {"colour": CELLS["colour"], "note": ["x"] * 4, "age": CELLS["age"]}
    np.testing.assert_array_equal(encoder.transform(other), MATRIX)
    with pytest.raises(ValueError, match="the table has no column 'colour'. Known: age"):
        encoder.transform({"age": CELLS["age"]})


def test_what_training_did_not_hold_becomes_zeros_or_the_median():
    encoder = TableEncoder.fit(CELLS)
    with pytest.warns(UserWarning, match="did not hold are encoded as zeros: 1 of 1 cells .* of 'colour': 'green'"):
        np.testing.assert_array_equal(encoder.transform({"age": [None], "colour": ["green"]}), [[40, 0, 0, 0]])


def test_rows_are_those_of_the_matrix_whenever_they_are_read():
    rows = TableEncoder.fit(CELLS).rows(CELLS)
    assert rows.shape == MATRIX.shape
    for chosen in (slice(1, 3), np.array([3, 0, 0])):
        np.testing.assert_array_equal(rows[chosen], MATRIX[chosen])
    np.testing.assert_array_equal(rows.part(np.array([2, 1]))[:], MATRIX[[2, 1]])
    prepared = rows.prepared("float32", Standardiser(np.arange(4.0), np.full(4, 2.0), clip=10.0))
    assert isinstance(prepared, np.ndarray) and prepared.dtype == np.float32
    np.testing.assert_array_equal(prepared, np.clip((MATRIX - np.arange(4)) / 2, -10, 10))


def test_some_rows_teach_the_encoder_as_a_table_of_them_would():
    table = {"age": [20, 40, None, 60, 5000], "colour": ["red", "blue", "red", "?", "green"]}
    part = {name: cells[:4] for name, cells in table.items()}
    assert TableEncoder.fit(table, rows=np.arange(4)) == TableEncoder.fit(part)


def test_a_column_of_its_own_tells_where_numbers_were_missing_in_training():
    cells = {"age": [20, None, 40, 60] * 20, "size": [1.0, 2.0, 3.0, 4.0] * 20, "colour": ["red", "blue"] * 40}
    encoder = TableEncoder.fit(cells, add_indicator=True)
    assert encoder.gaps == ("age",) and encoder == TableEncoder.from_dict(json.loads(json.dumps(encoder.as_dict())))
    assert encoder.feature_names == ("age", "size", "age is missing", "colour=blue", "colour=red")
    assert encoder.places == {"age": [0, 2], "size": [1], "colour": [3, 4]}
    expected = [[20, 1, 0, 0, 1], [40, 2, 1, 1, 0], [40, 3, 0, 0, 1], [60, 4, 0, 1, 0]]
    np.testing.assert_array_equal(encoder.transform(cells), expected * 20)
    later = {"age": [None, 30], "size": [None, 5.0], "colour": ["red", "blue"]}
    np.testing.assert_array_equal(encoder.transform(later), [[40, 2.5, 1, 0, 1], [30, 5, 0, 1, 0]])


@pytest.mark.parametrize(("missing", "told"), [(19, ()), (20, ("age",))])
def test_fewer_than_twenty_missing_values_have_no_column(missing, told):
    cells = {"age": [*range(500), *[None] * missing]}
    assert TableEncoder.fit(cells, add_indicator=True).gaps == told


def test_a_finite_matrix_of_the_columns_of_a_table_with_gaps_is_encoded_as_that_table(tmp_path):
    table = {"age": [20.0, 40.0, np.nan, 60.0] * 20, "size": [1.0, 2.0, 3.0, 4.0] * 20}
    encoder = InputEncoder.learn(table, add_indicator=True)
    matrix = np.array([[30.0, 2.0], [50.0, 9.0], [10.0, 3.0]])
    expected = np.asarray(encoder.encode(dict(zip(table, matrix.T))))
    assert expected.shape == (3, 3)
    np.save(tmp_path / "rows.npy", matrix)
    for rows in (matrix, np.load(tmp_path / "rows.npy", mmap_mode="r")):
        found = encoder.encode(rows)
        assert isinstance(found, LazyRows)  # a memory map is not read as a whole
        np.testing.assert_array_equal(np.asarray(found), expected)
        np.testing.assert_array_equal(found[np.array([2, 0])], expected[[2, 0]])
    sparse = encoder.encode(csr_matrix(matrix))
    assert issparse(sparse) and np.array_equal(sparse.toarray(), expected)
    with pytest.raises(ValueError, match="2 columns seen in training, got 3"):
        encoder.encode(expected)
    with pytest.raises(ValueError, match="features must be finite"):  # as without gaps
        encoder.measured(encoder.encode(matrix)).transform(np.array([[np.nan, 1.0]]))


def test_spellings_outside_a_sample_do_not_make_a_column_one_of_names_of_rows():
    with pytest.warns(UserWarning, match="holds 260 categories: the 200 most frequent"):
        encoder = TableEncoder.fit({"city": ["a", "b"] * 50}, more={"city": {f"rare {k}" for k in range(258)}})
    assert {"a", "b"} <= set(encoder.categories[0])


def test_of_many_categories_the_most_frequent_are_known_and_the_others_count_as_one():
    rare = [f"place {k:03d}" for k in range(250)]
    cells = {"city": [*np.repeat(rare[50:], 3), *rare], "colour": ["red", "blue"] * 425}
    with pytest.warns(
        UserWarning, match=r"'city' holds 250 categories: the 200 most frequent \(94% of the rows\)"
    ) as told:
        encoder = TableEncoder.fit(cells)
    assert len(told) == 1 and encoder.pooled == ("city",) and encoder.categories[0] == tuple(rare[50:])
    assert TableEncoder.from_dict(encoder.as_dict()) == encoder
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = encoder.transform({"city": [rare[0], "Xanadu", rare[60]], "colour": ["red", "blue", "red"]})
    assert matrix[:, :200].sum(axis=1).tolist() == [0, 0, 1] and matrix[2, 10] == 1
    with pytest.warns(UserWarning, match="1 of 1 cells .* of 'colour': 'green'"):
        encoder.transform({"city": ["Xanadu"], "colour": ["green"]})


@pytest.mark.parametrize("columns, known", [(1, 600), (2, 300), (3, 200)])
def test_a_table_of_many_rows_has_room_for_more_categories(columns, known):
    cells = {f"city {k}": [f"place {place}" for place in np.arange(6000) % 700] for k in range(columns)}
    with pytest.warns(UserWarning, match=f"700 categories: the {known} most frequent"):
        encoder = TableEncoder.fit(cells)
    assert [len(found) for found in encoder.categories] == [known] * columns
    assert len(TableEncoder.fit({"city": cells["city 0"] * 2}).categories[0]) == 700  # up to 1,000


@pytest.mark.parametrize("repeated", [0, 250])
def test_a_column_that_names_rows_is_refused(repeated):
    cells = [*(f"id {k}" for k in range(300)), *["id 0"] * repeated]
    with pytest.raises(ValueError, match="holds 300 different texts, more than the 200 .* Drop it if it names rows"):
        TableEncoder.fit({"member": cells})


def test_unknown_categories_of_all_blocks_are_counted_together():
    encoder, unknown = TableEncoder.fit({"c": ["u", "v"]}), UnknownCategories()
    for cells in (["u", "x"], ["y", "x"], ["v"]):
        encoder.rows({"c": cells}, unknown=unknown)
    with pytest.warns(UserWarning, match=r"3 of 5 cells \(60.0%\) of 'c': 'x', 'y'\.$"):
        unknown.warn()


def test_a_table_becomes_rows_of_the_network_in_little_more_memory_than_they_take():
    """A slice of 8 MB is encoded and scaled at a time, and no column is copied as a whole."""
    table = {f"x{k}": np.arange(400_000.0) % (k + 2) for k in range(10)}
    encoder = InputEncoder.fit({name: cells[:1000] for name, cells in table.items()})
    tracemalloc.start()
    rows = encoder.transform(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows.shape == (400_000, 10) and rows.dtype == np.float32 and peak < rows.nbytes + 2**24 + 2**22


def test_an_encoder_survives_json():
    encoder = TableEncoder.fit(CELLS)
    assert TableEncoder.from_dict(json.loads(json.dumps(encoder.as_dict()))) == encoder


def test_codes_named_categorical_keep_their_spelling():
    table = {"zip": ["01234", "9999", "01234"]}
    assert TableEncoder.fit(table).feature_names == ("zip",)
    assert TableEncoder.fit(table, categorical=["zip"]).feature_names == ("zip=01234", "zip=9999")


def test_a_number_is_one_category_in_float32_and_float64():
    numbers = [0.1, 2.5, 1e-7, 3.0, 123456.7]
    narrow, wide = ({"v": np.array([*numbers, np.nan], dtype)} for dtype in ("float32", "float64"))
    encoders = [TableEncoder.fit(table, categorical=["v"]) for table in (narrow, wide)]
    assert encoders[0] == encoders[1]
    for table in (narrow, wide, {"v": [*map(str, numbers), None]}):
        np.testing.assert_array_equal(encoders[0].transform(table), encoders[0].transform(wide))
    former = encoders[0]._replace(categories=(("0.10000000149011612",),))
    assert former.transform({"v": narrow["v"][:1]}).tolist() == [[1]]
    assert read_groups(narrow, 6).names == read_groups(wide, 6).names
    with pytest.warns(UserWarning, match="1 of 1 cells .* of 'v': '0.7'"):
        encoders[0].transform({"v": np.array([0.7], "float32")})
    assert np.isnan(read_table(narrow, missing=["0.1"]).cells["v"][0])


def test_float32_cells_keep_their_category_in_lists_and_in_float64():
    narrow = np.array([0.1, 123456.7, 123456792.0, np.nan], "float32")
    encoder = TableEncoder.fit({"v": narrow}, categorical=["v"])
    wanted = encoder.transform({"v": narrow})
    for table in ({"v": narrow.tolist()}, {"v": narrow.astype("float64")}, {"v": [*narrow]}):
        np.testing.assert_array_equal(encoder.transform(table), wanted)
    assert TableEncoder.fit({"v": narrow[2:3]}, categorical=["v"]).categories == (("123456792",),)


def test_whole_numbers_are_one_category_whatever_their_type():
    encoder = TableEncoder.fit({"code": [1, 2, 3]}, categorical=["code"])
    for cells in ([1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], np.array([1, 2, 3], dtype="int8")):
        np.testing.assert_array_equal(encoder.transform({"code": cells}), np.eye(3))


FRAMES = {
    "int": lambda pandas: pandas.Series([3, 1, 2]),
    "float with NaN": lambda pandas: pandas.Series([3.0, 1.0, np.nan]),
    "bool": lambda pandas: pandas.Series([True, False, True]),
    "nullable int": lambda pandas: pandas.Series([3, None, 2], dtype="Int64"),
    "nullable float": lambda pandas: pandas.Series([3.5, None, 2.0], dtype="Float64"),
    "nullable bool": lambda pandas: pandas.Series([True, None, False], dtype="boolean"),
    "arrow int": lambda pandas: pandas.Series([3, None, 2], dtype="int64[pyarrow]"),
    "arrow float": lambda pandas: pandas.Series([3.5, None, 2.0], dtype="double[pyarrow]"),
    "arrow bool": lambda pandas: pandas.Series([True, None, False], dtype="bool[pyarrow]"),
    "objects": lambda pandas: pandas.Series([3, None, 2.5], dtype=object),
}
TEXTS = {
    "str": lambda pandas: pandas.Series(["u", None, "v"]),
    "object": lambda pandas: pandas.Series(["u", None, "v"], dtype=object),
    "digits": lambda pandas: pandas.Series(["7", None, "08"], dtype=object),
    "category": lambda pandas: pandas.Series(["u", None, "v"], dtype="category"),
    "category of numbers": lambda pandas: pandas.Series([7, None, 8], dtype="category"),
    "nullable str": lambda pandas: pandas.Series(["u", None, "v"], dtype="string"),
    "arrow str": lambda pandas: pandas.Series(["u", None, "v"], dtype="string[pyarrow]"),
}


def made(kinds, name):
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    if "arrow" in name:
        pytest.importorskip("pyarrow", reason="Arrow columns need pyarrow")
    return pandas.DataFrame({"x": kinds[name](pandas)})


@pytest.mark.parametrize("name", FRAMES)
def test_numbers_of_a_data_frame_are_one_column_whatever_their_dtype(name):
    frame = made(FRAMES, name)
    plain = [None if is_missing(cell) else float(cell) for cell in frame["x"].tolist()]
    assert TableEncoder.fit(frame).feature_names == ("x",)
    np.testing.assert_array_equal(encoded(frame), encoded({"x": plain}))


@pytest.mark.parametrize("name", TEXTS)
def test_text_and_categories_of_a_data_frame_are_one_hot_encoded_whatever_their_dtype(name):
    frame = made(TEXTS, name)
    assert len(TableEncoder.fit(frame).feature_names) == 3
    np.testing.assert_array_equal(encoded(frame).sum(axis=1), 1)


def test_a_polars_frame_is_encoded_like_a_pandas_frame():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    columns = {"a": [1, None, 3], "b": ["x", None, "y"], "c": [True, False, True], "d": [0.5, 1.5, None]}
    frame = polars.DataFrame(columns).with_columns(e=polars.Series(["u", "v", "u"], dtype=polars.Categorical))
    same = pandas.DataFrame({**columns, "e": pandas.Categorical(["u", "v", "u"])})
    assert is_table(frame) and TableEncoder.fit(frame) == TableEncoder.fit(same)
    np.testing.assert_array_equal(encoded(frame), encoded(same))


def test_columns_of_float32_stay_float32_and_wider_ones_keep_their_digits():
    assert encoded({"x": np.array([1, 2], "float32"), "c": ["u", "v"]}).dtype == np.float32
    seconds = 1.7e9 + np.arange(4) * 1e-3
    np.testing.assert_array_equal(encoded({"t": seconds})[:, 0], seconds)


BAD = [
    ({}, "needs feature columns beside the labels"),
    ({"x": ["", "NA", "?"]}, "column 'x' holds no values. Drop it"),
    ({"x": [f"name {k}" for k in range(201)]}, "holds 201 different texts, more than the 200"),
    ({"x": [1, 2], "y": [1]}, "must be equally long, got {'x': 2, 'y': 1}"),
]


@pytest.mark.parametrize("table, message", BAD)
def test_an_unusable_table_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        TableEncoder.fit(table)


def test_a_column_that_is_neither_numbers_nor_text_is_refused_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"when": pandas.to_datetime(["2020-01-01", "2021-01-01"])})
    with pytest.raises(ValueError, match="column 'when' must hold numbers, booleans, categories or text, got datetime"):
        TableEncoder.fit(frame)
    frame = pandas.DataFrame({"between": pandas.arrays.IntervalArray.from_breaks([0, 1, 2])})
    with pytest.raises(ValueError, match="column 'between' must hold numbers, .* got interval"):
        TableEncoder.fit(frame)


def test_a_column_of_missing_values_alone_is_missing_whatever_its_dtype():
    pandas, encoder = pytest.importorskip("pandas"), TableEncoder.fit(CELLS)
    expected = encoder.transform({"age": [None, None], "colour": [None, None]})
    columns = [pandas.Series([pandas.NaT] * 2), pandas.Series([pandas.Timedelta("nat")] * 2)]
    if importlib.util.find_spec("pyarrow"):
        columns.append(pandas.Series([None] * 2, dtype="null[pyarrow]"))
    for column in columns:
        frame = pandas.DataFrame({"age": column, "colour": column})
        np.testing.assert_array_equal(encoder.transform(frame), expected)
        with pytest.raises(ValueError, match="column 'age' holds no values. Drop it"):
            TableEncoder.fit(frame)


def test_a_polars_column_without_a_value_is_missing():
    polars, encoder = pytest.importorskip("polars"), TableEncoder.fit(CELLS)
    expected = encoder.transform({"age": [None], "colour": ["red"]})
    np.testing.assert_array_equal(encoder.transform(polars.DataFrame({"age": [None], "colour": ["red"]})), expected)


def test_a_sparse_column_of_a_frame_is_one_of_numbers():
    pandas = pytest.importorskip("pandas")
    amounts = [0.0, 0.0, 3.0]
    frame = pandas.DataFrame({"amount": pandas.arrays.SparseArray(amounts)})
    np.testing.assert_array_equal(TableEncoder.fit(frame).transform(frame)[:, 0], amounts)


def test_missing_values_of_pandas_in_a_column_of_objects_are_missing_numbers():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([1.0, pandas.NA, 3.0], dtype=object)
    assert TableEncoder.fit({"a": column}).transform({"a": column})[:, 0].tolist() == [1.0, 2.0, 3.0]


def test_a_column_named_twice_is_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"must name each column once, got \['a'\]"):
        read_table(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_text_in_a_numeric_column_is_refused_by_column_and_cell():
    with pytest.raises(ValueError, match="column 'age' held numbers in training.*'old'"):
        TableEncoder.fit(CELLS).transform({"age": ["old"], "colour": ["red"]})


@pytest.mark.parametrize("cell", ["", " ", "?", "NA", "n/a", "NaN", "null", None, float("nan"), np.nan])
def test_a_missing_value_is_recognised(cell):
    assert is_missing(cell) and not is_missing("nano") and not is_missing(0)


@pytest.mark.parametrize("name", ["names", "categorical", "missing"])
def test_a_single_text_is_not_read_letter_by_letter(name):
    with pytest.raises(ValueError, match=rf"{name} must be a sequence of texts, such as \['ab'\], got 'ab'"):
        read_table({"a": [1, 2], "b": [1, 2], "ab": [3, 4]}, **{name: "ab"})
