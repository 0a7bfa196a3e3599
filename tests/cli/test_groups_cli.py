"""Groups and constraints on the command line: trained for, remembered, reported; and refused in one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="tables with text need the extra `sklearn`")

from aesara_nondecomp import at_least, gap, load_model  # noqa: E402
from aesara_nondecomp.cli import main  # noqa: E402

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 2)).round(4)
SEX, RACE = RNG.choice(["F", "M"], N), RNG.choice(["a", "b"], N)
POSITIVE = X[:, 0] + np.where(SEX == "F", -0.4, 0.4) * X[:, 1] + 0.7 * RNG.normal(size=N) > 0.4
MISSING = np.arange(N) % 50 == 0
SMALL = ["--hidden", "4", "--steps", "60", "--learning-rate", "0.05", "--network", "mlp", "--quiet"]


def write_table(path, columns=("u", "v", "sex", "race", "income")):
    cells = {"u": X[:, 0], "v": X[:, 1], "sex": np.where(MISSING, "n.k.", SEX), "race": RACE,
             "income": np.where(POSITIVE, ">50K", "<=50K")}  # fmt: skip
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(cells[name] for name in columns)))
    return str(path)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The table, a model of the worst cell, one under constraints, and their folder."""
    folder = tmp_path_factory.mktemp("groups")
    table, paths = write_table(folder / "people.csv"), [str(folder / "worst"), str(folder / "under")]
    common = ["train", table, "--target", "income", "--drop", "sex", "--missing", "n.k.", *SMALL]
    assert main([*common, "--groups", "sex,race", "--measure", "worst_cell", "--validation", "none",
                 "--out", paths[0], "--report", str(folder / "worst.json")]) == 0  # fmt: skip
    constraints = ["--constraint", "tpr gap <= 0.3", "--constraint", "precision >= 0.6"]
    assert main([*common, "--groups", "sex", *constraints, "--measure", "likelihood", "--validation", "0.3",
                 "--out", paths[1]]) == 0  # fmt: skip
    return table, *paths, folder


def evaluated(model, table, out, *more):
    assert main(["evaluate", model, table, "--draws", "10", "--out", str(out), "--quiet", *more]) == 0
    return json.loads(out.read_text())


def predicted_by(path, tmp_path, table):
    assert main(["predict", path, table, "--out", str(tmp_path / "p.csv"), "--quiet"]) == 0
    with open(tmp_path / "p.csv", newline="", encoding="utf-8") as file:
        return np.array([row["prediction"] == ">50K" for row in csv.DictReader(file)])


def test_a_measure_of_several_classes_is_told_from_an_unknown_one(tmp_path, capsys):
    command = ["train", str(tmp_path / "no.csv"), "--out", str(tmp_path / "x"), "--measure"]
    assert main([*command, "macro_f1"]) == 1  # it gets as far as the file
    assert "there is no file" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main([*command, "macro_f2"])
    assert ended.value.code == 2 and "macro_f2" in capsys.readouterr().err


def test_a_group_column_is_an_input_only_if_it_is_not_dropped(trained):
    model = load_model(trained[1])
    assert model.encoder.table.numeric == ("u", "v") and model.encoder.table.categorical == ("race",)
    assert model.extra["groups"] == ["sex", "race"] and load_model(trained[2]).extra["groups"] == ["sex"]


def test_the_model_file_remembers_measure_and_constraints(trained):
    assert load_model(trained[1]).measure.name == "worst_cell"
    assert load_model(trained[2]).constrained_by == (gap("tpr", at_most=0.3), at_least("precision", 0.6))


def test_the_report_by_group_is_that_of_counted_predictions(trained, tmp_path):
    facts = evaluated(trained[1], trained[0], tmp_path / "e.json")
    right = predicted_by(trained[1], tmp_path, trained[0]) == POSITIVE
    expected = {}
    for sex in ("F", "M"):
        for race in ("a", "b"):
            for label, name in ((False, "<=50K"), (True, ">50K")):
                rows = (SEX == sex) & (RACE == race) & (label == POSITIVE) & ~MISSING
                expected[f"income={name} of sex={sex}, race={race}"] = right[rows].mean()
    assert {cell["name"]: cell["rate"] for cell in facts["groups"]["cells"]} == pytest.approx(expected)
    assert facts["measures"]["worst_cell"]["value"] == pytest.approx(min(expected.values()))
    assert facts["groups"]["rows_without_group"] == MISSING.sum() and "constraints" not in facts
    trained_on = json.loads((trained[3] / "worst.json").read_text())
    assert trained_on["measures"]["worst_cell"] == pytest.approx(facts["measures"]["worst_cell"])


def test_constraints_are_judged_by_counted_predictions(trained, tmp_path):
    facts = evaluated(trained[2], trained[0], tmp_path / "e.json")
    predicted = predicted_by(trained[2], tmp_path, trained[0])
    rates = [predicted[POSITIVE & (SEX == sex) & ~MISSING].mean() for sex in ("F", "M")]
    assert facts["model"]["constraints"] == ["tpr gap <= 0.3", "precision >= 0.6"] == list(facts["constraints"])
    assert facts["constraints"]["tpr gap <= 0.3"]["value"] == pytest.approx(abs(rates[0] - rates[1]))
    assert facts["constraints"]["precision >= 0.6"]["value"] == pytest.approx(POSITIVE[predicted].mean())
    assert {entry["verdict"] for entry in facts["constraints"].values()} <= {"held", "not shown", "broken"}


def test_groups_of_the_evaluation_take_the_place_of_those_in_training(trained, tmp_path):
    facts = evaluated(trained[2], trained[0], tmp_path / "e.json", "--groups", "race")
    assert [group["name"] for group in facts["groups"]["groups"]] == ["race=a", "race=b"]


def test_a_file_without_the_groups_is_evaluated_without_them_and_one_warning_says_so(trained, tmp_path, capsys):
    table = write_table(tmp_path / "new.csv", ("u", "v", "race", "income"))
    for model, named in ((trained[1], False), (trained[2], True)):
        facts = evaluated(model, table, tmp_path / "e.json")
        said = capsys.readouterr().err
        assert said.count("warning") == 1 and "no column 'sex' of the groups in training" in said
        assert "groups" not in facts and "worst_cell" not in facts["measures"]
        assert list(facts.get("constraints", ())) == (["precision >= 0.6"] if named else [])
    assert predicted_by(trained[1], tmp_path, table).shape == (N,)  # groups are never needed to predict


def test_a_file_of_one_group_leaves_the_gap_undefined(trained, tmp_path):
    path, lines = tmp_path / "men.csv", Path(trained[0]).read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([lines[0], *(line for line in lines[1:] if ",M," in line)]))
    facts = evaluated(trained[2], str(path), tmp_path / "e.json")
    assert facts["constraints"]["tpr gap <= 0.3"] == {
        "bound": 0.3, "value": None, "low": None, "high": None, "verdict": "not shown",
    }  # fmt: skip


def test_the_text_has_tables_of_groups_and_constraints(trained, capsys):
    assert main(["evaluate", trained[2], trained[0], "--draws", "10"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "trained for likelihood under tpr gap <= 0.3, precision >= 0.6" in lines[0]
    assert any(line.startswith("income=>50K of sex=F ") for line in lines)
    assert [line.split("  ")[0] for line in lines[-3:]] == ["constraint", "tpr gap <= 0.3", "precision >= 0.6"]


@pytest.mark.parametrize(
    "more, reason",
    [
        (["--groups", "sx"], "there is no column 'sx' for --groups. Did you mean 'sex'"),
        (["--groups", "income"], "--groups must be other columns than the labels, got 'income'"),
        (["--groups", "u", "--measure", "worst_cell"], "groups must be at most 200 different ones"),
    ],
)
def test_groups_that_are_missing_or_unusable_are_refused_in_one_line(more, reason, trained, tmp_path, capsys):
    arguments = ["train", trained[0], "--target", "income", "--out", str(tmp_path / "m"), *SMALL]
    assert main([*arguments, *more]) == 1
    assert reason in capsys.readouterr().err and not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "more, reason",
    [
        (["--measure", "worst_cell"], "worst_cell needs --groups, columns of the table"),
        (["--constraint", "tpr gap <= 0.1"], "tpr gap <= 0.1 needs --groups, columns of the table"),
        (
            ["--groups", "sex", "--constraint", "precision >= 0.6"],
            "--groups has no effect on f1: give a measure of the worst group, such as --measure worst_cell, or a "
            "constraint, such as --constraint 'tpr gap <= 0.02'; or leave --groups out here and give it to evaluate",
        ),
    ],
)
def test_options_that_need_groups_are_usage_errors_without(more, reason, trained, tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["train", trained[0], "--target", "income", "--out", str(tmp_path / "m"), *SMALL, *more])
    assert reason in capsys.readouterr().err and not (tmp_path / "m").exists()


@pytest.mark.parametrize("text, reason", [
    ("tpr gap 0.1", "must be written as 'tpr gap <= 0.02' or 'precision >= 0.9', got 'tpr gap 0.1'"),
    ("tpr gap >= 0.1", "has an upper bound"), ("tprr <= 0.1", "Did you mean 'tpr'"), ("tpr >= 2", "must lie in [0, 1]"),
])  # fmt: skip
def test_a_text_that_is_no_constraint_is_a_usage_error(text, reason, capsys):
    with pytest.raises(SystemExit) as raised:
        main(["train", "t.csv", "--out", "m", "--constraint", text])
    assert raised.value.code == 2 and reason in capsys.readouterr().err


def test_groups_are_for_tables(trained, tmp_path, capsys):
    np.savez(tmp_path / "rows.npz", X=X, y=POSITIVE)
    arguments = ["train", str(tmp_path / "rows.npz"), "--out", str(tmp_path / "m"), "--groups", "sex"]
    assert main([*arguments, "--measure", "worst_cell"]) == 1
    assert "--groups is for a table, such as a .csv file" in capsys.readouterr().err


# -- several classes -------------------------------------------------------------------------------------------------

KINDS = np.where(POSITIVE, "hired", np.where(X[:, 1] > 0.3, "on list", "refused"))


def test_several_classes_are_trained_and_reported_by_group_and_under_constraints(tmp_path, capsys):
    table, model, page = tmp_path / "staff.csv", str(tmp_path / "m"), tmp_path / "page.html"
    with open(table, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("u", "v", "sex", "kind"), *zip(X[:, 0], X[:, 1], SEX, KINDS)])
    train = [
        "train",
        str(table),
        "--target",
        "kind",
        "--drop",
        "sex",
        "--groups",
        "sex",
        *SMALL,
        "--validation",
        "none",
    ]
    bounds = ["--constraint", "recall(on list) gap <= 0.3", "--constraint", "recall(hired) >= 0.1"]
    assert main([*train, "--measure", "worst_cell", *bounds, "--out", model, "--report", str(tmp_path / "t.json")]) == 0
    assert load_model(model).constrained_by == (gap("recall", 0.3, "on list"), at_least("recall", 0.1, "hired"))
    facts = evaluated(model, str(table), tmp_path / "e.json", "--html", str(page))
    assert main(["predict", model, str(table), "--out", str(tmp_path / "p.csv"), "--quiet"]) == 0
    with open(tmp_path / "p.csv", newline="", encoding="utf-8") as file:
        right = np.array([row["prediction"] for row in csv.DictReader(file)]) == KINDS
    with pytest.raises(SystemExit, match="2"):
        main([*train, "--measure", "min_recall", "--out", model])
    assert "such as --constraint 'recall(refused) gap <= 0.02'" in capsys.readouterr().err
    rates = {f"{k} of sex={s}": right[(KINDS == k) & (SEX == s)].mean() for s in "FM" for k in np.unique(KINDS)}
    assert {cell["name"]: cell["rate"] for cell in facts["groups"]["cells"]} == pytest.approx(rates)
    assert facts["measures"]["worst_cell"]["value"] == pytest.approx(min(rates.values()))
    assert json.loads((tmp_path / "t.json").read_text())["measures"]["worst_cell"]["value"] == pytest.approx(
        min(rates.values())
    )
    assert list(facts["constraints"]) == ["recall(on list) gap <= 0.3", "recall(hired) >= 0.1"]
    assert all(text in page.read_text() for text in ("on list of sex=F", "mean recall", "recall(hired) &gt;= 0.1"))
    assert main(["evaluate", model, str(table), "--draws", "10"]) == 0
    said = capsys.readouterr().out
    assert "trained for worst_cell under recall(on list) gap <= 0.3" in said and "worst cell: " in said
