"""Rates and checkpoints are chosen on validation rows only."""

from __future__ import annotations

import json
import math

import pytest
from paper_runs import small_grid

from benchmarks.paper import results, runner
from benchmarks.paper.grid import checkpoints, run_for
from benchmarks.paper.methods import TRAININGS


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
