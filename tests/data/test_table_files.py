"""Tables of other formats than delimited text: the same columns, and the same errors."""

import io
import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra files")
pandas = pytest.importorskip("pandas", reason="needs the extra files")

from aesara_nondecomp import data  # noqa: E402
from aesara_nondecomp.data import TableEncoder, read  # noqa: E402
from aesara_nondecomp.data.table_files import open_table  # noqa: E402

FRAME = pandas.DataFrame(
    {"age": [20, None, 40, 60], "colour": ["red", "blue", None, "red"], "code": [1, 2, 1, 2], "y": [0, 1, 0, 1]}
)
MATRIX = [
    [20, 1, 0, 0, 1],
    [40, 2, 0, 1, 0],
    [40, 1, 1, 0, 0],
    [60, 2, 0, 0, 1],
]  # age, code; colour missing, blue, red
ARFF = """% made by hand
@relation people
@attribute age numeric
@attribute colour {red,blue}
@attribute code {1,2}
@attribute y {0,1}
@data
20,red,1,0
?,blue,2,1
40,?,1,0
60,red,2,1
"""


def write_excel(path):
    pytest.importorskip("openpyxl", reason="needs the extra files")
    FRAME.to_excel(path, index=False)


WRITERS = {
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "t.data": lambda path: FRAME.to_csv(path, index=False, sep=";", na_rep="?"),
    "t.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "t.tsv.bz2": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "t.csv.xz": lambda path: FRAME.to_csv(path, index=False),
    "t.parquet": lambda path: FRAME.to_parquet(path),
    "t.xlsx": write_excel,
}


def encoded(path, texts=()):
    with open_table(path) as table:
        columns = table.read(["age", "colour", "code"], texts)
    return TableEncoder.fit(columns).transform(columns)


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_is_read_alike_from_every_format(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    with open_table(path) as table:
        assert table.names == ("age", "colour", "code", "y")
        labels = table.read(["y"], ["y"]).cells["y"]
    np.testing.assert_array_equal(encoded(path), MATRIX)
    assert [int(label) for label in labels] == [0, 1, 0, 1]


def test_nominal_attributes_of_arff_are_categories(tmp_path):
    (tmp_path / "t.arff").write_text(ARFF)
    matrix = encoded(tmp_path / "t.arff")
    np.testing.assert_array_equal(matrix[:, :4], np.array(MATRIX)[:, [0, 2, 3, 4]])
    np.testing.assert_array_equal(matrix[:, 4:], [[1, 0], [0, 1], [1, 0], [0, 1]])


def test_numbers_of_a_table_are_read_with_their_labels(tmp_path):
    FRAME[["code", "y"]].to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet", target="y")
    assert table.X.tolist() == [[1], [2], [1], [2]] and table.y.tolist() == [0, 1, 0, 1]
    assert table.feature_names == ("code",) and table.y.dtype == np.int64
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"holds text in the columns \['colour'\]"):
        read(tmp_path / "t.parquet", target="y")
    with pytest.raises(ValueError, match="no column 'z'"):
        read(tmp_path / "t.parquet", target="z")


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "t.arff"])
def test_a_damaged_file_is_refused_by_name(tmp_path, name):
    if name == "t.xlsx":
        pytest.importorskip("openpyxl", reason="needs the extra files")
    (tmp_path / name).write_bytes(b"PK\x03\x04 no such thing")
    with pytest.raises(ValueError, match=f"cannot read .*{name}"), open_table(tmp_path / name):
        pass
    with pytest.raises(FileNotFoundError, match="there is no file"), open_table(tmp_path / f"x{name}"):
        pass


def test_columns_of_one_name_in_excel_are_refused(tmp_path):
    pytest.importorskip("openpyxl", reason="needs the extra files")
    twice, unnamed = FRAME.set_axis(["x", "x", "x.1", "y"], axis=1), FRAME.set_axis(["", "x", "", "y"], axis=1)
    twice.to_excel(tmp_path / "twice.xlsx", index=False)
    unnamed.to_excel(tmp_path / "unnamed.xlsx", index=False)
    message = r"^a table must name each column once, got \['x'\] more than once. Rename them.$"
    with pytest.raises(ValueError, match=message), open_table(tmp_path / "twice.xlsx"):
        pass
    with open_table(tmp_path / "unnamed.xlsx") as table:
        assert table.names == ("Unnamed: 0", "x", "Unnamed: 2", "y")


@pytest.mark.parametrize("options, message", [
    ({"decimal": ","}, "no delimited text: leave delimiter and decimal out"),
    ({"delimiter": ";"}, "no delimited text: leave delimiter and decimal out"),
    ({"decimal": ";"}, "decimal sign must be '.' or ','"),
])  # fmt: skip
def test_options_that_do_not_fit_are_refused(tmp_path, options, message):
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message), open_table(tmp_path / "t.parquet", **options):
        pass


def test_a_date_in_a_frame_is_refused_by_column(tmp_path):
    FRAME.assign(age=pandas.to_datetime(["2024-01-31"] * 4)).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="column 'age' must hold numbers.*got datetime"):
        encoded(tmp_path / "t.parquet")


def test_a_table_is_read_from_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"age;colour;code\n20;red;1\n-;blue;2\n")))
    with open_table("-") as table:
        columns = table.read(table.names, ())
    assert TableEncoder.fit(columns).feature_names == ("age", "code", "colour=blue", "colour=red")


@pytest.mark.parametrize("name", ["drop", "categorical", "missing"])
def test_a_single_text_is_not_read_letter_by_letter(name, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,ab,label\n" + "1,2,3,0\n1,2,3,1\n" * 5)
    with pytest.raises(ValueError, match=f"{name} must be a sequence of texts"):
        data.TableFiles(tmp_path / "t.csv", **{name: "ab"}).opened()
