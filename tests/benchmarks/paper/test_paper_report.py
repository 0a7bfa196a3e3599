"""The report has every section and every estimator."""

from __future__ import annotations

import json

import numpy as np
import pytest
from paper_runs import SMALL, lines_of, small_grid

from benchmarks.paper import report
from benchmarks.paper import training as one_run
from benchmarks.paper.grid import Run
from benchmarks.paper.methods import METHODS, serving


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
