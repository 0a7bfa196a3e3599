"""A verdict that holds names its rival and its margin, and the commands of the report make its runs."""

from __future__ import annotations

import math

import pytest
from paper_runs import small_grid
from test_paper_claims import twitter_study

from benchmarks.paper import claims, claims_concave, claims_other, claims_twitter, report
from benchmarks.paper.claims import HOLDS, NOT_RUN, READING, Duel
from benchmarks.paper.command import FIRST_SEED, SEEDS
from benchmarks.paper.grid import FIGURES, Panel, make_grid
from benchmarks.paper.results import Results
from benchmarks.twitter.command import FULL, QUICK

COST = {"measure": "min", "batch": 512, "prior": 0.1, "direct_ms": 1.0, "struct_ann_ms": 3.0, "ratio": 3.0}


def test_every_claim_that_was_measured_names_a_rival_and_a_margin(undisturbed):
    results = Results(small_grid(), undisturbed)
    found = [*claims_concave.rows(results, [COST]), *claims_other.rows(results, [COST])]
    measured = [claim for claim in found if claim.verdict not in (NOT_RUN, "see the tests")]
    assert measured and all(claim.rival and claim.margin for claim in measured)
    assert all(rival and margin for rival, margin in claims_twitter.margins(with_class_weights()))


def test_the_cell_of_a_verdict_that_holds_shows_rival_and_margin_and_another_does_not():
    claim = claims.Claim("1", "a", "b", HOLDS, "c", "trees", "2 of 2 cells", "mostly")
    assert report._verdict_cell(claim) == "**holds**. Rival: trees. Margin: 2 of 2 cells."
    in_words = report._verdict_cell(claim._replace(verdict=READING))
    assert in_words == "**holds under this reading**: mostly. Rival: trees. Margin: 2 of 2 cells."
    assert report._verdict_cell(claim._replace(verdict=NOT_RUN)) == "**not measured in this run**"


@pytest.mark.parametrize("cells", range(1, 20))
def test_most_cells_are_the_needed_ones_and_no_fewer(cells):
    needed = Duel(0, cells).needed
    assert 3 * needed >= 2 * cells > 3 * (needed - 1)
    assert Duel(needed, cells).most and not Duel(needed - 1, cells).most


def test_a_verdict_by_the_listing_needs_all_its_cells_and_one_by_a_reading_most():
    listing, default = [Duel(3, 3)], [Duel(2, 3), Duel(3, 4)]
    assert claims.cells_won(HOLDS, listing, default) == "3 of 3 cells (all needed)"
    assert claims.cells_won(READING, listing, default) == "2 of 3 cells (2 needed), 3 of 4 cells (3 needed)"


def test_the_lead_is_over_cells_with_both_methods_and_leaves_kld_out():
    medians = {"a": 0.5, "b": 0.1, "c": math.nan, "d": 0.9}

    class Known:
        def median(self, panel, method):
            return medians[panel.used] if method == "duple" else 0.2

    panels = [Panel("kld" if name == "d" else "min", name, name) for name in medians]
    assert claims.lead(Known(), panels, READING, "plug_in") == "median +0.100 [-0.100, +0.300]"
    assert claims.lead(Known(), panels[2:], READING, "plug_in") == "-"


def test_the_options_are_those_that_differ_from_the_defaults_and_always_the_steps():
    seeds = range(FIRST_SEED, FIRST_SEED + SEEDS)
    whole = make_grid(list(FIGURES), None, None, seeds, 1000, None)
    assert report._options(whole, figures=True) == " --steps 1000"
    assert report._options(small_grid(), figures=True) == (
        " --figures f1 --steps 3 --first-seed 3 --seeds 1 --methods dame plug_in --datasets letter"
    )
    one = claims.Claim("1", "a", "b", HOLDS, claims.command_for("f1", datasets="a9a"), "c", "d")
    assert report._command(one, whole) == "python -m benchmarks paper --figures f1 --datasets a9a --steps 1000"


def test_the_text_study_is_made_again_with_its_own_seeds():
    start = "python -m benchmarks paper --figures twitter"
    plan = {**FULL._asdict(), "seeds": [10, 11, 12, 13, 14]}
    assert claims_twitter.command_of(plan) == f"{start} --first-seed 10 --seeds 5"
    assert claims_twitter.command_of(QUICK._asdict()) == f"{start} --quick --first-seed 0 --seeds 1"


def with_class_weights():
    study = twitter_study(0.005, 0.01, 0.5)
    weighted = [
        {**r, "objective": "class-weighted (ANN-p)"} for r in study.summary if r["objective"] == "cross-entropy"
    ]
    return study._replace(summary=[*study.summary, *weighted])
