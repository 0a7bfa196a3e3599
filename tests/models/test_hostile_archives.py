"""Files made by hand or damaged: one ValueError each, soon and without taking memory, or a model that is whole."""

from __future__ import annotations

import io
import json
import os
import struct
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hostile import changed_arrays, changed_bytes, changed_header, with_value

from aesara_nondecomp import Model, TrainFunctions, gap, load_model, measures, mlp
from aesara_nondecomp.data import InputEncoder, Standardiser, TableEncoder, Vocabulary
from aesara_nondecomp.metrics import Quantifier
from aesara_nondecomp.models.archive import write_archive
from aesara_nondecomp.models.model import to_archive
from aesara_nondecomp.networks import lstm, tabular

RNG = np.random.default_rng(0)
SCORES, SIGNS = RNG.normal(size=40), np.where(np.arange(40) % 3, -1, 1)
QUANTIFIER = Quantifier.fit(SCORES, SIGNS, 0.1)
SCALING = Standardiser(np.arange(4.0), np.arange(1.0, 5.0))
WORDS = Vocabulary(("good", "bad", "fine"), 20)
TABLE = TableEncoder(("age", "dose"), (1.5, 2.5), ("colour",), (("blue", "red"),))


def model_of(network, encoder, classes=(0, 1)):
    functions = TrainFunctions(network)
    weights, voters = functions.parameters(), [functions.parameters()]
    model = Model(functions, weights, measures.get("fbeta", beta=2), classes, 0.3, encoder, 0.1, best_step=3)
    model.quantifier, model.voters, model.extra = QUANTIFIER, voters, {"target": "y"}
    model.constrained_by = (gap("tpr", at_most=0.1),)
    return model


MODELS = {
    "matrix": model_of(mlp(4, (3,), seed=0), InputEncoder(standardiser=SCALING, names=tuple("abcd"))),
    "table": model_of(
        tabular(4, (3,), numeric=(0, 1), bins=((0, 0.0, 1.0),), seed=0), InputEncoder(table=TABLE, standardiser=SCALING)
    ),
    "texts": model_of(lstm(5, 2, 3, seed=0), InputEncoder(vocabulary=WORDS), classes=("no", "yes")),
}
NOT_USABLE = r"model.npz' is not usable: "


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


def parts_of(name):
    header, arrays = to_archive(MODELS[name])
    return json.loads(json.dumps(header)), arrays


# -- contents --------------------------------------------------------------------------------------------------------

NAN = float("nan")
HEADERS = [  # the model, the place of a value, the value, and the reason
    ("matrix", "prior", 0, "prior must lie strictly between 0 and 1, got 0"),
    ("matrix", "prior", 1, "prior must lie strictly between 0 and 1, got 1"),
    ("matrix", "prior", NAN, "prior must be a number in .0, 1., got nan"),
    ("matrix", "prior", "0.3", "prior must be a number, got '0.3'"),
    ("matrix", "classes", [1, 1], "two different labels"),
    ("matrix", "classes", [0, False], "two different labels"),
    ("matrix", "classes", [0], "two labels"),
    ("matrix", "classes", [0, 1, 2], "two labels"),
    ("matrix", "classes", [0, "1"], "two labels, both of one kind"),
    ("matrix", "classes", [0, [1]], "two labels"),
    ("matrix", "classes", [0, NAN], "two different labels"),
    ("matrix", "classes", 5, "TypeError"),
    ("matrix", "threshold", NAN, "threshold must be a number"),
    ("matrix", "threshold", None, "threshold must be a number, got None"),
    ("matrix", "best_step", "3", "best_step must be a whole number or None"),
    ("matrix", "collapsed", 1, "collapsed must be True or False"),
    ("matrix", "extra", [], "extra must be a dict"),
    ("matrix", "constrained_by", None, "constrained_by must be a list of constraints"),
    ("matrix", "constrained_by", {}, "constrained_by must be a list of constraints"),
    ("matrix", "constrained_by", "tpr gap <= 0.1", "constrained_by must be a list of constraints"),
    ("matrix", "constrained_by", ["tpr gap <= 0.1"], "constrained_by must be a list of constraints"),
    ("matrix", "constrained_by", [{"rate": "tprr", "bound": 0.1, "kind": "gap"}], "Did you mean 'tpr'"),
    ("matrix", "constrained_by", [{"rate": ["tpr"], "bound": 0.1, "kind": "gap"}], "unknown rate"),
    ("matrix", "constrained_by", [{"rate": "tpr", "bound": NAN, "kind": "gap"}], "bound on tpr must lie in"),
    ("matrix", "constrained_by", [{"rate": "tpr", "bound": "0.1", "kind": "gap"}], "bound on tpr must be a number"),
    ("matrix", "constrained_by", [{"rate": "tpr", "bound": 0.1, "kind": "gaps"}], "unknown kind 'gaps'"),
    ("matrix", "constrained_by", [{"rate": "precision", "bound": 0.1, "kind": "gap"}], "its gap is not linear"),
    ("matrix", "constrained_by", [{"rate": "tpr"}], "TypeError"),
    ("matrix", "constrained_by", [{"rate": "tpr", "bound": 0.1, "kind": "gap", "more": 1}], "TypeError"),
    ("matrix", "voters", 10**9, "voters must be as many as are stored"),
    ("matrix", "voters", -1, "voters must be as many as are stored"),
    ("matrix", "voters", True, "voters must be as many as are stored"),
    ("matrix", "voters", 2, "the array 'voter1.0' is needed"),
    ("matrix", "measure", None, "TypeError"),
    ("matrix", "measure.name", "f11", "unknown measure 'f11'"),
    ("matrix", "measure.name", 5, "a measure has a name, got 5"),
    ("matrix", "measure.parameters", {"beta": -1}, "beta"),
    ("matrix", "measure.parameters", {"bta": 1}, "bta"),
    ("matrix", "measure.parameters", [1], "TypeError"),
    ("matrix", "network", {}, "unknown network builder None"),
    ("matrix", "network.builder", "mpl", "Did you mean 'mlp'"),
    ("matrix", "network.n_features", 10**9, "'parameters.0' must be floats of shape .1000000000, 3."),
    ("matrix", "network.n_features", 4.0, "n_features must be a whole number"),
    ("matrix", "network.hidden", [10**9], "'parameters.0' must be floats of shape .4, 1000000000."),
    ("matrix", "network.hidden", "33", "hidden must be a sequence of widths"),
    ("matrix", "network.hidden", [3, 3], "'parameters.2' must be floats of shape .3, 3."),
    ("matrix", "network.activation", "rely", "Did you mean 'relu'"),
    ("matrix", "network.dropout", 1, "dropout must lie in"),
    ("matrix", "network.dropout", "0", "dropout must be a number"),
    ("matrix", "network.dtype", "float16", "dtype must be"),
    ("matrix", "network.depth", 3, "TypeError"),
    ("matrix", "quantifier", {}, "KeyError"),
    ("matrix", "quantifier.threshold", NAN, "threshold must be a number"),
    ("matrix", "quantifier.calibration", [1], "TypeError"),
    ("matrix", "quantifier.calibration", [-1, 0], "calibration must be finite, with a slope of at least 0"),
    ("matrix", "quantifier.calibration", [1, NAN], "calibration must be finite"),
    ("matrix", "quantifier.tpr", 1.5, "tpr must be a number in"),
    ("matrix", "quantifier.soft_fpr", None, "soft_fpr must be a number"),
    ("matrix", "encoder", None, "TypeError"),
    ("matrix", "encoder.names", ["a", 1], "names must be text"),
    ("matrix", "encoder.standardiser.mean", [0, 0, 0], "one of each column"),
    ("matrix", "encoder.standardiser.mean", [0, 0, 0, "1"], "must be numbers"),
    ("matrix", "encoder.standardiser.scale", [1, 1, 1, 0], "scales above 0"),
    ("matrix", "encoder.standardiser.scale", [1, 1, 1, NAN], "must be finite"),
    ("matrix", "encoder.standardiser.clip", 0, "clip must be above 0"),
    ("matrix", "encoder.standardiser.as_one", [99], "columns that count as one must be different ones"),
    ("table", "encoder.table.numeric", ["age"], "its median or its categories"),
    ("table", "encoder.table.numeric", ["age", "age"], "columns must differ"),
    ("table", "encoder.table.numeric", ["age", 5], "columns must be text"),
    ("table", "encoder.table.medians", [1.5, NAN], "medians must be finite"),
    ("table", "encoder.table.medians", ["x", 2], "could not convert string"),
    ("table", "encoder.table.categories", [], "its median or its categories"),
    ("table", "encoder.table.categories", [["blue"]], "table must have the 4 columns of the network, got 3"),
    ("table", "encoder.table.categories", [["red", "red"]], "must differ"),
    ("table", "encoder.table.categories", [[1, 2]], "must be text"),
    ("table", "encoder.table.gaps", ["colour"], "gaps must be of the columns .'age', 'dose'."),
    ("table", "encoder.table.gaps", ["age"], "table must have the 4 columns of the network, got 5"),
    ("table", "encoder.table.gaps", ["age", "age"], "gaps must differ"),
    ("table", "encoder.table.pooled", ["age"], "pooled must be of the columns .'colour'."),
    ("table", "encoder.table.pooled", [3], "pooled must be text"),
    ("table", "network.numeric", None, "'parameters.0' must be floats of shape .4, 16."),
    ("table", "network.numeric", [0, 7], "a column must be a whole number from 0 to 3"),
    ("table", "network.bins", [[0, 1, 0]], "ends in ascending order"),
    ("table", "network.frequencies", 10**9, "'parameters.0' must be floats of shape .2, 1000000000."),
    ("texts", "encoder.vocabulary.words", ["a"] * 3, "words must differ"),
    ("texts", "encoder.vocabulary.words", list("abcd"), "the network has 5 words, got 6"),
    ("texts", "encoder.vocabulary.words", [1, 2, 3], "words must be text"),
    ("texts", "encoder.vocabulary.words", "abc", "a stored vocabulary"),
    ("texts", "encoder.vocabulary.max_tokens", 0, "max_tokens must be a whole number"),
    ("texts", "encoder.vocabulary", [], "AttributeError"),
    ("texts", "network.vocabulary_size", 10**9, "'parameters.0' must be floats of shape .1000000000, 2."),
    ("texts", "network.embedding", 0, "embedding must be a whole number"),
    *(("matrix", name, KeyError, f"KeyError '{name}'")
      for name in ("prior", "classes", "threshold", "network", "best_step", "quantifier", "measure")),
]  # fmt: skip


@pytest.mark.parametrize("name, place, value, reason", HEADERS)
def test_a_header_that_no_model_has_is_refused_with_the_reason(name, place, value, reason, path):
    header, arrays = parts_of(name)
    write_archive(path, "model", with_value(header, tuple(place.split(".")), value), arrays)
    with pytest.raises(ValueError, match=NOT_USABLE + "it holds what no model holds: .*" + reason):
        load_model(path)


ARRAYS = [
    (np.zeros((4, 4), "f4"), "must be floats of shape .4, 3., got 'float32 of shape .4, 4.'"),
    (np.zeros((4, 3), "i4"), "must be floats of shape"),
    (np.zeros((4, 3), "U3"), "must be floats of shape"),
    (np.full((4, 3), np.nan, "f4"), "must be finite numbers, also as float32, got '12 of 12 in array 0"),
    (np.array([np.inf, *[0.0] * 11], "f4").reshape(4, 3), "got '1 of 12 in array 0"),
    (np.full((4, 3), 1e300), "must be finite numbers, also as float32"),
    (None, "the array 'parameters.0' is needed"),
]


@pytest.mark.parametrize("value, reason", ARRAYS, ids=[reason for _, reason in ARRAYS])
def test_weights_that_no_model_has_are_refused_with_the_reason(value, reason, path):
    header, arrays = parts_of("matrix")
    for name in ("parameters.0", "voter0.0"):
        changed = {key: kept for key, kept in arrays.items() if key != name}
        changed = changed if value is None else {**arrays, name: value}
        write_archive(path, "model", header, changed)
        with pytest.raises(ValueError, match=NOT_USABLE + ".*" + reason.replace("parameters.0", name)):
            load_model(path)


def test_weights_that_are_not_finite_are_not_saved_either(path):
    model = model_of(mlp(4, (3,), seed=0), InputEncoder())
    model.voters[0][1] = np.full(3, np.nan, "f4")
    with pytest.raises(ValueError, match="the weights of a model must be finite numbers"):
        model.save(path)
    assert not path.exists()


def test_a_weight_that_float32_cannot_hold_is_refused_in_float32_alone(path):
    model = model_of(mlp(4, (3,), dtype="float64", seed=0), InputEncoder())
    model.parameters[0][0, 0] = 1e300
    model.save(path)
    assert load_model(path).parameters[0][0, 0] == 1e300
    with pytest.raises(ValueError, match="must be finite numbers, also as float32"):
        load_model(path, dtype="float32")


# -- sizes -----------------------------------------------------------------------------------------------------------


def npy(shape, dtype="<f8", data=b""):
    """The bytes of an .npy file, whatever its data."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue() + data


def zipped(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as written:
        for name, content in members:
            with written.open(name, "w", force_zip64=True) as member:
                for part in content if isinstance(content, list) else [content]:
                    member.write(part)
    return file.getvalue()


def header_member():
    text = json.dumps({"format": "aesara_nondecomp model", "version": 3, "checksum": "0" * 64}).encode()
    return "header.npy", npy((len(text),), "|u1", text)


def deflated():
    zeros = [npy((2**24,)), *[bytes(2**20)] * 128]
    return zipped([header_member(), ("parameters.0.npy", zeros)], zipfile.ZIP_DEFLATED)


def deflated_and_declared_small():
    content = zipped([header_member(), ("parameters.0.npy", [bytes(2**20)] * 128)], zipfile.ZIP_DEFLATED)
    return content.replace(struct.pack("<Q", 2**27), struct.pack("<Q", 100))


def overlapping():
    """Entries of the directory that lead to the same bytes."""
    content = zipped([("parameters.0.npy", npy((2**17,), data=bytes(2**20)))])
    with zipfile.ZipFile(io.BytesIO(content)) as read:
        start = read.start_dir
    entry = content[start : content.rindex(b"PK\x05\x06")]
    entries = b"".join(entry.replace(b"parameters.0", b"parameter%03d" % k) for k in range(900))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 900, 900, len(entries), start, 0)
    return content[:start] + entries + end


SIZES = {
    "128 deflated megabytes": deflated,
    "a deflated member that is declared small": deflated_and_declared_small,
    "900 entries of one megabyte": overlapping,
    "a shape of a petabyte": lambda: zipped([header_member(), ("parameters.0.npy", npy((2**47,)))]),
    "a shape beyond 64 bits": lambda: zipped([header_member(), ("parameters.0.npy", npy((10**30,)))]),
    "an entry of a gigabyte": lambda: zipped([header_member(), ("a.npy", npy((1,), "|V1073741824"))]),
    "an archive within": lambda: zipped([header_member(), ("a.npy", zipped([("a.npy", npy((1,)))]))]),
    "twice the same name": lambda: zipped([header_member(), ("a.npy", npy((0,))), ("a", npy((0,)))]),
    "a header of brackets": lambda: zipped([("header.npy", npy((10**6,), "|u1", b"[" * 10**6))]),
    "a shape of brackets": lambda: zipped(
        [("header.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 9999) + b"(" * 9999)]
    ),
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_small_file_that_declares_much_is_refused_without_taking_it(name, path):
    path.write_bytes(SIZES[name]())
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(ValueError, match=NOT_USABLE + "it cannot be read as one"):
        load_model(path)
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 1 and peak < 50e6, (seconds, peak)


def test_a_device_and_a_pipe_are_refused_and_not_read(path):
    os.mkfifo(path)
    with pytest.raises(ValueError, match=NOT_USABLE + "it is a pipe or a device"):
        load_model(path)
    with pytest.raises(ValueError, match="is not usable: it is a pipe or a device"):
        load_model("/dev/zero")


# -- at random -------------------------------------------------------------------------------------------------------


def refused(path):
    """Whether a file is refused, by one ValueError that names it; else its model is whole. Never takes a second."""
    begun = time.process_time()
    try:
        model = load_model(path)
    except ValueError as error:
        assert "model.npz' is not usable" in str(error) or "is a measure of your own" in str(error), error
        assert len(str(error)) < 600
        return True
    finally:
        assert time.process_time() - begun < 1
    assert all(np.isfinite(p).all() for parameters in (model.parameters, *model.voters) for p in parameters)
    assert 0 < model.prior < 1 and model.classes[0] != model.classes[1]
    return False


@pytest.mark.parametrize("name", MODELS)
def test_500_files_made_by_hand_are_refused_or_whole(name, path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    rng, (header, arrays) = np.random.default_rng(0), parts_of(name)
    count = 0
    for k in range(167):
        changed = (changed_header(header, rng), arrays) if k % 3 else (header, changed_arrays(arrays, rng))
        write_archive(path, "model", *changed)
        count += refused(path)
    assert count > 100


def test_500_files_with_changed_bytes_are_refused_or_whole(path):
    MODELS["matrix"].save(path)
    rng, whole = np.random.default_rng(0), path.read_bytes()
    count = 0
    for _ in range(500):
        path.write_bytes(changed_bytes(whole, rng))
        count += refused(path)
    assert count > 400
