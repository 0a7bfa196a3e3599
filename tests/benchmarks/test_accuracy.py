"""The plain calls of the accuracy table choose nothing."""

from __future__ import annotations

import numpy as np

from aesara_nondecomp.data import Dataset
from benchmarks import accuracy


def test_a_plain_call_is_given_the_measure_and_the_seed_alone_and_raw_rows(monkeypatch):
    rng = np.random.default_rng(0)
    rows, labels = 1000 * rng.normal(size=(60, 2)), rng.random(60) < 0.3
    loaded = Dataset("raw", rows[:40], labels[:40], rows[40:], labels[40:], None, None, "")
    calls = []

    class Model:
        def __init__(self, seed):
            self.seed = seed

        def value(self, X, y):
            assert X is loaded.X_test and y is loaded.y_test
            return float(self.seed)

    def fit(X, y, measure, **options):
        assert X is loaded.X_train and y is loaded.y_train
        calls.append((measure, options))
        return Model(options["seed"])

    monkeypatch.setattr(accuracy.an, "fit", fit)
    results = accuracy.plain_calls("raw", loaded, range(3, 6))
    assert calls == [(measure, {"seed": seed}) for measure in accuracy.PLAIN for seed in (3, 4, 5)]
    assert [result["measure"] for result in results] == list(accuracy.PLAIN)
    assert all(result["seed_values"] == [3, 4, 5] and result["median"] == 4 for result in results)
