"""The record of a run: as a frame and as a figure, its collapse, and the progress bar."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp import Checkpoint, EarlyStopping, TrainFunctions, load_model, mlp
from aesara_nondecomp.history import Evaluation, Step, collapsed_since, plot_history, running_mean, to_frame
from aesara_nondecomp.history.plots import dual_label, settled_range
from aesara_nondecomp.metrics.class_rates import ClassSums
from aesara_nondecomp.training import progress
from aesara_nondecomp.training.progress import progress_bar

N_ROWS, D = 240, 4
RNG = np.random.default_rng(0)
Y = np.where(np.arange(N_ROWS) < N_ROWS // 4, 1, -1)
X = RNG.standard_normal((N_ROWS, D)) + 0.4 * Y[:, None]


def fit(*data, **options):
    """`an.fit` on all rows at a constant rate, unless a test says otherwise."""
    return an.fit(*data, **{"validation": None, "schedule": "constant", **options})


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


@pytest.fixture(scope="module")
def model(functions):
    stopping = EarlyStopping(0.3, patience=None, tune_threshold=False)
    return fit(X, Y, "kld", network=functions, validation=stopping, steps=120, batch_size=32, seed=3)


# -- The table -------------------------------------------------------------------------------------------------------


def test_the_frame_has_a_row_per_step_with_all_that_was_recorded(model):
    pytest.importorskip("pandas", reason="needs the extra frames")
    frame = to_frame(model.history)
    assert list(frame.index) == list(range(1, 121))
    for step, row in zip(model.history, frame.to_dict("records")):
        assert [row[f"{kind}_{letter}"] for kind in ("soft", "hard") for letter in "PN"] == pytest.approx(
            [*step.soft_rates, *step.hard_rates], nan_ok=True
        )
        assert {name[5:]: value for name, value in row.items() if name.startswith("dual_")} == step.duals
        for name in ("samples", "seconds", "learning_rate", "gradient_norm"):
            assert row[name] == getattr(step, name)


def test_the_frame_of_phases_with_other_duals_has_gaps(functions):
    pytest.importorskip("pandas", reason="needs the extra frames")
    model = fit(X, Y, "f1", algorithm="paper", network=functions, steps=20, batch_size=32, seed=3)
    frame = to_frame(model.history)
    assert frame["dual_v"].isna().tolist() == [True] * 10 + [False] * 10


def test_a_missing_package_is_named_with_its_extra(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'aesara-nondecomp\[frames\]'"):
        to_frame(model.history)
    with pytest.raises(ImportError, match=r"pip install 'aesara-nondecomp\[plots\]'"):
        plot_history(model)


# -- The picture -----------------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(model):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    return plot_history(model)


def test_every_panel_says_what_it_shows(drawn):
    assert len(drawn.axes) == 4
    assert all(axis.get_title() and axis.get_ylabel() for axis in drawn.axes)
    assert [axis.get_xlabel() for axis in drawn.axes[2:]] == ["step", "step"]
    assert "kld (smaller is better)" in drawn.axes[0].get_ylabel()


def lines_of(axis):
    return {line.get_label(): np.asarray(line.get_ydata(), dtype=float) for line in axis.get_lines()}


def test_the_panels_hold_the_recorded_numbers(drawn, model):
    evaluations, rates, duals, gradient = (lines_of(axis) for axis in drawn.axes)
    assert any(np.array_equal(y, [e.value for e in model.evaluations]) for y in evaluations.values())
    assert f"best: step {model.best_step}" in evaluations
    for name in ("TPR (hard predictions)", "soft P (sigmoid)", "TNR (hard predictions)", "soft N (sigmoid)"):
        assert np.nanmin(rates[name]) >= 0 and np.nanmax(rates[name]) <= 1
    assert set(duals) == set(model.history[-1].duals)
    assert gradient["each step"].tolist() == [step.gradient_norm for step in model.history]


def test_the_first_steps_do_not_set_the_scale(model):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    far = [model.history[0]._replace(duals=dict.fromkeys(model.history[0].duals, -1e6)), *model.history[1:]]
    low, high = plot_history(replace(model, history=far)).axes[2].get_ylim()
    settled = [value for step in model.history[30:] for value in step.duals.values()]
    assert -1e3 < low < min(settled) and max(settled) < high


@pytest.mark.parametrize("values", [[], [np.nan], [2.0], [0.0, 0.0], [-100.0, *np.linspace(0.5, 0.8, 50)]])
def test_a_settled_range_holds_the_last_values_and_has_room(values):
    low, high = settled_range(values)
    assert low < high and all(low < value < high for value in values[len(values) // 5 :] if np.isfinite(value))
    assert high - low < 3


def test_duals_are_named_in_words(functions):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    run = fit(X, Y, "qmean", algorithm="duple", network=functions, steps=5, batch_size=32, seed=3)
    assert set(lines_of(plot_history(run).axes[2])) == {
        "alpha: weight of the true positive rate",
        "beta: weight of the true negative rate",
    }
    assert dual_label("alpha[positives of sex=F]") == "alpha[positives of sex=F]"


def test_evaluations_of_one_class_are_marked(model):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    evaluations = [e._replace(one_class=e.step > 60) for e in model.evaluations]
    marked = lines_of(plot_history(replace(model, evaluations=evaluations)).axes[0])["one class only"]
    assert len(marked) == sum(e.step > 60 for e in evaluations)


def test_the_picture_is_written_where_asked(model, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    plot_history(model, tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_without_validation_or_duals_is_drawn_too(functions):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    plain = fit(X, Y, "f1", algorithm="cross_entropy", network=functions, steps=5, batch_size=32, seed=3)
    figure = plot_history(plain)
    assert [axis.texts[0].get_text() for axis in (figure.axes[0], figure.axes[2])] == [
        "no validation rows",
        "fixed weights: no duals",
    ]


def test_a_model_without_history_is_refused(model, tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    model.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="a loaded model has none"):
        plot_history(load_model(tmp_path / "model.npz"))


@pytest.mark.parametrize("span", [1, 3, 50])
def test_the_running_mean_is_the_mean_of_the_last_values_that_are_known(span):
    values = RNG.standard_normal(20)
    values[[0, 4, 5, 6, 19]] = np.nan
    windows = [values[max(0, k + 1 - span) : k + 1] for k in range(20)]
    known = [window[np.isfinite(window)] for window in windows]
    expected = [window.mean() if len(window) else np.nan for window in known]
    assert running_mean(values, span) == pytest.approx(expected, nan_ok=True)


# -- The collapse ----------------------------------------------------------------------------------------------------


def evaluation(step: int, positives: int) -> Evaluation:
    """Of ten rows, five of each class, with so many predicted positive."""
    TP, FP = min(positives, 5), max(positives - 5, 0)
    return Evaluation(step, 0.0, TP, 5 - TP, FP, 5 - FP, positives in (0, 10))


def batch(step: int, positives: int) -> Step:
    TP, FP = min(positives, 5), max(positives - 5, 0)
    sums = ClassSums(0.0, 0.0, 0.0, 0.0, float(TP), float(5 - FP), 5.0, 5.0)
    return Step(step, 10 * step, 0.0, 0.01, {}, sums, 1.0)


@pytest.mark.parametrize("record", [evaluation, batch])
@pytest.mark.parametrize(("positives", "expected"), [
    ([], None),
    ([3, 4], None),
    ([10, 10], 1),
    ([3, 10, 10], 2),
    ([10, 10, 3], None),
    ([10, 3, 0, 0, 0], 3),
    ([10, 10, 0], 3),
])  # fmt: skip
def test_a_collapse_is_dated_from_when_one_label_is_left_for_good(record, positives, expected):
    assert collapsed_since(record(k, n) for k, n in enumerate(positives, 1)) == expected


# -- The bar ---------------------------------------------------------------------------------------------------------


def test_no_bar_is_drawn_where_there_is_no_terminal(functions, capfd):
    fit(X, Y, network=functions, steps=5, batch_size=32, seed=3)
    fit(X, Y, network=functions, steps=5, batch_size=32, seed=3, progress=False)
    assert capfd.readouterr() == ("", "")


def test_a_bar_that_is_asked_for_counts_the_steps_and_goes_on_when_resumed(functions, capfd, tmp_path, monkeypatch):
    pytest.importorskip("tqdm", reason="needs the extra progress")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "BAR_AFTER", 0.0)
    options = {"network": functions, "steps": 8, "batch_size": 32, "seed": 3}
    fit(X, Y, checkpoint=tmp_path / "run.npz", on_step=lambda step: step.step == 3, **options)
    model = fit(X, Y, checkpoint=Checkpoint(tmp_path / "run.npz", resume=True), progress=True, **options)
    out, err = capfd.readouterr()
    assert len(model.history) == 8 and out == "" and "8/8" in err and "3/8" in err


@pytest.mark.parametrize("terminal", [False, True])
def test_without_a_terminal_or_without_tqdm_progress_is_lines_that_grow_rare(monkeypatch, capsys, terminal):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    clock = iter(float(second) for second in range(0, 10**6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))  # a step takes a second
    with progress_bar(2000, 100, True) as advance:
        assert {advance(None) for _ in range(1000)} == {None}
    told = capsys.readouterr().err
    assert told.startswith("step 115 of 2000, 15 s\nstep 130 of 2000, 30 s\n") and "\r" not in told
    seconds = [int(line.split()[-2]) for line in told.splitlines()]
    assert len(seconds) < 35 and max(map(float.__truediv__, map(float, seconds[12:]), map(float, seconds[11:]))) < 1.12


def test_what_is_not_asked_for_shows_nothing_in_a_file(monkeypatch, capsys):
    monkeypatch.setattr(progress, "FIRST_LINE", 0.0)
    for show in (None, False):
        with progress_bar(3, 0, show) as advance:
            advance(None)
    assert capsys.readouterr().err == ""


def test_the_confusion_matrix_of_an_evaluation_has_its_former_name_too(model):
    evaluation = model.evaluations[-1]
    with pytest.warns(DeprecationWarning, match="Evaluation.table is now spelled confusion_matrix") as caught:
        assert evaluation.table == evaluation.confusion_matrix
    assert caught[0].filename == __file__


@pytest.mark.parametrize("strange", [None, [Evaluation(1, 0.5, 1, 1, 1, 1, False)], 3])
def test_what_is_no_history_is_no_frame(strange):
    with pytest.raises(ValueError, match="to_frame needs a model, or its history"):
        to_frame(strange)
