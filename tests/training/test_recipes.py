"""Recipes: every measure that can be trained has one, and each is what its documentation says."""

import numpy as np
import pytest

from aesara_nondecomp import measures
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, ClassWeighted, CrossEntropy, Mix, WarmStart
from aesara_nondecomp.measures.user import UserConcave
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.training.recipes import (
    ALGORITHMS,
    PRESETS,
    Problem,
    Recipe,
    recipe_for,
    trained_measure,
    with_preset,
)

_SHARES = np.array([0.35, 0.15, 0.35, 0.15, 0, 0])
PROBLEM = Problem(prior=0.2, eps=0.001, cells=measures.Cells(("a", "b"), (1000 * _SHARES).astype(int), _SHARES))
TRAINABLE = [measure for measure in measures.defaults() if measure.drivers()]
LISTINGS = [
    (measure, algorithm)
    for measure in TRAINABLE
    for algorithm in ("paper", *(f"paper_{kind}" for kind in measure.drivers()))
]
REPORT_ONLY = [measure for measure in measures.defaults() if not measure.drivers()]


def parts(driver) -> list:
    """The driver and all that it wraps, outermost first."""
    found = [driver]
    while hasattr(found[-1], "inner"):
        found.append(found[-1].inner)
    return found


def core(recipe):
    """The adaptive driver of the last phase."""
    return parts(recipe.phases[-1].driver)[-1]


@pytest.mark.parametrize("strange", [0.2, None, (0.2, 0.001)])
def test_a_recipe_without_a_problem_says_how_to_make_one(strange):
    with pytest.raises(
        ValueError, match=r"recipe_for needs a training.Problem: Problem\(prior, eps=0.5 / n\) for n rows"
    ):
        recipe_for("f1", strange)


@pytest.mark.parametrize("algorithm", ["auto", "paper"])
@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
def test_every_trainable_measure_has_a_recipe(measure, algorithm):
    recipe = recipe_for(measure, PROBLEM, algorithm)
    assert recipe == recipe_for(measure.name, PROBLEM, algorithm)._replace(phases=recipe.phases)
    assert isinstance(core(recipe), (DUPLE, DENIM, DAME))
    assert core(recipe).prior == PROBLEM.prior and core(recipe).eps == PROBLEM.eps
    assert 0 < recipe.learning_rate < 1 and 0 <= recipe.averaging < 1
    assert sum(phase.share for phase in recipe.phases) == 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_every_algorithm_has_a_recipe_for_a_measure_or_says_that_it_cannot_train_it(measure, algorithm):
    try:
        recipe = recipe_for(measure, PROBLEM, algorithm)
    except ValueError as refusal:
        assert f"cannot train for {measure}" in str(refusal) or f"no driver trains {measure}" in str(refusal)
        return
    assert isinstance(recipe, Recipe) and sum(phase.share for phase in recipe.phases) == 1
    assert (recipe.temperature, recipe.normalize) == (1.0, "prior")
    again = recipe_for(measure, PROBLEM, algorithm)
    assert all(first.driver is not second.driver for first, second in zip(recipe.phases, again.phases))


@pytest.mark.parametrize("measure", REPORT_ONLY, ids=str)
def test_a_report_only_measure_says_what_to_train_instead(measure):
    with pytest.raises(ValueError, match=f"no driver trains {measure.name} directly. {measure.hint}"):
        recipe_for(measure, PROBLEM)


@pytest.mark.parametrize("measure", REPORT_ONLY + TRAINABLE, ids=str)
@pytest.mark.parametrize("algorithm, kind", [("cross_entropy", CrossEntropy), ("class_weighted", ClassWeighted)])
def test_the_plain_losses_train_for_any_measure(algorithm, kind, measure):
    (phase,) = recipe_for(measure, PROBLEM, algorithm).phases
    assert type(phase.driver) is kind


@pytest.mark.parametrize("listing", ["", "paper_"])
@pytest.mark.parametrize("measure", TRAINABLE, ids=str)
def test_the_algorithm_asked_for_is_the_one_that_runs_on_the_measure_asked_for(measure, listing):
    classes = {"duple": DUPLE, "denim": DENIM, "dame": DAME}
    for kind, driver_class in classes.items():
        for algorithm, reward in ((f"{listing}{kind}", "sigmoid"), (f"{listing}{kind}_ns", "count")):
            assert algorithm in ALGORITHMS
            if kind not in measure.drivers():
                with pytest.raises(ValueError, match=f"{kind}' cannot train for {measure.name}"):
                    recipe_for(measure, PROBLEM, algorithm)
                continue
            driver = core(recipe_for(measure, PROBLEM, algorithm))
            assert type(driver) is driver_class
            assert driver.measure == measure and driver.rates.reward == reward


@pytest.mark.parametrize("measure, algorithm", LISTINGS, ids=str)
def test_the_papers_algorithms_are_the_corrected_listings(measure, algorithm):
    recipe = recipe_for(measure, PROBLEM, algorithm)
    driver = recipe.phases[-1].driver
    kind = measure.drivers()[0] if algorithm == "paper" else algorithm.removeprefix("paper_")
    assert type(driver).__name__.lower() == kind
    assert (driver.reward, driver.rates.reward, driver.rates.forgetting) == ("sigmoid", "sigmoid", 1.0)
    assert driver.evaluate == "new" and recipe.averaging == 0
    if isinstance(driver, DAME):
        first, second = recipe.phases
        assert type(first.driver) is CrossEntropy and not first.head_only and second.head_only
        assert (driver.inner_steps, driver.round_rows) == (50, 8192)
    else:
        assert len(recipe.phases) == 1
        assert driver.cap is None and getattr(driver, "dual", "exact") == "exact"


@pytest.mark.parametrize("measure, algorithm", LISTINGS, ids=str)
def test_the_papers_listings_keep_their_rate_and_the_recommended_recipes_lower_it(measure, algorithm):
    assert recipe_for(measure, PROBLEM, algorithm).schedule == "constant"
    recommended = recipe_for(measure, PROBLEM)
    assert (recommended.schedule, recommended.weight_decay) == ("cosine", 0.02)


def test_the_threshold_belongs_to_baselines_and_listings_and_not_to_the_recommended_recipes():
    measure_of = {"denim": "kld", "nemsis": "kld", "duple": "min", "spade": "min"}
    measure_of = {**measure_of, "worst_group": "worst_cell", "group_dro": "worst_cell"}
    recommended = ("auto", "duple", "denim", "dame", "duple_ns", "denim_ns", "dame_ns")
    recommended += ("likelihood", "worst_group", "group_dro", "cell_weighted")
    for name in ALGORITHMS:
        measure = measure_of.get(name.removeprefix("paper_").removesuffix("_ns"), "f1")
        recipe = recipe_for(measure, PROBLEM, name)
        assert recipe.fixed_threshold == (name not in recommended) or recipe.threshold is None, name


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_preset_of_0_1_names_the_listing_of_a_driver_and_leaves_the_baselines(algorithm):
    has_listing = algorithm.removesuffix("_ns") in ("duple", "denim", "dame")
    listing = "paper" if algorithm == "auto" else f"paper_{algorithm}" if has_listing else algorithm
    assert with_preset(algorithm, "default") == algorithm and with_preset(algorithm, "paper") == listing
    assert listing in ALGORITHMS
    with pytest.raises(ValueError, match="unknown preset 'papers'. Did you mean 'paper'"):
        with_preset(algorithm, "papers")


def test_a_preset_of_an_unknown_algorithm_is_refused():
    with pytest.raises(ValueError, match="unknown algorithm 'dupel'. Did you mean 'duple'"):
        with_preset("dupel", "paper")


@pytest.mark.parametrize("preset", PRESETS)
def test_the_former_preset_of_recipe_for_is_taken_with_a_warning(preset):
    expected = core(recipe_for("f1", PROBLEM, with_preset("dame", preset)))
    for call in (
        lambda: recipe_for("f1", PROBLEM, "dame", preset),
        lambda: recipe_for("f1", PROBLEM, "dame", preset=preset),
    ):
        with pytest.warns(DeprecationWarning, match=f"preset='{preset}' of recipe_for is now spelled algorithm='"):
            found = core(call())
        assert (found.reward, found.inner_steps, found.evaluate) == (
            expected.reward, expected.inner_steps, expected.evaluate
        )  # fmt: skip


@pytest.mark.parametrize("text, anchor", [(False, CrossEntropy), (True, ClassWeighted)])
def test_denim_is_anchored_by_cross_entropy_on_tables_and_by_its_class_weighted_form_on_text(text, anchor):
    (phase,) = recipe_for("kld", PROBLEM._replace(text=text)).phases
    assert type(phase.driver.first) is type(phase.driver.inner.anchor) is anchor


def test_the_default_for_quantification_measures_trains_bakld_after_cross_entropy():
    for name in ("kld", "ae", "rae", "nas", "nss", "nss_raw"):
        warm, mix, driver = parts(recipe_for(name, PROBLEM).phases[0].driver)
        assert isinstance(warm, WarmStart) and warm.left == 50 and isinstance(warm.first, CrossEntropy)
        assert isinstance(mix, Mix) and mix.share == 0.5
        assert isinstance(driver, DENIM) and driver.measure == measures.BAKLD() == trained_measure(measures.get(name))
        assert core(recipe_for(name, PROBLEM, "duple")).measure == measures.get(name)


def test_the_default_for_min_moves_its_dual_in_steps_beside_class_weighted_cross_entropy():
    mix, driver = parts(recipe_for("min", PROBLEM).phases[0].driver)
    assert isinstance(mix.anchor, ClassWeighted) and mix.share == 0.5
    assert (driver.dual, driver.dual_rate, driver.rates.forgetting) == ("step", 0.05, 0.5)


def test_the_default_for_f1_climbs_the_logistic_reward_at_a_level_from_counts():
    (driver,) = parts(recipe_for("f1", PROBLEM).phases[0].driver)
    assert (driver.reward, driver.rates.reward, driver.inner_steps) == ("logistic", "count", None)


@pytest.mark.parametrize("c", [0.0, 0.3, 1.0])
def test_the_anchor_of_a_linear_measure_weighs_the_classes_as_the_measure_does(c):
    mix, _ = parts(recipe_for(measures.get("weighted_accuracy", c=c), PROBLEM).phases[0].driver)
    assert mix.anchor.weights()[2:] == pytest.approx((c, 1 - c), abs=1e-5)
    mix, _ = parts(recipe_for("accuracy", PROBLEM).phases[0].driver)
    assert mix.anchor.weights()[2:] == pytest.approx((0.2, 0.8))


@pytest.mark.parametrize("name", ["kld", "min", "accuracy"])
def test_a_measure_of_ones_own_is_trained_as_it_is_whatever_its_name(name):
    mine = UserConcave(name, lambda P, N, p: 0.9 * P + 0.1 * N, lambda P, N, p: (0.9, 0.1))
    (phase,) = recipe_for(mine, PROBLEM).phases
    assert core(recipe_for(mine, PROBLEM)).measure is mine and core(recipe_for(mine, PROBLEM)).dual == "exact"
    assert phase.driver.anchor.weights() == ClassWeighted(PROBLEM.prior).weights()
    stepwise = DUPLE(mine, PROBLEM.prior, dual="step", dual_rate=1.0)
    stepwise.refresh(ClassSums(1, 1, 1, 1, 1, 1, 2, 2))
    stepwise.observe(ClassSums(1, 1, 1, 1, 1, 1, 2, 2))
    assert (stepwise.alpha, stepwise.beta) == pytest.approx((0.9, 0.1))
