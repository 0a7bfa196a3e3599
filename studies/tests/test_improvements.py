"""The comparison with the cross-entropy family: choices see the validation part only, and tables are plain medians."""

import itertools
from typing import Any

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import measures, metrics
from aesara_nondecomp.data import Batch
from aesara_nondecomp.drivers import DAME, RewardWeights
from aesara_nondecomp.metrics.class_rates import ClassSums, class_sums
from aesara_nondecomp.training.recipes import Recipe
from studies.improvements import protocol, report
from studies.improvements.ascents import functions_for
from studies.improvements.choice import ScoredTest, choose
from studies.improvements.held_out import HeldOutDuals
from studies.improvements.methods import FIXED, Method, methods
from studies.improvements.protocol import Cell, Rows, Run, applicable, cells
from studies.improvements.variants import MEASURES, VARIANTS, Variant

SIGNS = np.array([1, 1, 1, -1, -1, -1, -1, -1])
HELD = Rows(np.zeros((8, 1), "float32"), SIGNS)


def cell(train_signs=SIGNS, test=None) -> Cell:
    return Cell("made up", 0, Rows(np.zeros((len(train_signs), 1), "float32"), train_signs), HELD, test, {})


def run(variant: str, *held_scores) -> Run:
    scores = np.array(held_scores, dtype="float32")
    return Run(variant, 0.01, 50 * np.arange(1, len(scores) + 1), np.zeros((len(scores), 1)), scores)


PERFECT, SHIFTED, USELESS = 2.0 * SIGNS, 2.0 * SIGNS - 5, np.full(8, -1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_run_and_checkpoint_on_validation_rows_is_chosen_without_test_rows(measure):
    runs = [run("ce", USELESS, SHIFTED), run("wce", USELESS, PERFECT), run("f1 natural", PERFECT)]
    (member,) = choose(cell(test=None), runs, measure, Method("", ("ce", "wce")))
    assert (member.run.variant, member.checkpoint, member.threshold, member.held_value) == ("wce", 1, 0.0, 1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_tuned_threshold_is_the_exact_plug_in_threshold_of_the_validation_rows(measure):
    scores = np.array([3, 1, -2, 2, 0, -1, -3, -4], "float32")
    (member,) = choose(cell(), [run("ce", scores)], measure, Method("", ("ce",), ("tuned",)))
    threshold, value = metrics.best_threshold(measure, scores, SIGNS)
    assert member.threshold == threshold and member.held_value == pytest.approx(value)


def test_the_threshold_at_the_prior_is_its_log_odds():
    (member,) = choose(cell(), [run("ce", PERFECT)], "min", Method("", ("ce",), ("prior",)))
    assert member.threshold == pytest.approx(np.log(3 / 5))


@pytest.mark.parametrize(
    ("variant", "own"), [("ce", np.log(3 / 5)), ("ce b20", np.log(1 / 4)), ("wce", 0.0), ("min natural", 0.0)]
)
def test_halfway_lies_between_the_tuned_threshold_and_that_of_the_loss(variant, own):
    tuned, halfway = (
        choose(cell(), [run(variant, SHIFTED)], "min", Method("", (variant,), (cut,)))[0].threshold
        for cut in ("tuned", "halfway")
    )
    assert halfway == pytest.approx((tuned + own) / 2)


def test_members_vote_with_soft_labels_around_their_own_thresholds():
    test = ScoredTest(cell(test=Rows(np.zeros((2, 1)), np.array([1, -1]))), folder="")
    names = ("ce", "wce", "ce b20")
    members = [m for name in names for m in choose(cell(), [run(name, PERFECT)], "min", Method("", (name,)))]
    # One sure of the right answer, two barely of the wrong one: a majority of labels would lose.
    for name, scores in (("ce", [6, -6]), ("wce", [-0.1, 0.1]), ("ce b20", [-0.1, 0.1])):
        test.known[(name, 0.01, 0, False)] = np.array(scores)
    assert test.value("min", members, refitted=False) == 1.0
    assert test.value("min", members[1:], refitted=False) == 0.0
    assert test.value("min", [members[0]._replace(threshold=7.0)], refitted=False) == 0.0


def test_twenty_percent_batches_are_left_out_where_positives_are_not_rarer():
    names = ["ce", "ce b20", "wce balanced", "f1 b20"]
    assert applicable(cell(SIGNS), names) == ["ce", "wce balanced"]
    assert applicable(cell(np.array([1] + [-1] * 9)), names) == names


def test_every_method_names_variants_and_the_direct_side_trains_no_more_than_the_other():
    for measure in MEASURES:
        assert FIXED[measure] in {method.name for method in methods(measure)}
        for rows in (methods(measure, development=True), methods(measure, wide=True)):
            assert {name for method in rows for name in method.variants} <= VARIANTS.keys()
            assert len({method.name for method in rows}) == len(rows)
        trained: dict[bool, set[str]] = {name.startswith("direct"): set() for name in ("direct", "CE")}
        for method in methods(measure):
            trained[method.name.startswith("direct")] |= set(method.variants)
        assert len(trained[True]) <= len(trained[False])


def test_wide_rows_have_the_same_names_and_twice_the_width():
    for narrow, wide in zip(methods("f1"), methods("f1", wide=True)):
        assert narrow._replace(variants=()) == wide._replace(variants=())
        for name, wider in zip(narrow.variants, wide.variants):
            assert VARIANTS[wider] == VARIANTS[name]._replace(name=wider, hidden=(128, 128))


def test_a_margin_moves_the_positives_scores_that_training_sees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).astype("float32"), np.where(np.arange(40) % 4, -1, 1).astype("float32")
    small = Variant("small", lambda problem: Recipe(()), hidden=(4,))
    plain, moved = (functions_for(small._replace(margin=margin), 3) for margin in (0.0, 2.0))
    for functions in (plain, moved):
        functions.initialise(1)
        functions.set_objective(RewardWeights(0, 0, 1, 1), 0.1)
    scores = plain.scores(X)
    np.testing.assert_array_equal(moved.scores(X), scores)
    sums, _ = moved.ascend(X, y)
    np.testing.assert_allclose(sums, class_sums(scores - 2.0 * (y > 0), y), rtol=1e-5)


def test_a_sharpness_aware_step_follows_the_gradient_at_the_worst_point_of_the_ball():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)).astype("float32"), np.where(np.arange(40) % 4, -1, 1).astype("float32")
    functions = functions_for(Variant("small", lambda problem: Recipe(()), hidden=(4,), radius=0.05), 3)
    functions.initialise(1)
    functions.set_objective(RewardWeights(0, 0, 1, 1), 0.1)
    start, (sums, uphill) = functions.parameters(), functions.gradients(X, y)
    length = np.sqrt(sum((g**2).sum() for g in uphill))
    with functions.using([p - 0.05 * g / length for p, g in zip(start, uphill)]):
        worse, there = functions.gradients(X, y)
    assert worse.logistic_pos + worse.logistic_neg < sums.logistic_pos + sums.logistic_neg
    functions.restart()
    functions.apply(there)
    expected = functions.parameters()
    functions.load(start)
    functions.restart()
    assert functions.ascend(X, y)[0] == sums
    for mine, theirs in zip(functions.parameters(), expected):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_development_takes_its_test_part_from_the_training_rows():
    (final,), (development,) = (list(cells("letter", [3], None, flag)) for flag in (False, True))
    rows = [len(part.signs) for part in (development.train, development.held, development.test)]
    assert sum(rows) == len(final.train.signs) + len(final.held.signs)
    assert len(final.test.signs) == 4000 != rows[2]


def test_a_refit_adds_the_validation_rows_and_stops_at_the_chosen_step(monkeypatch, tmp_path):
    (whole,) = cells("letter", [0], None, False)
    small = whole._replace(
        train=Rows(*(part[:700] for part in whole.train)), held=Rows(*(part[:300] for part in whole.held))
    )
    seen, fit = [], an.fit

    def spy(X, y, **options):
        seen.append((len(y), options["steps"]))
        return fit(X, y, **options)

    monkeypatch.setattr(an, "fit", spy)
    chosen = run("f1 natural", PERFECT, PERFECT)
    weights = protocol.refit(small, chosen, 0, str(tmp_path))
    np.testing.assert_array_equal(protocol.refit(small, chosen, 0, str(tmp_path)), weights)
    assert seen == [(1000, 50)]
    assert weights.shape == (16 * 64 + 64 + 64 * 64 + 64 + 64 + 1,)


def test_held_out_duals_follow_the_held_out_rows_and_not_the_training_batch():
    held = ClassSums(0, 0, 0, 0, count_pos=3, count_neg=4, n_pos=4, n_neg=4)
    batches: Any = itertools.repeat(Batch(HELD.X, HELD.signs, 8))

    class Functions:
        def class_sums(self, X, y):
            return held

    functions: Any = Functions()
    driver = HeldOutDuals(DAME("f1", 0.2, reward="logistic", counts=True), functions, batches, every=1)
    driver.refresh(held._replace(count_pos=4))
    driver.observe(held._replace(count_pos=0))
    assert driver.duals()["v"] == pytest.approx(measures.get("f1").value(0.75, 1.0, 0.2))


def test_tables_hold_medians_over_seeds_and_paired_differences():
    values = {"CE tuned": [0.5, 0.6, 0.9], "direct, at 0": [0.6, 0.7, 0.8]}
    lines = [
        {"dataset": dataset, "seed": seed, "measure": "f1", "method": method, "value": value + shift}
        for dataset, shift in (("a", 0.0), ("b", 0.1))
        for method, row in values.items()
        for seed, value in enumerate(row)
    ]
    text = report.tables(lines, ["f1"])
    assert "| CE tuned | 0.6000 ±0.200 | 0.7000 ±0.200 | 0.6500 |" in text
    assert "| direct, at 0 | +0.1000 (se 0.0000; 4 won, 2 lost of 6) |" in text


def test_a_method_that_some_data_sets_lack_has_no_mean_and_no_difference():
    have = [("a", "CE tuned"), ("a", "direct, b20"), ("b", "CE tuned")]
    lines = [{"dataset": d, "seed": 0, "measure": "f1", "method": name, "value": 0.5} for d, name in have]
    text = report.tables(lines, ["f1"])
    assert "| direct, b20 | 0.5000 ±0.000 | – | – |" in text
    assert text.count("direct, b20") == 1
