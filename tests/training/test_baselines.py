"""Baselines as recipes of the same `fit`: they train, resume, and refuse what they cannot do."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import measures, metrics
from aesara_nondecomp.drivers import DAME, DENIM, DUPLE, CrossEntropy, DirectLoss, StructANN
from aesara_nondecomp.training.recipes import Problem, recipe_for

BASELINES = ("cross_entropy", "class_weighted", "plug_in", "logit_adjusted", "struct_ann", "direct_loss", "amp")
PROBLEM = Problem(0.25, 0.001)


def rows(seed=0, n=800):
    rng = np.random.default_rng(seed)
    signs = np.where(rng.random(n) < 0.25, 1, -1)
    return rng.standard_normal((n, 3)).astype("float32") + (signs > 0)[:, None].astype("float32"), signs


@pytest.fixture(scope="module")
def functions():
    return an.TrainFunctions(an.linear(3))


def fitted(functions, algorithm, measure="f1", steps=150, **options):
    X, y = rows()
    validation = an.EarlyStopping(0.2, patience=None) if algorithm == "plug_in" else None
    settings = {"steps": steps, "batch_size": 128, "seed": 3, "validation": validation, "schedule": "constant"}
    return an.fit(X, y, measure, algorithm=algorithm, network=functions, **settings, **options)


@pytest.mark.parametrize("algorithm", BASELINES)
def test_every_baseline_beats_the_trivial_labelings(algorithm, functions):
    test = rows(seed=7, n=4000)
    model = fitted(functions, algorithm)
    assert model.value(*test) > measures.get("f1").trivial(0.25) + 0.1
    assert len(model.history) == 150 and model.history[-1].samples > 100 * 128


@pytest.mark.parametrize("algorithm", ["struct_ann", "direct_loss"])
def test_equal_seeds_give_equal_models(algorithm, functions):
    first, second = (fitted(functions, algorithm, steps=40) for _ in range(2))
    assert all((a == b).all() for a, b in zip(first.parameters, second.parameters))


@pytest.mark.parametrize("algorithm", ["struct_ann", "direct_loss"])
def test_a_resumed_run_ends_with_the_weights_of_an_undisturbed_one(algorithm, functions, tmp_path):
    undisturbed = fitted(functions, algorithm, steps=60)
    kept = an.Checkpoint(tmp_path / "run.npz", every=7, resume=True)
    fitted(functions, algorithm, steps=60, checkpoint=kept, on_step=lambda step: step.step == 33)
    resumed = fitted(functions, algorithm, steps=60, checkpoint=kept)
    assert all((a == b).all() for a, b in zip(undisturbed.parameters, resumed.parameters))
    assert [step.duals for step in resumed.history] == [step.duals for step in undisturbed.history]


def test_a_checkpoint_of_another_measures_oracle_is_refused(functions, tmp_path):
    kept = {"checkpoint": an.Checkpoint(tmp_path / "run.npz", resume=True), "steps": 10}
    fitted(functions, recipe_for("f1", PROBLEM, "struct_ann"), **kept)
    with pytest.raises(ValueError, match="another run: it differs in recipe"):
        fitted(functions, recipe_for("qmean", PROBLEM, "struct_ann"), **kept)


@pytest.mark.parametrize("measure", measures.defaults(), ids=str)
def test_struct_ann_trains_for_every_measure(measure, functions):
    model = fitted(functions, "struct_ann", measure, steps=5)
    assert all(np.isfinite(values).all() for values in model.parameters)
    assert all(step.duals["structural_loss"] > 0 for step in model.history)


def test_structural_training_uses_only_rows_of_the_batch_not_of_padding(functions):
    """The last batch of an epoch of 800 rows holds 32 of 128."""
    model = fitted(functions, "struct_ann", steps=7)
    assert [step.samples for step in model.history] == [128, 256, 384, 512, 640, 768, 800]


@pytest.mark.parametrize("algorithm", ["struct_ann", "direct_loss"])
def test_sample_weights_are_refused_by_what_counts_rows(algorithm, functions):
    with pytest.raises(ValueError, match="counts rows and takes no sample_weight"):
        fitted(functions, algorithm, sample_weight=np.linspace(0.5, 1.5, 800))


@pytest.mark.parametrize("algorithm", ["struct_ann", "direct_loss"])
@pytest.mark.filterwarnings("ignore:prior = 0.9 is far from")
def test_a_prior_is_refused_by_what_counts_rows(algorithm, functions):
    with pytest.raises(ValueError, match=r"counts rows and takes no prior, got 0\.9"):
        fitted(functions, algorithm, prior=0.9)


def test_equal_sample_weights_change_nothing(functions):
    weighted = fitted(functions, "struct_ann", steps=10, sample_weight=np.ones(800))
    plain = fitted(functions, "struct_ann", steps=10)
    assert all((a == b).all() for a, b in zip(weighted.parameters, plain.parameters))


def test_the_recipes_are_what_their_documentation_says():
    (phase,) = recipe_for("kld", PROBLEM, "struct_ann").phases
    assert type(phase.driver) is StructANN and phase.driver.measure == measures.get("kld")
    first, second = recipe_for("gtppr", PROBLEM, "direct_loss").phases
    assert type(first.driver) is CrossEntropy and type(second.driver) is DirectLoss
    assert second.driver.measure == measures.get("gtppr") and first.share == 0.25


@pytest.mark.parametrize(
    "algorithm, kind, measure", [("spade", DUPLE, "qmean"), ("nemsis", DENIM, "qmeasure"), ("amp", DAME, "f1")]
)
def test_the_linear_antecedents_are_the_drivers_at_their_plainest(algorithm, kind, measure):
    recipe = recipe_for(measure, PROBLEM, algorithm)
    (phase,) = recipe.phases
    driver = phase.driver
    assert type(driver) is kind and driver.evaluate == "old" and driver.reward == "sigmoid"
    assert driver.rates.reward == "sigmoid" and recipe.averaging == 0.0
    assert kind is DAME or driver.rates.forgetting == 1.0


def test_an_antecedent_is_linear_with_no_hidden_layer(functions):
    X, y = rows()
    model = an.fit(X, y, "qmean", algorithm="spade", network=functions, steps=200, batch_size=128, seed=3)
    assert len(model.parameters) == 2
    assert model.value(*rows(seed=7, n=4000)) > measures.get("qmean").trivial(0.25) + 0.2


@pytest.mark.parametrize(("algorithm", "measure"), [("spade", "f1"), ("nemsis", "f1"), ("amp", "kld")])
def test_an_antecedent_refuses_by_its_own_name_a_measure_that_its_driver_does_not_serve(algorithm, measure):
    with pytest.raises(ValueError, match=f"'{algorithm}' cannot train for {measure}"):
        recipe_for(measure, PROBLEM, algorithm)


# -- scikit-learn ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hist_gradient_boosting", "logistic_regression"])
def test_a_baseline_scores_rows_and_its_tuned_f1_beats_the_trivial_one(name):
    pytest.importorskip("sklearn", reason="scikit-learn (extra `benchmarks`) is not installed")
    from benchmarks import baselines

    train, held, test = (rows(seed=seed, n=500) for seed in (0, 1, 2))
    options = {"iterations": 20} if name == "hist_gradient_boosting" else {}
    scorer = getattr(baselines, name)(*train, seed=0, **options)
    threshold, _ = metrics.best_threshold("f1", scorer(held[0]), held[1])
    table = metrics.confusion_at_threshold(scorer(test[0]), test[1], threshold)
    assert metrics.score("f1", table) > measures.get("f1").trivial(0.25) + 0.1
    assert (scorer(test[0]) == getattr(baselines, name)(*train, seed=0, **options)(test[0])).all()
