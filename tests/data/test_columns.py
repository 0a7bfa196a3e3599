"""What is read off the columns of a table: which are numeric, where one value is frequent, medians and quartiles."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.tree import DecisionTreeClassifier

from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.data.columns import (
    LEAVES_OF_A_CLASS,
    _coarse_edges,
    _left_out_likelihood,
    _values_and_counts,
    bins_of_columns,
    columns_to_bin,
    numeric_columns,
    weak_columns,
)

RNG = np.random.default_rng(0)


def capital_gains(n=5000):
    """A column like that of adult: 0 in 92 % of the rows, and amounts over four orders of magnitude."""
    return np.where(RNG.random(n) < 0.92, 0.0, np.round(np.exp(RNG.normal(8.5, 1.0, n))))


# -- which are numeric -----------------------------------------------------------------------------------------------


def test_a_column_is_numeric_unless_it_holds_zeros_and_ones_alone():
    columns = {
        "zeros": [0, 0, 0],
        "ones": [1, 1, 1],
        "indicator": [0, 1, 0],
        "signs": [-1, 1, -1],
        "two values": [0, 2, 0],
        "constant": [3, 3, 3],
        "share": [0, 0.5, 1],
    }
    X = np.array(list(columns.values()), dtype=float).T
    found = [list(columns)[k] for k in numeric_columns(X)]
    assert found == ["signs", "two values", "constant", "share"]
    assert numeric_columns(X.astype("float32")) == numeric_columns(X) and numeric_columns(X[:, :3]) == []


# -- bins ------------------------------------------------------------------------------------------------------------


def bins_of(X, columns, labels=None, n_rows=None):
    """Of the columns that need them; labels of one class do not ask for more bins."""
    labels = np.zeros(len(X)) if labels is None else labels
    binned = sorted(itertools.chain(*columns_to_bin(X, columns, labels).values()))
    return bins_of_columns(X[:, binned], binned, labels, n_rows)


def edges_of(X, column=0, labels=None):
    bins = bins_of(X, [column], labels)
    return [bins[0][1], *(high for _, _, high in bins)] if bins else []


def test_bins_of_capital_gains_begin_at_their_spike_and_divide_the_amounts():
    gains = capital_gains()
    edges = edges_of(gains[:, None])
    assert edges[0] == 0.0 and edges[-1] == gains.max() and np.sum(np.array(edges) > 0) >= 8
    assert edges[1] == gains[gains > 0].min()  # the first bin tells the spike from all other rows
    rows = np.histogram(gains[gains > 0], edges[1:])[0]
    assert rows.min() >= 15 and rows.max() <= 30


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60, unique=True),
    st.floats(-1e6, 1e6),
    st.integers(50, 200),
)
def test_the_bins_of_a_spiky_column_cover_its_range_without_gaps_and_have_the_spike_as_an_edge(others, spike, more):
    others = [value for value in others if value != spike]
    values = np.array(others + [spike] * (len(others) + more))
    bins = bins_of(values[:, None], [0])
    if len(others) < 2:
        assert bins == []
        return
    assert bins[0][1] == values.min() and bins[-1][2] == values.max()
    assert all(first[2] == second[1] for first, second in zip(bins, bins[1:]))
    assert all(low < high for _, low, high in bins) and len(bins) <= 33
    assert spike in [bins[0][1], *(high for _, _, high in bins)]


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=500),  # no value twice
        np.repeat(np.arange(5.0), 100),  # every value in a fifth of the rows
        np.repeat([0.0, 7.0], 100),  # two values
        np.full(100, 3.0),
        np.concatenate([np.zeros(39), np.arange(1.0, 62.0) / 30]),  # 39 % of the rows
        np.concatenate([np.arange(97.0) / 50, 50 + np.arange(3.0)]),  # 3 % far out
        np.concatenate([np.arange(80.0) / 50, np.full(20, 99.0)]),  # a code far out
    ],
)
def test_a_column_without_a_spike_or_many_rows_far_out_has_no_bins(values):
    assert bins_of(np.asarray(values)[:, None], [0]) == []


def test_columns_of_few_rows_share_one_bin_for_25_rows():
    pixels = np.where(RNG.random((1000, 64)) < 0.6, 0.0, RNG.integers(1, 17, (1000, 64)))
    assert bins_of(pixels, list(range(64))) == []  # 40 bins for 64 columns
    bins = bins_of(pixels, [3, 5, 8, 13])
    assert {column for column, _, _ in bins} == {3, 5, 8, 13} and 24 <= len(bins) <= 40
    assert len(bins_of(np.tile(pixels, (10, 1)), list(range(64)))) > 64
    assert len(bins_of(pixels, list(range(64)), n_rows=10_000)) > 64  # of which these are a sample


def losses_and_labels(rows_of_an_amount, n=12_000, n_amounts=60, n_classes=2):
    """A column of zeros and amounts with a class of their own each, in order of no amount."""
    amounts = np.repeat(1500.0 + 10 * RNG.permutation(n_amounts), rows_of_an_amount)
    values = np.concatenate([amounts, np.zeros(n - len(amounts))])
    labels = np.where(values > 0, (values // 10) * 7 % 11 % n_classes, RNG.integers(0, n_classes, n))
    return values[:, None], labels


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rows_of_an_amount", [10, 40])
def test_where_single_amounts_tell_the_label_each_is_an_edge(rows_of_an_amount, n_classes):
    X, labels = losses_and_labels(rows_of_an_amount, n_classes=n_classes)
    assert edges_of(X, 0, labels) == sorted(set(X[:, 0]))
    of_rare_classes = np.where(X[:, 0] > 0, n_classes + labels, labels)
    assert edges_of(X, 0, of_rare_classes) == sorted(set(X[:, 0]))
    assert len(edges_of(X, 0, X[:, 0] > 1800)) <= 33  # fewer bins tell as much


def label_sets(n_labels):
    return RNG.integers(0, 2**n_labels, 5000)


@pytest.mark.parametrize(
    "labels",
    [RNG.integers(0, 2, 5000), RNG.integers(0, 26, 5000), RNG.integers(0, 300, 5000), label_sets(8), label_sets(40)],
    ids=["2 classes", "26 classes", "300 classes", "sets of 8 labels", "sets of 40 labels"],
)
def test_labels_that_have_nothing_to_do_with_a_column_ask_for_no_more_than_32_bins(labels):
    values = np.where(RNG.random(5000) < 0.5, 0.0, np.round(np.exp(RNG.normal(8.5, 1.0, 5000))))
    assert len(bins_of(values[:, None], [0], labels)) <= 33


def test_more_bins_that_tell_labels_hardly_better_are_not_taken():
    X, _ = losses_and_labels(10, n_amounts=40)
    of_an_amount = np.flatnonzero(X[:, 0] == 1550.0)
    for positives, edges in ((5, 21), (10, 41)):
        labels = np.isin(np.arange(len(X)), of_an_amount[:positives])
        assert len(edges_of(X, 0, labels)) == edges


def test_more_bins_than_32_are_kept_to_one_for_25_rows_too():
    X, labels = losses_and_labels(10, n=1200)
    assert 40 < len(edges_of(X, 0, labels)) <= 50
    assert len(bins_of(np.tile(X, 2), [0, 1], labels)) <= 50
    assert len(bins_of(X, [0], labels, n_rows=12_000)) == 60  # of which these are a sample


def test_the_likelihood_of_labels_is_that_of_each_row_left_out_by_the_others_of_its_bin_and_a_prior():
    values, labels = RNG.integers(0, 12, 90).astype(float), RNG.integers(0, 3, 90)
    edges = np.array([0.0, 1.0, 4.0, 11.0])
    of_bin = np.array([sum(edges <= value) for value in values])
    reached = dict.fromkeys((2, 20, 200, 2000), 0.0)  # by the rows that the shares of all labels count as
    for row, n in itertools.product(range(90), reached):
        others = labels[(of_bin == of_bin[row]) & (np.arange(90) != row)]
        reached[n] += np.log((np.sum(others == labels[row]) + n * np.mean(labels == labels[row])) / (len(others) + n))
    found = np.unique(values)
    counts = np.array([[np.sum((values == value) & (labels == label)) for label in range(3)] for value in found])
    assert _left_out_likelihood(found, counts, edges) == pytest.approx(max(reached.values()))


def test_40_percent_are_a_spike():
    assert bins_of(np.concatenate([np.zeros(40), np.arange(1.0, 61.0)])[:, None], [0])


def test_only_the_columns_asked_for_are_binned_and_each_bin_names_its_own():
    X = np.column_stack([capital_gains(), RNG.normal(size=5000), -capital_gains()])
    assert {column for column, _, _ in bins_of(X, [0, 1, 2])} == {0, 2}
    assert {column for column, _, _ in bins_of(X, [1, 2])} == {2}
    assert bins_of(X, []) == []
    assert edges_of(X, 2)[-1] == 0.0


# -- columns whose values tell what ranges of them do not ------------------------------------------------------------


def codes_and_labels(n_codes, n=4000, n_classes=2):
    """Numbers that stand for categories: each has a class of its own, which a tenth of the rows do not have."""
    rng = np.random.default_rng(n_codes)
    code = rng.integers(0, n_codes, n)
    labels = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), rng.integers(0, n_classes, n_codes)[code])
    return (code / n_codes * 4 - 2)[:, None], labels


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n_codes", [30, 200])
def test_numbers_that_stand_for_categories_have_an_edge_each(n_codes, n_classes):
    X, labels = codes_and_labels(n_codes, n_classes=n_classes)
    assert columns_to_bin(X, [0], labels) == {"spiky": [], "tailed": [], "jagged": [0]}
    assert edges_of(X, 0, labels) == np.unique(X).tolist()


def test_a_date_whose_season_tells_the_label_has_quantiles_as_edges():
    day = np.arange(20_000.0) / 4
    edges = edges_of((day / day.max() - 0.5)[:, None], 0, day % 365 < 40)
    assert len(edges) == 257 and np.ptp(np.diff(edges)) < 1e-3


def test_jagged_columns_have_one_bin_for_ten_rows_at_most_and_take_none_from_others():
    X, labels = codes_and_labels(150, n=2000)
    spiky = np.where(np.random.default_rng(1).random(2000) < 0.5, 0.0, np.linspace(-1, 1, 2000))[:, None]
    bins = bins_of(np.hstack([spiky, X, X]), [0, 1, 2], labels)
    of_column = [[each for each in bins if each[0] == column] for column in range(3)]
    assert of_column[0] == bins_of(spiky, [0], labels)
    assert len(of_column[1]) == len(of_column[2]) == 100


SMOOTH = np.linspace(-3, 3, 4000)
DRAWN = np.random.default_rng(3).random(4000)


@pytest.mark.parametrize(
    "share",
    [
        np.full(4000, 0.1),
        1 / (1 + np.exp(-2 * SMOOTH)),
        1 / (1 + np.exp(-20 * (SMOOTH - 2.5))),
        SMOOTH > 1.5,
        (SMOOTH > 1) & (SMOOTH < 1.2),
        0.5 + 0.4 * np.sin(3 * SMOOTH),
        np.exp(-(SMOOTH**2)),
    ],
    ids=["constant", "logistic", "steep", "step", "interval", "waves", "bell"],
)
@pytest.mark.parametrize("values", [SMOOTH, np.round(SMOOTH, 1)], ids=["distinct", "rounded"])
def test_columns_that_smooth_features_can_follow_have_no_bins(values, share):
    assert bins_of(values[:, None], [0], DRAWN < share) == []


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(6))  # of other draws, two splits can be equally good, and trees then differ
def test_coarse_edges_are_those_of_a_small_decision_tree(seed, n_classes):
    rng = np.random.default_rng(seed)
    values = rng.permutation(200).astype(float)
    labels = rng.integers(0, n_classes, 200)
    peer = DecisionTreeClassifier(
        criterion="entropy", max_leaf_nodes=LEAVES_OF_A_CLASS * n_classes, random_state=0
    ).fit(values[:, None], labels)
    leaves = len(np.unique(peer.apply(values[:, None])))
    found, counts = _values_and_counts(values, labels)
    edges = _coarse_edges(found, counts, counts.sum(axis=1))
    assert len(edges) == leaves == LEAVES_OF_A_CLASS * n_classes
    of_range = np.searchsorted(edges, values, side="right")

    def entropy(parts):
        counts = [np.bincount(labels[parts == part], minlength=n_classes) for part in np.unique(parts)]
        return sum(-np.sum(c[c > 0] * np.log(c[c > 0] / c.sum())) for c in counts)

    assert entropy(of_range) == pytest.approx(entropy(peer.apply(values[:, None])))


# -- medians and quartiles -------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=40, unique=True))
def test_centre_and_scale_are_median_and_quartile_distance(values):
    X = np.array(values)[:, None]
    low, median, high = np.quantile(X, [0.25, 0.5, 0.75], method="inverted_cdf")
    assume(high - low >= np.finfo(float).tiny and np.abs(X - median).max() <= 100 * (high - low))
    scaling = Standardiser.robust(X, [0])
    assert (scaling.mean_[0], scaling.scale_[0]) == (median, high - low)


@pytest.mark.parametrize("share", [0.06, 0.2, 0.3, 0.45, 0.6, 0.8])
@pytest.mark.parametrize("code", [-999.0, 1e6])
def test_a_code_in_many_rows_hardly_moves_centre_and_scale(share, code):
    """Below a quarter of the rows quartiles are moved by it, from a quarter on it is left out."""
    ages, unknown = RNG.normal(45, 15, 2000), RNG.random(2000) < share
    known, coded = (Standardiser.robust(rows[:, None], [0]) for rows in (ages[~unknown], np.where(unknown, code, ages)))
    if share >= 0.3:
        assert (coded.mean_[0], coded.scale_[0]) == (known.mean_[0], known.scale_[0])
    assert abs(coded.mean_[0] - known.mean_[0]) < 10 and coded.scale_[0] < 2 * known.scale_[0]


def test_noise_of_rounding_is_no_scale():
    balance = np.where(RNG.random(2000) < 0.6, RNG.normal(0, 1e-14, 2000), RNG.uniform(-50, 50, 2000))
    assert Standardiser.robust(balance[:, None], [0]).scale_[0] == pytest.approx(0.45, abs=0.03)


def test_amounts_over_orders_of_magnitude_get_bins_and_can_be_told_apart():
    amounts = np.exp(3 * RNG.normal(size=5000))
    scaling = Standardiser.robust(amounts[:, None], [0])
    edges = edges_of(scaling.transform(amounts[:, None]))
    assert np.sum(np.array(edges) > 10) >= 2 and len(edges) > 30


def test_columns_with_far_rows_share_the_room_that_spiky_ones_leave():
    gains = np.where(RNG.random(2500) < 0.6, 0.0, RNG.random(2500))
    far = np.exp(3 * RNG.normal(size=(2500, 6)))
    X = np.column_stack([gains, far])
    X = Standardiser.robust(X, list(range(7))).transform(X)
    labels = (gains * 24 % 2 > 1).astype(int)
    for n_rows in (2500, 5000):
        alone, beside = (bins_of(X, columns, labels, n_rows) for columns in ([0], list(range(7))))
        assert [each for each in beside if each[0] == 0] == alone and 32 < len(alone) <= len(beside) <= n_rows // 25
    assert {column for column, _, _ in beside} == set(range(7))


def test_a_row_of_weight_3_counts_as_three_rows():
    X, weight = RNG.normal(size=(50, 3)), RNG.integers(1, 5, 50)
    weighted = Standardiser.robust(X, [0, 1, 2], weight)
    repeated = Standardiser.robust(np.repeat(X, weight, axis=0), [0, 1, 2])
    assert np.array_equal(weighted.mean_, repeated.mean_) and np.array_equal(weighted.scale_, repeated.scale_)
    scaled = Standardiser.robust(X, [0, 1, 2], 1024.0 * weight)
    assert np.array_equal(weighted.mean_, scaled.mean_) and np.array_equal(weighted.scale_, scaled.scale_)


def test_outliers_move_neither_centre_nor_scale():
    X = RNG.normal(size=(101, 1))
    far = X.copy()
    far[np.argmax(X)], far[np.argmin(X)] = 1e9, -1e9
    assert Standardiser.robust(X, [0]).as_dict() == Standardiser.robust(far, [0]).as_dict()


def test_a_column_whose_quartiles_agree_is_scaled_by_half_its_range():
    X = np.array([0.0] * 8 + [-2.0, 10.0])[:, None]
    scaling = Standardiser.robust(X, [0])
    assert (scaling.mean_[0], scaling.scale_[0]) == (0.0, 6.0)


def test_constant_columns_and_those_not_asked_for_are_left_as_they_are():
    X = np.column_stack([np.full(20, 7.0), RNG.random(20) < 0.5, RNG.normal(5, 3, 20)])
    scaling = Standardiser.robust(X, [0, 2])
    assert scaling.mean_[:2].tolist() == [0, 0] and scaling.scale_[:2].tolist() == [1, 1]
    np.testing.assert_array_equal(scaling.transform(X)[:, :2], X[:, :2])
    assert np.median(scaling.transform(X)[:, 2]) == pytest.approx(0, abs=0.5) and scaling.scale_[2] != 1


def test_a_spread_beyond_float64_is_refused_by_its_column_and_a_range_beyond_it_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spike = np.array([0.0] * 8 + [-1.7e308, 1.7e308])[:, None]
        assert Standardiser.robust(spike, [0]).scale_[0] == 1.7e308
        wide = np.column_stack([np.arange(4.0), [-1.7e308, -1.7e308, 1.7e308, 1.7e308]])
        with pytest.raises(ValueError, match="column 1 .* is too large"):
            Standardiser.robust(wide, [0, 1])


@pytest.mark.parametrize("scale", [1e-12, 1 / 3, 0.1, 1e12])
def test_quartiles_do_not_depend_on_the_scale_of_weights(scale):
    """A quarter of the weight ends on a row, where the sums of thirds are rounded either way."""
    X, weight = np.arange(40.0)[:, None], np.ones(40)
    weight[::3] = 2
    one, other = (Standardiser.robust(X, [0], w) for w in (weight, weight * scale))
    assert np.array_equal(one.mean_, other.mean_) and np.array_equal(one.scale_, other.scale_)


# -- columns that tell nothing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 5])
def test_weak_columns_are_those_whose_ranges_pass_a_likelihood_ratio_test_of_independence(n_classes):
    labels = RNG.integers(0, n_classes, 800)
    effect = np.linspace(0, 0.6, 40) / (n_classes - 1)
    values = np.repeat(np.arange(8), 100)  # eight values, each in an eighth of the rows: each is a range
    moved = [np.argsort(np.argsort(RNG.normal(size=800) + shift * labels)) for shift in effect]
    X = np.column_stack([values[rank] for rank in moved]).astype(float)
    tables = [[[np.sum((x == v) & (labels == k)) for k in range(n_classes)] for v in range(8)] for x in X.T]
    p = np.array([chi2_contingency(table, correction=False, lambda_="log-likelihood").pvalue for table in tables])
    assert 8 < np.sum(p > 0.05) < 32
    assert weak_columns(X, list(range(40)), labels) == list(np.flatnonzero(p > 0.05))


def test_fewer_than_eight_weak_columns_and_tables_of_nothing_else_have_none():
    labels = np.arange(2000) % 2
    X = np.random.default_rng(0).normal(size=(2000, 20))
    X[:, 10:] += labels[:, None]
    weak = weak_columns(X, list(range(20)), labels)
    assert len(weak) >= 8 and max(weak) < 10
    assert weak_columns(X, [*weak[:7], 10, 11, 12], labels) == []
    assert weak_columns(X, weak, labels) == []  # as of a parity, of which no column tells anything by itself
    assert weak_columns(X, list(range(20)), np.zeros(2000)) == []


def test_columns_of_codes_and_constant_ones_are_not_weak():
    X, labels = codes_and_labels(200)
    noise = RNG.normal(size=(len(X), 20))
    weak = weak_columns(np.column_stack([X, np.ones(len(X)), noise, X + labels[:, None]]), list(range(23)), labels)
    assert len(weak) >= 15 and 0 not in weak and 1 not in weak and 22 not in weak
