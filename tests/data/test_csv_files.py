"""Delimited text as people have it: delimiters, decimal signs, comments, blanks and gaps; read as Python would."""

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import in_a_process

pytest.importorskip("pyarrow", reason="needs the extra files")

from aesara_nondecomp.data import TableColumns, csv_headers, read_csv, read_csv_columns  # noqa: E402
from aesara_nondecomp.data import csv_files as module  # noqa: E402
from aesara_nondecomp.data.csv_files import open_csv  # noqa: E402
from aesara_nondecomp.data.table_parts import open_csv_files  # noqa: E402
from aesara_nondecomp.data.tabular import TableEncoder  # noqa: E402

PLAIN = "age,height,kind\n31,1.5,yes\n42,1.75,no\n"
SAME = {
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "bars": PLAIN.replace(",", "|"),
    "sep=": "sep=;\n" + PLAIN.replace(",", ";"),
    "quoted sep=": '"sep=;"\r\n' + PLAIN.replace(",", ";"),
    "comments above": "# made by hand\n# in 2024, of two rows\n" + PLAIN,
    "comments and blank lines above": "\n# made by hand\n\n# in 2024, of two rows\n\n" + PLAIN,
    "comments below": PLAIN.replace("42", "# one more\n42") + "# the end\n",
    "blank lines": "\n" + PLAIN.replace("42", "\n\n42") + "\n\n",
    "a byte order mark": "\ufeff" + PLAIN,
    "Windows lines": PLAIN.replace("\n", "\r\n"),
    "Macintosh lines": PLAIN.replace("\n", "\r"),
    "blanks": PLAIN.replace(",", " , "),
    "quotes": "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in PLAIN.split()),
    "no last line end": PLAIN.rstrip(),
    "a sign": PLAIN.replace("31", "+31"),
}


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_all(path, texts=(), **options):
    decimal = options.pop("decimal", ".")
    with open_csv(path, **options) as table:
        return {name: cells.tolist() for name, cells in table.read(table.names, texts, decimal=decimal).items()}


@pytest.mark.parametrize("name", SAME)
def test_one_table_is_read_from_all_its_layouts(tmp_path, name):
    path = written(tmp_path / "t.csv", SAME[name])
    assert read_all(path) == {"age": [31, 42], "height": [1.5, 1.75], "kind": ["yes", "no"]}
    table = read_csv(path, "kind")
    assert table.X.tolist() == [[31, 1.5], [42, 1.75]] and table.y.tolist() == ["yes", "no"]
    assert {name: cells for name, cells in read_csv_columns(path).items() if name != "age"} == {
        "height": ["1.5", "1.75"],
        "kind": ["yes", "no"],
    }


@pytest.mark.parametrize("text, options, expected", [
    ("a;b\n1,5;2\n-2,25;1e3\n", {"decimal": ","}, {"a": [1.5, -2.25], "b": [2, 1000]}),
    ("a;b\n1,5;u\n;v\n", {"decimal": ","}, {"a": [1.5, np.nan], "b": ["u", "v"]}),
    ("a,b\n1;2,x\n3;4,y\n", {}, {"a": ["1;2", "3;4"], "b": ["x", "y"]}),
    ("#a,b\n1,2\n", {}, {"#a": [1], "b": [2]}),  # a header, since it has as many cells as the rows
    ('a,b\n"x, y",1\n"p\nq",2\n', {}, {"a": ["x, y", "p\nq"], "b": [1, 2]}),
    ('"a,b",c\n1,2\n', {}, {"a,b": [1], "c": [2]}),
    ("a,b\n-,1\n 7 ,2\nNone,?\n", {}, {"a": [np.nan, 7, np.nan], "b": [1, 2, np.nan]}),
    ("a\n1\n2\n", {}, {"a": [1, 2]}),
])  # fmt: skip
def test_what_is_read(tmp_path, text, options, expected):
    np.testing.assert_equal(read_all(written(tmp_path / "t.csv", text), **options), expected)


@pytest.mark.parametrize("text, options, message", [
    ("a,b\n1,2\n3\n", {}, r"row 2 \(from 1, below the header\): expected 2 cells as in the header, got 1"),
    ("# x\na,b\n1,2\n3,4,5\n", {}, r"row 2 \(from 1, below the header\): expected 2 cells.*got 3"),
    ("\n\na,b\n1,2\n\n# x\n\n3,4\n# y\n5\n", {}, r"row 3 \(from 1, below the header\): expected 2 cells.*got 1"),
    ("a,a\n1,2\n", {}, r"must name each column once, got \['a'\]"),
    ("a,b\n", {}, "must hold rows below its header, got none"),
    ("", {}, "must start with a header row, but it is empty"),
    (b"a,b\n\xff,1\n", {}, "must be UTF-8 text"),
    (b"a,b\n" + b"1,2\n" * 400_000 + b"\xff,1\n", {}, "must be UTF-8 text"),
    ("a,b\n1;2,x\n3;4,y\n", {"delimiter": ";"}, r"row 1 \(from 1, below the header\): expected 1 cells.*got 2"),
    ("a;b\n1.234;2\n", {"decimal": ","}, r"row 1 \(from 1\), column 'a': got '1.234' beside decimal=','"),
])  # fmt: skip
def test_a_table_that_cannot_be_read_is_refused_naming_the_row(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message):
        read_all(written(tmp_path / "t.csv", text), **options)


def test_a_column_whose_text_comes_late_keeps_the_spelling_of_its_first_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 64)
    rows = [f"0{k},{k}" for k in range(100)]
    path = written(tmp_path / "t.csv", "code,x\n" + "\n".join([*rows, "A1,100"]))
    columns = read_all(path)
    assert columns["code"] == [*(f"0{k}" for k in range(100)), "A1"] and columns["x"] == list(range(101))
    assert read_all(written(path, "code,x\n" + "\n".join(rows)), texts=["code"])["code"][7] == "07"


def test_a_row_may_be_longer_than_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 256)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 256)
    names, cells = [f"column {k}" for k in range(200)], ["1.25"] * 200
    path = written(tmp_path / "t.csv", "\n".join(";".join(row) for row in (names, *[cells] * 9)))
    assert read_csv(path, "column 7").X.shape == (9, 199)


CELLS = st.one_of(
    st.floats(allow_nan=False).map(repr), st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["", "NA", " 1.5", "1e5", "007", "-0.0", "1e-320", "4.35", "0.1"]),
    st.text("ab\"', \n;é", max_size=5),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8))
def test_any_table_is_read_as_python_reads_it(tmp_path_factory, rows):
    rows = [row for row in rows if any(cell.strip() for cell in row) and not row[0].startswith("#")]
    if not rows:
        return
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("first", "second"), *rows])
    path = written(tmp_path_factory.mktemp("fuzz") / "t.csv", text.getvalue())
    for name, expected in zip(("first", "second"), zip(*rows)):
        stripped = [cell.strip() for cell in expected]
        assert read_csv_columns(path, ",")[name] == stripped
        cells = read_all(path, delimiter=",")[name]
        if not isinstance(cells[0], (str, type(None))):
            wanted = [np.nan if cell in ("", "NA") else float(cell) for cell in stripped]
            assert np.array(cells).tobytes() == np.array(wanted).tobytes()
        else:
            assert [cell or "" for cell in cells] == stripped


def test_a_text_is_itself_though_it_may_spell_a_missing_number(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 64)
    texts = ["NA", "?", "null", "", "N/A", "nan", "good"] * 20
    rows = [f"{text},{'NA' if k % 3 else k}" for k, text in enumerate(texts)]
    path = written(tmp_path / "t.csv", "text,x\n" + "\n".join(rows))
    with open_csv(path) as table:
        blocks = list(table.blocks(table.names, ["text"], 30))
    for column, expected in (
        ("text", [text or None for text in texts]),
        ("x", [np.nan if k % 3 else k for k in range(140)]),
    ):
        np.testing.assert_equal(read_all(path, ["text"])[column], expected)
        np.testing.assert_equal([cell for block in blocks for cell in block[column].tolist()], expected)


@pytest.mark.parametrize("text, expected", [
    ("x\n1\n\n2\n", ["1", "", "2"]),
    ("x\n\n1\n\n\n2\n\n\n", ["", "1", "", "", "2"]),
    ("\n\nx\n1\n\n2", ["1", "", "2"]),
    ('x\r\n1\r\n\r\n""\r\n\r\n', ["1", "", ""]),  # pandas writes quotes around nothing
])  # fmt: skip
def test_a_blank_line_above_the_last_row_of_one_column_is_an_empty_cell(tmp_path, monkeypatch, text, expected):
    monkeypatch.setattr(module, "BLOCK_BYTES", 8)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 8)
    path = written(tmp_path / "t.csv", text)
    numbers = [float(cell or "nan") for cell in expected]
    assert read_csv_columns(path) == {"x": expected}
    np.testing.assert_equal(read_all(path), {"x": numbers})
    with open_csv_files([path, path]) as table:
        np.testing.assert_equal([cell for block in table.blocks(["x"], (), 2) for cell in block["x"]], 2 * numbers)


def test_columns_of_a_file_and_of_a_mapping_are_encoded_alike(tmp_path):
    path = written(tmp_path / "t.csv", "age,colour\n20,red\n-,blue\n40,\nNA,red\n")
    with open_csv(path) as table:
        read = TableColumns(table.read(table.names))
    mapping = {"age": ["20", "-", "40", "NA"], "colour": ["red", "blue", "", "red"]}
    assert TableEncoder.fit(read) == TableEncoder.fit(mapping)
    np.testing.assert_array_equal(
        TableEncoder.fit(mapping).transform(read), TableEncoder.fit(mapping).transform(mapping)
    )


def test_without_pyarrow_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    with pytest.raises(ImportError, match=r"needs pyarrow: pip install 'aesara-nondecomp\[files\]'"):
        read_csv(written(tmp_path / "t.csv", PLAIN), "kind")


def kibibytes(field):
    """A line of what Linux says of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def resident_memory_of_reading(small, large):
    """Bytes of numbers in a large file, and bytes by which this process, which should be a new one, grows at most."""
    read_all(small)  # imports what pyarrow imports late
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = kibibytes("VmRSS")
    with open_csv(large) as table:
        columns = table.read(table.names)
    return sum(cells.nbytes for cells in columns.values()), 1024 * (kibibytes("VmHWM") - before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is of Linux")
def test_a_table_is_read_in_little_more_memory_than_its_numbers_take(tmp_path):
    """Beside the numbers, batches of 1 MB and their like, whatever the size of the file."""
    line = ",".join(["-1.234567"] * 20) + "\n"
    header = ",".join(f"x{k}" for k in range(20)) + "\n"
    small, large = (str(written(tmp_path / f"{n}.csv", header + line * n)) for n in (10, 300_000))
    printed = in_a_process(f"print(*t.resident_memory_of_reading({small!r}, {large!r}))", "test_csv_files")
    numbers, grown = map(int, printed)
    assert numbers == 8 * 20 * 300_000 and grown < 1.5 * numbers + 2**25


BLOCKS = {
    "numbers and text": ("a,b\n" + "".join(f"{k}.5,t{k % 3}\n" for k in range(50)), (), {}),
    "codes": ("a,b\n" + "".join(f"0{k},{k}\n" for k in range(50)), ("a",), {}),
    "gaps": ("a,b\n" + "".join(f"{k if k % 4 else ''},{'-' if k % 7 == 3 else k}\n" for k in range(50)), (), {}),
    "decimal commas": ("a;b\n" + "".join(f"{k},5;1\n" for k in range(50)), (), {"decimal": ","}),
    "fewer rows than a block": ("a,b\n1,2\n", (), {}),
}


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("rows", [1, 7, 25])
def test_blocks_are_the_rows_of_the_table_cut(tmp_path, monkeypatch, name, rows):
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 64)
    text, texts, options = BLOCKS[name]
    path = written(tmp_path / "t.csv", text)
    whole = read_all(path, texts, **options)
    with open_csv(path) as table:
        blocks = list(table.blocks(table.names, texts, rows, **options))
    n = len(whole["a"])
    assert [len(block["a"]) for block in blocks] == [min(rows, n - start) for start in range(0, n, rows)]
    for column, cells in whole.items():
        np.testing.assert_equal([cell for block in blocks for cell in block[column].tolist()], cells)


@pytest.mark.parametrize("text, options, message", [
    ("a,b\n" + "1,2\n" * 40 + "3\n", {}, r"row 41 \(from 1, below the header\): expected 2 cells"),
    ("a;b\n" + "1,5;2\n" * 40 + "1.500,5;2\n1.5;2\n", {"decimal": ","}, r"row 42 \(from 1\), column 'a': got '1\.5'"),
    ("a,b\n", {}, "must hold rows below its header, got none"),
])  # fmt: skip
def test_what_is_wrong_in_a_later_block_is_named_by_its_row_of_the_file(tmp_path, monkeypatch, text, options, message):
    monkeypatch.setattr(module, "BLOCK_BYTES", 64)
    monkeypatch.setattr(csv_headers, "SAMPLE_BYTES", 64)
    with open_csv(written(tmp_path / "t.csv", text)) as table, pytest.raises(ValueError, match=message):
        list(table.blocks(table.names, (), 4, **options))
