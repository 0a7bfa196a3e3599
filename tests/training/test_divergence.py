"""Training that diverges stops with an error: no model and no checkpoint of weights that are not finite."""

import itertools

import numpy as np
import pytest
from test_bad_input import RNG

from aesara_nondecomp import Checkpoint, EarlyStopping, MeasureClassifier, TrainFunctions, fit, mlp
from aesara_nondecomp.data import MiniBatches
from aesara_nondecomp.drivers import DUPLE, FixedWeights, RewardWeights
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.models.archive import read_archive
from aesara_nondecomp.training import Phase, Recipe, train

X = RNG.normal(size=(200, 3)).astype("float32")
Y = X[:, 0] + RNG.normal(size=200) > 1
SIGNS = np.where(Y, 1, -1)
QUICK = {"steps": 40, "batch_size": 32, "seed": 0, "validation": None}


@pytest.fixture(scope="module")
def functions():
    return {name: TrainFunctions(mlp(3, (4,), seed=0), name) for name in ("adam", "sgd")}


class Endless(FixedWeights):
    """A driver whose weights do not stay finite."""

    def weights(self):
        return RewardWeights(float("inf"), 1.0)


CASES = {
    "adam": ("adam", {"learning_rate": 1e30}, r"in step 2 at a learning rate of 9.98\d*e\+29: the largest feature"),
    "sgd": ("sgd", {"learning_rate": 1e6}, r"in step \d+ at a learning rate of 9\d*: the largest feature of its batch"),
    "decay": ("adam", {"l2": 1e300}, "in step 2 at a learning rate of 0.00998.*Lower learning_rate or l2"),
    "last step": ("adam", {"l2": 1e300, "steps": 1}, "in step 1, at a rate of 0.01: the weights are not finite"),
    "folds": ("adam", {"learning_rate": 1e30, "validation": 3}, "in step 2 at"),
    "held out": ("adam", {"learning_rate": 1e30, "validation": EarlyStopping(0.2, every=1)}, "in step [12]"),
    "rows": ("adam", {"algorithm": "struct_ann", "learning_rate": 1e30}, "in step 2 at"),
    "features": ("sgd", {"X": X * 1e30, "standardize": False}, r"in step 1 at.*feature of its batch is [23].*e\+30"),
    "driver": (
        "adam",
        {"algorithm": Recipe((Phase(Endless(RewardWeights(1.0, 1.0))),))},
        r"in step 1 at.*Endless gave the weights \(inf, 1.0, 0.0, 0.0\). Check the formulas of its measure",
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES)
def test_training_stops_at_the_first_number_that_is_not_finite(case, functions):
    optimiser, options, message = CASES[case]
    with pytest.raises(ValueError, match=f"training diverged {message}"):
        fit(**{"X": X, "y": Y, "measure": "qmean", "network": functions[optimiser], **QUICK, **options})


def test_rows_that_a_callback_overwrites_are_named(functions):
    rows = X.copy()

    def overwrite(step):
        if step.step == 5:
            rows[:] = np.nan

    with pytest.raises(
        ValueError, match="training diverged in step [67] at.*Rows must not be modified during training"
    ):
        fit(rows, Y, "qmean", network=functions["adam"], standardize=False, on_step=overwrite, **QUICK)


def test_a_checkpoint_keeps_the_last_finite_state_and_is_resumed(functions, tmp_path):
    path, rates = tmp_path / "run.npz", []

    def rising(step):  # as if a schedule went wrong
        return 1.0 if step < 8 else 1e30

    def note(step):
        rates.append(step.learning_rate)

    options = {**QUICK, "network": functions["adam"], "schedule": rising, "on_step": note}
    with pytest.raises(ValueError, match="training diverged in step 10"):
        fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=2), **options)
    header, arrays = read_archive(path, "checkpoint")
    assert all(np.isfinite(value).all() for name, value in arrays.items() if value.dtype.kind == "f")
    assert len(arrays["history"]) == 8 and rates[-1] > 1e20
    with pytest.raises(ValueError, match="training diverged in step 10"):
        fit(X, Y, "qmean", checkpoint=Checkpoint(path, every=1, resume=True), **options)


def test_weights_that_are_not_finite_are_not_stored(functions, tmp_path):
    path = tmp_path / "run.npz"
    fit(X, Y, "qmean", checkpoint=path, network=functions["adam"], **{**QUICK, "steps": 2})
    before = path.read_bytes()
    with pytest.raises(ValueError, match="training diverged in step 1, at a rate of 0.01: the weights are not finite"):
        fit(X, Y, "qmean", checkpoint=path, network=functions["adam"], l2=1e300, **{**QUICK, "steps": 1})
    assert path.read_bytes() == before


def test_a_loop_of_ones_own_stops_too_and_the_driver_stays_as_it_was(functions):
    shared, driver = functions["adam"], DUPLE("qmean", 0.2)
    shared.initialise(0)
    shared.configure()
    made, before = [], None
    with pytest.raises(ValueError, match=r"training diverged in step 3 at a learning rate of 1e\+30"):
        steps = train(
            shared, driver, MiniBatches(X, SIGNS, 32, 0), learning_rate=1, schedule=lambda k: 1e30 if k else 1e-3
        )
        for step in itertools.islice(steps, 20):
            made.append(step)
            before = driver.state()
    assert len(made) == 2 and driver.state() == before
    assert np.isfinite(list(driver.duals().values())).all()


def test_a_measure_whose_supergradient_breaks_is_named(functions):
    shared, driver = functions["adam"], DUPLE("qmean", 0.2)
    shared.initialise(0)
    shared.configure()
    driver.measure = type("Broken", (), {"supergradient": lambda *a: (float("nan"), 0.5), "min_of_rates": False})()
    steps = train(shared, driver, MiniBatches(X, SIGNS, 32, 0), learning_rate=0.01)
    with pytest.raises(ValueError, match=r"DUPLE gave the weights \(nan, 0.5, 0.0, 0.0\). Check the formulas"):
        next(steps)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("measure", ["gmean", "macro_mae"])
def test_a_measure_of_several_classes_whose_gains_break_is_named(measure, monkeypatch):
    monkeypatch.setattr(type(multiclass.get(measure)), "_gains", lambda self, R, cells, eps: np.full(R.shape, np.nan))
    with pytest.raises(ValueError, match="in step 1 at.*DUPLE gave gains that are not finite. Check the formulas"):
        fit(X, np.arange(200) % 3, measure, algorithm="duple", network="linear", **QUICK)


def test_partial_fit_refuses_what_diverged_and_keeps_its_model():
    model = MeasureClassifier("qmean", network="mlp", hidden=(4,), batch_size=64, random_state=0).partial_fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="training diverged in step"):
        model.set_params(l2=1e300).partial_fit(X, Y)
    assert np.array_equal(model.decision_function(X), before)
