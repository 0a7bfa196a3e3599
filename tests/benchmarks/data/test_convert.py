"""`data convert` makes the prepared file of each set from small made-up files in the published format."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.data import covtype, kdd04, libsvm, load, mammography, sentences
from benchmarks.data.catalogue import SOURCES
from benchmarks.data.prepared import PreparedArrays, labelled_texts


def convert(name, folder, *originals):
    """Run the command; the folder of prepared files."""
    assert main(["data", "convert", name, *map(str, originals), "--data-dir", str(folder / "data")]) == 0
    return folder / "data"


def write(path, text):
    path.write_bytes(text.encode("utf-8"))
    return path


def refusal(capsys, *arguments):
    """What a refused command says, in one line."""
    assert main(["data", "convert", *map(str, arguments)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line


def test_ijcnn1_has_the_columns_of_both_files_and_its_own_test_part(tmp_path):
    train = write(tmp_path / "ijcnn1", "-1 1:1 11:0.5\n1 22:-2\n")
    test = write(tmp_path / "ijcnn1.t", "1 2:1\n-1 3:1\n-1 4:1\n")
    data = load("ijcnn1", convert("ijcnn1", tmp_path, train, test))
    assert data.X_train.shape == (2, 22) and data.X_test.shape == (3, 22) and data.X_train.dtype == np.float32
    assert data.X_train[0, [0, 10]].tolist() == [1, 0.5] and data.X_train[1, 21] == -2
    assert data.y_train.tolist() == [0, 1] and data.y_test.tolist() == [1, 0, 0]


def test_cod_rna_keeps_the_rows_in_order(tmp_path):
    original = write(tmp_path / "cod-rna", "-1 1:-766 2:128 8:0.25\n+1 1:-5 2:9\n-1 1:-766 2:128 8:0.25\n")
    arrays = PreparedArrays("cod-rna", convert("cod-rna", tmp_path, original) / libsvm.COD_RNA)
    assert arrays["X"].shape == (3, 8) and arrays["X"][0, [0, 1, 7]].tolist() == [-766, 128, 0.25]
    assert arrays["y"].tolist() == [0, 1, 0] and arrays["y"].dtype == np.uint8


def covtype_line(numbers, area, soil, cover_type):
    one_hot = [int(code == level) for code, levels in ((area, 4), (soil, 40)) for level in range(1, levels + 1)]
    return ",".join(map(str, [*numbers, *one_hot, cover_type]))


def test_covtype_stores_the_binary_columns_as_codes_and_gives_them_back(tmp_path):
    rows = [(range(10), 1, 40, 5), (range(-10, 0), 4, 1, 2), (range(2000, 2010), 2, 17, 7)]
    text = "".join(covtype_line(*row) + "\n" for row in rows)
    original = tmp_path / "covtype.data.gz"
    original.write_bytes(gzip.compress(text.encode()))
    arrays = PreparedArrays("covtype", convert("covtype", tmp_path, original) / covtype.FILE)
    assert arrays["wilderness_area"].tolist() == [1, 4, 2] and arrays["soil_type"].tolist() == [40, 1, 17]
    assert arrays["cover_type"].tolist() == [5, 2, 7] and arrays["numeric"].dtype == np.int16
    expected = np.loadtxt(text.splitlines(), delimiter=",", dtype="float32")[:, :-1]
    np.testing.assert_array_equal(covtype.features(arrays, np.arange(3)), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line + ",1", "55 columns of covtype.data, got 56"),
        (lambda line: line.replace(",1,0,0,0,", ",1,1,0,0,", 1), "exactly one of the 4 columns wilderness_area"),
    ],
)
def test_a_table_that_is_not_covtype_is_refused(tmp_path, capsys, change, message):
    original = write(tmp_path / "covtype.data", change(covtype_line([7] * 10, 1, 2, 5)) + "\n")
    assert message in refusal(capsys, "covtype", original, "--data-dir", tmp_path)
    assert not (tmp_path / covtype.FILE).exists()


def test_kdd04_groups_its_rows_by_block_and_drops_the_ids(tmp_path):
    blocks = np.repeat([279, 261, 10], 4)
    lines = [f"{block}\t{9000 + row}\t{row % 2}\t" + "\t".join(["0.5"] * 74) for row, block in enumerate(blocks)]
    folder = convert("kdd04", tmp_path, write(tmp_path / "bio_train.dat", "\n".join(lines) + "\n"))
    arrays = PreparedArrays("kdd04", folder / kdd04.FILE)
    assert arrays["X"].shape == (12, 74) and (arrays["X"] == 0.5).all()
    assert arrays["block_id"].tolist() == blocks.tolist() and arrays["y"].tolist() == [0, 1] * 6
    data = load("kdd04", folder)
    assert len(data.X_test) == 4 and len(set(data.groups)) == 2


ARFF = """% Woods et al.
@relation mammography
@attribute attr1 numeric
@attribute class {'-1','1'}
@data
0.25,5.5,-0.5,1,2,3,'-1'

% a comment
-0.75,0,0,0,0,1e1,'1'
"""


def test_mammography_is_read_below_the_line_data(tmp_path):
    folder = convert("mammography", tmp_path, write(tmp_path / "m.arff", ARFF))
    arrays = PreparedArrays("mammography", folder / mammography.FILE)
    np.testing.assert_array_equal(arrays["X"], np.float32([[0.25, 5.5, -0.5, 1, 2, 3], [-0.75, 0, 0, 0, 0, 10]]))
    assert arrays["y"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.25,1\n", "a line @data"),
        ("@data\n1,2,3,4,5,6,'yes'\n", "7 numbers"),
        ("@data\n1,2,'1'\n", "rows of 7 numbers"),
        ("@data\n", "rows of 7 numbers"),
    ],
)
def test_an_arff_file_of_another_kind_is_refused(tmp_path, capsys, text, message):
    assert message in refusal(capsys, "mammography", write(tmp_path / "m.arff", text), "--data-dir", tmp_path)


def test_the_sentences_of_three_files_make_one_table(tmp_path):
    texts = ["Good.  \t1\nBad\x85 and\u2028long.\t0\n", "So so.\t0\n", "Great!\tReally.\t1\r\n"]
    originals = [write(tmp_path / f"{number}.txt", text) for number, text in enumerate(texts)]
    folder = convert("sentiment_sentences", tmp_path, *originals)
    found = labelled_texts("sentiment_sentences", folder / sentences.FILE)
    assert found[0] == ["Good.", "Bad\x85 and\u2028long.", "So so.", "Great! Really."]
    assert found[1].tolist() == [1, 0, 0, 1]


def test_a_sentence_without_a_label_is_refused_with_its_place(tmp_path, capsys):
    originals = [write(tmp_path / f"{number}.txt", "Good.\t1\nBad.\n") for number in range(3)]
    said = refusal(capsys, "sentiment_sentences", *originals, "--data-dir", tmp_path)
    assert "0.txt, line 2" in said and "0 or 1" in said


TWEETS = (
    "1\t@shop\tnegative\tWhy, @Shop, why?! see https://t.co/a1b2… and write to me.too@mail.example.org!\n"
    '2\tthe band\tpositive\t"Saw \x07them\tlive"\n'
    "3\t@other\tpositive\tNot Available\n"
    "4\t@other\tpositive\tlove you..@Other_1...may be @a's #newshttp://x.y/z\n"
)


def test_tweets_lose_ids_and_names_and_links(tmp_path):
    original = write(tmp_path / "test.tsv", TWEETS)
    convert("twitter2017", tmp_path, original)
    texts, labels = labelled_texts("twitter2017", tmp_path / "data" / SOURCES["twitter2017"].files[-1])
    assert texts == [
        "Why, @user, why?! see http and write to email!",
        '"Saw  them live"',
        "love you..@user...may be @user's #newshttp",
    ]
    assert labels.tolist() == [0, 1, 1]


def test_the_test_part_of_2016_loses_its_quotes_and_each_part_has_its_file(tmp_path):
    quoted = '1\tzoo\tpositive\t"He said ""go"" and left"\t\n2\tzoo\tnegative\tplain "end"\t\n'
    originals = [write(tmp_path / f"{number}.tsv", TWEETS) for number in range(3)]
    data = load("twitter", convert("twitter", tmp_path, *originals, write(tmp_path / "3.tsv", quoted)))
    assert data.X_test == ['He said "go" and left', 'plain "end"'] and data.y_test.tolist() == [1, 0]
    assert len(data.X_train) == 9 and data.X_train[1] == '"Saw  them live"' and data.y_train.tolist() == [0, 1, 1] * 3


@pytest.mark.parametrize("line", ["1\ttopic\tneutral\ttext", "1\ttopic\tpositive"])
def test_a_line_that_is_no_tweet_of_subtask_b_is_refused_with_its_place(tmp_path, capsys, line):
    said = refusal(capsys, "twitter2017", write(tmp_path / "t.tsv", TWEETS + line + "\n"), "--data-dir", tmp_path)
    assert "t.tsv, line 5" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["covtyp", "f"], "Did you mean 'covtype'"),
        (["kddcup08", "f"], "read as published: put kddcup08/Features.txt and kddcup08/Info.txt into"),
        (["ijcnn1", "f"], "made from 2 published files, got 1. Name, in this order: ijcnn1.bz2, ijcnn1.t.bz2"),
        (["kdd04", "no/such/file"], "there is no file no/such/file"),
    ],
)
def test_a_conversion_that_cannot_be_done_is_refused(tmp_path, capsys, arguments, message):
    assert message in refusal(capsys, *arguments, "--data-dir", tmp_path)


def test_codrna_is_cod_rna_here_too(tmp_path):
    original = write(tmp_path / "cod-rna", "".join(f"{(-1) ** row} 1:{row + 1}\n" for row in range(10)))
    assert len(load("codrna", convert("codrna", tmp_path, original)).X_test) == 3
