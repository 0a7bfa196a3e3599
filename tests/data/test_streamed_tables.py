"""Tables in several files are those of one file, and what one pass learns of them is what is learned in memory."""

import os

import numpy as np
import pytest

pyarrow = pytest.importorskip("pyarrow", reason="needs the extra files")
pandas = pytest.importorskip("pandas", reason="needs the extra files")

from pyarrow import dataset, parquet  # noqa: E402

from aesara_nondecomp.data import InputEncoder, TableFiles, streamed_tables, table_survey  # noqa: E402
from aesara_nondecomp.data.arrow_tables import open_arrow  # noqa: E402
from aesara_nondecomp.data.categories import UnknownCategories  # noqa: E402
from aesara_nondecomp.data.streamed_tables import StreamedTable  # noqa: E402
from aesara_nondecomp.data.table_files import is_table_file, open_table  # noqa: E402
from aesara_nondecomp.parallel import LOCAL  # noqa: E402
from aesara_nondecomp.training.streamed_rows import inputs_of  # noqa: E402

N = 400
RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 10, N).round(3)),
        "colour": RNG.choice(["red", "blue", None], N),
        "code": RNG.integers(1, 5, N),
        "small": (RNG.integers(-50, 50, N) / 4).astype("float32"),
        "label": RNG.choice(["no", "yes"], N, p=[0.8, 0.2]),
    }
)
FRAME.loc[N - 1, "colour"] = "rare"  # in the last row only


def read_files(files, target):
    """What `fit` reads of files."""
    return inputs_of(files, None, target, {}, LOCAL)


def write_parts(folder, suffix, frame=FRAME, parts=4):
    folder.mkdir()
    for k in range(parts):
        part = frame[k * len(frame) // parts : (k + 1) * len(frame) // parts]
        path = folder / f"part{k}{suffix}"
        part.to_parquet(path, index=False) if suffix == ".parquet" else part.to_csv(path, index=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("tables")
    FRAME.to_parquet(found / "one.parquet")
    FRAME.to_csv(found / "one.csv", index=False)
    write_parts(found / "parquet", ".parquet")
    write_parts(found / "csv", ".csv")
    write_parts(found / "gz", ".csv.gz")
    (found / "csv" / "_log.csv").write_text("no table")
    return found


SOURCES = {
    "one Parquet file": lambda folder: folder / "one.parquet",
    "one text": lambda folder: str(folder / "one.csv"),
    "a folder of Parquet files": lambda folder: folder / "parquet",
    "a pattern of Parquet files": lambda folder: str(folder / "parquet" / "*.parquet"),
    "a folder of texts": lambda folder: str(folder / "csv"),
    "a pattern of compressed texts": lambda folder: str(folder / "*z" / "part*.gz"),
    "a list of texts": lambda folder: [folder / "csv" / f"part{k}.csv" for k in range(4)],
    "a data set": lambda folder: dataset.dataset(str(folder / "parquet"), format="parquet"),
    "a table of pyarrow": lambda folder: pyarrow.Table.from_pandas(FRAME),
}


def rows_of(columns):
    """The rows of a table as text; a missing value is nan."""
    cells = [["nan" if cell is None else str(cell) for cell in column.tolist()] for column in columns.cells.values()]
    return list(zip(*cells))


@pytest.fixture(scope="module")
def expected():
    with open_table(pyarrow.Table.from_pandas(FRAME)) as table:
        return table.read(list(FRAME), ["colour", "label"])


@pytest.mark.parametrize("name", SOURCES)
def test_a_table_is_alike_in_one_file_and_in_several_at_once_and_by_blocks(name, folder, expected):
    with open_table(SOURCES[name](folder)) as table:
        assert table.names == tuple(FRAME)
        assert abs(table.count_rows() - N) <= 0.2 * N
        assert rows_of(table.read(table.names, ["colour", "label"])) == rows_of(expected)
        blocks = list(table.blocks(table.names, ["colour", "label"], 60))
    assert [block.shape[0] for block in blocks] == [60] * 6 + [40]
    assert [block.first_row for block in blocks] == list(range(0, N, 60))
    assert [row for block in blocks for row in rows_of(block)] == rows_of(expected)


@pytest.mark.parametrize("name", SOURCES)
def test_one_pass_learns_what_is_learned_in_memory(name, folder, monkeypatch):
    files = TableFiles(SOURCES[name](folder), categorical=["code"])
    X, y = read_files(files, "label")
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 5 * 60)
    streamed, classes = read_files(files, "label")
    assert isinstance(streamed, StreamedTable) and streamed.shape == (N, 4)
    assert classes.tolist() == ["no", "yes"] and np.array_equal(classes[streamed.codes], y)
    encoder = InputEncoder.learn(X, add_indicator=True)
    assert streamed.encoder == encoder.table and "rare" in encoder.table.categories[0]
    parts = list(streamed.encoded(encoder, UnknownCategories()))
    assert [first for first, _ in parts] == list(range(0, N, 75))  # there are 4 columns without labels
    assert np.array_equal(np.concatenate([rows for _, rows in parts]), np.asarray(encoder.encode(X)))


@pytest.mark.parametrize("parts", [1, 2])
def test_a_column_of_numbers_in_one_block_and_text_in_another_keeps_its_spelling(parts, tmp_path, monkeypatch):
    codes = [f"0{k % 7}" for k in range(100)] + [f"K{k % 5}A" for k in range(100)] + ["-", "none"] * 10
    frame = pandas.DataFrame({"zip": codes, "size": np.arange(220.0), "label": ["no", "yes"] * 110})
    for k in range(parts):  # two files: one process's are all numbers
        frame[k * 100 : 220 if k + 1 == parts else 100].to_csv(tmp_path / f"{k}.csv", index=False)
    X, _ = read_files(TableFiles(tmp_path), "label")
    expected = InputEncoder.learn(X, add_indicator=True)
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 3 * 50)
    streamed, _ = read_files(TableFiles(tmp_path), "label")
    assert streamed.encoder == expected.table and {"01", "K1A", "none"} <= set(streamed.encoder.categories[0])
    unknown = UnknownCategories()
    found = np.concatenate([rows for _, rows in streamed.encoded(expected, unknown)])
    assert not unknown.message() and np.array_equal(found, np.asarray(expected.encode(X)))


@pytest.mark.parametrize("in_memory", [2**25, 0])
@pytest.mark.parametrize("stray, missing, message", [
    (["XX", "2,5"], [], "column 'size' holds numbers, but also 'XX' in row 8"),
    (["XX", "1.234"], ["XX"], "column 'size' holds numbers with .*thousands.*'1.234' in row 9.* such as 1234,5, or"),
])  # fmt: skip
def test_a_stray_cell_among_decimal_commas_is_refused_as_it_is_among_points(
    stray, missing, message, in_memory, tmp_path, monkeypatch
):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", in_memory)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 3 * 50)
    sizes = [f"{k},{k % 10}" for k in range(220)]
    frame = pandas.DataFrame({"size": [*sizes[:7], *stray, *sizes[9:]], "b": 1.5, "label": ["no", "yes"] * 110})
    frame.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    with pytest.raises(ValueError, match=message):
        X, _ = read_files(TableFiles(tmp_path / "t.csv", missing=missing, decimal=","), "label")
        InputEncoder.learn(X)


@pytest.mark.parametrize("in_memory", [2**25, 0])
@pytest.mark.parametrize("cell, missing", [(".", []), ("n.a.", []), ("XX", ["XX"]), ("-999,0", ["-999,0"]),
    ("-999,00", ["-999"])])  # fmt: skip
def test_missing_values_among_decimal_commas_are_those_among_points(cell, missing, in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", in_memory)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 3 * 50)
    sizes = [cell if k % 10 == 3 else f"{k},5" for k in range(220)]
    frame = pandas.DataFrame({"size": sizes, "other": sizes[::-1], "label": ["no", "yes"] * 110})
    frame.to_csv(tmp_path / "t.csv", sep=";", index=False)
    files = TableFiles(tmp_path / "t.csv", categorical=["other"], missing=missing, decimal=",")
    X, _ = read_files(files, "label")
    encoder = X.encoder if isinstance(X, StreamedTable) else InputEncoder.learn(X, add_indicator=True).table
    numbers = [k + 0.5 for k in range(220) if k % 10 != 3]
    assert encoder.numeric == encoder.gaps == ("size",) and encoder.medians == (np.median(numbers),)
    assert ("" in encoder.categories[0]) == bool(missing)
    with open_table(tmp_path / "t.csv", decimal=",") as table:
        found = encoder.transform(table.read(["size", "other"], ["other"]))[:, 1]
    assert np.flatnonzero(found).tolist() == list(range(3, 220, 10))
    points = {"size": [text if text == "n.a." else text.replace(",", ".") for text in sizes], "other": ["0,5"] * 220}
    assert np.array_equal(encoder.transform(points)[:, 1], found)


def test_the_cell_that_is_no_number_is_named_among_decimal_commas(tmp_path):
    (tmp_path / "t.csv").write_text("size;b\n0,1;1\n2,5;1\nabc;1\n")
    encoder = InputEncoder.learn({"size": [0.1, 2.5]}).table
    with open_table(tmp_path / "t.csv", decimal=",") as table:
        for block in (table.read(["size"], []), *table.blocks(["size"], [], 3)):
            with pytest.raises(ValueError, match=r"holds 'abc' in row 3 .*such as 1234,5"):
                encoder.transform(block)


@pytest.mark.parametrize("in_memory", [2**25, 0])
def test_text_with_decimal_commas_stays_categorical_and_keeps_its_spelling(in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", in_memory)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 2 * 50)
    frame = pandas.DataFrame({"size": ["36,5", "37"] * 50 + ["XL"] * 50, "label": ["no", "yes"] * 75})
    frame.to_csv(tmp_path / "t.csv", sep=";", index=False)
    X, _ = read_files(TableFiles(tmp_path / "t.csv", decimal=","), "label")
    encoder = X.encoder if isinstance(X, StreamedTable) else InputEncoder.learn(X).table
    assert encoder.feature_names == ("size=36,5", "size=37", "size=XL")


@pytest.mark.parametrize("in_memory", [2**25, 0])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_true_and_false_are_one_and_zero_in_every_format(suffix, in_memory, tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", in_memory)
    monkeypatch.setattr(table_survey, "_BLOCK_CELLS", 3 * 50)
    frame = FRAME[["age", "label"]].assign(member=FRAME["code"] > 2)
    path = tmp_path / f"t{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    X, _ = read_files(TableFiles(path), "label")
    encoder = X.encoder if isinstance(X, StreamedTable) else InputEncoder.learn(X, add_indicator=True).table
    assert encoder == InputEncoder.learn(frame[["age", "member"]], add_indicator=True).table
    assert encoder.numeric == ("age", "member")


def test_of_more_rows_than_a_sample_the_categories_are_of_all_and_medians_are_close(folder, monkeypatch):
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    for name, value in (("_BLOCK_CELLS", 5 * 30), ("SAMPLED_ROWS", (100, 100))):
        monkeypatch.setattr(table_survey, name, value)
    streamed, _ = read_files(TableFiles(folder / "one.csv"), "label")
    whole = InputEncoder.learn(FRAME.drop(columns="label")).table
    assert streamed.encoder.categories == whole.categories
    for name, found, median in zip(whole.numeric, streamed.encoder.medians, whole.medians):
        spread = FRAME[name].std()
        assert found != median or name == "code"
        assert abs(found - median) < 4 * 1.26 * spread / np.sqrt(100)  # four standard errors of a median


@pytest.mark.parametrize("labels, expected", [
    ([0, 1], [0, 1]), ([1.0, 2.0], [1, 2]), (["1", "01"], ["01", "1"]), (["1_1", "11"], ["11", "1_1"]),
    ([True, False], [False, True]),
    ([-1.5, 3.5, 2.0], [-1.5, 2.0, 3.5]),
])  # fmt: skip
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_labels_are_read_as_in_memory(labels, expected, suffix, tmp_path, monkeypatch):
    frame = FRAME.assign(label=[labels[k % len(labels)] for k in range(N)])
    path = tmp_path / f"t{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    _, y = read_files(TableFiles(path), "label")
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", 0)
    streamed, classes = read_files(TableFiles(path), "label")
    assert np.array_equal(classes[streamed.codes], y) and classes.dtype == y.dtype
    if expected is not None and (suffix, labels) != (".csv", [True, False]):
        assert classes.tolist() == expected


def test_folders_in_a_folder_may_name_columns(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"year={year}").mkdir()
        FRAME[:10].to_parquet(tmp_path / f"year={year}" / "t.parquet")
    with open_table(tmp_path) as table:
        assert table.names == (*FRAME, "year")
        blocks = list(table.blocks(["year", "code"], [], 15))
    assert np.concatenate([block.cells["year"] for block in blocks]).tolist() == [2023] * 10 + [2024] * 10
    assert np.array_equal(blocks[0].cells["code"], FRAME["code"][[*range(10), *range(5)]])


def test_the_names_of_folders_that_do_not_count_may_be_those_of_columns(tmp_path):
    folder = tmp_path / "code=1"
    folder.mkdir()
    FRAME[:10].to_parquet(folder / "t.parquet")
    for source in (folder, folder / "t.parquet", dataset.dataset(tmp_path)):
        with open_table(source) as table:
            assert table.read(["code"], []).cells["code"].tolist() == FRAME["code"][:10].tolist()


def test_the_index_of_all_files_is_no_column(tmp_path):
    FRAME[:5].set_index("age").to_parquet(tmp_path / "a.parquet")
    FRAME[5:9].set_index("age").to_parquet(tmp_path / "b.parquet")
    with open_table(tmp_path) as table:
        assert "age" not in table.names and "code" in table.names


def test_a_column_that_is_empty_in_one_file_has_the_type_of_the_others(tmp_path):
    FRAME[:5].assign(age=None).to_parquet(tmp_path / "a.parquet")
    FRAME[5:9].to_parquet(tmp_path / "b.parquet")
    with open_table(tmp_path) as table:
        blocks = list(table.blocks(["age"], [], 100))
        assert np.array_equal(table.read(["age"], []).cells["age"], blocks[0].cells["age"], equal_nan=True)
    assert np.array_equal(blocks[0].cells["age"][5:], FRAME["age"][5:9], equal_nan=True)


def test_a_file_without_rows_among_others_adds_none(tmp_path):
    for suffix in (".csv", ".parquet"):
        (tmp_path / suffix[1:]).mkdir()
        for name, rows in (("a", 5), ("b", 0), ("c", 7)):
            path = tmp_path / suffix[1:] / f"{name}{suffix}"
            FRAME[:rows].to_csv(path, index=False) if suffix == ".csv" else FRAME[:rows].to_parquet(path)
        with open_table(tmp_path / suffix[1:]) as table:
            found = [block.cells["code"] for block in table.blocks(["code"], [], 9)]
            assert np.array_equal(np.concatenate(found), table.read(["code"], []).cells["code"])
        assert np.array_equal(np.concatenate(found), FRAME["code"][[*range(5), *range(7)]])


def test_a_data_set_may_be_filtered(folder):
    older = dataset.dataset(str(folder / "parquet"), format="parquet").filter(dataset.field("code") > 2)
    with open_table(older) as table:
        found = np.concatenate([block.cells["code"] for block in table.blocks(["code"], [], 50)])
        assert table.count_rows() == len(found)
    assert np.array_equal(found, FRAME["code"][FRAME["code"] > 2])


def test_batches_of_parquet_files_hold_little_however_large_their_row_groups_are(tmp_path):
    rows = 2**20
    table = pyarrow.table({f"x{k}": np.random.default_rng(k).normal(size=rows) for k in range(6)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=rows, compression="none")
    size, before = table.nbytes, pyarrow.total_allocated_bytes()
    names, peak = table.schema.names, 0
    del table
    for _ in open_arrow(tmp_path / "t.parquet").blocks(names, 4096):
        peak = max(peak, pyarrow.total_allocated_bytes() - before)
    assert peak < 0.4 * size


def other_names(folder):
    FRAME[:5].to_csv(folder / "a.csv", index=False)
    FRAME[:5].rename(columns={"age": "years"}).to_csv(folder / "b.csv", index=False)


def other_names_in_parquet(folder):
    FRAME[:5].to_parquet(folder / "a.parquet")
    FRAME[:5].assign(more=1).to_parquet(folder / "b.parquet")


def other_types(folder):
    FRAME[:5].to_parquet(folder / "a.parquet")
    FRAME[:5].assign(code=list("abcde")).to_parquet(folder / "b.parquet")


def index_in_the_first(folder):
    FRAME[:5].set_index("age").to_parquet(folder / "a.parquet")
    FRAME[:5].to_parquet(folder / "b.parquet")


def index_in_the_last(folder):
    FRAME[:5].to_parquet(folder / "a.parquet")
    FRAME[:5].set_index("age").to_parquet(folder / "b.parquet")


def named_by_folders_too(folder, dtype="int64"):
    for year in (2023, 2024):
        (folder / f"year={year}").mkdir()
        FRAME[:5].assign(year=np.array(1990, dtype)).to_parquet(folder / f"year={year}" / "t.parquet")


def named_by_folders_too_in_their_type(folder):
    named_by_folders_too(folder, "int32")


def named_by_one_folder_too(folder):
    (folder / "a%20year=2024").mkdir()
    FRAME[:5].assign(**{"a year": 1990}).to_parquet(folder / "a%20year=2024" / "t.parquet")


def named_by_the_folder_of_another_file(folder):
    FRAME[:5].assign(year=1990).to_parquet(folder / "a.parquet")
    (folder / "year=2024").mkdir()
    FRAME[:5].to_parquet(folder / "year=2024" / "t.parquet")


def other_formats(folder):
    FRAME[:5].to_parquet(folder / "a.parquet")
    FRAME[:5].to_csv(folder / "b.csv", index=False)


def damaged(folder):
    FRAME[:5].to_parquet(folder / "a.parquet")
    (folder / "b.parquet").write_bytes(b"PAR1 no more")


def without_labels(folder):
    FRAME.assign(label=FRAME["label"].where(FRAME.index % 100 != 7)).to_parquet(folder / "t.parquet")


def nested(folder):
    FRAME.assign(age=[[1, 2]] * N).to_parquet(folder / "t.parquet")


def empty_column(folder):
    FRAME.assign(age=None).to_parquet(folder / "t.parquet")


def dates(folder):
    FRAME.assign(age=pandas.to_datetime(["2024-01-31"] * N)).to_parquet(folder / "t.parquet")


def many_labels(folder):
    FRAME.assign(label=np.arange(N)).to_parquet(folder / "t.parquet")


def no_rows(folder):
    FRAME[:0].to_parquet(folder / "t.parquet")


def rare_text(folder):
    FRAME.assign(age=[*map(str, range(N - 1)), "old"]).to_csv(folder / "t.csv", index=False)


REFUSED = {
    "no files": (lambda folder: None, FileNotFoundError, "there is no file of a table in"),
    "other names": (other_names, ValueError, r"the same columns, but 'age' is not in .*b.csv, as it is in .*a.csv"),
    "other names in Parquet": (
        other_names_in_parquet,
        ValueError,
        r"'more' is not in .*a.parquet, as it is in .*b.par",
    ),
    "other types": (other_types, ValueError, r"same types, but 'code' is (large_)?string in .*b.parquet and int64"),
    "an index that is a column in other files": (
        index_in_the_first,
        ValueError,
        r"'age' is the index of a data frame in .*a.parquet and a column in .*b.parquet. Write it alike",
    ),
    "a column that is the index in other files": (
        index_in_the_last,
        ValueError,
        r"'age' is the index of a data frame in .*b.parquet and a column in .*a.parquet. Write it alike",
    ),
    "a column that folders name too": (
        named_by_folders_too,
        ValueError,
        r"'year' is in .*t.parquet and in the folder name 'year=2023'. Drop it from the files",
    ),
    "a column that folders name too, in their type": (
        named_by_folders_too_in_their_type,
        ValueError,
        r"'year' is in .*t.parquet and in the folder name 'year=2023'",
    ),
    "a column that the only folder names too": (
        named_by_one_folder_too,
        ValueError,
        r"'a year' is in .*t.parquet and in the folder name 'a%20year=2024'",
    ),
    "a column that the folder of another file names": (
        named_by_the_folder_of_another_file,
        ValueError,
        r"'year' is in .*a.parquet and in the folder name 'year=2024'",
    ),
    "other formats": (other_formats, ValueError, r"all be delimited text \(.csv, .tsv, .data\) or all .parquet, got"),
    "a damaged file": (damaged, ValueError, "cannot read .*b.parquet"),
    "rows without a label": (without_labels, ValueError, "has 4 rows without a label, the first is row 8"),
    "nested columns": (nested, ValueError, "column 'age' must hold numbers.*got a cell that is a"),
    "an empty column": (empty_column, ValueError, "column 'age' holds no values. Drop it"),
    "dates": (dates, ValueError, "column 'age' must hold numbers.*got datetime"),
    "many labels": (many_labels, ValueError, "must hold the labels of classes, got more than 300"),
    "no rows": (no_rows, ValueError, "must hold rows"),
    "rare text": (rare_text, ValueError, "column 'age' holds numbers.*but also 'old'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_files_are_refused_in_one_sentence(name, tmp_path, monkeypatch):
    write, kind, message = REFUSED[name]
    write(tmp_path)
    monkeypatch.setattr(streamed_tables, "IN_MEMORY_CELLS", -1)
    for constant, value in (("MOST_LABELS", 300), ("SAMPLED_ROWS", (50, 50))):
        monkeypatch.setattr(table_survey, constant, value)
    with pytest.raises(kind, match=message):
        read_files(TableFiles(tmp_path), "label")


@pytest.mark.parametrize("options, message", [
    ({"drop": ["agee"]}, "no column 'agee' to drop. Did you mean 'age'"),
    ({"categorical": ["agee"]}, "no column 'agee'"),
    ({"drop": ["age", "colour", "code", "small"]}, "no feature columns beside the labels"),
    ({"delimiter": ";"}, "no delimited text"),
])  # fmt: skip
def test_options_that_do_not_fit_a_table_are_refused(options, message, folder):
    with pytest.raises(ValueError, match=message):
        read_files(TableFiles(folder / "one.parquet", **options), "label")
    with pytest.raises(ValueError, match="has no column 'labell' of labels. Did you mean 'label'"):
        read_files(TableFiles(folder / "one.parquet"), "labell")


def test_a_folder_and_a_pattern_are_tables_and_a_file_named_like_a_pattern_is_itself(folder, tmp_path):
    assert is_table_file(folder) and is_table_file(folder / "*") and not is_table_file(folder / "x.npz")
    FRAME.to_csv(tmp_path / "t[1].csv", index=False)
    with open_table(os.fspath(tmp_path / "t[1].csv")) as table:
        assert table.names == tuple(FRAME)
