"""ONNX files of models of several classes: served elsewhere, they give the model's scores, labels and probabilities."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells
from aesara_nondecomp.metrics.class_scores import ClassCalibration
from aesara_nondecomp.models import ClassModel
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.class_functions import ClassFunctions

D, K = 4, 3
RNG = np.random.default_rng(0)
X = (3 * RNG.standard_normal((200, D)) + 1).astype("float32")
PRIORS = np.array([0.6, 0.3, 0.1])
CALIBRATION = ClassCalibration(0.7, np.array([0.2, -0.1, 0.5]))
FULL_RULE = RNG.random((K, K)) + 2 * np.eye(K)


@pytest.fixture(scope="module")
def functions():
    return ClassFunctions(mlp(D, (5,), n_scores=K, seed=0), Cells(PRIORS))


def model_of(functions, **changes):
    """Of two networks that vote, on scaled and clipped columns."""
    own = [p.get_value() for p in functions.network.parameters]
    fields = {
        "encoder": InputEncoder(standardiser=Standardiser.fit(X, clip=1.5)), "calibration": CALIBRATION,
        "voters": [[value + 0.3 for value in own]],
    }  # fmt: skip
    labels = changes.pop("classes", ("a", "b", "c"))
    return ClassModel(functions, own, multiclass.get("gmean"), labels, PRIORS, **{**fields, **changes})


def served(model, path, rows=X, **options):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    export_onnx(model, path, **options)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows})))


@pytest.mark.parametrize("rule", [None, np.diag([1.0, 0.5, 0.2]), FULL_RULE], ids=["argmax", "offsets", "linearised"])
def test_the_outputs_are_those_of_the_model(functions, rule, tmp_path):
    model = model_of(functions, rule=rule)
    found = served(model, tmp_path / "m.onnx")
    assert found["scores"] == pytest.approx(model.decision_function(X), abs=1e-5)
    assert found["probabilities"] == pytest.approx(model.predict_proba(X), abs=1e-6)
    assert found["label"].tolist() == model.predict(X).tolist() and len(set(found["label"])) > 1


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ((2, 5, 9), [2, 5, 9]),
        ((-1.0, 0.0, 2.0), [-1.0, 0.0, 2.0]),
        (tuple(datetime.date(2024, 1, day) for day in (1, 2, 3)), ["2024-01-01", "2024-01-02", "2024-01-03"]),
    ],
)
def test_labels_keep_their_kind_where_a_tensor_can_hold_it(functions, classes, expected, tmp_path):
    model = model_of(functions, classes=classes)
    found = served(model, tmp_path / "m.onnx")["label"].tolist()
    assert found == [expected[k] for k in model.decision_function(X).argmax(axis=1)]


def test_a_model_that_is_not_calibrated_has_no_probabilities(functions, tmp_path):
    model = model_of(functions, calibration=None, voters=[], encoder=InputEncoder())
    found = served(model, tmp_path / "m.onnx")
    assert list(found) == ["scores", "label"]
    assert found["scores"] == pytest.approx(model.decision_function(X), abs=1e-5)


def test_columns_far_from_0_keep_their_digits_in_float64(functions, tmp_path):
    far = X + [1.7e9, 0, 20260000, 0]
    model = model_of(functions, encoder=InputEncoder(standardiser=Standardiser.fit(far)))
    found = served(model, tmp_path / "m.onnx", far, input_dtype="float64")
    assert found["scores"] == pytest.approx(model.decision_function(far), abs=1e-5)
    with pytest.warns(UserWarning, match='Give input_dtype="float64"'):
        served(model, tmp_path / "m.onnx")
