"""What a cell says, in its usual spellings, and how columns are told apart; through tables, frames and later rows."""

import numpy as np
import pytest

from aesara_nondecomp.data import InputEncoder, TableEncoder, read_table
from aesara_nondecomp.data.cells import as_number, category_form, is_date, is_decorated
from aesara_nondecomp.data.groups import read_groups
from aesara_nondecomp.networks import linear
from aesara_nondecomp.training.training_data import prepare

AGES = [str(20 + k % 70) for k in range(140)]
MEDIAN = float(np.median(np.array(AGES, dtype=float)))
MISSING = [
    "", " ", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "none", "-", "--", ".", "#N/A", "<NA>", "missing",
    "unknown", "#DIV/0!", "#VALUE!", "nil", None, np.nan,
]  # fmt: skip


@pytest.mark.parametrize("cell", MISSING)
def test_a_missing_value_in_any_spelling_leaves_a_column_of_numbers_numeric(cell):
    for row in (0, 70, len(AGES)):  # wherever the row falls
        column = [*AGES[:row], cell, *AGES[row:]]
        encoder = TableEncoder.fit({"age": column})
        assert encoder.feature_names == ("age",) and encoder.medians == (MEDIAN,)
        assert encoder.transform({"age": column})[row, 0] == MEDIAN
    later = TableEncoder.fit({"age": AGES}).transform({"age": ["30", cell]})
    np.testing.assert_array_equal(later, [[30], [MEDIAN]])


def test_words_for_a_missing_value_are_categories_among_text():
    encoder = TableEncoder.fit({"degree": ["none", "master", "unknown", "-"]})
    assert encoder.feature_names == ("degree=-", "degree=master", "degree=none", "degree=unknown")


STRAY = ["abc", "90+", "1_0", "12a", "2 or 3"]
DECORATED = ["1,5", "1,234.5", "1.234,5", "1 200", "$5", "5 €", "USD 12", "12%", "12,5 %", "(1,200)", "-1,5", "1'000"]
DATES = ["2024-01-31", "31/01/2024", "1.2.24", "2024-01-31 10:30", "2024/1/31", "10:30", "2024-01-31T10:30:00Z"]


@pytest.mark.parametrize("cell", [*STRAY, *DECORATED])
@pytest.mark.parametrize("row", [0, 77])
def test_a_column_of_numbers_with_a_stray_cell_is_refused_by_column_row_and_cell(cell, row):
    column = [*AGES[:row], cell, *AGES[row:]]
    with pytest.raises(ValueError, match="column 'age' holds numbers") as refused:
        TableEncoder.fit({"age": column})
    assert f"{cell!r} in row {row + 1} (from 1)" in str(refused.value)
    with pytest.raises(ValueError, match="column 'age' held numbers in training") as refused:
        TableEncoder.fit({"age": AGES}).transform({"age": column})
    assert f"{cell!r} in row {row + 1} (from 1)" in str(refused.value)


@pytest.mark.parametrize("cells", [["1,5", "2,5"], ["5 %", "-"], ["1", "2", "1,200"], ["$5", "$6"]])
def test_a_column_of_numbers_that_are_not_plain_is_never_one_hot_encoded(cells):
    with pytest.raises(ValueError, match="column 'price' holds numbers with a decimal comma.*categorical"):
        TableEncoder.fit({"price": cells * 20})
    assert len(TableEncoder.fit({"price": cells * 20}, categorical=["price"]).feature_names) == len(cells)


TENTHS = [f"{k / 10}" for k in range(100)]


@pytest.mark.parametrize("cells, message", [
    ([f"${tenth}" for tenth in TENTHS] + ["free"] * 2, "holds numbers with .*a currency.*'\\$0.0' in row 1"),
    ([f"{tenth} %" for tenth in TENTHS] + ["n/m"] * 2, "holds numbers with .*per cent"),
    ([tenth.replace(".", ",") for tenth in TENTHS] + ["XX"], "holds numbers with a decimal comma.*'0,0' in row 1"),
    (["XX", "XX", "$7", *TENTHS], "holds numbers, but also 'XX' in row 1 .*and others in 1 more rows"),
    ([*TENTHS, *["<LOD"] * 90], "holds numbers, but also '<LOD' in row 101 .*and others in 89 more rows"),
    (["pending"] * 3 + ["2024-01-31"] * 20, r"holds dates or times: '2024-01-31' in row 4 .*in 19 more rows"),
])  # fmt: skip
def test_a_few_cells_of_text_do_not_make_categories_of_numbers_or_dates(cells, message):
    with pytest.raises(ValueError, match=f"column 'x' {message}"):
        TableEncoder.fit({"x": cells})
    assert TableEncoder.fit({"x": cells}, categorical=["x"]).categorical == ("x",)


def test_text_of_a_frame_with_many_gaps_is_of_codes():
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    codes = pandas.DataFrame({"zip": [*AGES, *["-"] * 30]})
    assert TableEncoder.fit(codes).categorical == ("zip",)


@pytest.mark.parametrize("cell", DATES)
def test_dates_are_refused_with_a_hint_unless_they_are_named_categorical(cell):
    assert is_date(cell) and not is_decorated(cell)
    with pytest.raises(ValueError, match="column 'when' holds dates or times.*Make numbers of it"):
        TableEncoder.fit({"when": [cell, "", cell]})
    assert TableEncoder.fit({"when": [cell, cell]}, categorical=["when"]).feature_names == (f"when={cell}",)


@pytest.mark.parametrize("cells, names", [
    (["0", "1", "2", "3+"], ["0", "1", "2", "3+"]),  # codes and a word are categories
    (["0", "1", "2", "0", "1", "2", "0", "1", "2", "0", "1", "3+"], ["0", "1", "2", "3+"]),
    (["8", "10", "XL"], ["10", "8", "XL"]),
    (["10115", "A1B 2C3"], ["10115", "A1B 2C3"]),
    (["$5", "$10", "free"], ["$10", "$5", "free"]),
    (["10:30", "12:00", "any", "none", "later"], ["10:30", "12:00", "any", "later", "none"]),
    (["yes", "no"], ["no", "yes"]),
])  # fmt: skip
def test_text_among_few_numbers_stays_categorical(cells, names):
    assert TableEncoder.fit({"x": cells * 9}).feature_names == tuple(f"x={name}" for name in names)


def test_what_a_column_is_does_not_depend_on_which_rows_are_held_out():
    for row in (0, 1, 2, 3):  # some of them among the rows held out
        column = ["0", "1", "2"] * 40
        column[row] = "3+"
        data = prepare({"x": column}, [0, 1] * 60, network=lambda size: linear(size), validation=0.5, seed=0)
        assert data.encoder.table.categorical == ("x",)


def test_further_spellings_of_a_missing_value_are_named_once_and_kept_with_the_encoder():
    table = read_table({"age": [*AGES, "not told"], "pay": [5.0] * 70 + [-999.0] * 71}, missing=["not told", "-999"])
    encoder = TableEncoder.fit(table)
    assert encoder.medians == (MEDIAN, 5.0) and encoder.missing == ("not told", "-999")
    for known in (encoder, TableEncoder.from_dict(encoder.as_dict())):
        np.testing.assert_array_equal(known.transform({"age": ["not told"], "pay": ["-999.0"]}), [[MEDIAN, 5]])
    assert TableEncoder.fit({"age": [*AGES, "not told"]}, missing=["not told"]).medians == (MEDIAN,)


# -- categories ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [
    [1, 2, 3], [1.0, 2.0, 3.0], ["1", "2", "3"], ["1.0", "2.0", "3.0"], [" 1", "2 ", " 3.00"], ["1e0", "2.", "3"],
    np.array([1, 2, 3], "int8"), np.array([1, 2, 3], "float32"), [1, "2", 3.0],
])  # fmt: skip
def test_codes_are_one_category_in_whatever_spelling(cells):
    for codes in ([1, 2, 3], ["1.0", "2.0", "3.0"], ["1", "2", "3"]):
        encoder = TableEncoder.fit({"code": codes}, categorical=["code"])
        np.testing.assert_array_equal(encoder.transform({"code": cells}), np.eye(3))


@pytest.mark.parametrize("pair", [("False", "True"), ("N", "Y"), ("no", "yes"), ("0", "1"), ("F", "T")])
@pytest.mark.parametrize("cells", [
    [False, True], ["false", "true"], ["FALSE", "TRUE"], [0, 1], ["0.0", "1.0"], ["n", "y"], ["No", "Yes"], ["f", "T"],
])  # fmt: skip
def test_truth_values_are_one_category_in_whatever_spelling(pair, cells):
    encoder = TableEncoder.fit({"member": [*pair, pair[0]]}, categorical=["member"])
    np.testing.assert_array_equal(encoder.transform({"member": cells}), np.eye(2))


def test_spellings_of_one_category_are_one_in_training_too():
    table = {"code": ["1", "1.0", " 2", "2", "true", "True"]}
    encoder = TableEncoder.fit(table, categorical=["code"])
    assert encoder.feature_names == ("code=1", "code=2", "code=True")
    np.testing.assert_array_equal(encoder.transform(table), np.eye(3)[[0, 0, 1, 1, 2, 2]])


def test_leading_zeros_letters_and_single_letters_tell_categories_apart():
    assert len({category_form(cell) for cell in ("01", "1", "a", "A", "0x1", "1a")}) == 6
    encoder = TableEncoder.fit({"surface": ["f", "y", "s"]})  # no truth values, since "s" is none
    with pytest.warns(UserWarning, match="'n'"):
        assert encoder.transform({"surface": ["n"]}).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("kind", [list, np.array])
def test_texts_that_read_as_one_number_are_different_categories(kind):
    versions = ["1.1", "1.10", "1.2", "1E3", "1000"]
    encoder = TableEncoder.fit({"version": kind(versions)}, categorical=["version"])
    np.testing.assert_array_equal(encoder.transform({"version": kind(versions)}), np.eye(5)[[0, 1, 2, 4, 3]])
    assert encoder.feature_names == tuple(f"version={text}" for text in sorted(versions))
    with pytest.warns(UserWarning, match=r"'version': '1.100'"):
        assert not encoder.transform({"version": kind(["1.100"])}).any()


def test_a_whole_number_is_found_in_every_spelling_and_no_text_that_reads_as_one():
    encoder = TableEncoder.fit({"code": ["3", "1E3", "x"]}, categorical=["code"])
    np.testing.assert_array_equal(encoder.transform({"code": [3, "3.00", "3e0"]}), np.eye(3)[[1, 1, 1]])
    with pytest.warns(UserWarning, match="'1000'"):
        assert not encoder.transform({"code": ["1000"]}).any()


def test_groups_that_read_as_one_number_are_told_apart():
    assert read_groups(["1.1", "1.10", "2", "2.0"], 4).names == ("1.1", "1.10", "2")


def test_a_missing_value_is_one_in_every_spelling_of_its_number():
    table = read_table({"age": ["31", "-999.00", "-9.99e2", "-999"]}, missing=["-999"])
    assert table.cells["age"].tolist() == ["31", None, None, None]
    assert read_table({"age": ["31", "TRUE"]}, missing=["true"]).cells["age"].tolist() == ["31", None]


def test_a_boolean_column_of_a_frame_takes_the_words_for_it():
    encoder = TableEncoder.fit({"member": np.array([True, False, True])})
    np.testing.assert_array_equal(encoder.transform({"member": ["True", "false", "1"]})[:, 0], [1, 0, 1])


@pytest.mark.parametrize("cells, expected", [
    (["True", "False", "True", ""], [1, 0, 1, 1]), (["false", "NA", " TRUE"], [0, 0.5, 1]), (["True", None], [1, 1]),
])  # fmt: skip
def test_a_column_of_true_and_false_is_one_of_numbers_as_a_boolean_one_is(cells, expected):
    encoder = TableEncoder.fit({"member": cells})
    assert encoder.numeric == ("member",)
    np.testing.assert_array_equal(encoder.transform({"member": cells})[:, 0], expected)


def test_true_and_false_are_categories_beside_others_and_as_text_of_a_frame():
    assert TableEncoder.fit({"x": ["true", "false", "unknown"]}).feature_names == ("x=false", "x=true", "x=unknown")
    assert TableEncoder.fit({"x": ["true", "false", "1"]}).categorical == ("x",)
    assert TableEncoder.fit({"x": ["true", "false"]}, categorical=["x"]).categorical == ("x",)
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    assert TableEncoder.fit(pandas.DataFrame({"x": ["true", "false"]})).categorical == ("x",)


def test_unknown_categories_are_counted_in_one_warning():
    encoder = InputEncoder.fit({"a": ["u", "v"], "b": ["x", "y"]}, standardize=False)
    with pytest.warns(UserWarning) as told:
        rows = encoder.encode({"a": ["w", "u", "w", "z"], "b": ["x", None, "x", "y"]})
    np.testing.assert_array_equal(rows, [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    assert [str(warning.message) for warning in told] == [
        "categories that training did not hold are encoded as zeros: 3 of 4 cells (75.0%) of 'a': 'w', 'z'; "
        "1 of 4 cells (25.0%) of 'b': a missing value."
    ]


# -- frames ----------------------------------------------------------------------------------------------------------


def test_text_of_a_frame_that_holds_numbers_but_for_a_gap_is_refused():
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    for cell in ("-", "?", "abc"):
        with pytest.raises(ValueError, match=r"column 'age' holds numbers, but also '.*' in row 141.*to_numeric"):
            TableEncoder.fit(pandas.DataFrame({"age": [*AGES, cell]}))
        assert TableEncoder.fit(pandas.DataFrame({"age": [*map(int, AGES), "-"]})).medians == (MEDIAN,)
    coded = pandas.DataFrame({"zip": [*AGES, "-"]}).astype("category")
    assert len(TableEncoder.fit(coded).feature_names) == 71


def test_cells_that_are_masked_are_missing():
    column = np.ma.array([1.0, 9.0, 3.0], mask=[False, True, False])
    np.testing.assert_array_equal(TableEncoder.fit({"x": column}).transform({"x": column})[:, 0], [1, 2, 3])


@pytest.mark.parametrize("column, kept", [
    (["0", "1", "2", "3"], False), ([7, 2, 9, 1], False), (["Mazda", "Fiat", "Volvo", "Ford"], False),
    (["0.5", "1", "2", "3"], True), ([1, 1, 2, 2], True), (["u", "v", "u", "v"], True),
])  # fmt: skip
@pytest.mark.parametrize("name", ["", "Unnamed: 0", "Unnamed: 0.1"])
def test_a_column_without_a_name_that_numbers_the_rows_is_left_out_with_a_warning(recwarn, name, column, kept):
    encoder = TableEncoder.fit({name: column, "x": [5, 6, 7, 8]})
    assert (name not in (*encoder.numeric, *encoder.categorical)) != kept
    assert [name in str(warning.message) for warning in recwarn] == [True] * (not kept)
    encoder.transform({"x": [5]} if not kept else {"x": [5], name: column[:1]})


def test_numbers_are_read_as_python_reads_them_but_for_underscores():
    for text in ("1.5", " 2 ", "+3", "-4e2", "1e400", ".5", "5.", "inf"):
        assert as_number(text) == float(text)
    for text in ("1_0", "0x1A", "1d5", "one"):
        with pytest.raises(ValueError):
            as_number(text)
    assert as_number(10**400) == float("inf")


@pytest.mark.parametrize("cell", [[1], (1, 2), {"a": 1}, np.zeros(2)])
def test_a_cell_that_is_no_scalar_is_refused_by_column(cell):
    with pytest.raises(ValueError, match="column 'x' must hold numbers.*got a cell that is a"):
        TableEncoder.fit({"x": [cell, cell]})
