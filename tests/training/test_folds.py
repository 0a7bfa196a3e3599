"""Which rows are held out, by the argument `validation`: a share, folds, the last ones, or what a splitter says."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from aesara_nondecomp import EarlyStopping, TrainFunctions, fit, linear
from aesara_nondecomp.data import stratified_folds, stratified_split
from aesara_nondecomp.training.folds import plan_folds


def labels(n: int, positives: int):
    """Labels in shuffled order."""
    return np.random.default_rng(0).permutation(np.where(np.arange(n) < positives, 1, -1))


def assert_partition(folds, n: int, held_once: bool = True):
    """Each fold divides all rows, and no two hold a row out; together they hold out all, or not."""
    for train, held in folds:
        assert np.array_equal(np.sort([*train, *held]), np.arange(n))
    together = np.concatenate([held for _, held in folds])
    assert len(np.unique(together)) == len(together)
    assert not held_once or len(together) == n


# -- "auto" ----------------------------------------------------------------------------------------------------------

SHARE, FIVE = 1, 5


@pytest.mark.parametrize(
    ("n", "positives", "expected"),
    [
        (20_000, 9_000, SHARE),
        (20_000, 11_000, SHARE),
        (19_999, 9_000, FIVE),
        (20_000, 8_999, FIVE),
        (199_999, 8_999, FIVE),
        (200_000, 500, SHARE),
        (200_000, 199_500, SHARE),
        (200_000, 499, FIVE),
        (200_000, 199_501, FIVE),
        (100, 5, FIVE),
        (100, 4, 4),
        (100, 98, 2),
        (4, 2, 2),
    ],
)
def test_auto_holds_a_fifth_out_of_many_rows_and_folds_of_fewer(n, positives, expected):
    signs = labels(n, positives)
    folds = plan_folds("auto", signs, 0)
    assert len(folds) == expected
    assert_partition(folds, n, held_once=expected > 1)
    parts = 5 if expected == SHARE else expected
    for _, held in folds:
        assert abs(np.sum(signs[held] > 0) - positives / parts) < 1


@pytest.mark.parametrize(("rarest", "expected"), [(500, SHARE), (499, FIVE)])
def test_auto_needs_fewer_rows_of_the_rarest_of_several_classes(rarest, expected):
    classes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [12_000, 8_000, rarest]))
    folds = plan_folds("auto", np.where(classes > 0, 1, -1), 0, strata=classes, classes=classes)
    assert len(folds) == expected


def test_auto_holds_out_a_share_if_networks_take_long():
    (fold,) = plan_folds("auto", labels(100, 20), 0, one_part=True)
    assert len(fold.held) == 20


def test_auto_makes_no_more_folds_than_a_class_has_groups():
    signs, groups = labels(100, 50), np.arange(100) // 4
    groups = np.where(signs > 0, groups % 3, groups)
    folds = plan_folds("auto", signs, 0, groups)
    assert len(folds) == 3
    assert_partition(folds, 100)
    for train, held in folds:
        assert not set(groups[train]) & set(groups[held])


@pytest.mark.parametrize("groups", [None, "of one positive", "one for all positives"])
def test_a_class_of_one_row_or_group_is_held_out_nowhere_with_a_warning(groups):
    signs = labels(40, 10 if groups == "one for all positives" else 1)
    groups = None if groups is None else np.where(signs > 0, -1, np.arange(40))
    with pytest.warns(UserWarning, match="single row, so none is held out.*validation=\\(X, y\\)") as found:
        assert plan_folds("auto", signs, 0, groups) == []
    assert len(found) == 1


def test_fit_says_once_at_the_callers_line_that_no_rows_are_held_out():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), labels(40, 1)
    functions = TrainFunctions(linear(2))
    with pytest.warns(UserWarning, match="a single row") as found:
        model = fit(X, y, network=functions, steps=5, seed=0)
    assert [warning.filename for warning in found] == [__file__]
    plain = fit(X, y, network=functions, steps=5, seed=0, validation=None)
    assert model.quantifier is None and model.evaluations == [] and model.voters == [] and not model.collapsed
    assert all(np.array_equal(a, b) for a, b in zip(model.parameters, plain.parameters))


# -- what is asked for -----------------------------------------------------------------------------------------------


def test_a_share_and_a_number_of_folds_are_those_of_the_data_module():
    signs, groups = labels(90, 30), np.arange(90) // 3
    for of_groups in (None, groups):
        (fold,) = plan_folds(0.3, signs, 7, of_groups)
        for mine, theirs in zip(fold, stratified_split(signs, 0.3, 7, of_groups)):
            assert np.array_equal(mine, theirs)
        fold_of_row = stratified_folds(signs, 4, 7, of_groups)
        for count in (4, np.int64(4)):
            folds = plan_folds(count, signs, 7, of_groups)
            assert [held.tolist() for _, held in folds] == [np.flatnonzero(fold_of_row == k).tolist() for k in range(4)]
            assert_partition(folds, 90)


def test_last_holds_out_the_last_fifth_in_order():
    (fold,) = plan_folds("last", np.tile([1, 1, -1, -1], 25), 0)
    assert fold.train.tolist() == list(range(80)) and fold.held.tolist() == list(range(80, 100))


@pytest.mark.parametrize(("first", "positives"), [(1, 0), (-1, 4)])
def test_last_rows_of_one_class_are_refused_with_what_to_do(first, positives):
    message = f"held-out part must hold both classes, got {positives} positives among 4 rows.*validation=0.2"
    with pytest.raises(ValueError, match=message):
        plan_folds("last", np.where(np.arange(20) < 10, first, -first), 0)


# -- splitters of scikit-learn ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def splitters():
    return pytest.importorskip("sklearn.model_selection", reason="needs the extra sklearn")


def test_a_splitter_divides_the_rows_as_it_does_alone(splitters):
    signs = labels(60, 20)
    splitter = splitters.StratifiedKFold(4, shuffle=True, random_state=3)
    folds = plan_folds(splitter, signs, 0)
    assert_partition(folds, 60)
    for fold, theirs in zip(folds, splitter.split(np.zeros((60, 1)), signs)):
        assert all(np.array_equal(mine, other) for mine, other in zip(fold, theirs))


def test_a_splitter_may_give_one_boolean_for_each_row():
    class Halves:
        def split(self, X, y=None, groups=None):
            even = np.arange(len(y)) % 2 == 0
            yield even, ~even
            yield ~even, even

    folds = plan_folds(Halves(), labels(60, 20), 0)
    assert_partition(folds, 60)
    assert np.array_equal(folds[0].held, np.arange(1, 60, 2))
    with pytest.raises(ValueError, match="one for each of the 59 rows"):
        plan_folds(SimpleNamespace(split=lambda X, y, groups: Halves().split(X, np.zeros(60))), labels(59, 20), 0)


def test_a_splitter_by_groups_gets_the_groups(splitters):
    signs, groups = labels(60, 20), np.arange(60) % 7
    folds = plan_folds(splitters.GroupKFold(3), signs, 0, groups)
    assert_partition(folds, 60)
    assert all(not set(groups[train]) & set(groups[held]) for train, held in folds)


def test_a_splitter_in_time_may_leave_the_first_rows_out_of_all_parts(splitters):
    signs = np.tile([1, -1], 30)
    folds = plan_folds(splitters.TimeSeriesSplit(4), signs, 0)
    assert [held[0] - train[-1] for train, held in folds] == [1] * 4
    assert min(fold.held.min() for fold in folds) == 12


@pytest.mark.parametrize(
    ("name", "options", "signs", "message"),
    [
        ("ShuffleSplit", {"n_splits": 4}, labels(60, 20), "each row out at most once.*got 'ShuffleSplit'"),
        ("RepeatedKFold", {"n_splits": 3, "n_repeats": 2}, labels(60, 20), "at most once"),
        ("KFold", {"n_splits": 3}, np.where(np.arange(60) < 20, 1, -1), "training part must hold both classes.*got 0"),
        ("KFold", {"n_splits": 5}, np.where(np.arange(60) < 20, 1, -1), "held-out part must .* got 12 positives among"),
    ],
)
def test_a_splitter_whose_parts_are_no_division_or_lack_a_class_is_refused(name, options, signs, message, splitters):
    with pytest.raises(ValueError, match=message):
        plan_folds(getattr(splitters, name)(**options), signs, 0)


class Splitter:
    """Gives the parts it is told to."""

    def __init__(self, *parts):
        self.parts = parts

    def split(self, X, y, groups=None):
        return iter(self.parts)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "at least one division"),
        ([([0, 1, 2, 3], [3, 4])], "must not train on rows that it holds out"),
        ([([0, 1], [2, 3]), ([0, 1], [2, 5])], "at most once"),
    ],
)
def test_parts_of_ones_own_splitter_are_checked(parts, message):
    with pytest.raises(ValueError, match=message):
        plan_folds(Splitter(*parts), np.tile([1, -1], 3), 0)


# -- refusals --------------------------------------------------------------------------------------------------------

NEEDED = "validation must be 'auto', 'last', a share .* or a pair"


@pytest.mark.parametrize("value", [0, 1, -3, 1.0, 0.0, 1.5, float("nan"), True, "first", "", (), [1], np.ones(3), {}],
                         ids=str)  # fmt: skip
def test_anything_else_is_refused_with_one_message(value, nothing_may_be_compiled):
    for call in (lambda: EarlyStopping(value), lambda: fit(np.eye(4), [0, 1, 0, 1], validation=value)):
        with warnings.catch_warnings(), pytest.raises(ValueError, match=NEEDED):
            warnings.simplefilter("error")
            call()


X, Y = np.random.default_rng(0).normal(size=(40, 2)), labels(40, 10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"validation": 11}, "11 folds need as many rows of each class, got 10 of class \\+1"),
        ({"validation": None, "validation_groups": np.arange(40)}, "validation_groups need rows to hold out.*got None"),
        ({"validation": (X, Y), "validation_groups": np.arange(40)}, "validation_groups need rows to hold out"),
        ({"validation": EarlyStopping((X, Y)), "validation_groups": Y}, "validation_groups need rows to hold out"),
        ({"validation_groups": np.arange(39)}, "one value per row, shape \\(40,\\), got \\(39,\\)"),
        ({"validation_groups": np.zeros((40, 1))}, "one value per row"),
        ({"validation": 0.2, "validation_groups": np.zeros(40)}, "needs at least two groups"),
        ({"validation": 3, "validation_groups": np.arange(40) % 2}, "3 folds need as many groups, got 2"),
    ],
)
def test_folds_and_groups_that_do_not_fit_the_rows_are_refused(options, message, nothing_may_be_compiled):
    with pytest.raises(ValueError, match=message) as problem:
        fit(X, Y, steps=5, **options)
    assert len(str(problem.value)) < 300


# -- several classes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_folds_of_whole_groups_are_balanced_by_the_classes(seed):
    """Each class has five groups of its own: each of five folds gets one of each."""
    of_class, members = np.repeat(np.arange(4), 5), np.repeat(np.arange(20), 6)
    classes = of_class[members]
    for fold in plan_folds(5, np.where(classes > 0, 1, -1), seed, members, strata=classes, classes=classes):
        assert np.bincount(classes[fold.held]).tolist() == [6] * 4


def test_folds_of_whole_groups_are_balanced_by_the_cells_of_two_classes():
    of_cell, members = np.repeat(np.arange(4), 5), np.repeat(np.arange(20), 6)
    cell = of_cell[members]
    for fold in plan_folds(5, np.where(cell % 2, 1, -1), 0, members, strata=cell):
        assert np.bincount(cell[fold.held]).tolist() == [6] * 4


FIRST_IS_RARE = np.where(np.arange(60) == 0, 0, 1 + np.arange(60) % 2)
LACKS_A_CLASS = {
    "folds": (5, FIRST_IS_RARE, "none of 1 of them; the rarest has 1 rows"),
    "share": (0.2, FIRST_IS_RARE, "none of 1 of them; the rarest has 1 rows"),
    "last": ("last", np.sort(np.arange(60) % 3), "none of 2 of them; the rarest has 20 rows.*validation=0.2"),
}


@pytest.mark.parametrize("case", LACKS_A_CLASS)
def test_a_part_that_lacks_one_of_several_classes_is_refused_in_their_words(case):
    validation, classes, message = LACKS_A_CLASS[case]
    with pytest.raises(ValueError, match=f"part must hold all 3 classes, got {message}"):
        plan_folds(validation, np.where(classes > 0, 1, -1), 0, strata=classes, classes=classes)


def test_a_splitter_whose_part_lacks_one_of_several_classes_is_refused_in_their_words(splitters):
    classes = np.sort(np.arange(60) % 3)
    with pytest.raises(ValueError, match="training part must hold all 3 classes, got none of 1"):
        plan_folds(splitters.KFold(3), np.where(classes > 0, 1, -1), 0, classes=classes)
