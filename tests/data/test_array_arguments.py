"""Arrays of every kind: masked, of mixed kinds, in another byte order, unaligned, too large for a float."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp import data, metrics
from aesara_nondecomp._arrays import as_array, as_floats, is_sparse
from aesara_nondecomp.data.inputs import InputEncoder
from aesara_nondecomp.metrics.multiclass import one_vs_rest_confusions
from aesara_nondecomp.metrics.quantification import classify_and_count

X = np.arange(12.0, dtype="float32").reshape(4, 3)
SIGNS = np.array([1, -1, 1, -1])
FIRST = np.array([True, False, False, False])


def unaligned(array):
    """The same numbers at an address that is no multiple of their size."""
    moved = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


LAYOUTS = {
    "unaligned": unaligned,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder()),
    "unaligned and swapped": lambda array: unaligned(array.astype(array.dtype.newbyteorder())),
    "a field of records": lambda array: np.rec.fromarrays([np.zeros(len(array), "i1"), array], dtype=[
        ("pad", "i1"), ("x", array.dtype, array.shape[1:])])["x"],
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64"])
def test_rows_of_every_layout_become_the_same_aligned_rows(layout, dtype):
    rows = layout(X.astype(dtype))
    for found in (data.check_features(rows), data.raw_rows(rows), data.prepare_rows(data.raw_rows(rows), "float32")):
        assert np.array_equal(found, X) and found.flags.aligned and found.dtype.isnative
    assert np.array_equal(InputEncoder.fit(rows).transform(rows), InputEncoder.fit(X).transform(X))


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_labels_scores_and_weights_of_every_layout_count_the_same(layout):
    scores, weight = np.array([0.5, -1.0, 2.0, 1.0]), np.array([1.0, 2.0, 3.0, 4.0])
    expected = metrics.confusion_at_threshold(scores, SIGNS, 0.0, weight)
    assert metrics.confusion_at_threshold(layout(scores), layout(SIGNS), 0.0, layout(weight)) == expected
    assert np.array_equal(data.encode_labels(layout(SIGNS)).signs, SIGNS)
    assert np.array_equal(data.check_sample_weight(layout(weight), SIGNS), weight)


def test_unaligned_rows_of_a_memory_map_are_aligned_as_they_are_read(tmp_path):
    (tmp_path / "rows").write_bytes(b"\0" + X.tobytes())
    rows = data.raw_rows(np.memmap(tmp_path / "rows", "float32", mode="r", offset=1, shape=X.shape))
    part = data.prepare_rows(rows, "float32")[:2]
    assert np.array_equal(part, X[:2]) and part.flags.aligned


def mapped(folder, rows):
    (folder / "rows").write_bytes(rows.tobytes())
    return np.memmap(folder / "rows", rows.dtype, "r", shape=rows.shape)


def test_rows_of_longdouble_become_those_of_float64(tmp_path):
    wide = X.astype(np.longdouble) / 3
    narrow = wide.astype(np.float64)
    for rows in (wide, wide.astype(wide.dtype.newbyteorder()), mapped(tmp_path, wide), scipy.sparse.csr_matrix(wide)):
        found = data.raw_rows(rows)
        assert found.dtype == np.float64
        assert np.array_equal(found.toarray() if is_sparse(found) else found, narrow)
    scaling = data.Standardiser.fit(narrow)
    for rows in (wide, mapped(tmp_path, wide)):
        encoder = InputEncoder.fit(rows)
        assert np.array_equal(encoder.standardiser.mean_, scaling.mean_)
        assert np.array_equal(encoder.transform(rows), scaling.transform(narrow, "float32"))


def test_means_and_scales_of_longdouble_are_float64():
    wide = X.astype(np.longdouble) / 3
    scaling = data.Standardiser.fit(wide)
    assert scaling.mean_.dtype == scaling.scale_.dtype == np.float64
    assert np.array_equal(scaling.transform(wide), scaling.transform(wide.astype(np.float64), "float32"))


@pytest.mark.filterwarnings("error")
def test_a_longdouble_out_of_the_range_of_float64_is_named(tmp_path):
    wide = X.astype(np.longdouble)
    wide[2, 1] = np.longdouble("1e400") if np.finfo(np.longdouble).max > 1e400 else np.inf
    for rows in (wide, mapped(tmp_path, wide)):
        with pytest.raises(ValueError, match="features must be finite in float64, .* row 2, column 1"):
            InputEncoder.fit(rows)


MASKED = {
    "features": lambda: data.check_features(np.ma.array(X, mask=X == 5)),
    "labels": lambda: data.encode_labels(np.ma.array(SIGNS, mask=FIRST)),
    "sample_weight": lambda: data.check_sample_weight(np.ma.array(np.ones(4), mask=FIRST), SIGNS),
    "scores": lambda: metrics.best_threshold("f1", np.ma.array(np.arange(4.0), mask=FIRST), SIGNS),
    "signs": lambda: metrics.best_threshold("f1", np.arange(4.0), np.ma.array(SIGNS, mask=FIRST)),
    "token ids": lambda: data.check_tokens(np.ma.array(X.astype(int), mask=X == 5), 100),
    "y_true": lambda: one_vs_rest_confusions(np.ma.array(SIGNS, mask=FIRST), SIGNS),
}


@pytest.mark.parametrize("name, call", MASKED.items(), ids=MASKED)
def test_masked_entries_are_refused_and_not_read_through_the_mask(name, call):
    with pytest.raises(ValueError, match=f"{name} must not be masked, got 1 masked of"):
        call()


def test_an_array_without_masked_entries_is_an_array():
    assert np.array_equal(data.check_features(np.ma.array(X)), X)


def test_masked_cells_of_a_table_are_missing():
    age = np.ma.array([20.0, 40.0, 60.0, 1e9], mask=[False, False, False, True])
    encoder = InputEncoder.fit({"age": age}, standardize=False)
    assert encoder.transform({"age": age}).ravel().tolist() == [20, 40, 60, 40]


@pytest.mark.parametrize("labels, message", [
    (["a", "b", math.nan, "a"], "labels must not be missing, got nan among text"),
    (["a", np.nan, "a", "a"], "labels must not be missing"),
    (["a", 1, "a", 1], "labels must all be of one kind, got 1 among text"),
    (["yes", True, True, "yes"], "labels must all be of one kind, got True among text"),
    ([b"a", "b", b"a", "b"], "labels must all be of one kind"),
    (("a", 0.5, "a", "a"), "labels must all be of one kind, got 0.5"),
    (np.array(["a", np.nan, "b", "a"], dtype=object), "labels must not be missing"),
])  # fmt: skip
def test_what_numpy_would_turn_into_text_is_no_label(labels, message):
    with pytest.raises(ValueError, match=message):
        data.encode_labels(labels)
    with pytest.raises(ValueError, match=message):
        data.encode_as(labels, ("a", "b"))


def test_text_labels_are_labels_as_before():
    assert data.encode_labels(["no", "yes", np.str_("no")]).classes == ("no", "yes")


@pytest.mark.parametrize("values", [10**400, [1, 10**400], [1j], ["a"], [[1], [2, 3]], object(), [None, {}]])
def test_what_is_no_array_of_floats_is_refused_by_name(values):
    with pytest.raises(ValueError, match="prices must"):
        as_floats(values, "prices")


def test_integers_of_any_size_within_float64_are_floats():
    assert as_floats([10**30, -1], "prices").tolist() == [1e30, -1.0]


def test_a_sparse_matrix_in_another_byte_order_is_taken():
    rows = scipy.sparse.csr_matrix(X)
    rows.data = rows.data.astype(">f4")
    found = data.check_features(rows)
    assert np.array_equal(found.toarray(), X) and found.dtype.isnative


def test_an_array_that_is_right_is_not_copied():
    assert as_array(X, "features") is X and data.check_features(X) is X


# -- scores and probabilities ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("predicted, share", [
    ([True, False, False, True], 0.5), ([1, 0, 0, 0], 0.25), ([-1, 1, 1, 1], 0.75), ([1.0, 0.0], 0.5),
])  # fmt: skip
def test_predictions_are_counted(predicted, share):
    assert classify_and_count(predicted) == share


@pytest.mark.parametrize("given", [[0.1, 0.9], [0.5], [2, 1], [-0.3, 0.7], [math.nan, 1.0], ["yes", "no"]])
def test_probabilities_and_scores_are_not_counted_as_predictions(given):
    with pytest.raises(ValueError, match="predicted_positive must"):
        classify_and_count(given)


def test_probabilities_that_are_cut_at_0_by_default_give_a_warning():
    shares = np.array([0.1, 0.9, 0.2, 0.4])
    for call in (metrics.confusion_at_threshold, metrics.Quantifier.fit):
        with pytest.warns(UserWarning, match="all scores lie in .0, 1., as probabilities do"):
            call(shares, SIGNS)
        call(shares, SIGNS, threshold=0.0)  # said so
        call(shares, SIGNS, threshold=0.5)
        call(2 * shares - 1, SIGNS)  # looks like scores


@pytest.mark.parametrize("format", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_every_matrix_of_scipy_is_sparse_and_its_array_is_not(format):
    matrix = scipy.sparse.csr_matrix(X).asformat(format)
    assert is_sparse(matrix) and not is_sparse(matrix.toarray()) and not is_sparse(X.tolist()) and not is_sparse(None)


@pytest.mark.parametrize(
    "strange", [(row for row in X), map(list, X), iter(X.tolist())], ids=["generator", "map", "iter"]
)
def test_values_that_come_one_by_one_are_refused_with_the_remedy(strange):
    with pytest.raises(ValueError, match=r"features must be an array, got a .*Pass list\(...\) of it, or pandas"):
        data.check_features(strange)
    with pytest.raises(ValueError, match="labels must be an array, got a "):
        data.encode_labels(strange)
