"""The record of a run of several classes: as a frame and as a figure, its collapse, and the confusion matrix drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from aesara_nondecomp.history import (
    ClassEvaluation,
    ClassStep,
    collapsed_since,
    plot_confusion,
    plot_history,
    to_frame,
)
from aesara_nondecomp.measures import Averaged, multiclass
from aesara_nondecomp.metrics import ConfusionMatrix

RNG = np.random.default_rng(0)
K = 3
HISTORY = [
    ClassStep(k, 32 * k, 0.1 * k, 0.01, {"alpha_0": 0.5 - k / 100, "alpha_1": k / 100, "alpha_2": 0.5},
              (*RNG.integers(0, 5, K).astype(float), 5.0, 5.0, 5.0 * (k != 2)), 1.0 / k)
    for k in range(1, 31)
]  # fmt: skip
EVALUATIONS = [ClassEvaluation(k, k / 40, [[5, 1, 0], [2, 3, 1], [0, 0, 4]], -1.0) for k in (10, 20, 30)]


def run(**changes):
    model = {
        "history": HISTORY, "evaluations": EVALUATIONS, "measure": multiclass.get("kappa"), "classes": ("a", "b", "c"),
        "priors": np.array([0.5, 0.3, 0.2]), "best_step": 20, "voters": [],
    }  # fmt: skip
    return SimpleNamespace(**{**model, **changes})


def test_the_frame_has_the_recalls_of_each_step():
    pytest.importorskip("pandas", reason="needs the extra frames")
    frame = to_frame(HISTORY)
    assert frame.index.tolist() == list(range(1, 31))
    for k in range(K):
        expected = [s.sums[k] / s.sums[K + k] if s.sums[K + k] else np.nan for s in HISTORY]
        np.testing.assert_array_equal(frame[f"recall_{k}"], expected)
        assert frame[f"dual_alpha_{k}"].tolist() == [s.duals[f"alpha_{k}"] for s in HISTORY]
    assert frame["recall_2"].isna().sum() == 1 and frame["samples"].tolist() == [s.samples for s in HISTORY]


def test_the_panels_hold_the_recalls_and_duals():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    axes = plot_history(run(), span=1).axes
    evaluations, recalls, duals, gradient = (
        {line.get_label(): line.get_ydata() for line in a.get_lines()} for a in axes
    )
    assert any(list(values) == [e.value for e in EVALUATIONS] for values in evaluations.values())
    assert list(recalls) == ["a", "b", "c"] and axes[1].get_ylabel() == "recall"
    np.testing.assert_allclose(recalls["b"], [s.recalls[1] for s in HISTORY])
    assert list(duals) == ["alpha_0", "alpha_1", "alpha_2"] and list(gradient["each step"]) == [
        1 / k for k in range(1, 31)
    ]


def test_of_several_labels_the_recalls_of_the_rows_with_each_are_drawn():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    sums = (9.0, 1.0, 4.0, 2.0, 10.0, 4.0, 8.0, 8.0)  # hits, then rows: without "x", with it, without "y", with it
    of_labels = run(history=[s._replace(sums=sums, duals={"v_0": 0.5}) for s in HISTORY], measure=Averaged("kld"))
    of_labels.labels, of_labels.priors = ("x", "y"), np.array([0.3, 0.5])
    del of_labels.classes
    axes = plot_history(of_labels).axes
    assert {line.get_label(): line.get_ydata()[-1] for line in axes[1].get_lines()} == {"x": 0.25, "y": 0.25}
    assert axes[0].get_ylabel() == "macro_kld (smaller is better)"


def test_a_fitted_estimator_stands_for_its_model():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    pytest.importorskip("pandas", reason="needs the extra frames")
    estimator = SimpleNamespace(model_=run())
    assert plot_history(estimator).axes[0].get_title() == plot_history(run()).axes[0].get_title()
    assert to_frame(estimator).equals(to_frame(HISTORY)) and to_frame(run()).equals(to_frame(HISTORY))
    with pytest.raises(ValueError, match="plot_history needs a model"):
        plot_history(HISTORY)


def test_of_many_classes_those_with_most_rows_are_drawn():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    priors = np.roll(np.arange(1, 41), 7) / 820
    history = [s._replace(sums=(1.0,) * 80, duals={f"alpha_{k}": 0.1 for k in range(40)}) for s in HISTORY]
    axes = plot_history(run(history=history, priors=priors, classes=tuple(f"{k:050}" for k in range(40)))).axes
    assert len(axes[1].get_lines()) == len(axes[2].get_lines()) == 10
    assert {len(line.get_label()) for line in axes[1].get_lines()} == {24}


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [((0, 1, 1, 1), 2), ((1, 1, 0, 0), 3), ((0, 0, None), None), ((None, 2), 2), ((), None)],
)
def test_a_collapse_is_dated_from_when_one_class_is_left_for_good(predicted, expected):
    rows = np.array([[5], [6], [4]])
    matrices = [np.diag([5, 6, 4]) if k is None else rows * np.eye(K, dtype=int)[k] for k in predicted]
    records = [ClassEvaluation(step, 0.0, m.tolist(), 0.0) for step, m in enumerate(matrices, 1)]
    assert collapsed_since(records) == expected
    assert [each.one_class for each in records] == [k is not None for k in predicted]


def test_the_recalls_of_an_evaluation_are_those_of_its_matrix():
    assert EVALUATIONS[0].recalls == (5 / 6, 3 / 6, 1.0)
    assert np.isnan(EVALUATIONS[0]._replace(confusion=[[1, 0], [0, 0]]).recalls[1])


def test_a_drawn_matrix_holds_its_shares_counts_and_labels(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    counts = np.array([[8, 2, 0], [1, 0, 3], [0, 0, 0]])
    axis = plot_confusion(counts, ["a", "b", "long" * 20], tmp_path / "m.png").axes[0]
    assert (tmp_path / "m.png").stat().st_size > 0
    shares = np.ma.filled(axis.images[0].get_array(), np.nan)
    np.testing.assert_allclose(shares[:2], counts[:2] / counts[:2].sum(axis=1, keepdims=True))
    assert [text.get_text() for text in axis.texts] == list(map(str, counts.ravel()))
    assert [text.get_text() for text in axis.get_yticklabels()] == ["a", "b", "longlonglonglonglongl..."]
    assert axis.get_xlabel() == "predicted class" and axis.get_ylabel() == "true class"


def test_a_matrix_of_two_classes_and_one_of_many_are_drawn():
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    axis = plot_confusion(ConfusionMatrix(3, 1, 2, 8)).axes[0]
    assert [text.get_text() for text in axis.texts] == ["8", "2", "1", "3"]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["negative", "positive"]
    many = plot_confusion(np.eye(60)).axes[0]
    assert not many.texts and len(many.get_xticks()) == 40


def test_classes_with_dollars_and_underscores_are_drawn_as_they_are(tmp_path):
    pytest.importorskip("matplotlib", reason="needs the extra plots")
    classes, drawn = ("10$\\frac$20", "$5-$9", "_rest"), [r"10\$\frac\$20", r"\$5-\$9", " _rest"]
    axis = plot_confusion(np.eye(3), classes, tmp_path / "m.svg").axes[0]
    assert [text.get_text() for text in axis.get_xticklabels()] == drawn
    assert [text.get_text() for text in axis.get_yticklabels()] == drawn
    legend = plot_history(run(classes=classes), tmp_path / "h.svg").axes[1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == drawn


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(([[1, 2]],), "shape \\(K, K\\)"), (([[1, -1], [0, 1]],), "at least 0"), ((np.eye(3), ["a"]), "3 labels")],
)
def test_what_is_no_matrix_is_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        plot_confusion(*arguments)
