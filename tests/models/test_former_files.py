"""Files written by release 0.1, in version 1 of the format: its models still predict as they did then.

tests/golden/models_0_1 holds three models as 0.1.0 saved them, with what 0.1.0 predicted: `numbers` by `fit` on three
columns, with validation and a tuned threshold; `texts` by `fit` with a small LSTM; `table` by the command `train` on a
.csv file with missing values and categories.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import load_model
from aesara_nondecomp.cli import main

FOLDER = Path(__file__).parents[1] / "golden" / "models_0_1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
NEEDS = {"texts": "nltk", "table": "sklearn"}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_of_0_1_is_read_with_all_that_it_was(name):
    model = load_model(FOLDER / f"{name}.npz")
    for what in ("prior", "threshold", "best_step", "feature_names"):
        assert getattr(model, what) == EXPECTED[name][what], what
    assert list(model.classes) == EXPECTED[name]["classes"] and str(model.measure) == EXPECTED[name]["measure"]


@pytest.mark.parametrize("name", ["numbers", "texts"])
def test_a_model_of_0_1_predicts_as_it_did(name):
    pytest.importorskip(NEEDS.get(name, "numpy"))
    expected, model = EXPECTED[name], load_model(FOLDER / f"{name}.npz")
    assert model.decision_function(expected["rows"]) == pytest.approx(expected["scores"], rel=1e-5, abs=1e-6)
    assert model.predict(expected["rows"]).tolist() == expected["labels"]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_model_of_0_1_that_is_saved_again_predicts_the_same(name, tmp_path):
    if name == "table":
        rows = np.eye(4, len(EXPECTED[name]["feature_names"]), dtype=np.float32)
    else:
        pytest.importorskip(NEEDS.get(name, "numpy"))
        rows = EXPECTED[name]["rows"]
    model = load_model(FOLDER / f"{name}.npz")
    model.save(tmp_path / "again.npz")
    again = load_model(tmp_path / "again.npz")
    np.testing.assert_array_equal(again.decision_function(rows), model.decision_function(rows))


def test_the_commands_apply_a_model_of_0_1_to_a_table_as_they_did(tmp_path):
    pytest.importorskip(NEEDS["table"])
    expected, model = EXPECTED["table"], str(FOLDER / "table.npz")
    rows, found, shares = (tmp_path / name for name in ("rows.csv", "found.csv", "shares.json"))
    rows.write_text(expected["rows"], encoding="utf-8")
    assert main(["predict", model, str(rows), "--out", str(found), "--quiet"]) == 0
    then, now = (list(csv.DictReader(io.StringIO(text))) for text in (expected["predictions"], found.read_text()))
    assert [row["prediction"] for row in now] == [row["prediction"] for row in then]
    for column in ("score", "probability"):
        values = [[float(row[column]) for row in table] for table in (now, then)]
        assert values[0] == pytest.approx(values[1], rel=1e-4, abs=1e-5)
    assert main(["quantify", model, str(rows), "--out", str(shares), "--quiet"]) == 0
    estimates = json.loads(shares.read_text())["prevalence"]
    assert estimates == pytest.approx(expected["prevalence"], rel=1e-3, abs=1e-5)
