"""Model files that version 0.1.0 wrote load in this one, and predict from raw input what they predicted then.

The files, and the script that made them, are in `tests/data/0.1.0`.
"""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import load_model
from aesara_nondecomp.cli import main

FILES = Path(__file__).parents[1] / "data" / "0.1.0"
# Scores are float32 sums; another processor adds them up in another order.
CLOSE = {"rtol": 1e-6, "atol": 1e-6}
# The colour mauve is in none of the rows that the model was trained on.
pytestmark = pytest.mark.filterwarnings("ignore:categories that training did not hold:UserWarning")


def expected_of(name):
    return json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))


def raw_frame(**options):
    """The table as pandas reads it, with its columns in another order than in training."""
    pandas = pytest.importorskip("pandas", reason="needs the extra frames")
    pytest.importorskip("sklearn", reason="needs the extra sklearn")
    frame = pandas.read_csv(FILES / "table.csv", **options)
    return frame[frame.columns[::-1]]


def raw_input(name):
    """The input that a file's owner has: a frame of numbers, categories and NaN, or one of text; texts; a matrix."""
    if name == "table":
        return raw_frame(na_values="?")
    if name == "table as text":
        return raw_frame(dtype=str, keep_default_na=False)
    if name == "text":
        pytest.importorskip("nltk", reason="needs the extra text")
        return expected_of(name)["inputs"]
    return np.array(expected_of(name)["inputs"], dtype=np.float32)


@pytest.mark.parametrize("name", ["dense", "text", "table"])
def test_a_former_file_is_read_with_all_that_it_holds(name):
    model, expected = load_model(FILES / f"{name}.npz"), expected_of(name)
    for attribute in ("prior", "threshold", "best_step", "feature_names"):
        assert getattr(model, attribute) == expected[attribute], attribute
    assert list(model.classes) == expected["classes"] and str(model.measure) == expected["measure"]


@pytest.mark.parametrize("name", ["dense", "text", "table", "table as text"])
def test_a_former_file_predicts_from_raw_input_as_it_did(name):
    X, file = raw_input(name), name.split()[0]
    model, expected = load_model(FILES / f"{file}.npz"), expected_of(file)
    np.testing.assert_allclose(model.decision_function(X), expected["scores"], **CLOSE)
    assert model.predict(X).tolist() == expected["labels"]


@pytest.mark.parametrize("name", ["dense", "text", "table"])
def test_a_former_file_saved_anew_predicts_the_same(name, tmp_path):
    X = raw_input(name)
    load_model(FILES / f"{name}.npz").save(tmp_path / "again.npz")
    again = load_model(tmp_path / "again.npz")
    np.testing.assert_allclose(again.decision_function(X), expected_of(name)["scores"], **CLOSE)
    assert again.predict(X).tolist() == expected_of(name)["labels"]


def test_the_command_line_predicts_from_a_former_file_and_the_raw_table(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra sklearn")
    out, expected = tmp_path / "predictions.csv", expected_of("table")
    assert main(["predict", str(FILES / "table.npz"), str(FILES / "table.csv"), "--out", str(out), "--quiet"]) == 0
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == expected["labels"]
    for column, values in (("score", expected["scores"]), ("probability", expected["probabilities"])):
        np.testing.assert_allclose([float(row[column]) for row in rows], values, rtol=1e-5)


def test_the_command_line_estimates_the_prevalence_from_a_former_file(tmp_path):
    pytest.importorskip("sklearn", reason="needs the extra sklearn")
    out = tmp_path / "prevalence.json"
    assert main(["quantify", str(FILES / "table.npz"), str(FILES / "table.csv"), "--out", str(out), "--quiet"]) == 0
    assert json.loads(out.read_text())["prevalence"] == pytest.approx(expected_of("table")["prevalence"], rel=1e-5)


def test_a_former_text_model_shows_which_words_it_attends_to():
    X = raw_input("text")
    weights = load_model(FILES / "text.npz").read_out("attention_weights", X)
    np.testing.assert_allclose(weights[:8].sum(axis=1), 1, rtol=1e-5)


def test_the_frame_has_gaps_of_each_kind_and_a_new_category():
    frame = raw_input("table")
    assert frame["age"].isna().any() and frame["colour"].isna().any() and frame["dose"].isna().any()
    assert "mauve" in set(frame["colour"])
