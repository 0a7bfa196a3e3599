"""Standard input as a table: its rows come in pieces, whole, wherever the pipe cuts the text."""

import io
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="needs the extra files")

from aesara_nondecomp.data.csv_files import open_csv, read_csv_columns  # noqa: E402
from aesara_nondecomp.data.standard_input import StandardInput, end_of_rows  # noqa: E402

TEXTS = {
    "plain": "a,b\n1,2\n3,4\n5,6\n",
    "quoted line ends": 'a,b\n1,"x\ny"\n"p,""q""\n",4\n"",6\n',
    "a quote within a cell": 'a,b\n5" pipe,2\n7" tube,4\n',
    "no line end at the end": "a,b\n1,2\n3,4",
    "two bytes for a line end": "a,b\r\n1,2\r\n3,4\r\n",
    "comments": "# by hand\na,b\n# first, second, third\n1,2\n#\n3,4\n",
    "a named delimiter": "sep=;\na;b\n1,5;2\n3;4\n",
    "letters of two bytes": "ä,b\nö,2\nüü,4\n",
    "empty lines": "\n\na,b\n\n1,2\n\n\n3,4\n",
    "blank lines of one column": 'a\n\n1\n\n\n2\n""\n\n\n',
    "blank lines of one column with two bytes each": "a\r\n\r\n1\r\n\r\n\r\n2\r\n\r\n",
}


def piped(monkeypatch, text, sizes):
    """Standard input that has so many bytes at a time, with a pause after each of them."""
    source = io.BytesIO(text.encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=SimpleNamespace(read1=lambda _: source.read(next(sizes)))))
    monkeypatch.setattr(StandardInput, "_is_ready", lambda self: False)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("most", [1, 3, 9])
def test_rows_are_those_of_a_file_wherever_the_text_is_cut(name, most, monkeypatch, tmp_path):
    (tmp_path / "t.csv").write_bytes(TEXTS[name].encode())
    expected = read_csv_columns(tmp_path / "t.csv")
    rng = np.random.default_rng(most)
    piped(monkeypatch, TEXTS[name], iter(lambda: int(rng.integers(1, most + 1)), None))
    with open_csv("-") as table:
        blocks = list(table.blocks(table.names, table.names, 4096))
    assert list(blocks[0]) == list(expected)
    found = {column: [cell or "" for block in blocks for cell in block[column]] for column in expected}
    assert found == expected


def test_a_row_that_does_not_fit_is_counted_from_the_header_on_in_whatever_piece_it_is(monkeypatch):
    text = "# made today\na,b\n" + "1,2\n" * 7 + "# note\n3\n"
    for size in (1, 12, 1000):
        piped(monkeypatch, text, iter(lambda size=size: size, None))
        message = r"^-, row 8 \(from 1, below the header\): expected 2 cells as in the header, got 1"
        with open_csv("-") as table, pytest.raises(ValueError, match=message):
            list(table.blocks(table.names, table.names, 3))


def test_blocks_without_a_pause_are_those_of_a_file(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n" + b"1\n" * 10_000)))
    with open_csv("-") as table:
        assert [len(block["a"]) for block in table.blocks(["a"], (), 4096)] == [4096, 4096, 10_000 - 2 * 4096]


def test_rows_are_passed_on_while_the_pipe_is_open(monkeypatch):
    reading, writing = os.pipe()
    with open(reading) as standard_input, open(writing, "w") as producer:
        monkeypatch.setattr(sys, "stdin", standard_input)
        print("a,b\n1,2", file=producer, flush=True)
        with open_csv("-") as table:
            blocks = table.blocks(["b"], (), 4096)
            for row in range(3):
                assert next(blocks)["b"].tolist() == [row + 2]
                print(f"1,{row + 3}", file=producer, flush=True)
            producer.close()
            assert [block["b"].tolist() for block in blocks] == [[5]]


@pytest.mark.parametrize("text, whole", [
    ("", 0), ("1,2", 0), ("1,2\n", 4), ("1,2\n3", 4), ('"1\n2', 0), ('1\n"2\n', 2), ('"1\n"\n2', 5), ('1"\n"2', 3),
    ('"a""\n"\n', 7), ('"a""\n', 0), ('1,"2"\r', 6), ("1;'\n", 4),
])  # fmt: skip
def test_whole_rows_end_at_a_line_end_outside_quotes(text, whole):
    assert end_of_rows(text.encode(), ",") == whole
