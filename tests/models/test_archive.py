"""Models on disk: they come back as they went, in either precision; nothing else is taken for one."""

import copy
import datetime
import io
import json
import math
import pickle
import warnings
import zipfile

import numpy as np
import pytest

from aesara_nondecomp import Model, Network, TrainFunctions, fit, linear, load_model, measures, mlp
from aesara_nondecomp._aesara.imports import aesara, at
from aesara_nondecomp.data import InputEncoder, Standardiser
from aesara_nondecomp.measures import concave, pseudolinear
from aesara_nondecomp.measures.user import UserPseudolinear
from aesara_nondecomp.metrics import ConfusionMatrix
from aesara_nondecomp.models.archive import describe_measure, read_archive, restore_measure, write_archive
from aesara_nondecomp.models.model import to_archive
from aesara_nondecomp.models.model_file import from_archive
from aesara_nondecomp.models.onnx import export_onnx
from aesara_nondecomp.networks import tabular

pytestmark = pytest.mark.filterwarnings("ignore:few rows are held out")

D = 4
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, D)) * [1, 5, 0.1, 3] + [0, 2, 0, 1]
MINE = pseudolinear("mine", (0, 2, 0), (1, 1, 0))
CONCAVE = concave("own", lambda P, N, p: P + N, lambda P, N, p: (1.0, 1.0))


@pytest.fixture(scope="module")
def functions():
    return TrainFunctions(mlp(D, (6,), seed=0))


def model_of(functions, measure="f1", classes=(0, 1), **options) -> Model:
    """With weights that no training is needed for."""
    return Model(functions, functions.parameters(), measures.get(measure), classes, 0.3, **options)


@pytest.fixture
def model(functions):
    encoder = InputEncoder(standardiser=Standardiser.fit(X, clip=1.5), names=("a", "b", "ä", "d"))
    return model_of(functions, encoder=encoder, threshold=0.25, best_step=40)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def archived(kind="model", header=None, arrays=None) -> bytes:
    """The bytes of an archive that was altered after it was signed."""
    buffer = io.BytesIO()
    text = json.dumps({"format": f"aesara_nondecomp {kind}", "version": 2, **(header or {})}).encode()
    np.savez(buffer, header=np.frombuffer(text, dtype=np.uint8), **(arrays or {}))
    return buffer.getvalue()


# -- There and back --------------------------------------------------------------------------------------------------


def test_a_model_comes_back_as_it_went(model, path):
    model.save(path)
    loaded = load_model(path)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    for name in ("measure", "classes", "prior", "threshold", "best_step", "feature_names", "network_description"):
        assert getattr(loaded, name) == getattr(model, name), name
    assert loaded.history == [] and loaded.evaluations == []


def test_models_are_told_apart_by_what_they_are_and_not_by_their_arrays(model):
    assert model == model and model != copy.copy(model)


def test_a_trained_model_comes_back(functions, path):
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    model = fit(X, y, "qmean", network=functions, seed=0, steps=40, batch_size=20, validation=0.3)
    model.save(path)
    loaded = load_model(path)
    assert np.array_equal(loaded.predict(X), model.predict(X)) and set(loaded.predict(X)) == {"yes", "no"}
    assert loaded.score(X, y) == model.score(X, y) and loaded.best_step == model.best_step


def shifted(functions, by):
    return [p + np.asarray(by, p.dtype) for p in functions.parameters()]


def test_all_networks_that_vote_come_back_in_either_precision(functions, path):
    voters = [shifted(functions, 0.1), shifted(functions, -0.2)]
    model = model_of(functions, voters=voters, collapsed=True, interrupted=True)
    model.save(path)
    loaded, wide = load_model(path), load_model(path, dtype="float64")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert [len(m.voters) for m in (loaded, wide)] == [2, 2] and wide.voters[0][0].dtype == np.float64
    assert wide.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-5)
    assert (loaded.collapsed, loaded.interrupted) == (True, False)


def test_the_score_is_the_mean_over_the_networks_that_vote(functions):
    alone = [model_of(functions), model_of(functions)]
    alone[1].parameters = shifted(functions, 0.3)
    both = model_of(functions, voters=[alone[1].parameters])
    expected = np.mean([model.decision_function(X) for model in alone], axis=0)
    assert both.decision_function(X) == pytest.approx(expected, abs=1e-6)
    assert both.decision_function(X).dtype == np.float32


def test_a_file_of_version_2_holds_one_network(model, path):
    header, arrays = to_archive(model)
    former = {name: value for name, value in header.items() if name not in ("voters", "collapsed")}
    loaded = from_archive(former, arrays)
    assert loaded.voters == [] and not loaded.collapsed
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("classes", [(False, True), (-1, 1), (0.5, 2.25), ("ham", "späm"), (np.int64(3), np.int64(9))])
def test_labels_keep_their_kind(classes, functions, path):
    model_of(functions, classes=classes).save(path)
    loaded, plain = load_model(path).classes, tuple(np.array(classes).tolist())
    assert loaded == plain and [type(label) for label in loaded] == [type(label) for label in plain]


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, 0.1, -3e-300])
def test_any_threshold_is_kept_exactly(threshold, functions, path):
    model_of(functions, threshold=threshold).save(path)
    assert load_model(path).threshold == threshold


ALL_MEASURES = [*measures.defaults(), measures.get("weighted_accuracy", c=0.7), measures.get("fbeta", beta=0.3),
                measures.get("min", tau=0.1), measures.get("gower_legendre", sigma=0.123456789),
                measures.get("qmeasure", beta=2), measures.get("bakld", C=0.2)]  # fmt: skip


@pytest.mark.parametrize("measure", ALL_MEASURES, ids=str)
def test_every_measure_of_the_catalogue_comes_back_equal(measure):
    description = json.loads(json.dumps(describe_measure(measure)))
    restored = restore_measure(description)
    assert restored == measure and str(restored) == str(measure)


@pytest.mark.parametrize("measure", [MINE, CONCAVE], ids=str)
def test_a_measure_of_ones_own_must_be_given_again(measure, functions, path):
    model_of(functions, measure).save(path)
    with pytest.raises(ValueError, match=f"'{measure.name}' is a measure of your own.*Pass it as `measure`"):
        load_model(path)
    with pytest.raises(ValueError, match=f"the stored measure is '{measure.name}'.*got 'f1'"):
        load_model(path, measure="f1")
    assert load_model(path, measure=measure).measure is measure


def test_a_measure_with_other_parameters_than_the_stored_one_is_refused(functions, path):
    stored, other = (measures.get("fbeta", beta=beta) for beta in (2, 3))
    model_of(functions, stored).save(path)
    with pytest.raises(ValueError, match=r"is 'fbeta\(beta=2\)': pass that one, got 'fbeta\(beta=3\)'"):
        load_model(path, measure=other)
    assert load_model(path, measure=stored).measure == stored


def test_a_measure_of_ones_own_is_not_mistaken_for_one_of_the_catalogue(functions, path):
    model_of(functions, UserPseudolinear("f1", (0, 2, 0), (1, 1, 0))).save(path)
    with pytest.raises(ValueError, match="'f1' is a measure of your own"):
        load_model(path)


def test_a_float32_model_predicts_the_same_in_float64_and_back(model, path):
    model.save(path)
    wide = load_model(path, dtype="float64")
    assert wide.functions.network.dtype == "float64" and wide.decision_function(X).dtype == np.float64
    assert wide.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-5)
    wide.save(path)
    assert load_model(path).functions.network.dtype == "float64"
    narrow = load_model(path, dtype="float32")
    assert np.array_equal(narrow.decision_function(X), model.decision_function(X))


def test_loading_compiles_nothing(model, path, monkeypatch):
    model.save(path)
    monkeypatch.setattr(aesara, "function", lambda *a, **k: pytest.fail("compiled"))
    assert load_model(path).feature_names == ["a", "b", "ä", "d"]


def test_a_model_file_holds_plain_arrays_and_json_only(model, path):
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        arrays = {name: np.load(io.BytesIO(archive.read(name)), allow_pickle=False) for name in archive.namelist()}
    header = json.loads(arrays.pop("header.npy").tobytes())
    assert all(array.dtype.kind == "f" for array in arrays.values())
    assert header["measure"] == {"name": "f1", "parameters": {}} and header["network"]["hidden"] == [6]
    assert set(header["libraries"]) == {"python", "numpy", "aesara"}


def test_a_linear_model_is_built_again(path):
    functions = TrainFunctions(linear(D))
    functions.load([np.arange(4.0).reshape(4, 1), np.array([0.5])])
    model_of(functions).save(path)
    assert load_model(path).decision_function(X) == pytest.approx(X @ np.arange(4.0) + 0.5, abs=1e-4)


def test_a_network_of_ones_own_is_refused_with_a_way_out(path):
    inputs = at.matrix("inputs", dtype="float32")
    W = aesara.shared(np.zeros((D, 1), "float32"), name="W")
    mine = Model(TrainFunctions(Network(inputs, at.dot(inputs, W), [W])), [W.get_value()], MINE, (0, 1), 0.3)
    with pytest.raises(ValueError, match="cannot be saved.*graph of your own.*`mlp` and `linear`"):
        mine.save(path)
    assert not path.exists()


# -- Copies and pickles ----------------------------------------------------------------------------------------------


def by_joblib(model):
    joblib, file = pytest.importorskip("joblib", reason="comes with the extra sklearn"), io.BytesIO()
    joblib.dump(model, file)
    return joblib.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), by_joblib, copy.deepcopy, copy.copy])
def test_a_copy_scores_alike_and_keeps_all_the_rest(copied, functions):
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    options = {"network": functions, "validation": 0.3}
    model = fit(X, y, "kld", seed=0, steps=8, batch_size=20, **options)
    twin = copied(model)
    assert np.array_equal(twin.decision_function(X), model.decision_function(X))
    for name in ("measure", "classes", "prior", "threshold", "history", "best_step", "quantifier", "extra"):
        assert getattr(twin, name) == getattr(model, name), name
    assert twin.evaluations == model.evaluations and twin.functions.optimizer == functions.optimizer


def test_a_shallow_copy_shares_no_weights_and_all_the_rest(functions):
    model = model_of(functions, voters=[functions.parameters()], extra={"note": "z"})
    before, twin = model.decision_function(X), copy.copy(model)
    twin.parameters[-1] += 1
    twin.voters[0][-1] += 1
    np.testing.assert_allclose(twin.decision_function(X), before + 1, rtol=1e-5)
    assert np.array_equal(model.decision_function(X), before) and twin.extra is model.extra


def test_a_deep_copy_compiles_nothing_and_shares_no_weights(functions, model, monkeypatch):
    before = model.decision_function(X)
    monkeypatch.setattr(aesara, "function", lambda *a, **k: pytest.fail("compiled"))
    twin = copy.deepcopy(model)
    twin.parameters[0] += 1
    twin.extra["note"] = "z"
    assert not np.array_equal(twin.decision_function(X), before)
    assert np.array_equal(model.decision_function(X), before) and model.extra == {}


def test_unpickling_compiles_nothing(model, monkeypatch):
    monkeypatch.setattr(aesara, "function", lambda *a, **k: pytest.fail("compiled"))
    assert pickle.loads(pickle.dumps(model)).feature_names == ["a", "b", "ä", "d"]


def test_a_network_of_ones_own_is_copied_and_not_pickled():
    inputs = at.matrix("inputs", dtype="float32")
    W = aesara.shared(np.zeros((D, 1), "float32"), name="W")
    mine = Model(TrainFunctions(Network(inputs, at.dot(inputs, W), [W])), [W.get_value()], MINE, (0, 1), 0.3)
    assert copy.deepcopy(mine).functions is mine.functions
    with pytest.raises(ValueError, match="cannot be pickled.*graph of your own.*`mlp` and `linear`"):
        pickle.dumps(mine)


@pytest.mark.parametrize(
    "classes",
    [
        (b"a", b"\xff"),
        (datetime.date(2024, 1, 2), datetime.date(2024, 1, 3)),
        (datetime.datetime(2024, 1, 2, 3, 4, 5, 678901), datetime.datetime(2024, 1, 3)),
        (
            datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc),
            datetime.datetime(2024, 1, 3, tzinfo=datetime.timezone.utc),
        ),
    ],
)
def test_bytes_and_dates_are_labels_again(classes, functions, path):
    model_of(functions, classes=classes).save(path)
    found = load_model(path).classes
    assert found == classes and list(map(type, found)) == list(map(type, classes))


@pytest.mark.parametrize("classes", [(1j, 2j), (datetime.timedelta(1), datetime.timedelta(2))])
def test_labels_that_json_does_not_know_are_refused(classes, functions, path):
    with pytest.raises(
        ValueError, match="only labels that are booleans, numbers, text, bytes or dates can be saved, got"
    ):
        model_of(functions, classes=classes).save(path)


# -- Whole or not at all ---------------------------------------------------------------------------------------------


def test_a_failed_writing_leaves_the_old_file(model, path, monkeypatch):
    model.save(path)
    before = path.read_bytes()

    def full_disk(file, *array, **options):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np.lib.format, "write_array", full_disk)
    with pytest.raises(OSError, match="no space left"):
        model.save(path)
    assert path.read_bytes() == before and [p.name for p in path.parent.iterdir()] == ["model.npz"]


def test_ctrl_c_while_a_member_is_opened_is_raised_as_such_and_leaves_the_old_file(model, path, monkeypatch):
    model.save(path)
    before = path.read_bytes()

    def press(archive, *_, **__):
        archive._writing = True  # as when the signal comes before the member is handed out
        raise KeyboardInterrupt

    monkeypatch.setattr(zipfile.ZipFile, "open", press)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert path.read_bytes() == before and [p.name for p in path.parent.iterdir()] == ["model.npz"]


def test_the_path_is_taken_as_it_is(model, tmp_path):
    model.save(str(tmp_path / "model"))
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert load_model(str(tmp_path / "model")).prior == model.prior


def test_a_threshold_is_tuned_on_rows_of_both_classes_or_not_moved(functions):
    model = model_of(functions, threshold=0.25)
    with pytest.raises(ValueError, match=r"tune_threshold needs rows of both classes \(0, 1\)"):
        model.tune_threshold(X, np.ones(60, int))
    assert model.threshold == 0.25


def test_the_confusion_matrix_of_another_threshold_is_not_kept(functions):
    model = model_of(functions, validation_matrix=ConfusionMatrix(1, 2, 3, 4))
    model.calibrate(X, np.arange(60) % 2)
    assert model.validation_matrix == (1, 2, 3, 4)  # predictions are the same
    model.tune_threshold(X, np.arange(60) % 2)
    assert model.validation_matrix is None


def test_predictions_are_not_counted_at_another_threshold_than_their_rates_are_of(functions):
    y = (np.arange(60) % 2).astype(int)
    model = model_of(functions, threshold=0.25).calibrate(X, y)
    model.threshold = 0.5
    for method in ("cc", "acc"):
        with pytest.raises(ValueError, match="error rates are those at the threshold 0.25: call calibrate"):
            model.predict_prevalence(X, method)
    assert model.predict_prevalence(X, "pcc") >= 0
    assert model.calibrate(X, y).predict_prevalence(X) == np.mean(model.predict(X))


UNUSABLE = {
    "threshold": math.nan,
    "prior": 1.5,
    "best_step": -1,
    "extra": {1: "a"},
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_could_not_be_loaded_is_not_saved_and_leaves_the_old_file(name, model, path):
    model.save(path)
    before = path.read_bytes()
    setattr(model, name, UNUSABLE[name])
    with pytest.raises(ValueError, match=name):
        model.save(path)
    assert path.read_bytes() == before


def test_a_threshold_of_any_float_type_is_kept(model, path):
    model.threshold = np.float32(0.25)
    model.save(path)
    assert load_model(path).threshold == 0.25


@pytest.mark.parametrize("extra", [{"a": np.int64(1)}, {"a": {1, 2}}, [1]])
def test_what_json_cannot_hold_beside_a_model_is_refused(extra, model, path):
    model.extra = extra
    with pytest.raises(ValueError, match="extra must be a dict with text as keys, of what JSON can hold, got"):
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize("strange", [1, None, True])
def test_a_number_is_no_path_though_1_is_standard_output(strange, model):
    with pytest.raises(ValueError, match="a path must be a str or path-like, got"):
        model.save(strange)


# -- What is no model ------------------------------------------------------------------------------------------------


def test_a_truncated_file_is_refused_wherever_it_ends(model, path):
    model.save(path)
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="a model file of aesara_nondecomp is needed, but .* is not usable"):
            load_model(path)


def test_an_altered_byte_is_noticed_or_without_effect(model, path):
    model.save(path)
    whole, refused = path.read_bytes(), 0
    for position in range(0, len(whole), 13):
        altered = bytearray(whole)
        altered[position] ^= 0x15
        path.write_bytes(bytes(altered))
        try:
            loaded = load_model(path)
        except ValueError as error:
            refused += "is not usable" in str(error)
        else:  # dates and the like inside the zip
            assert [p.tobytes() for p in loaded.parameters] == [p.tobytes() for p in model.parameters]
            assert (loaded.measure, loaded.classes, loaded.threshold) == (model.measure, model.classes, model.threshold)
    assert refused > 0.7 * len(whole) / 13


def altered_array(path) -> bytes:
    header, arrays = read_archive(path, "model")
    arrays["parameters.0"] = arrays["parameters.0"] + 1e-7
    return archived(header={**header, "checksum": "0" * 64}, arrays=arrays)


FOREIGN = {
    "nothing": (lambda path: b"", "it cannot be read as one"),
    "text": (lambda path: b"measure,f1\n", "it cannot be read as one"),
    "a pickle": (lambda path: pickle.dumps({"measure": "f1"}), "it cannot be read as one"),
    "an array": (lambda path: _bytes_of(np.save, np.arange(3)), "it cannot be read as one"),
    "other arrays": (lambda path: _bytes_of(np.savez, np.arange(3)), "it cannot be read as one"),
    "objects": (lambda path: _bytes_of(np.savez, np.array([{}], dtype=object)), "it cannot be read as one"),
    "a header of another make": (lambda path: _bytes_of(np.savez, header=np.arange(9)), "it cannot be read as one"),
    "a checkpoint": (lambda path: archived("checkpoint"), "it calls itself 'aesara_nondecomp checkpoint'"),
    "the future": (lambda path: archived(header={"version": 4}), "it was written by a newer release, in version 4"),
    "no version": (lambda path: archived(header={"version": "one"}), "its version must be one of 1, 2, 3, got 'one'"),
    "no checksum": (lambda path: archived(), "its checksum does not fit"),
    "another array": (altered_array, "its checksum does not fit"),
}


def _bytes_of(save, *arrays, **named) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_refused_with_the_reason(name, model, path):
    content, reason = FOREIGN[name]
    model.save(path)
    path.write_bytes(content(path))
    with pytest.raises(ValueError, match=f"model.npz' is not usable: {reason}"):
        load_model(path)


@pytest.mark.parametrize("version", [1, 2])
def test_a_checkpoint_of_a_former_version_is_refused_with_the_remedy(version, path):
    path.write_bytes(archived("checkpoint", header={"version": version}))
    with pytest.raises(ValueError, match=f"checkpoints of version {version} cannot be resumed: start afresh"):
        read_archive(path, "checkpoint")


@pytest.mark.parametrize("kind", ["model", "checkpoint"])
def test_what_is_written_says_that_it_is_of_version_3(kind, path):
    write_archive(path, kind, {"prior": 0.25}, {"a": np.arange(3)})
    header, arrays = read_archive(path, kind)
    assert header["version"] == 3 and header["prior"] == 0.25 and arrays["a"].tolist() == [0, 1, 2]


def test_a_missing_file_is_called_missing(path):
    with pytest.raises(FileNotFoundError):
        load_model(path)


def test_a_header_that_json_cannot_hold_writes_nothing(path):
    with pytest.raises(TypeError):
        write_archive(path, "model", {"prior": object()}, {})
    assert not path.exists()


def test_objects_are_refused_and_write_nothing(path):
    with pytest.raises(ValueError, match=r"a model file holds plain arrays, no objects, got \['b'\]"):
        write_archive(path, "model", {}, {"a": np.ones(2), "b": np.array([None])})
    assert not path.exists()


# -- ONNX ------------------------------------------------------------------------------------------------------------

ACTIVATIONS = ["relu", "leaky_relu", "elu", "tanh", "sigmoid", "softplus", "identity"]


def served(path, features):
    runtime = pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session, session.run(["scores", "positive"], {"X": features})


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_onnx_gives_the_scores_and_labels_of_the_model(activation, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    functions = TrainFunctions(mlp(D, (6, 5), activation=activation, seed=1))
    model = model_of(functions, encoder=InputEncoder(standardiser=Standardiser.fit(X, clip=1.5)))
    model.threshold = float(np.sort(model.decision_function(X))[29:31].mean())
    export_onnx(model, tmp_path / "model.onnx")
    _, (scores, positive) = served(tmp_path / "model.onnx", X.astype("float32"))
    assert scores == pytest.approx(model.decision_function(X), abs=1e-5) and scores.dtype == np.float32
    assert np.array_equal(positive, model.predict(X) == 1) and positive.mean() == 0.5


@pytest.mark.parametrize("network", ["mlp", "tabular"])
def test_onnx_gives_the_mean_score_of_the_networks_that_vote(network, functions, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    if network == "tabular":
        functions = TrainFunctions(tabular(D, (5,), numeric=(0, 1), bins=((3, 0.0, 1.0),), seed=2))
    voters = [shifted(functions, 0.1), shifted(functions, -0.2)]
    encoder = InputEncoder(standardiser=Standardiser.fit(X, clip=1.5))
    model = model_of(functions, encoder=encoder, voters=voters)
    model.threshold = float(np.sort(model.decision_function(X))[29:31].mean())
    export_onnx(model, tmp_path / "model.onnx")
    _, (scores, positive) = served(tmp_path / "model.onnx", X.astype("float32"))
    assert scores == pytest.approx(model.decision_function(X), abs=1e-5)
    assert np.array_equal(positive, model.predict(X) == 1)


@pytest.mark.parametrize(("names", "told"), [(None, r"\[0, 2\] \(from 0\)"), (tuple("abcd"), r"\['a', 'c'\]")])
def test_onnx_keeps_the_digits_of_columns_far_from_0_in_float64_and_warns_of_them_in_float32(
    names, told, functions, tmp_path
):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    far = X + [1.7e9, 0, 20260000, 1000]
    model = model_of(functions, encoder=InputEncoder(standardiser=Standardiser.fit(far), names=names))
    model.threshold = float(np.sort(model.decision_function(far))[29:31].mean())
    with pytest.warns(UserWarning, match=rf'other labels .* here {told}. Give input_dtype="float64"'):
        export_onnx(model, tmp_path / "single.onnx")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        export_onnx(model, tmp_path / "double.onnx", input_dtype="float64")
    _, (scores, positive) = served(tmp_path / "double.onnx", far)
    assert scores == pytest.approx(model.decision_function(far), abs=1e-5) and scores.dtype == np.float32
    assert np.array_equal(positive, model.predict(far) == 1)
    _, (_, positive) = served(tmp_path / "single.onnx", far.astype("float32"))
    assert not np.array_equal(positive, model.predict(far) == 1)


@pytest.mark.parametrize("input_dtype", ["float32", "float64"])
def test_onnx_of_an_unscaled_model_takes_rows_in_either_dtype(input_dtype, functions, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    model = model_of(functions)
    export_onnx(model, tmp_path / "model.onnx", input_dtype)
    _, (scores, _) = served(tmp_path / "model.onnx", X.astype(input_dtype))
    assert scores == pytest.approx(model.decision_function(X), abs=1e-5)


def test_onnx_of_another_input_dtype_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="input_dtype must be 'float32' or 'float64', got 'float16'"):
        export_onnx(model, tmp_path / "model.onnx", input_dtype="float16")


def test_onnx_of_an_unscaled_linear_model_is_the_model(tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    functions = TrainFunctions(linear(D, dtype="float64"))
    functions.load([np.arange(4.0).reshape(4, 1), np.array([0.5])])
    export_onnx(model_of(functions, classes=("no", "yes")), tmp_path / "model.onnx")
    session, (scores, _) = served(tmp_path / "model.onnx", X[:1])
    assert scores == pytest.approx(X[:1] @ np.arange(4.0) + 0.5)
    assert session.get_modelmeta().custom_metadata_map["classes"] == "('no', 'yes')"


@pytest.mark.parametrize("classes", [(0, 1), (-1, 1), ("no", "yes"), (False, True), (0.5, 1.5)])
@pytest.mark.parametrize("votes", [False, True])
def test_onnx_gives_the_labels_and_probabilities_of_a_calibrated_model(classes, votes, functions, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    voters = [shifted(functions, 0.1), shifted(functions, -0.2)] if votes else []
    encoder = InputEncoder(standardiser=Standardiser.fit(X, clip=1.5))
    model = model_of(functions, classes=classes, encoder=encoder, voters=voters)
    model.threshold = float(np.sort(model.decision_function(X))[19:21].mean())
    model.calibrate(X, np.array(classes)[(X[:, 0] + RNG.standard_normal(len(X)) > 0).astype(int)])
    export_onnx(model, tmp_path / "model.onnx")
    session, _ = served(tmp_path / "model.onnx", X.astype("float32"))
    label, probabilities = session.run(["label", "probabilities"], {"X": X.astype("float32")})
    assert np.array_equal(label, model.predict(X)) and len(set(label.tolist())) == 2
    assert probabilities == pytest.approx(model.predict_proba(X), abs=1e-6) and probabilities.dtype == np.float64
    assert [each.name for each in session.get_outputs()] == ["scores", "positive", "label", "probabilities"]


def test_onnx_of_a_model_that_is_not_calibrated_has_no_probabilities(model, tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    export_onnx(model, tmp_path / "model.onnx")
    session, _ = served(tmp_path / "model.onnx", X.astype("float32"))
    assert [each.name for each in session.get_outputs()] == ["scores", "positive", "label"]


def test_onnx_of_a_network_of_ones_own_is_refused(tmp_path):
    pytest.importorskip("onnx", reason="needs the extra onnx")
    inputs = at.matrix("inputs", dtype="float32")
    W = aesara.shared(np.zeros((D, 1), "float32"), name="W")
    mine = Model(TrainFunctions(Network(inputs, at.dot(inputs, W), [W])), [W.get_value()], MINE, (0, 1), 0.3)
    with pytest.raises(ValueError, match="only networks made by `mlp`, `linear` or `tabular`"):
        export_onnx(mine, tmp_path / "model.onnx")
    with pytest.raises(ValueError, match="export_onnx needs a Model, a ClassModel or a MultilabelModel, got 5"):
        export_onnx(5, tmp_path / "model.onnx")


def test_exporting_without_onnx_names_the_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'aesara-nondecomp\[onnx\]'"):
        export_onnx(model, tmp_path / "model.onnx")
