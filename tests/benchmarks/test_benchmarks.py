"""The harness resumes exactly, survives failing runs, refuses bad configurations, chooses on validation rows only."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("joblib")
pytest.importorskip("threadpoolctl")
pytest.importorskip("tqdm")

from threadpoolctl import threadpool_limits

from aesara_nondecomp._aesara.imports import aesara
from benchmarks.__main__ import main as benchmarks_main
from benchmarks.paper import claims, claims_twitter, datasets, figures, report, results, runner
from benchmarks.paper import training as one_run
from benchmarks.paper.grid import FIGURES, Panel, Run, checkpoints, make_grid, run_for, runs
from benchmarks.paper.methods import METHODS, TRAININGS, serving

ROOT = Path(__file__).parents[2]
SMALL = {"figures": ["f1"], "datasets": ["letter"], "methods": ["dame", "plug_in"], "seeds": [3], "steps": 3}
CLOCKS = {"seconds", "seconds_with_compilation", "run_seconds"}


def small_grid(**changes):
    return make_grid(**{**SMALL, "data_dir": None, **changes})


def lines_of(out):
    """All lines of a folder by run, without the clocks."""

    def without_clocks(path):
        read = [json.loads(line) for line in path.read_text().splitlines()]
        return [{name: value for name, value in line.items() if name not in CLOCKS} for line in read]

    return {path.stem: without_clocks(path) for path in (out / "runs").glob("*.jsonl")}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    assert runner.run_all(runs(small_grid()), None, out, 1, {"commit": "c"}) == 0
    return out


# -- lines -----------------------------------------------------------------------------------------------------------


def test_every_evaluation_has_its_line_with_every_field(undisturbed):
    lines = lines_of(undisturbed)
    assert len(lines) == 6  # two trainings at three rates: plug-in reads the cross-entropy run
    for name, run_lines in lines.items():
        assert [line["step"] for line in run_lines] == [1, 2, 3], name
        for line in run_lines:
            assert line["samples"] == 512 * line["step"]
            assert len(line["train_rates_soft"]) == len(line["train_rates_hard"]) == 2
            assert line["commit"] == "c" and "duals" in line
            assert {"zero", "tuned", "prior"} <= set(line["test"]) == set(line["validation"])


def test_the_measures_of_a_line_agree_with_its_counts(undisturbed):
    for lines in lines_of(undisturbed).values():
        for rows in ("validation", "test"):
            counts, values = lines[-1][rows]["counts"], lines[-1][rows]["zero"]
            P, N = counts["TP"] / (counts["TP"] + counts["FN"]), counts["TN"] / (counts["TN"] + counts["FP"])
            assert values["min"] == pytest.approx(min(P, N))
            assert values["f1"] == pytest.approx(2 * counts["TP"] / (2 * counts["TP"] + counts["FP"] + counts["FN"]))
        assert sum(lines[-1]["test"]["counts"].values()) == 4000
        assert sum(lines[-1]["validation"]["counts"].values()) == 3200


def test_a_tuned_threshold_is_never_worse_than_zero_on_the_validation_rows(undisturbed):
    for lines in lines_of(undisturbed).values():
        for line in lines:
            assert line["validation"]["tuned"]["f1"] >= line["validation"]["zero"]["f1"]
            assert line["validation"]["tuned"]["kld"] <= line["validation"]["zero"]["kld"]


# -- resuming --------------------------------------------------------------------------------------------------------


def test_finished_runs_are_skipped_and_the_rest_gives_the_same_lines(undisturbed, tmp_path):
    first, *rest = runs(small_grid())
    assert runner.run_one(first, None, prepared(tmp_path), {"commit": "c"})
    finished = runner.lines_path(tmp_path, first)
    before = finished.stat().st_mtime_ns
    half_written = tmp_path / "runs" / f"{rest[0].name}.jsonl.1.partial"
    half_written.write_text('{"dataset": "let')
    assert runner.run_all([first, *rest], None, tmp_path, 1, {"commit": "c"}) == 0
    assert finished.stat().st_mtime_ns == before and not half_written.exists()
    assert lines_of(tmp_path) == lines_of(undisturbed)


def test_the_first_run_of_a_process_has_one_blas_thread_though_the_library_was_not_loaded(tmp_path):
    code = """
import sys
from pathlib import Path
import threadpoolctl
from benchmarks.paper import runner
def lines_of(run, data_dir):
    print([pool["num_threads"] for pool in threadpoolctl.threadpool_info() if "scipy_openblas32" in pool["filepath"]])
    return []
runner.lines_of = lines_of
from benchmarks.paper.grid import make_grid, runs
runner.run_all(runs(make_grid(["f1"], ["letter"], ["plug_in"], [3], 3, None))[:1], None, Path(sys.argv[1]), 1, {})
"""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == ("[1]" if "scipy_openblas" in aesara.config.blas__ldflags else "[]")


def prepared(out):
    for folder in ("runs", "errors"):
        (out / folder).mkdir()
    return out


START = """
import sys
from pathlib import Path
from benchmarks.paper.grid import make_grid, runs
from benchmarks.paper.runner import run_all
grid = make_grid(["f1"], ["letter"], ["dame", "plug_in"], [3], 3, None)
run_all(runs(grid), None, Path(sys.argv[1]), 1, {"commit": "c"})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this platform has no SIGKILL")
def test_a_harness_killed_in_the_middle_and_started_again_gives_the_same_lines(undisturbed, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", START, str(tmp_path)], cwd=ROOT, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("runs/*.jsonl")) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 0 < len(lines_of(tmp_path)) <= 6
    assert runner.run_all(runs(small_grid()), None, tmp_path, 1, {"commit": "c"}) == 0
    assert lines_of(tmp_path) == lines_of(undisturbed)


def test_a_failing_run_is_recorded_does_not_stop_the_others_and_is_tried_again(tmp_path, monkeypatch):
    grid = small_grid(methods=["plug_in"])
    every = runs(grid)

    def fails(run, data_dir):
        if run == every[0]:
            raise FloatingPointError("scores are not finite")
        return [{"step": 1}]

    monkeypatch.setattr(runner, "lines_of", fails)
    assert runner.run_all(every, None, tmp_path, 1, {}) == 1
    (error,) = results.failures(tmp_path, {run.name for run in every})
    assert error["error"] == "FloatingPointError: scores are not finite" and error["rate"] == every[0].rate
    assert sorted(lines_of(tmp_path)) == sorted(run.name for run in every[1:])
    monkeypatch.setattr(runner, "lines_of", lambda run, data_dir: [{"step": 1}])
    assert runner.run_all(every, None, tmp_path, 1, {}) == 0
    assert results.failures(tmp_path, {run.name for run in every}) == []


# -- configuration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "dupel"], "Did you mean 'duple'"),
        (["--figures", "qmaen"], "Did you mean 'qmean'"),
        (["--datasets", "lettre"], "Did you mean 'letter'"),
        (["--datasets", "ijcnn1", "--figures", "f1"], "data_dir"),
        (["--seeds", "0"], "at least one seed"),
        (["--jobs", "0"], "--jobs"),
        (["--methods", "duple", "--figures", "f1"], "none of the methods"),
    ],
)
def test_a_bad_configuration_ends_at_once_with_one_line_and_status_2(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert benchmarks_main(["paper", *arguments, "--out", str(out)]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said and len(said.splitlines()) == 1
    assert not out.exists()


def test_an_impossible_split_is_a_bad_configuration(tmp_path, capsys):
    from test_original_formats import write_kddcup08

    # All positives belong to one patient, and a patient is never divided.
    write_kddcup08(tmp_path / "kddcup08", [1] * 3 + [-1] * 37, [1] * 3 + list(range(2, 39)))
    arguments = ["paper", "--figures", "min", "--datasets", "kdd08", "--data-dir", str(tmp_path)]
    assert benchmarks_main([*arguments, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.strip()
    assert "kdd08" in said and "both classes" in said and len(said.splitlines()) == 1


# -- grid and data ---------------------------------------------------------------------------------------------------


def test_a_grid_has_each_run_once_and_seed_by_seed():
    grid = make_grid(list(FIGURES), None, None, [1, 2], 7, None)
    every = runs(grid)
    assert len(every) == len(set(every)) == len({run.name for run in every})
    assert [run.seed for run in every] == sorted(run.seed for run in every)
    shared = [run for run in every if run.training == "cross_entropy" and run.dataset == "ijcnn1"]
    assert len(shared) == 2 * len(TRAININGS["cross_entropy"].rates)


def test_every_network_method_with_a_rate_to_tune_has_the_same_budget():
    budgets = {name: len(training.rates) for name, training in TRAININGS.items() if not training.rival}
    assert {name: budget for name, budget in budgets.items() if not name.endswith("released")} == dict.fromkeys(
        (name for name in budgets if not name.endswith("released")), 3
    )


def test_the_released_networks_have_the_widths_and_small_weights_of_the_authors_code_and_no_biases():
    for driver, widths, deviation in (("duple", (150, 100), 0.01), ("denim", (100, 80), 0.001)):
        network = TRAININGS[f"{driver}_released"].network(30)
        network.initialise(0)
        values = [parameter.get_value() for parameter in network.parameters]
        assert [value.shape for value in values] == [(30, widths[0]), widths, (widths[1], 1)]
        assert [np.std(value) for value in values[:2]] == pytest.approx([deviation] * 2, rel=0.05)


def test_checkpoints_end_with_the_last_step_and_rise():
    for steps in (1, 2, 3, 10, 999, 2000):
        found = checkpoints(steps)
        assert found[-1] == steps and found == sorted(set(found))


def test_a_synthetic_twin_has_the_paper_s_shape_and_share_of_positives():
    twin = datasets.load("kdd08-twin", None)
    assert len(twin.y_train) + len(twin.y_test) == 102_294 and twin.X_train.shape[1] == 117
    assert int(twin.y_train.sum()) + int(twin.y_test.sum()) == 623


def test_a_synthetic_twin_has_the_same_bits_whatever_the_number_of_threads():
    twins = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            twins.append(datasets.load("kdd08-twin", None))
    for name in ("X_train", "y_train", "X_test", "y_test"):
        assert np.array_equal(getattr(twins[0], name), getattr(twins[1], name))


def test_stand_ins_are_named_in_the_remark_and_real_files_come_first(tmp_path):
    assert datasets.resolve("kdd08", None) == "kdd08-twin"
    (tmp_path / "standin_kdd04_protein").mkdir()
    assert datasets.resolve("kdd08", str(tmp_path)) == "kdd04"
    assert "stand-in" in datasets.remark("kdd08", "kdd04") and "synthetic" in datasets.remark("ppi", "ppi-twin")
    (tmp_path / "kddcup08").mkdir()
    (tmp_path / "kddcup08" / "Features.txt").touch()
    titles = [figures._title(Panel("min", *names)) for names in (("ppi", "ppi-twin"), ("kdd08", "kdd04"))]
    assert "synthetic twin" in titles[0] and "stand-in kdd04" in titles[1]
    assert datasets.resolve("kdd08", str(tmp_path)) == "kdd08" and datasets.remark("kdd08", "kdd08") == ""


# -- choosing --------------------------------------------------------------------------------------------------------


def write_lines(out, run, validation, test):
    """A finished run with these F1 values at its checkpoints, everything else left out."""
    path = runner.lines_path(out, run)
    path.parent.mkdir(parents=True, exist_ok=True)
    values = [
        {"step": step, "validation": {"zero": {"f1": held}}, "test": {"zero": {"f1": tested}}}
        for step, held, tested in zip(checkpoints(run.steps), validation, test)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in values))


def test_rate_and_checkpoint_are_the_best_on_validation_whatever_the_test_rows_say(tmp_path):
    grid = small_grid(methods=["dame"], seeds=[0, 1])
    (panel,) = grid.panels
    slow, middle, _ = TRAININGS["dame"].rates
    for seed in grid.seeds:
        run_slow, run_middle = (run_for(grid, panel, "dame", seed, rate) for rate in (slow, middle))
        write_lines(tmp_path, run_slow, [0.1, 0.5, 0.4], [0.2, 0.9, 0.95])
        write_lines(tmp_path, run_middle, [0.6, 0.2, 0.3], [0.3 + seed / 10, 0.99, 0.99])
    found = results.Results(grid, tmp_path)
    assert [choice.rate for choice in found.choices(panel, "dame")] == [middle, middle]
    assert found.values(panel, "dame") == pytest.approx([0.3, 0.4])
    assert found.median(panel, "dame") == pytest.approx(0.35)
    assert found.first(panel, "dame", 0.9) == 2 and math.isinf(found.first(panel, "dame", 1.0))
    assert math.isnan(found.median(panel, "plug_in"))


def test_the_training_prior_s_divergence_is_that_of_its_definition():
    grid = small_grid(figures=["kld"], methods=["denim"])
    floor = results.trivial(grid.panels[0], grid)
    p, q = 166 / 4000, 494 / 12_800  # of the 617 training positives 123 are held out
    assert floor.training_prior == pytest.approx(p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q)), rel=1e-6)


def test_a_verdict_needs_evidence_and_follows_from_it():
    won, none = claims.Duel(2, 2), claims.Duel(0, 0)
    assert claims.verdict_of(True, False, won) == claims.HOLDS
    assert claims.verdict_of(False, True, won) == claims.READING
    assert claims.verdict_of(False, False, won) == claims.FAILS
    assert claims.verdict_of(True, True, won, none) == claims.verdict_of(True, True, math.nan) == claims.NOT_RUN
    assert won.all and won.most and not none.all and not claims.Duel(1, 2).most


# -- the report ------------------------------------------------------------------------------------------------------


def test_the_report_has_every_section_its_picture_and_the_stand_in_remarks(undisturbed):
    pytest.importorskip("matplotlib")
    cost = {"measure": "min", "batch": 512, "prior": 0.1, "direct_ms": 1.0, "struct_ann_ms": 3.0, "ratio": 3.0}
    (undisturbed / "step_cost.json").write_text(json.dumps([cost]))
    written = report.write_report(small_grid(), undisturbed)
    text = written.read_text()
    for heading in ("Claims", "Data", "F1", "Cost of a step", "Runs"):
        assert f"\n## {heading}" in text
    assert "6 runs in the grid, 0 without result, 0 of them failed" in text
    assert "does not hold** | STRUCT-ANN's step over DUPLE's" in text
    commits = {line["commit"] for lines in lines_of(undisturbed).values() for line in lines}
    assert f"runs of commit {', '.join(commits)} (" in text
    assert (written.parent / "f1.png").stat().st_size > 5000
    for method in serving(SMALL["methods"], "f1"):
        assert f"| {METHODS[method].title} | " in text or f"| **{METHODS[method].title}" in text


def test_a_run_of_shifted_prevalences_reports_every_estimator(undisturbed):
    (line,) = one_run.lines_of(Run("letter", "shift_cross_entropy", "kld", 3, 0.01, 3), None)
    assert set(line["shift"]) == set(report.ESTIMATORS)
    assert all(set(errors) == {"ae", "rae", "kld"} for errors in line["shift"].values())
    # The constant answer errs by the mean distance of the grid's prevalences from it, a number known beforehand.
    expected = np.mean([abs(round(500 * p) / 500 - 494 / 12_800) for p in np.linspace(0, 1, 11)])
    assert line["shift"]["training_prior"]["ae"] == pytest.approx(expected, abs=1e-9)


def twitter_study(denim: float, cross_entropy: float, drift: float) -> claims_twitter.Study:
    """What a text study could measure: the same KLD for both networks, and twice and four times as much before."""
    of = {"DENIM on BAKLD": denim, "cross-entropy": cross_entropy}
    pairs = [(network, objective) for network in ("lstm", "attention") for objective in of]
    summary = [
        {"network": network, "objective": objective, "sets": sets, "reading": reading, "kld_50": kld, "kld_mean": kld}
        for network, objective in pairs
        for sets, kld in (("tweets", of[objective]), ("drift", drift))
        for reading in ("cc", "tuned")
    ]
    prior = {"network": "none", "objective": "training prior", "reading": "", "kld_50": 0.004, "kld_mean": 0.004}
    runs = [
        {
            "network": network,
            "objective": objective,
            "curve": [{"step": s, "samples": 9 * s, "kld": of[objective] * 40 / s} for s in (10, 20, 40)],
        }
        for network, objective in pairs
    ]
    return claims_twitter.Study("tweets", [*summary, *({**prior, "sets": sets} for sets in ("tweets", "drift"))], runs)


HOLDS, FAILS = claims.HOLDS, claims.FAILS


@pytest.mark.parametrize(
    ("values", "verdicts"),
    [
        ((1e-6, 1.0, 0.0), [HOLDS] * 5),
        ((0.005, 0.001, 0.5), [HOLDS, *[FAILS] * 4]),
        ((1.0, 0.005, 0.5), [FAILS, FAILS, HOLDS, FAILS, FAILS]),
    ],
)
def test_the_twitter_verdicts_follow_from_what_the_study_measured(values, verdicts):
    assert claims_twitter.verdicts(twitter_study(*values)) == verdicts


def test_a_text_network_that_is_sooner_by_half_needs_far_fewer_iterations():
    # Cross-entropy ends at 0.1 with step 40, where the other has been since step 20.
    claim = claims_twitter._sooner(twitter_study(0.05, 0.1, 0.5))
    assert claim.verdict == HOLDS
    assert "lstm 20 (180), - (-), 40 (360)" in claim.measured
    assert claims_twitter._sooner(twitter_study(0.1, 0.1, 0.5)).verdict == FAILS
    assert claims_twitter._sooner(twitter_study(0.1, 0.1, 0.5)._replace(runs=[])).verdict == claims.NOT_RUN


def test_orders_of_magnitude_and_drift_are_judged_against_denim():
    study = twitter_study(0.05, 0.1, 0.5)
    assert claims_twitter._two_orders(study).verdict == claims_twitter._poor_under_drift(study).verdict == FAILS
    for row in study.summary:
        if (row["objective"], row["network"]) == ("DENIM on BAKLD", "attention"):
            row.update(kld_50=0.0005, kld_mean=0.0005)
    assert claims_twitter._two_orders(study).verdict == claims_twitter._poor_under_drift(study).verdict == HOLDS


def test_without_the_text_study_its_claim_is_told_as_not_measured(tmp_path):
    (claim,) = claims_twitter.rows(tmp_path)
    assert claim.verdict == "not measured in this run"
