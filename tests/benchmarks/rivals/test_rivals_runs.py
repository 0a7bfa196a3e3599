"""Verdicts by hand-computed numbers, and a command that resumes, on a tiny set with made-up methods."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.rivals import methods, sets
from benchmarks.rivals.choice import Candidate
from benchmarks.rivals.runs import read_lines
from benchmarks.rivals.verdicts import Verdict, against, cells_of

# -- verdicts --------------------------------------------------------------------------------------------------------


def lines_of(method, measure="f1", **values):
    """Lines of sets with one value for each seed."""
    return [
        {"data": data, "seed": seed, "method": method, "measure": measure, "value": value, "seconds": seed + 1.0}
        for data, of_seeds in values.items()
        for seed, value in enumerate(of_seeds)
    ]


OURS = lines_of("fit", a=(0.8, 0.9), b=(0.5, 0.5), c=(0.7, 0.7))
TREES = lines_of("lightgbm_tuned", a=(0.8, 0.8), b=(0.6, 0.6), c=(0.69, 0.69))
LINEAR = lines_of("logistic_regression", a=(0.7, 0.7), b=(0.4, 0.4), c=(0.9, 0.9))


def verdict_on(rival, lines):
    (found,) = [each for each in against(cells_of(lines)) if each.rival == rival]
    return found


def test_a_cell_holds_the_values_their_mean_and_the_median_of_the_seconds():
    cell = cells_of(OURS)[0]
    assert cell == {
        "data": "a", "measure": "f1", "method": "fit", "seeds": [0, 1], "seed_values": [0.8, 0.9],
        "mean": pytest.approx(0.85), "seconds": 1.5,
    }  # fmt: skip


def test_the_verdict_on_a_single_rival_is_over_the_means_of_the_sets():
    found = verdict_on("lightgbm_tuned", OURS + TREES)
    differences = [0.05, -0.1, 0.01]
    assert found.mean_difference == pytest.approx(sum(differences) / 3)
    assert found.se == pytest.approx(np.std(differences, ddof=1) / math.sqrt(3))
    assert (found.sets, found.won, found.lost, found.goal, found.holds) == (3, 2, 1, 0.0, False)


def test_hindsight_takes_the_best_rival_of_each_set():
    found = verdict_on("best of all with hindsight", OURS + TREES + LINEAR)
    assert found.mean_difference == pytest.approx((0.05 - 0.1 - 0.2) / 3)
    assert (found.goal, found.holds) == (-0.005, False)


def test_the_stretch_goal_is_against_tuned_lightgbm():
    better = lines_of("lightgbm_tuned", a=(0.83, 0.83), b=(0.49, 0.49), c=(0.69, 0.69))
    found = verdict_on("lightgbm_tuned, stretch", OURS + better)
    assert found.mean_difference == pytest.approx(0.04 / 3)
    assert (found.goal, found.holds) == (0.01, True)


def test_the_worst_set_is_against_the_rival_that_is_best_on_average():
    # LightGBM's mean difference is -0.0133, logistic regression's 0.0167.
    found = verdict_on("lightgbm_tuned, worst set: b", OURS + TREES + LINEAR)
    assert found.mean_difference == pytest.approx(-0.1) and found.se is None
    assert (found.sets, found.goal, found.holds) == (1, -0.03, False)


def test_only_seeds_that_both_have_are_compared():
    assert verdict_on("lightgbm_tuned", OURS + lines_of("lightgbm_tuned", a=(0.7,))).mean_difference == pytest.approx(
        0.1
    )


def test_a_smaller_log_loss_wins_and_has_no_goal():
    lines = lines_of("fit", "log_loss", a=(0.2,), b=(0.3,)) + lines_of("xgboost", "log_loss", a=(0.5,), b=(0.25,))
    found = verdict_on("xgboost", lines)
    assert (found.won, found.lost, found.goal, found.holds) == (1, 1, None, None)
    assert verdict_on("best of all with hindsight", lines).mean_difference == pytest.approx(-0.125)


def test_rivals_alone_give_no_verdict():
    assert against(cells_of(TREES)) == []


# -- the command -----------------------------------------------------------------------------------------------------


class Model:
    """Predicts the first column."""

    def predict(self, X):
        return X[:, 0]

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


@pytest.fixture
def calls(monkeypatch):
    """The names of what is trained, of a perfect method of ours and a rival that knows nothing."""
    for package in ("joblib", "threadpoolctl", "tqdm"):
        pytest.importorskip(package)
    trained = []

    def ours(part, measure, seed):
        trained.append(f"perfect {measure} {seed}")
        return Model()

    def rival(rows, seed):
        trained.append(f"constant {seed}")
        return [Candidate(np.full(len(rows.X_held), 0.4), np.full(len(rows.X_test), 0.4))]

    def table(data_dir):
        y = (np.arange(100) % 4 == 0).astype(np.uint8)
        return sets.Table(y[:, None].astype(np.float32), y)

    monkeypatch.setitem(methods.OURS, "perfect", ours)
    monkeypatch.setitem(methods.RIVALS, "constant", methods.Rival(rival, package="numpy"))
    monkeypatch.setitem(sets.SETS, "tiny", sets.DataSet(table))
    return trained


def command(path, *options):
    return main(["rivals", "--json", str(path), "--sets", "tiny", "--methods", "perfect", "constant", *options])


def test_the_results_have_every_key_and_name_the_rival_and_its_margin(calls, tmp_path, capsys):
    assert command(tmp_path / "r.json", "--seeds", "2", "--measures", "f1", "min") == 0
    results = json.loads((tmp_path / "r.json").read_text())
    assert {(cell["method"], cell["measure"]) for cell in results["cells"]} == {
        (method, measure)
        for method in ("perfect", "constant", "constant_at_half")
        for measure in ("f1", "min", "log_loss", "ece")
    }
    assert all({"data", "seed_values", "mean", "seconds"} <= cell.keys() for cell in results["cells"])
    assert all(set(Verdict._fields) == each.keys() for each in results["against"])
    (single,) = [each for each in results["against"] if (each["rival"], each["measure"]) == ("constant", "f1")]
    # All positive is the best that a constant can do: F1 = 2 * 8 / (2 * 8 + 22) on 30 test rows with 8 positives.
    assert single["mean_difference"] == pytest.approx(1 - 16 / 38) and single["holds"]
    assert "| f1 | perfect | constant | 1 | +0.5789 | 1 | 0 | >= +0 |  |" in capsys.readouterr().out
    assert calls == [f"{run} {seed}" for seed in (100, 101) for run in ("perfect f1", "perfect min", "constant")]


def test_a_second_call_does_only_what_is_missing(calls, tmp_path):
    path = tmp_path / "r.json"
    command(path, "--seeds", "1", "--measures", "f1")
    before = path.read_text()
    command(path, "--seeds", "1", "--measures", "f1")
    assert calls == ["perfect f1 100", "constant 100"] and path.read_text() == before
    command(path, "--seeds", "2", "--measures", "f1", "min")
    assert calls[2:] == ["perfect min 100", "constant 100", "perfect f1 101", "perfect min 101", "constant 101"]


def test_a_line_that_was_cut_off_is_done_again(calls, tmp_path):
    path = tmp_path / "r.json"
    command(path, "--seeds", "1", "--measures", "f1")
    lines = tmp_path / "r.jsonl"
    whole = lines.read_text()
    lines.write_text(whole[:-20])
    command(path, "--seeds", "1", "--measures", "f1")
    assert calls == ["perfect f1 100", "constant 100", "constant 100"]
    assert all(math.isfinite(line["value"]) for line in read_lines(lines))


def test_a_failing_run_does_not_stop_the_others(calls, tmp_path, monkeypatch, capsys):
    def fails(part, measure, seed):
        raise FloatingPointError("scores are not finite")

    monkeypatch.setitem(methods.OURS, "perfect", fails)
    assert command(tmp_path / "r.json", "--seeds", "1", "--measures", "f1") == 1
    assert "tiny, seed 100, perfect failed: FloatingPointError: scores are not finite" in capsys.readouterr().err
    assert {line["method"] for line in read_lines(tmp_path / "r.jsonl")} == {"constant", "constant_at_half"}


def test_wrong_names_are_reported_before_the_first_run(calls, tmp_path, capsys):
    assert command(tmp_path / "r.json", "--sets", "tinny") == 2
    assert "tiny" in capsys.readouterr().err and calls == []
