"""A column of texts is recognised, and trained on by its words with --network attention."""

import csv
import io

import numpy as np
import pytest

pytest.importorskip("nltk", reason="texts need the extra `text`")

import aesara_nondecomp as an  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402
from aesara_nondecomp.data import TableEncoder  # noqa: E402

RNG = np.random.default_rng(0)
WORDS = ["good", "bad", "film", "plot", "very", "not", "the", "a", "this", "ending", "cast", "music"]
TEXTS = [" ".join(RNG.choice(WORDS, size=RNG.integers(4, 9))) for _ in range(400)]
LIKED = [text.count("good") > text.count("bad") for text in TEXTS]
OPTIONS = ["--target", "liked", "--network", "attention", "--steps", "40", "--batch-size", "64", "--quiet"]


def write(path, stars=False, texts=TEXTS):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["review", *(["stars"] if stars else []), "liked"])
        rows.writerows(
            [text, *([k % 5] if stars else []), int(like)] for k, (text, like) in enumerate(zip(texts, LIKED))
        )
    return str(path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    table = write(folder / "t.csv", stars=True)
    assert main(["train", table, "--drop", "stars", "--out", str(folder / "m"), *OPTIONS]) == 0
    return table, str(folder / "m"), folder


def test_a_model_of_texts_predicts_from_the_table_what_it_predicts_from_the_texts(trained, capsys):
    table, path, _ = trained
    assert main(["predict", path, table]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    model = an.load_model(path)
    assert [float(row["score"]) for row in rows] == pytest.approx(model.decision_function(TEXTS).tolist(), rel=1e-3)
    assert [int(row["prediction"]) for row in rows] == model.predict(TEXTS).tolist()
    assert model.value(TEXTS, np.array(LIKED).astype(int)) > 0.8


def test_a_text_that_spells_a_missing_number_is_a_text_of_that_word(tmp_path, capsys):
    texts = [["NA", "null", "", "N/A"][k // 4 % 4] if k % 4 == 0 else text for k, text in enumerate(TEXTS)]
    table, path = write(tmp_path / "t.csv", texts=texts), str(tmp_path / "m")
    assert main(["train", table, "--out", path, *OPTIONS, "--steps", "5"]) == 0
    model = an.load_model(path)
    assert {"na", "null"} <= {*model.encoder.vocabulary.words}
    capsys.readouterr()
    assert main(["predict", path, table]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [float(row["score"]) for row in rows] == pytest.approx(model.decision_function(texts).tolist(), rel=1e-3)


@pytest.mark.parametrize("source", ["file", "pipe"])
def test_a_blank_line_of_one_column_has_its_prediction(trained, tmp_path, monkeypatch, capsys, source):
    _, path, _ = trained
    text = "review\ngood film\n\nbad film\n\n"
    (tmp_path / "t.csv").write_text(text)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["predict", path, "-" if source == "pipe" else str(tmp_path / "t.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    expected = an.load_model(path).decision_function(["good film", "", "bad film"])
    assert [float(row["score"]) for row in rows] == pytest.approx(expected.tolist(), rel=1e-3)


def test_a_model_of_texts_is_judged_and_reported_like_others(trained, capsys):
    table, path, folder = trained
    assert main(["evaluate", path, table, "--draws", "5", "--html", str(folder / "r.html")]) == 0
    assert "400 rows" in capsys.readouterr().out
    assert "attention 64" in (folder / "r.html").read_text()
    assert main(["quantify", path, table]) == 0
    assert main(["compare", path, path, table, "--draws", "5", "--quiet"]) == 0


@pytest.mark.parametrize("more, message", [
    ([], "takes one column of texts beside the labels, got review, stars. Leave the others out by --drop."),
    (["--drop", "stars", "--missing", "x"], "--missing is for the columns of a table"),
    (["--categorical", "stars"], "--categorical is for the columns of a table"),
])  # fmt: skip
def test_texts_are_one_column(trained, tmp_path, capsys, more, message):
    assert main(["train", trained[0], "--out", str(tmp_path / "m"), *OPTIONS, *more]) == 1
    assert message in capsys.readouterr().err


def test_a_table_without_the_column_and_another_kind_of_file_are_refused(trained, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("text,liked\na b,1\n")
    (tmp_path / "t.svm").write_text("1 1:2\n")
    for name, message in (("t.csv", "no column 'review'"), ("t.svm", "was trained on a table, such as a .csv file")):
        assert main(["predict", trained[1], str(tmp_path / name)]) == 1
        assert message in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_may_be_compiled")
def test_a_column_of_many_texts_is_refused_with_the_network_to_take(trained, tmp_path, capsys):
    arguments = ["train", trained[0], "--target", "liked", "--out", str(tmp_path / "m")]
    assert main(arguments) == 1
    told = capsys.readouterr().err
    assert "column 'review' holds" in told and "--network attention, with all other columns in --drop" in told


@pytest.mark.parametrize("column, warned", [
    (sorted(set(TEXTS))[:60], True),
    (sorted(set(TEXTS))[:60] * 3, False),  # each is there several times, as categories are
    ([f"code {k}" for k in range(60)], False),
    (sorted(set(TEXTS))[:15], False),
])  # fmt: skip
def test_texts_of_few_rows_become_categories_with_one_warning(column, warned, recwarn):
    encoder = TableEncoder.fit({"review": column})
    assert len(encoder.categories[0]) == len(set(column))
    told = [str(warning.message) for warning in recwarn]
    assert len(told) == warned and all("to learn from its words, train on this column alone" in text for text in told)
