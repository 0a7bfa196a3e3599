"""A grid writes complete lines, resumes exactly, and survives failing runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("joblib")
pytest.importorskip("threadpoolctl")
pytest.importorskip("tqdm")

from paper_runs import lines_of, small_grid

from aesara_nondecomp._aesara.imports import aesara
from benchmarks.paper import results, runner
from benchmarks.paper.grid import runs

ROOT = Path(__file__).parents[3]


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
