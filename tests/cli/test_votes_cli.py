"""Commands on models whose networks vote: prevalences are those of the library."""

import json

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.cli import main
from aesara_nondecomp.metrics.quantification import METHODS

N = 300


def table(seed, classes):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, N)
    return (rng.standard_normal((N, 3)) + 2 * y[:, None] * [1, -1, 0]).astype("float32"), y


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def voted(request, tmp_path_factory):
    """The folder of a model of three networks and of new rows, and these rows."""
    folder = tmp_path_factory.mktemp("voted")
    measure = "f1" if request.param == 2 else "min_recall"
    model = an.fit(*table(0, request.param), measure, seed=0, steps=80, network=(4,), validation=3)
    model.save(folder / "model")
    X, y = table(1, request.param)
    np.savez(folder / "rows.npz", X=X)
    np.savez(folder / "labelled.npz", X=X, y=y)
    assert len(model.voters) == 2
    return folder, model, X


def test_quantify_estimates_what_predict_prevalence_does(voted):
    folder, model, X = voted
    out = folder / "quantified.json"
    assert main(["quantify", str(folder / "model"), str(folder / "rows.npz"), "--out", str(out)]) == 0
    found = json.loads(out.read_text())["prevalence"]
    for method in METHODS:
        assert found[method] == pytest.approx(model.predict_prevalence(X, method), rel=1e-6)
    one = an.load_model(folder / "model")
    one.voters = []
    assert found["acc"] != pytest.approx(one.predict_prevalence(X, "acc"), rel=1e-6)


def test_evaluate_and_compare_report_the_same_prevalences(voted):
    folder, model, X = voted
    if len(model.classes) > 2:
        pytest.skip("of several classes they report no prevalences")
    files = [str(folder / "model"), str(folder / "labelled.npz"), "--draws", "5"]
    assert main(["evaluate", *files, "--out", str(folder / "e.json"), "--html", str(folder / "e.html")]) == 0
    files.insert(1, str(folder / "model"))
    assert main(["compare", *files, "--out", str(folder / "c.json"), "--html", str(folder / "c.html")]) == 0
    evaluated, compared = (json.loads((folder / name).read_text()) for name in ("e.json", "c.json"))
    for facts in (evaluated, *compared["models"]):
        assert facts["prevalence"]["acc"] == pytest.approx(model.predict_prevalence(X, "acc"), rel=1e-6)
        assert facts["prevalence"]["cc"] == np.mean(model.predict(X) == 1)
