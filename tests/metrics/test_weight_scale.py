"""Only ratios of sample weights count: one scale gives what another does, wherever weights are taken."""

from __future__ import annotations

import numpy as np
import pytest

from aesara_nondecomp import metrics
from aesara_nondecomp._numeric import row_counts
from aesara_nondecomp.metrics import Quantifier, best_threshold, confusion_at_threshold, confusion_matrix
from aesara_nondecomp.metrics.bootstrap import bootstrap
from aesara_nondecomp.metrics.calibration import Calibration
from aesara_nondecomp.metrics.quantification import METHODS

N = 400
RNG = np.random.default_rng(0)
SIGNS = np.where(RNG.random(N) < 0.2, 1, -1)
SCORES = SIGNS + RNG.normal(size=N)
PREDICTED = np.where(SCORES > 0, 1, -1)
NEW = RNG.normal(size=300)
WEIGHTS = {
    "equal": np.ones(N),
    "counts": RNG.integers(1, 5, N).astype(float),
    "with zeros": RNG.integers(0, 3, N).astype(float),
    "of classes": np.where(SIGNS > 0, 2.5, 0.625),
    "of any size": RNG.lognormal(size=N),
    "of very different sizes": 10.0 ** RNG.uniform(-6, 6, N),
}
SCALES = {"1e-12": 1e-12, "1/n": 1 / N, "a third": 1 / 3, "1e12": 1e12, "1e-300": 1e-300, "1e290": 1e290}

CALLS = {
    "confusion_matrix": lambda w: confusion_matrix(SIGNS, PREDICTED, w),
    "confusion_at_threshold": lambda w: confusion_at_threshold(SCORES, SIGNS, 0.5, w),
    "report": lambda w: list(metrics.report(confusion_matrix(SIGNS, PREDICTED, w)).values()),
    "best_threshold": lambda w: best_threshold("f1", SCORES, SIGNS, w),
    "best_threshold of a smoothed measure": lambda w: best_threshold("kld", SCORES, SIGNS, w)[1],
    "steady_threshold": lambda w: metrics.steady_threshold("qmean", SCORES, SIGNS, w),
    "Calibration": lambda w: Calibration.fit(SCORES, SIGNS, w),
    "Quantifier": lambda w: [
        *(q := Quantifier.fit(SCORES, SIGNS, 0.0, w))[2:7],
        *(q.prevalence(NEW, m) for m in METHODS),
    ],
}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_scale_of_weights_changes_nothing(call, weight, scale):
    assert call(weight * scale) == pytest.approx(call(weight), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-12, 1 / N, 0.1, 1e12])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_equal_weights_are_no_weights_to_the_last_bit(call, scale):
    without, found = call(None), call(np.full(N, scale))
    assert found == without


def test_the_values_of_the_report_on_weights_of_1_over_n():
    """Prevalence .1 among new rows, calibrated on rows of which a fifth is positive: they said 1 instead."""
    rng = np.random.default_rng(1)
    new = np.where(rng.random(4000) < 0.1, 1, -1) + rng.normal(size=4000)
    quantifier = Quantifier.fit(SCORES, SIGNS, 0.0, np.full(N, 1 / N))
    assert quantifier.prevalence(new, "sld") == pytest.approx(0.1, abs=0.03)
    assert quantifier.posteriors([5.0])[0] > 0.99


def test_rows_of_weight_0_are_no_rows():
    weight, kept = WEIGHTS["of any size"] * (np.arange(N) % 2), np.arange(N) % 2 == 1
    with_zeros = Quantifier.fit(SCORES, SIGNS, 0.0, weight)
    without = Quantifier.fit(SCORES[kept], SIGNS[kept], 0.0, weight[kept])
    assert with_zeros[2:7] == pytest.approx(without[2:7])
    assert with_zeros.calibration == pytest.approx(without.calibration)


@pytest.mark.parametrize("weight, counts", [
    ([0.25, 0.5, 0.0, 1.0], [1, 2, 0, 4]),  # repeated rows
    ([3.0, 3.0, 3.0, 3.0], [1, 1, 1, 1]),
    ([1.0, 2.5, 0.0, 0.5], [2, 5, 0, 1]),
    ([1.0, 1.5, 0.0, 2.0], [2 / 3, 1, 0, 4 / 3]),  # no multiples of the smallest: mean 1 over the three
    ([1.0, 1e9, 1.0, 1.0], [4e-9, 4, 4e-9, 4e-9]),  # no billion rows either
    ([0.0, 0.0], [0, 0]),
])  # fmt: skip
def test_weights_as_counts_of_rows(weight, counts):
    assert row_counts(np.array(weight)) == pytest.approx(np.array(counts, float), rel=1e-6)


def test_the_matrix_of_equal_weights_has_bootstrap_intervals():
    weighted = confusion_matrix(SIGNS, PREDICTED, np.full(N, 1 / N))
    assert bootstrap(weighted, ["f1"]) == bootstrap(confusion_matrix(SIGNS, PREDICTED), ["f1"])
