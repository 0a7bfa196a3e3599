"""Checkpoints made by hand: one ValueError, soon, or a run that ends with finite weights."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest
from hostile import changed_arrays, changed_header, with_value

from aesara_nondecomp import Checkpoint, EarlyStopping, TrainFunctions, fit, mlp
from aesara_nondecomp.models.archive import read_archive, write_archive

pytestmark = [  # so few rows may collapse
    pytest.mark.filterwarnings("ignore:on the rows held out"),
    pytest.mark.filterwarnings("ignore:few rows are held out"),
]

RNG = np.random.default_rng(0)
Y = np.where(np.arange(90) % 3, -1, 1)
X = RNG.normal(size=(90, 3)) + 0.5 * Y[:, None]
FUNCTIONS = TrainFunctions(mlp(3, (4,), seed=0))
RUNS = {
    "one network": {"measure": "qmean", "validation": EarlyStopping(0.3, every=3, patience=None)},
    "folds": {"measure": "f1", "validation": EarlyStopping(2, every=3, patience=None), "sampler": "stratified"},
}
MODEST = {"steps": 12, "batch_size": 30, "network": FUNCTIONS}


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Makes the parts of a checkpoint of a run that was stopped in its last network."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)

    def make(name):
        path = tmp_path / "run.npz"
        last = 8 if name == "one network" else 20
        fit(X, Y, seed=3, **MODEST, **RUNS[name], checkpoint=path, on_step=lambda step: step.step == last)
        return path, *read_archive(path, "checkpoint")

    return make


def resumed(path, name):
    return fit(X, Y, **MODEST, **RUNS[name], checkpoint=Checkpoint(path, resume=True))


NAN = float("nan")
HEADERS = [
    ("one network", ("start",), 5, "TypeError"),
    ("one network", ("fingerprint",), [], "a fingerprint is a dict"),
    ("one network", ("run", "phase"), -1, "a phase must be a whole number from 0"),
    ("one network", ("run", "phase"), 9, "a phase must be a whole number from 0"),
    ("one network", ("run", "batches", "batches_since"), 10**12, "batches_since of a stored state"),
    ("one network", ("run", "batches", "streams", 0, "position"), 10**12, "position of a stored state"),
    ("one network", ("run", "batches", "streams", 0, "position"), -1, "position of a stored state"),
    ("one network", ("run", "batches", "streams"), [], "batches need a state of other values"),
    ("one network", ("run", "driver"), {"inner": 5}, "driver need a state of other values"),
    ("one network", ("run", "rng"), {}, "KeyError|ValueError|TypeError|state"),
    ("one network", ("history",), [], "a history needs as many numbers"),
    ("one network", ("validation", "kept"), [], "weights of the evaluations"),
    ("one network", ("validation", "evaluations"), [[1, 2]], "TypeError"),
    ("folds", ("done", 0, "validation", "kept"), [0], "weights of the evaluations"),
    ("folds", ("validation",), None, "TypeError"),
    ("folds", ("validation",), KeyError, "KeyError 'validation'"),
]


@pytest.mark.parametrize("name, place, value, reason", HEADERS)
def test_a_header_that_no_checkpoint_has_is_refused_with_the_reason(name, place, value, reason, stored):
    path, header, arrays = stored(name)
    write_archive(path, "checkpoint", with_value(header, place, value), arrays)
    with pytest.raises(ValueError, match=f"run.npz' is not usable: it holds what no checkpoint holds: .*({reason})"):
        resumed(path, name)


@pytest.mark.parametrize("name", RUNS)
def test_50_checkpoints_made_by_hand_are_refused_or_end_with_finite_weights(name, stored):
    path, header, arrays = stored(name)
    rng, refused = np.random.default_rng(0), 0
    for k in range(50):
        fingerprint = {"fingerprint": header["fingerprint"]}
        changed = {**changed_header(json.loads(json.dumps(header)), rng), **fingerprint}
        write_archive(path, "checkpoint", *((changed, arrays) if k % 3 else (header, changed_arrays(arrays, rng))))
        begun = time.process_time()
        try:
            model = resumed(path, name)
        except ValueError as error:
            assert "run.npz' is not usable" in str(error) or "is of another run" in str(error), error
            refused += 1
        else:
            assert all(np.isfinite(p).all() for parameters in (model.parameters, *model.voters) for p in parameters)
        assert time.process_time() - begun < 2
    assert refused > 25
