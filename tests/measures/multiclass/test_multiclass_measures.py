"""Measures of K classes: golden numbers, scikit-learn's values, differences, chords, and the traps of the families."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from aesara_nondecomp import measures as binary
from aesara_nondecomp.measures import multiclass
from aesara_nondecomp.measures.multiclass import Cells, Concave, NestedConcave, Pseudolinear

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "golden_cells.json").read_text())
TABLES = {name: np.array(case["C"], float) for name, case in GOLDEN.items() if "C" in case}
ORDER = 4
COSTS = np.array([[0, 1, 3, 2], [2, 0, 1, 5], [1, 1, 0, 2], [4, 2, 1, 0]], float)
WITH_PARAMETERS = {
    "gmean": {"floor": 1e-6},
    "mean_of_worst": {"h": 2},
    "power_mean": {"s": -2.5},
    "cost_matrix": {"costs": COSTS},
    "weighted_kappa": {"disagreement": COSTS},
    "micro_f1": {"negative": (0, 2)},
    "macro_fbeta": {"beta": 2.0},
    "f1_of": {"labels": (1, 3)},
}


def of_four(name):
    """A measure for four classes."""
    return multiclass.get(name, **WITH_PARAMETERS.get(name, {}))


EVERY = [
    *(of_four(name) for name in multiclass.names()),
    *(multiclass.get("power_mean", s=s, floor=1e-6) for s in (0.5, -1000.0)),
]
CONCAVE = [measure for measure in EVERY if isinstance(measure, Concave)]
TRAINED = [measure for measure in EVERY if measure.drivers()]


def golden_measure(name):
    given = {"micro_f1": {"negative": 0}, "gmean": {"floor": 1e-6}}
    plain = name.partition("(")[0]
    return multiclass.get(plain, **given.get(plain, {}))


def conditional(C):
    """R, and the shares of the cells."""
    rows = C.sum(axis=1)
    return C / rows[:, None], rows / rows.sum()


def random_point(rng, m=ORDER, K=ORDER):
    return rng.dirichlet(np.ones(K), size=m)


# -- golden numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", sorted(GOLDEN["three"]["values"]))
def test_values_and_gains_are_the_golden_ones(table, name):
    measure, case = golden_measure(name), GOLDEN[table]
    R, shares = conditional(TABLES[table])
    eps = 0.5 / TABLES[table].sum()
    assert measure.value(R, shares, eps) == pytest.approx(case["values"][name], abs=1e-10)
    assert measure.from_confusion(TABLES[table]) == pytest.approx(case["values"][name], abs=1e-10)
    gains = np.array(case["gains"][name]) * (1 if measure.greater_is_better else -1)
    found = measure.gains(R, shares, eps)
    # As files of 12 decimals have them: bakld's are of the mean recall and minus the KLD.
    np.testing.assert_allclose(found, gains, rtol=1e-10, atol=1e-11)


def test_the_published_extract_of_the_golden_numbers_is_reached():
    expected = {
        "three": (0.5, 0.6474820144, 0.6607380315, 0.6508322095, 0.6584275939, 0.5406125166, 0.5249569707),
        "four_rare": (0.6, 0.6810810811, 0.6900979901, 0.6759629651, 0.5662515312, 0.5441874259, 0.5041957494),
        "zero_recall": (0, 0, 0, 0.3675444680, 0.3951515152, 0.2, 0.4680851064),
    }
    for table, values in expected.items():
        for name, value in zip(("min_recall", "hmean", "gmean", "qmean", "macro_f1", "kappa", "qwk"), values):
            assert multiclass.get(name).from_confusion(TABLES[table]) == pytest.approx(value, abs=1e-10)


# -- other routes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_values_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    y, weight = np.repeat(np.arange(4), (60, 20, 8, 12)), rng.uniform(0.1, 3.0, 100)
    z = np.where(rng.random(100) < 0.6, y, rng.integers(0, 4, 100))
    given = {"sample_weight": weight}
    C = metrics.confusion_matrix(y, z, **given)
    recalls = metrics.recall_score(y, z, average=None, **given)
    expected = {
        "min_recall": recalls.min(),
        "mean_recall": metrics.balanced_accuracy_score(y, z, **given),
        "mean_of_worst": np.sort(recalls)[:2].mean(),
        "accuracy": metrics.accuracy_score(y, z, **given),
        "micro_f1": metrics.f1_score(y, z, labels=[1, 3], average="micro", **given),
        "macro_f1": metrics.f1_score(y, z, average="macro", **given),
        "macro_fbeta": metrics.fbeta_score(y, z, beta=2, average="macro", **given),
        "f1_of": metrics.f1_score(y, z, labels=[1, 3], average="macro", **given),
        "kappa": metrics.cohen_kappa_score(y, z, **given),
        "qwk": metrics.cohen_kappa_score(y, z, weights="quadratic", **given),
        "mcc": metrics.matthews_corrcoef(y, z, **given),
        "cost_matrix": np.average(COSTS[y, z], weights=weight),
        "macro_mae": np.mean([np.average(abs(z - y)[y == k], weights=weight[y == k]) for k in range(4)]),
    }
    for name, value in expected.items():
        assert of_four(name).from_confusion(C) == pytest.approx(value, rel=1e-12), name


def test_the_mcc_of_one_class_is_zero_as_in_scikit_learn():
    metrics, rng = pytest.importorskip("sklearn.metrics"), np.random.default_rng(0)
    mcc, rows = multiclass.get("mcc"), rng.integers(1, 1000, (100, 3))
    assert metrics.matthews_corrcoef([0, 1, 2], [1, 1, 1]) == metrics.matthews_corrcoef([1, 1, 1], [0, 1, 2]) == 0
    for counts in rows:
        of_one_class = counts[:, None] * np.eye(3)[rng.integers(3)]  # all rows predicted as one class
        assert mcc.from_confusion(of_one_class) == mcc.from_confusion(of_one_class.T) == 0
    one_wrong = [[10**6, 0], [1, 0]], [[10**6, 1], [0, 1]]
    assert [mcc.from_confusion(C) for C in one_wrong] == pytest.approx([0, np.sqrt(0.5)], rel=1e-5)


def test_means_of_recalls_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    recalls = np.array([0.9, 0.35, 0.6, 0.05])
    R = np.diag(recalls) + (1 - recalls)[:, None] * (1 - np.eye(4)) / 3
    shares = np.full(4, 0.25)
    assert multiclass.get("gmean").value(R, shares) == pytest.approx(stats.gmean(recalls), rel=1e-12)
    assert multiclass.get("hmean").value(R, shares) == pytest.approx(stats.hmean(recalls), rel=1e-12)
    for s in (0.5, -2.5):
        expected = np.mean(recalls**s) ** (1 / s)
        assert multiclass.get("power_mean", s=s).value(R, shares) == pytest.approx(expected, rel=1e-12)
    assert multiclass.get("power_mean", s=-1e3).value(R, shares) == pytest.approx(0.05, rel=2e-3)


@pytest.mark.parametrize("s", [-1e-17, 1e-17, -1e-7, 1e-7])
def test_a_mean_with_an_exponent_near_zero_is_the_geometric_one(s):
    R, cells = np.array([[0.5, 0.5], [0.1, 0.9]]), Cells(np.full(2, 0.5))
    near, gmean = multiclass.get("power_mean", s=s), multiclass.get("gmean")
    assert near.value(R, cells) == pytest.approx(gmean.value(R, cells), rel=1e-7)
    np.testing.assert_allclose(near.gains(R, cells), gmean.gains(R, cells), rtol=1e-6)
    assert (near == gmean) == (abs(s) < 1e-8)


def test_errors_of_class_shares_are_those_of_their_definitions():
    C = TABLES["four_rare"]
    n = C.sum()
    p, q = C.sum(axis=1) / n, C.sum(axis=0) / n
    smooth_p, smooth_q = ((counts + 0.5) / (n + 2) for counts in (C.sum(axis=1), C.sum(axis=0)))
    expected = {
        "kld": np.sum(smooth_p * np.log(smooth_p / smooth_q)),
        "ae": np.mean(abs(p - q)),
        "rae": np.mean(abs(smooth_p - smooth_q) / smooth_p),
        "emd": np.sum(abs(np.cumsum(p) - np.cumsum(q))[:-1]),
    }
    for name, value in expected.items():
        assert multiclass.get(name).from_confusion(C) == pytest.approx(value, rel=1e-12)
    plain = multiclass.get("kld").from_confusion(C, smoothed=False)
    assert plain == pytest.approx(np.sum(p * np.log(p / q)), rel=1e-12)
    assert multiclass.get("kld").from_confusion(TABLES["one_class"], smoothed=False) == math.inf


@pytest.mark.parametrize("measure", TRAINED, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_gains_are_central_differences_of_the_value(measure, seed):
    rng = np.random.default_rng(seed)
    shares, R, eps = rng.dirichlet(np.full(4, 2.0)), random_point(rng), 0.01
    found, step = measure.gains(R, shares, eps), 1e-6
    for entry in np.ndindex(*R.shape):
        moved = [R.copy(), R.copy()]
        moved[0][entry] += step
        moved[1][entry] -= step
        ahead, behind = (measure.oriented(measure.value(each, shares, eps)) for each in moved)
        assert found[entry] == pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=2e-8)


@pytest.mark.parametrize("measure", CONCAVE, ids=str)
def test_a_concave_measure_is_below_its_supergradient_everywhere(measure):
    rng = np.random.default_rng(5)
    corners = [np.eye(4)[rng.integers(0, 4, 4)] for _ in range(6)]
    for _ in range(60):
        shares = rng.dirichlet(np.ones(4)) * 0.96 + 0.01
        here, there = random_point(rng), [*corners, np.eye(4), random_point(rng)]
        slope, value = (f(here, shares, 0.01) for f in (measure.gains, measure.value))
        for other in there:
            allowed = measure.oriented(value) + np.vdot(slope, other - here)
            assert measure.oriented(measure.value(other, shares, 0.01)) <= allowed + 1e-10 * (1 + abs(slope).sum())


@pytest.mark.parametrize("measure", CONCAVE, ids=str)
def test_a_chord_lies_below_a_concave_measure(measure):
    rng = np.random.default_rng(6)
    for _ in range(100):
        shares, ends, t = rng.dirichlet(np.ones(4)), [random_point(rng) for _ in range(2)], rng.random()
        low, high = (measure.oriented(measure.value(end, shares, 0.01)) for end in ends)
        between = measure.oriented(measure.value(t * ends[0] + (1 - t) * ends[1], shares, 0.01))
        assert between >= t * low + (1 - t) * high - 1e-12


@pytest.mark.parametrize("measure", CONCAVE, ids=str)
def test_gains_are_finite_at_every_corner_and_do_not_all_stop_training(measure):
    shares = np.array([0.7, 0.1, 0.15, 0.05])
    for corner in np.ndindex(4, 4, 4, 4):
        gains = measure.gains(np.eye(4)[list(corner)], shares, 0.01)
        assert np.isfinite(gains).all()
        if measure.of_recalls:
            assert gains.sum() > 0 and (gains >= 0).all()


ORDERED = ("qwk", "macro_mae", "emd")
COUNT_CELLS = ("mean_of_worst",)
OF_GIVEN_CLASSES = ("cost_matrix", "weighted_kappa", "micro_f1", "f1_of")


@pytest.mark.parametrize("measure", [m for m in EVERY if m.name not in (*ORDERED, *OF_GIVEN_CLASSES)], ids=str)
def test_permuting_the_classes_permutes_the_gains_and_leaves_the_value(measure):
    rng = np.random.default_rng(8)
    R, shares, order = random_point(rng), rng.dirichlet(np.ones(4)), rng.permutation(4)
    moved, moved_shares = R[np.ix_(order, order)], shares[order]
    assert measure.value(moved, moved_shares, 0.01) == pytest.approx(measure.value(R, shares, 0.01), rel=1e-12)
    if measure.drivers():
        expected = measure.gains(R, shares, 0.01)[np.ix_(order, order)]
        np.testing.assert_allclose(measure.gains(moved, moved_shares, 0.01), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", ORDERED)
def test_an_ordered_measure_is_the_same_in_reversed_order_alone(name):
    rng = np.random.default_rng(8)
    measure, R, shares = multiclass.get(name), random_point(rng), rng.dirichlet(np.ones(4))
    value = measure.value(R, shares)
    assert measure.value(R[::-1, ::-1], shares[::-1]) == pytest.approx(value, rel=1e-12)
    order = [1, 0, 2, 3]
    assert measure.value(R[np.ix_(order, order)], shares[order]) != pytest.approx(value, rel=1e-3)


@pytest.mark.parametrize("measure", [m for m in EVERY if m.name not in (*OF_GIVEN_CLASSES, *COUNT_CELLS)], ids=str)
def test_cells_that_split_a_class_evenly_leave_the_value(measure):
    """The gains of each half are half of the cell's, so that together they move R as before."""
    rng = np.random.default_rng(9)
    R, shares = random_point(rng), rng.dirichlet(np.ones(4))
    halves = Cells(np.repeat(shares / 2, 2), np.repeat(np.arange(4), 2), 4)
    split = np.repeat(R, 2, axis=0)
    assert measure.value(split, halves, 0.01) == pytest.approx(measure.value(R, shares, 0.01), rel=1e-12)
    if measure.drivers():
        expected = np.repeat(measure.gains(R, shares, 0.01) / 2, 2, axis=0)
        np.testing.assert_allclose(measure.gains(split, halves, 0.01), expected, rtol=1e-12, atol=1e-15)


# -- equivalences and traps ----------------------------------------------------------------------------------------

SAME = ("hmean", "gmean", "qmean", "accuracy", "kld", "ae", "rae", "bakld")
PAIRS = {"min_recall": "min", "mean_recall": "balanced_accuracy", **dict(zip(SAME, SAME))}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("P", "N"), [(0.7, 0.9), (0.2, 0.6), (0.5, 0.5)])
def test_two_classes_give_the_values_and_slopes_of_the_binary_measure(name, P, N):
    """Equivalence (a): G is diag(beta, alpha) but for constants added to its rows."""
    prior, eps = 0.3, 0.01
    measure, two = multiclass.get(name), binary.get(PAIRS[name])
    R, shares = [[N, 1 - N], [1 - P, P]], [1 - prior, prior]
    assert measure.value(R, shares, eps) == pytest.approx(two.value(P, N, prior, eps), rel=1e-12)
    gains = measure.gains(R, shares, eps)
    slopes = gains[1, 1] - gains[1, 0], gains[0, 0] - gains[0, 1]
    assert slopes == pytest.approx(two.supergradient(P, N, prior, eps), rel=1e-10)


def test_micro_f1_of_two_classes_is_f1_and_has_its_valuation():
    measure, f1, prior = multiclass.get("micro_f1", negative=0), binary.get("f1"), 0.3
    P, N, v = 0.7, 0.9, 0.4
    assert measure.value([[N, 1 - N], [1 - P, P]], [0.7, 0.3]) == pytest.approx(f1.value(P, N, prior), rel=1e-12)
    G = measure.level_gains(v, Cells([0.7, 0.3]))
    ratio = (G[1, 1] - G[1, 0]) / (G[0, 0] - G[0, 1])
    assert ratio == pytest.approx(np.divide(*f1.valuation_weights(P, N, v, prior)), rel=1e-12)


def test_a_golden_binary_table_gives_the_binary_supergradient_of_the_q_mean():
    R, shares = conditional(TABLES["two_as_binary"])
    assert multiclass.get("qmean").value(R, shares) == pytest.approx(0.7763932023, abs=1e-10)
    gains = multiclass.get("qmean").gains(R, shares)
    np.testing.assert_allclose(gains, [[0.2236067977, 0], [0, 0.6708203932]], atol=1e-10)


def test_weighted_kappa_whose_disagreements_are_all_equal_is_kappa():
    """Equivalence (h); the gains differ by constants added to rows."""
    rng = np.random.default_rng(1)
    R, shares = random_point(rng), rng.dirichlet(np.ones(4))
    equal = multiclass.get("weighted_kappa", disagreement=1 - np.eye(4))
    assert equal.value(R, shares) == pytest.approx(multiclass.get("kappa").value(R, shares), rel=1e-12)
    gains = [each.gains(R, shares) for each in (equal, multiclass.get("kappa"))]
    centred = [each - each.mean(axis=1, keepdims=True) for each in gains]
    np.testing.assert_allclose(*centred, rtol=1e-10, atol=1e-14)


def test_bakld_is_the_weighted_sum_of_its_parts():
    """Equivalence (f): with its linear outer function the nested gains are those of the composite."""
    rng = np.random.default_rng(2)
    R, shares = random_point(rng), rng.dirichlet(np.ones(4))
    mean_recall, kld = multiclass.get("mean_recall"), multiclass.get("kld")
    measure = multiclass.get("bakld", C=0.8)
    assert measure.value(R, shares) == pytest.approx(0.8 * mean_recall.value(R, shares) - 0.2 * kld.value(R, shares))
    expected = 0.8 * mean_recall.gains(R, shares) + 0.2 * kld.gains(R, shares)
    np.testing.assert_allclose(measure.gains(R, shares), expected, rtol=1e-12)
    ends = np.eye(4)[[0, 0, 0, 0]]
    assert np.isfinite(multiclass.get("bakld", C=1.0).gains(ends, shares)).all()


@pytest.mark.parametrize("measure", [m for m in EVERY if isinstance(m, Pseudolinear)], ids=str)
def test_a_level_is_reached_where_the_valuation_is_zero_and_its_gains_are_parallel_to_the_gradient(measure):
    rng = np.random.default_rng(3)
    R, shares = random_point(rng), rng.dirichlet(np.ones(4))
    cells = Cells(shares)
    a0, A, b0, B = measure.coefficients(cells)
    v = measure.value(R, cells)
    assert a0 - v * b0 + np.vdot(measure.level_gains(v, cells), R) == pytest.approx(0, abs=1e-12)
    denominator = b0 + np.vdot(B, R)
    np.testing.assert_allclose(measure.level_gains(v, cells) / denominator, measure.gains(R, cells), rtol=1e-10)


def row_centred(G):
    return G - G.mean(axis=1, keepdims=True)


def cosine(one, other):
    return np.vdot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)


def test_gains_of_macro_f1_without_the_scales_point_elsewhere():
    R, shares = conditional(TABLES["four_rare"])
    measure, cells = multiclass.get("macro_f1"), Cells(shares)
    levels = measure.levels(R, cells)
    without = measure.level_gains(np.stack([levels[0], np.ones(4)]), cells)
    found = cosine(*map(row_centred, (without, measure.gains(R, cells))))
    assert found == pytest.approx(0.928, abs=5e-4)
    assert cosine(measure.level_gains(levels, cells), measure.gains(R, cells)) == pytest.approx(1, abs=1e-12)


def test_a_long_inner_loop_on_a_sum_of_ratios_may_lower_the_measure():
    """f1 + f2, f1 = x / (x + .05), f2 = (1 - x) / (1.05 - x): why levels are refreshed at every step."""

    def value(x):
        return x / (x + 0.05) + (1 - x) / (1.05 - x)

    x = 0.3
    v, u = (x / (x + 0.05), (1 - x) / (1.05 - x)), (1 / (x + 0.05), 1 / (1.05 - x))
    gain = u[0] * (1 - v[0]) - u[1] * (1 - v[1])
    assert gain > 0  # so the inner maximiser is x = 1
    assert value(0.3) == pytest.approx(1.7905, abs=1e-4)
    assert value(1.0) == pytest.approx(0.9524, abs=1e-4)
    assert value(0.3 + 0.01) > value(0.3)  # one small step is right


def test_recalls_that_tie_for_the_last_place_share_its_slope():
    R = np.diag([0.5, 0.5, 0.5, 0.9]) + 0.0
    R[np.arange(4), [1, 0, 0, 0]] = 1 - np.diag(R)
    assert np.diag(multiclass.get("min").gains(R, np.full(4, 0.25))) == pytest.approx([1 / 3] * 3 + [0])
    assert np.diag(multiclass.get("mean_of_worst", h=2).gains(R, np.full(4, 0.25))) == pytest.approx([1 / 3] * 3 + [0])
    R[0] = [0.1, 0.9, 0, 0]
    assert np.diag(multiclass.get("mean_of_worst", h=2).gains(R, np.full(4, 0.25))) == pytest.approx(
        [1 / 2, 1 / 4, 1 / 4, 0]
    )


# -- undefined values ----------------------------------------------------------------------------------------------


def test_a_class_without_rows_leaves_recalls_undefined_and_ratios_defined():
    C = [[8, 1, 1], [0, 0, 0], [1, 2, 7]]
    for name in multiclass.names():
        if name in ("cost_matrix", "weighted_kappa", "micro_f1", "f1_of"):
            continue
        measure = of_four(name)
        assert math.isnan(measure.from_confusion(C)) == measure.needs_every_cell, name
    assert multiclass.get("macro_f1").from_confusion(C) == pytest.approx((16 / 19 + 0 + 14 / 18) / 3)


def test_a_class_that_occurs_nowhere_leaves_macro_f1_undefined():
    assert math.isnan(multiclass.get("macro_f1").from_confusion([[8, 0, 2], [0, 0, 0], [1, 0, 7]]))
    assert math.isnan(multiclass.get("accuracy").from_confusion(np.zeros((3, 3))))
    assert math.isnan(multiclass.get("kappa").from_confusion([[5, 0], [0, 0]]))


# -- by name, and what is refused ------------------------------------------------------------------------------------


def test_every_measure_has_its_own_name_and_label():
    for name in multiclass.names():
        measure = of_four(name)
        assert multiclass.get(measure) is measure
        assert str(measure).startswith(name if name != "macro_fbeta" else "macro_fbeta(beta=2)")
        assert measure == of_four(name) and hash(measure) == hash(of_four(name))
    assert multiclass.get("power_mean", s=-1) == multiclass.get("hmean")
    assert str(multiclass.get("min")) == "min_recall" and str(multiclass.get("balanced_accuracy")) == "mean_recall"
    assert str(multiclass.get("gmean", floor=0.1)) == "gmean(floor=0.1)"
    assert str(multiclass.get("gmean", floor=0.12345678)) == "gmean(floor=0.12345678)"


@pytest.mark.parametrize(
    ("spec", "parameters", "message"),
    [
        ("f1", {}, "'macro_f1'.*'micro_f1'"),
        ("macrof1", {}, "Did you mean 'macro_f1'"),
        ("min_recal", {}, "Did you mean 'min_recall'"),
        (3, {}, "MulticlassMeasure"),
        ("power_mean", {"s": 1.5}, "at most 1"),
        ("power_mean", {"s": -math.inf}, "finite"),
        ("gmean", {"floor": 0}, "floor above 0"),
        ("mean_of_worst", {"h": 0}, "h must be"),
        ("bakld", {"C": 2}, "C at least 0"),
        ("micro_f1", {"negative": []}, "negative must hold"),
        ("micro_f1", {"negative": "a"}, "negative must hold"),
        ("f1_of", {"labels": -1}, "labels must hold"),
        ("cost_matrix", {"costs": [[1, 2, 3]]}, "costs must be"),
        ("cost_matrix", {"costs": [[1, np.nan], [0, 1]]}, "costs must be"),
        ("weighted_kappa", {"disagreement": [[1, 2], [0, 1]]}, "disagreement must be"),
        (
            "weighted_kappa",
            {"disagreement": [[0, 0, 1], [1, 0, 1], [1, 0, 0]]},
            "above 0 somewhere in each row and column",
        ),
        (
            "weighted_kappa",
            {"disagreement": [[0, 1, 1], [0, 0, 0], [1, 1, 0]]},
            "above 0 somewhere in each row and column",
        ),
        ("macro_fbeta", {"beta": 0}, "beta at least"),
    ],
)
def test_wrong_names_and_parameters_are_refused_in_one_line(spec, parameters, message):
    with pytest.raises(ValueError, match=message):
        multiclass.get(spec, **parameters)


def test_unknown_and_missing_parameters_are_named():
    with pytest.raises(TypeError, match="needs the parameter h"):
        multiclass.get("mean_of_worst")
    with pytest.raises(TypeError, match="Did you mean 'beta'"):
        multiclass.get("macro_fbeta", betta=2)
    with pytest.raises(TypeError, match="no parameter 'floor'"):
        multiclass.get("hmean", floor=0.1)


@pytest.mark.parametrize(
    ("R", "shares", "message"),
    [
        (np.ones((3, 3)), [0.2, 0.3, 0.5], "rows of R must sum to 1"),
        (np.full((3, 3), np.nan), [0.2, 0.3, 0.5], "rows of R must sum to 1"),
        (np.eye(3), [0.5, 0.5], r"R must have shape|target must hold"),
        (np.eye(3)[0], [0.5, 0.5], r"R must have shape \(m, K\)"),
        (np.eye(3), [1, 2, 3], "shares must sum to 1"),
        (np.eye(3), [1.5, -0.5, 0], "shares must be at least 0"),
        (np.eye(3), [0.2, np.nan, 0.5], "shares must be at least 0"),
        ("a", [0.2, 0.3, 0.5], "R must be numbers"),
    ],
)
def test_what_is_no_conditional_confusion_matrix_is_refused(R, shares, message):
    with pytest.raises(ValueError, match=message):
        multiclass.get("qmean").value(R, shares)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.5], [0, 3], 2), "classes from 0 to 1"),
        (([0.5, 0.5], [0]), "class number for each"),
        (([0.5, 0.5], [0.0, 1.0]), "class number for each"),
        (([0.5, 0.5], [0, -1]), "classes from 0"),
        (([0.5, 0.5], [0, 0], 1), "n_classes must be at least 2"),
        (([[0.5, 0.5]],), r"shape \(m,\)"),
    ],
)
def test_cells_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Cells(*arguments)


def test_counts_below_zero_and_labels_beyond_the_classes_are_refused():
    with pytest.raises(ValueError, match="finite counts of at least 0"):
        multiclass.get("qmean").from_confusion([[1, -1], [0, 1]])
    with pytest.raises(ValueError, match=r"shape \(m, K\)"):
        multiclass.get("qmean").from_confusion([1, 2])
    with pytest.raises(ValueError, match="classes from 0 to 1"):
        multiclass.get("f1_of", labels=2).from_confusion([[1, 1], [0, 1]])
    with pytest.raises(ValueError, match="leave at least one class"):
        multiclass.get("micro_f1", negative=(0, 1)).from_confusion([[1, 1], [0, 1]])
    with pytest.raises(ValueError, match="each of 2 classes"):
        multiclass.get("cost_matrix", costs=COSTS).from_confusion([[1, 1], [0, 1]])


def test_a_measure_says_which_algorithm_serves_it():
    assert isinstance(multiclass.get("bakld"), NestedConcave)
    assert multiclass.get("bakld").drivers() == ("denim", "duple")
    with pytest.raises(ValueError, match="Use 'dame'"):
        multiclass.get("qwk").require_driver("duple")
    with pytest.raises(ValueError, match="only be reported"):
        multiclass.get("mcc").require_driver("dame")
    with pytest.raises(ValueError, match="only be reported"):
        multiclass.get("mcc").gains(np.eye(2), [0.5, 0.5])
    with pytest.raises(ValueError, match="every class predicted, or eps > 0"):
        multiclass.get("kld").gains([[1, 0], [1, 0]], [0.5, 0.5])
