"""The plug-in of K classes against brute force, the threshold of two classes, and what it must never do."""

import itertools

import numpy as np
import pytest

from aesara_nondecomp import measures as binary
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.metrics import PlugIn, best_threshold, plug_in, plug_in_rule


def noisy_rows(n=200, K=4, seed=0):
    """Probabilities that are right on average, and labels drawn by them; the first class is the most frequent."""
    rng = np.random.default_rng(seed)
    logits = 1.5 * rng.normal(size=(n, K)) + np.linspace(2.0, 0.0, K)
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = np.array([rng.choice(K, p=row) for row in P])
    y[:K] = np.arange(K)
    return P, y


def exact_rows(seed, points=6, K=3, copies=60):
    """Rows at a few points, labels in the very proportions of the probabilities."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(copies, [0.5, 0.3, 0.2][:K], size=points) + rng.integers(0, 20, (points, K)) + 1
    x = np.repeat(np.arange(points), counts.sum(axis=1))
    y = np.concatenate([np.repeat(np.arange(K), row) for row in counts])
    return counts, x, (counts / counts.sum(axis=1, keepdims=True))[x], y


def confusion(y, z, K, weight=None):
    return np.bincount(y * K + z, weight, minlength=K * K).reshape(K, K)


def best_by_brute_force(measure, counts):
    """The best value of all rules that map points to classes."""
    points, K = counts.shape
    values = []
    for rule in itertools.product(range(K), repeat=points):
        C = np.zeros((K, K))
        for point, k in enumerate(rule):
            C[:, k] += counts[point]
        values.append(measure.oriented(measure.from_confusion(C)))
    return np.nanmax(values)


NAMES = [name for name in multiclass.names() if name not in ("cost_matrix", "weighted_kappa")]


@pytest.mark.parametrize("method", [None, "offsets", "linearised"])
@pytest.mark.parametrize("name", NAMES)
def test_the_rule_has_the_value_that_it_says_and_is_no_worse_than_the_largest_probability(name, method):
    P, y = noisy_rows(80)
    measure = multiclass.example(name)
    if method == "linearised" and not measure.drivers():
        return
    rule = plug_in(measure, P, y, method=method, starts=1, candidates=8, rounds=8)
    assert rule.value == pytest.approx(measure.from_confusion(confusion(y, rule.predict(P), 4)), rel=1e-12, abs=1e-12)
    plain = measure.from_confusion(confusion(y, P.argmax(axis=1), 4))
    assert measure.oriented(rule.value) >= measure.oriented(plain) - 1e-12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["kappa", "qwk", "micro_f1", "accuracy", "macro_mae"])
def test_of_one_ratio_linearisation_finds_the_best_of_all_rules(name, seed):
    """A point's probabilities are exact here, so that the best rule is one of those searched."""
    counts, _, P, y = exact_rows(seed)
    measure = multiclass.example(name)
    found = plug_in(measure, P, y)
    assert measure.oriented(found.value) == pytest.approx(best_by_brute_force(measure, counts), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_of_macro_f1_linearisation_comes_near_the_best_of_all_rules(seed):
    counts, _, P, y = exact_rows(seed)
    measure = multiclass.get("macro_f1")
    assert plug_in(measure, P, y).value >= 0.98 * best_by_brute_force(measure, counts)


@pytest.mark.parametrize(("name", "two"), [("min_recall", "min"), ("gmean", "gmean"), ("qmean", "qmean")])
@pytest.mark.parametrize("weighted", [False, True])
def test_offsets_of_two_classes_are_the_exact_threshold(name, two, weighted):
    rng = np.random.default_rng(1)
    f, y = rng.normal(size=50), (rng.random(50) < 0.4).astype(int)
    weight = rng.uniform(0.5, 3, 50) if weighted else None
    p = 1 / (1 + np.exp(-f - y))
    P = np.stack([1 - p, p], axis=1)
    found = plug_in(name, P, y, weight)
    threshold, value = best_threshold(binary.get(two), np.log(p / (1 - p)), 2 * y - 1, weight)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert np.isfinite(threshold)


def test_no_single_offset_can_be_moved_to_a_better_value():
    P, y = noisy_rows(120)
    measure = multiclass.get("gmean")
    rule = plug_in(measure, P, y, candidates=1000, starts=1)
    offsets = np.log(np.diag(rule.matrix))
    for k in range(4):
        for moved in np.linspace(-6, 6, 400):
            trial = offsets.copy()
            trial[k] += moved
            C = confusion(y, (np.log(P) + trial).argmax(axis=1), 4)
            assert measure.from_confusion(C) <= rule.value + 1e-12


def test_offsets_raise_the_worst_recall_of_held_out_rows_too():
    P, y = noisy_rows(2000)
    new_P, new_y = noisy_rows(4000, seed=1)
    measure = multiclass.get("min_recall")
    rule = plug_in(measure, P, y)
    plain = measure.from_confusion(confusion(new_y, new_P.argmax(axis=1), 4))
    assert measure.from_confusion(confusion(new_y, rule.predict(new_P), 4)) > plain + 0.1


def test_linearisation_raises_qwk_of_held_out_rows_too():
    P, y = noisy_rows(4000, K=5)
    new_P, new_y = noisy_rows(4000, K=5, seed=1)
    measure = multiclass.get("qwk")
    rule = plug_in(measure, P, y)
    assert np.count_nonzero(rule.matrix - np.diag(np.diag(rule.matrix)))
    plain = measure.from_confusion(confusion(new_y, new_P.argmax(axis=1), 5))
    assert measure.from_confusion(confusion(new_y, rule.predict(new_P), 5)) > plain + 0.02


@pytest.mark.parametrize("method", ["offsets", "linearised"])
def test_whole_weights_stand_for_repeated_rows(method):
    P, y = noisy_rows(60)
    weight = np.random.default_rng(2).integers(1, 4, 60)
    repeated = plug_in("macro_f1", np.repeat(P, weight, axis=0), np.repeat(y, weight), method=method)
    weighted = plug_in("macro_f1", P, y, 0.5 * weight, method=method)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-12)


def test_the_seed_alone_decides_the_random_starts():
    P, y = noisy_rows(100)
    first, second = (plug_in("gmean", P, y, starts=4, candidates=10, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.matrix, second.matrix)


def test_probabilities_of_zero_and_one_are_taken():
    P, y = np.eye(3)[[0, 1, 2, 0, 1]], np.array([0, 1, 2, 0, 2])
    for method in ("offsets", "linearised"):
        rule = plug_in("macro_f1", P, y, method=method)
        assert rule.value == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measure": "f1"}, "'macro_f1'"),
        ({"probabilities": [[0.5, 0.6], [0.5, 0.5], [1, 0]]}, "sum to 1"),
        ({"probabilities": [[-0.5, 1.5], [0.5, 0.5], [1, 0]]}, "at least 0"),
        ({"probabilities": [[np.nan, 1.0], [0.5, 0.5], [1, 0]]}, "sum to 1"),
        ({"probabilities": [0.5, 0.5, 1.0]}, r"shape \(n, K\)"),
        ({"y": [0, 1]}, r"y must hold one class index from 0 to 1 per row, shape \(3,\), got \(2,\)"),
        ({"y": [0, 1, 2]}, r"one class index from 0 to 1 per row, got \[0, 1, 2\]"),
        ({"y": ["a", "b", "a"]}, "one class index"),
        ({"y": [0, 0, 0]}, "rows of each class"),
        ({"sample_weight": [1, -1, 1]}, "sample_weight must be finite and at least 0"),
        ({"method": "grid"}, "method must be 'offsets' or 'linearised'"),
        ({"measure": "mcc", "method": "linearised"}, "only be reported"),
        ({"starts": 0}, "starts must be"),
        ({"candidates": 0.5}, "candidates must be"),
        ({"rounds": 0}, "rounds must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(change, message):
    given = {"measure": "qmean", "probabilities": [[0.2, 0.8], [0.5, 0.5], [1, 0]], "y": [1, 0, 0], **change}
    with pytest.raises(ValueError, match=message):
        plug_in(**given)


def test_a_rule_takes_probabilities_of_its_own_classes_alone():
    with pytest.raises(ValueError, match="of 2 classes"):
        PlugIn(np.eye(2), 0.5).predict([[0.2, 0.3, 0.5]])


def test_offsets_leave_a_plateau_where_several_classes_have_no_recall():
    rng, n_classes = np.random.default_rng(0), 6
    y = np.arange(3000) % n_classes
    logits = 3 * np.eye(n_classes)[y] + rng.normal(size=(3000, n_classes))
    biased = logits + 4 * np.random.default_rng(2).normal(size=n_classes)
    probabilities = np.exp(biased - biased.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    unbiased = min(np.mean(logits.argmax(axis=1)[y == k] == k) for k in range(n_classes))
    assert plug_in("min_recall", probabilities, y).value > unbiased - 0.02


RECALL_MEASURES = ["min_recall", "mean_recall", "gmean", "hmean", "qmean", "mean_of_worst", "power_mean"]


@pytest.mark.parametrize("name", RECALL_MEASURES)
def test_offsets_for_a_measure_of_the_recalls_are_those_of_its_confusion_matrices(name):
    """A measure that does not say that it is of the recalls alone has the same values, and gets the same rule."""
    measure = multiclass.example(name)

    class Unsaid(multiclass.MulticlassMeasure):
        name = "unsaid"
        family = "concave"

        def _value(self, R, cells, eps):
            return measure.value(R, cells, eps)

    P, y = noisy_rows(150)
    found, expected = (plug_in(each, P, y, candidates=12) for each in (measure, Unsaid()))
    np.testing.assert_array_equal(found.matrix, expected.matrix)
    assert found.value == pytest.approx(expected.value, rel=1e-12)


def test_of_many_classes_a_start_moves_a_few_hundred_offsets_and_still_finds_a_better_rule(monkeypatch):
    moved, single = [], plug_in_rule._best_offset
    monkeypatch.setattr(plug_in_rule, "_best_offset", lambda *given: moved.append(given[3]) or single(*given))
    P, y = noisy_rows(1500, K=100)
    rule = plug_in("qmean", P, y, starts=2, candidates=20)
    assert len(moved) <= 2 * 400 and set(moved) == set(range(100))
    assert rule.value > multiclass.get("qmean").from_confusion(confusion(y, P.argmax(axis=1), 100))
    moved.clear()
    plug_in("qmean", *noisy_rows(150, K=20), starts=1, candidates=20)  # until none improves: nothing is cut short
    assert len(moved) % 20 == 0 and 400 >= len(moved) >= 40
