"""`network="auto"`: the network of a table, and its scaling, by what its columns hold."""

import pickle

import numpy as np
import pytest
import scipy.sparse

import aesara_nondecomp as an
from aesara_nondecomp.data import Standardiser
from aesara_nondecomp.data.columns import bins_of_columns
from aesara_nondecomp.training.table_network import BINNED_ROWS, SAMPLED_ROWS, TableNetwork, _some_rows

N_ROWS = 300
RNG = np.random.default_rng(0)
BINARY = (RNG.random((N_ROWS, 3)) < 0.4).astype(float)
AMOUNT = np.where(RNG.random(N_ROWS) < 0.6, 0.0, np.exp(RNG.normal(8, 1, N_ROWS)))
TABLE = np.column_stack([BINARY, RNG.normal(40, 10, N_ROWS), AMOUNT])
Y = np.where(TABLE[:, 3] + 10 * BINARY[:, 0] > 45, "yes", "no")

made = TableNetwork(lambda name, size, options: (name, size, options))


def test_numeric_columns_are_waved_spiky_ones_binned_and_both_scaled_by_median_and_quartiles():
    (name, size, options), scaling = made.of_rows(TABLE, Y, None)
    robust = Standardiser.robust(TABLE, [3, 4])
    assert (name, size, options["numeric"]) == ("tabular", 5, (3, 4)) and scaling.as_dict() == robust.as_dict()
    bins = bins_of_columns(scaling.transform(TABLE)[:, [4]], [4], Y)
    assert options["bins"] == tuple(bins) and {column for column, _, _ in bins} == {4}
    low, high = scaling.transform(TABLE)[:, 4].min(), scaling.transform(TABLE)[:, 4].max()
    assert (bins[0][1], bins[-1][2]) == (low, high)


def test_numbers_that_stand_for_categories_are_learned():
    rng = np.random.default_rng(4)
    of_code, code = rng.permutation(np.arange(60) % 3 == 0), rng.integers(0, 60, 3000)
    X, y = np.column_stack([code + 10_000.0, rng.normal(size=3000)]), of_code[code]
    model = an.fit(X[:1500], y[:1500], "f1", validation=None, steps=300, seed=0)
    assert model.value(X[1500:], y[1500:]) > 0.95


def with_noise(rows, n_columns=40):
    return np.column_stack([rows, np.random.default_rng(3).normal(5, 3, (len(rows), n_columns))])


def test_columns_that_tell_nothing_have_the_spread_of_one_together_and_no_bins():
    rows = with_noise(TABLE)
    rows[:, -1] = np.where(np.random.default_rng(2).random(N_ROWS) < 0.5, 0.0, rows[:, -1])
    (_, _, options), scaling = made.of_rows(rows, Y, None)
    robust = Standardiser.robust(rows, list(range(3, 45)))
    ratio = scaling.scale_ / robust.scale_
    weak = np.flatnonzero(ratio > 1)
    assert len(weak) > 30 and weak.min() > 3 and 44 in weak
    assert ratio[weak] == pytest.approx(len(weak) ** 0.5) and np.array_equal(scaling.mean_, robust.mean_)
    assert Standardiser.from_dict(scaling.as_dict()).spread_ == pytest.approx(robust.scale_, rel=1e-15)
    assert 44 not in {column for column, _, _ in options["bins"]}


def test_many_columns_that_tell_nothing_hardly_hide_the_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 100))
    y = X[:, 0] + X[:, 1] + np.sin(2 * X[:, 2]) > 1.8
    model = an.fit(X[:1000], y[:1000], "f1", validation=0.2, steps=400, seed=0)
    assert model.value(X[1000:], y[1000:]) > 0.8  # .72 with all columns alike


def test_sample_weights_move_median_and_quartiles():
    weight = 1.0 + 9 * (TABLE[:, 3] > 45)
    _, scaling = made.of_rows(TABLE, Y, weight)
    assert scaling.as_dict() == Standardiser.robust(TABLE, [3, 4], weight).as_dict()
    assert scaling.mean_[3] > Standardiser.robust(TABLE, [3, 4]).mean_[3] + 3


@pytest.mark.parametrize(
    "rows", [BINARY, BINARY.astype(bool), scipy.sparse.csr_matrix(TABLE)], ids=["0/1", "bool", "CSR"]
)
def test_binary_and_sparse_rows_are_left_to_another_network(rows):
    assert made.of_rows(rows, Y, None) is None
    assert made(7) == ("mlp", 7, {}) and TableNetwork(made.make, "tabular")(7) == ("tabular", 7, {})


def test_of_many_rows_a_sample_is_looked_at():
    rows = np.arange(3.0 * SAMPLED_ROWS)[:, None]
    _, scaling = made.of_rows(rows, np.zeros(len(rows)), None)
    exact = Standardiser.robust(rows, [0])
    assert scaling.mean_ == pytest.approx(exact.mean_, rel=0.02) and scaling.mean_ != exact.mean_
    assert scaling.scale_ == pytest.approx(exact.scale_, rel=0.02)


@pytest.mark.parametrize("every", [2, 3, 7])
def test_the_sample_has_rows_of_each_kind_where_kinds_alternate(every):
    """A dose that only each second, third or seventh row can have."""
    kind = np.arange(every * SAMPLED_ROWS) % every
    for place in range(every):
        rows = np.column_stack([RNG.normal(size=len(kind)), np.where(kind == place, 5e6, 0.0)])
        rows[-1, 1] = 0.0
        (_, _, options), scaling = made.of_rows(rows, np.zeros(len(rows)), None)
        assert options["numeric"] == (0, 1) and scaling.scale_[1] > 1e6


@pytest.mark.parametrize("again", [lambda model: model.functions, lambda model: model.functions.network])
@pytest.mark.parametrize(("rows", "labels", "measure"), [
    (TABLE, Y, "f1"),
    (TABLE, np.arange(N_ROWS) % 3, "macro_f1"),
    (with_noise(TABLE), np.where((AMOUNT > 0) ^ (RNG.random(N_ROWS) < 0.1), "yes", "no"), "f1"),
], ids=["two classes", "three classes", "columns that tell nothing"])  # fmt: skip
def test_a_network_of_a_table_that_is_trained_again_gets_the_scaling_that_its_bins_are_in(again, rows, labels, measure):
    options = {"validation": None, "steps": 3, "seed": 0}
    model = an.fit(rows, labels, measure, **options)
    assert model.network_description["bins"]
    other = an.fit(rows, labels, measure, network=again(model), **options)
    assert other.encoder.standardiser.as_dict() == model.encoder.standardiser.as_dict()
    np.testing.assert_array_equal(other.decision_function(rows), model.decision_function(rows))
    with pytest.raises(ValueError, match="needs dense rows in memory, or a model to train further"):
        an.fit(scipy.sparse.csr_matrix(rows), labels, measure, network=again(model), **options)


@pytest.mark.parametrize("n_rows", [3 * SAMPLED_ROWS, BINNED_ROWS + 50_000])
def test_amounts_that_are_rare_are_looked_for_in_more_rows_beside_their_labels(n_rows):
    amounts = 1500.0 + RNG.permutation(n_rows) % 60
    rows = np.where(RNG.random(n_rows) < 0.9, 0.0, amounts)[:, None]
    _, _, options = made.of_rows(rows, rows[:, 0] % 2, None)[0]
    assert len(options["bins"]) == 60


def test_a_value_that_is_frequent_in_the_small_sample_alone_makes_no_bins():
    rows = RNG.normal(size=(BINNED_ROWS + 50_000, 1))
    rows[_some_rows(len(rows), SAMPLED_ROWS)[: SAMPLED_ROWS // 2]] = 2.0
    (_, _, options), _ = made.of_rows(rows, np.arange(len(rows)) % 2, None)
    assert options["bins"] == ()


def test_a_missing_number_outside_the_small_sample_is_refused_as_elsewhere():
    rows = np.where(RNG.random(3 * SAMPLED_ROWS) < 0.9, 0.0, RNG.integers(1, 60, 3 * SAMPLED_ROWS))[:, None]
    rows[1, 0] = np.nan
    with pytest.raises(ValueError, match="features must be finite.*row 1"):
        an.fit(rows, np.arange(len(rows)) % 2, validation=None, steps=1)


@pytest.mark.parametrize("numeric", [None, [0]])
@pytest.mark.parametrize("called", [False, True])
def test_a_tabular_network_of_ones_own_gets_all_numeric_columns_scaled(numeric, called):
    X = np.column_stack([RNG.normal(size=400), 1e5 + 1e4 * RNG.normal(size=400), RNG.random(400) < 0.5])
    network = an.networks.tabular(3, (4,), numeric=numeric)
    given = (lambda size: network) if called else network
    model = an.fit(X, X[:, 1] > 1e5, network=given, validation=None, steps=1, seed=0)
    scaled = [0, 1, 2] if numeric is None else [0, 1]
    assert model.encoder.standardiser.as_dict() == Standardiser.robust(X, scaled).as_dict()


def test_a_code_in_some_rows_of_many_columns_costs_no_more_than_these_rows():
    ages = RNG.uniform(20, 70, (1500, 30))
    coded = np.where(RNG.random(ages.shape) < 0.06, 999999.0, ages)
    model = an.fit(coded[:1000], ages[:1000, 0] > 45, "min", validation=0.2, steps=300, seed=0)
    assert model.value(coded[1000:], ages[1000:, 0] > 45) > 0.85


LOSSES = np.where(RNG.random(6000) < 0.8, 0.0, 1500.0 + 10 * RNG.integers(0, 40, 6000))
KINDS = np.where(LOSSES > 0, 1 + (LOSSES // 10) * 7 % 11 % 2, RNG.integers(0, 3, 6000)).astype(int)


@pytest.mark.parametrize(("labels", "measure", "given"), [
    (KINDS == 1, "f1", {}),
    (KINDS == 1, "f1", {"sample_weight": RNG.integers(0, 3, 6000)}),
    (KINDS, "macro_f1", {"sample_weight": RNG.integers(0, 3, 6000)}),
    (np.eye(3, dtype=int)[KINDS], "f1", {}),
], ids=["two classes", "weights", "three classes", "three labels"])  # fmt: skip
@pytest.mark.parametrize("validation", [None, 0.3, 2])
@pytest.mark.filterwarnings("ignore::UserWarning")  # one step teaches nothing
def test_bins_follow_the_labels_of_the_rows_that_are_trained_on(labels, measure, given, validation):
    model = an.fit(LOSSES[:, None], labels, measure, validation=validation, steps=1, seed=0, **given)
    assert len(model.network_description["bins"]) == 40


@pytest.mark.parametrize("kinds", [KINDS == 1, KINDS], ids=["two classes", "three classes"])
def test_bins_follow_labels_and_not_groups(kinds):
    labels, groups = RNG.permutation(kinds), np.where(KINDS == 1, "a", "b")
    model = an.fit(LOSSES[:, None], labels, "worst_cell", groups=groups, validation=None, steps=1, seed=0)
    assert len(model.network_description["bins"]) < 33


@pytest.mark.parametrize(("n_scores", "n_rows", "width"), [
    (1, 10_000, 64), (5, 10_000, 64), (6, 499, 64), (6, 500, 128), (26, 10_000, 128),
])  # fmt: skip
def test_layers_are_wide_where_many_classes_have_rows_enough(n_scores, n_rows, width):
    rows = RNG.normal(size=(n_rows, 2))
    (_, _, options), _ = made._replace(n_scores=n_scores).of_rows(rows, np.zeros(n_rows), None)
    assert options["hidden"] == (width, width)


SIX_CLASSES = RNG.integers(0, 6, 600)
SIX_LABELS = RNG.integers(0, 2, (600, 6))


@pytest.mark.parametrize(
    ("labels", "measure"), [(SIX_CLASSES, "macro_f1"), (SIX_LABELS, "f1")], ids=["classes", "labels"]
)
def test_fit_and_the_estimator_choose_wide_layers_and_keep_widths_that_are_given(labels, measure):
    clone = pytest.importorskip("sklearn.base").clone
    rows, options = RNG.normal(size=(600, 2)), {"steps": 1, "validation": None}
    model = an.fit(rows, labels, measure, seed=0, **options)
    assert model.network_description["hidden"] == [128, 128]
    estimator = an.MeasureClassifier(measure, random_state=0, **options)
    chosen, given = (clone(estimator).set_params(hidden=widths).fit(rows, labels) for widths in (None, (3, 2)))
    assert chosen.model_.network_description["hidden"] == [128, 128]
    assert given.model_.network_description["hidden"] == [3, 2]
    for fitted in (chosen, given):
        assert np.array_equal(pickle.loads(pickle.dumps(fitted)).predict(rows), fitted.predict(rows))


@pytest.mark.parametrize(("given", "name", "scaled_by"), [
    ({}, "tabular", [3, 4]),
    ({"network": "tabular"}, "tabular", [3, 4]),
    ({"standardize": False}, "mlp", None),
    ({"network": "tabular", "standardize": False}, "tabular", None),
    ({"network": (64, 64)}, "mlp", "mean"),
])  # fmt: skip
def test_fit_makes_the_network_of_its_rows(given, name, scaled_by):
    model = an.fit(TABLE, Y, validation=None, steps=1, seed=0, **given)
    description, scaling = model.network_description, model.encoder.standardiser
    assert description["builder"] == name
    if scaled_by is None:
        assert scaling is None
    else:
        expected = Standardiser.fit(TABLE) if scaled_by == "mean" else Standardiser.robust(TABLE, scaled_by)
        np.testing.assert_allclose(scaling.mean_, expected.mean_)
        np.testing.assert_allclose(scaling.scale_, expected.scale_)
    assert np.isfinite(model.decision_function(TABLE)).all()


def test_rows_held_out_do_not_move_medians_and_bins_of_the_only_network():
    (far := TABLE.copy())[-60:, 3:] *= 1e3
    models = [an.fit(rows, Y, validation="last", steps=1, seed=0) for rows in (TABLE, far)]
    first, second = (m.encoder.standardiser.as_dict() for m in models)
    assert first == second and models[0].network_description == models[1].network_description


def test_values_that_are_not_finite_are_refused_by_row_and_column():
    (rows := TABLE.copy())[17, 3] = np.nan
    with pytest.raises(ValueError, match="finite.*row 17, column 3"):
        an.fit(rows, Y)
