"""ONNX files of models of several labels: served elsewhere, they give the model's scores, labels and probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.measures import Averaged
from aesara_nondecomp.metrics.quantification import Calibration
from aesara_nondecomp.models import MultilabelModel
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.networks import mlp
from aesara_nondecomp.step.label_functions import LabelFunctions

D, L = 4, 3
RNG = np.random.default_rng(0)
X = (3 * RNG.standard_normal((200, D)) + 1).astype("float32")
PRIORS = np.array([0.6, 0.3, 0.1])
CALIBRATIONS = (Calibration(0.7, 0.2), Calibration(1.5, -1.0), Calibration(2.0, 0.0))


def model_of(dtype="float32", **changes):
    """Of two networks that vote, on scaled and clipped columns; one label has the threshold of a score."""
    functions = LabelFunctions(mlp(D, (5,), n_scores=L, seed=0, dtype=dtype), PRIORS)
    own = [p.get_value() for p in functions.network.parameters]
    fields = {
        "thresholds": np.array([0.1, -0.2, 0.0]), "encoder": InputEncoder(standardiser=Standardiser.fit(X, clip=1.5)),
        "calibrations": CALIBRATIONS, "voters": [[value + 0.3 for value in own]], **changes,
    }  # fmt: skip
    return MultilabelModel(functions, own, Averaged("f1"), ("a", "b", "c"), PRIORS, **fields)


def served(model, path, rows=X, **options):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    export_onnx(model, path, **options)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    inputs = {"X": rows.astype(options.get("input_dtype", model.functions.network.dtype))}
    return dict(zip(names, session.run(names, inputs))), session.get_modelmeta().custom_metadata_map


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_outputs_are_those_of_the_model(dtype, tmp_path):
    model = model_of(dtype)
    found, told = served(model, tmp_path / "m.onnx")
    assert found["scores"].dtype == dtype
    assert found["scores"] == pytest.approx(model.decision_function(X), abs=1e-5)
    assert found["probabilities"] == pytest.approx(model.predict_proba(X), abs=1e-6)
    np.testing.assert_array_equal(found["labels"], model.predict(X))
    assert found["labels"].dtype == np.int64 and 0 < found["labels"].mean() < 1
    assert told == {"labels": "('a', 'b', 'c')", "measure": "macro_f1", "feature_names": "None"}


def test_thresholds_are_compared_as_exactly_as_by_the_model_and_may_be_infinite(tmp_path):
    scores = model_of(voters=[], encoder=InputEncoder()).decision_function(X)
    just_below = np.nextafter(np.float64(scores[0, 0]), -np.inf)  # which float32 would round to the score
    model = model_of(voters=[], encoder=InputEncoder(), thresholds=np.array([just_below, np.inf, -np.inf]))
    found, _ = served(model, tmp_path / "m.onnx")
    expected = [found["scores"][0, 0] > just_below, 0, 1]
    np.testing.assert_array_equal(found["labels"][0], expected)
    np.testing.assert_array_equal(found["labels"][:, 1:], [[0, 1]] * len(X))


def test_a_model_that_is_not_calibrated_has_no_probabilities(tmp_path):
    model = model_of(calibrations=(), voters=[], encoder=InputEncoder())
    found, _ = served(model, tmp_path / "m.onnx")
    assert list(found) == ["scores", "labels"]
    assert found["scores"] == pytest.approx(model.decision_function(X), abs=1e-5)


def test_columns_far_from_0_keep_their_digits_in_float64(tmp_path):
    far = X + [1.7e9, 0, 20260000, 0]
    model = model_of(encoder=InputEncoder(standardiser=Standardiser.fit(far)))
    found, _ = served(model, tmp_path / "m.onnx", far, input_dtype="float64")
    assert found["scores"] == pytest.approx(model.decision_function(far), abs=1e-5)
    with pytest.warns(UserWarning, match='Give input_dtype="float64"'):
        served(model, tmp_path / "m.onnx")
