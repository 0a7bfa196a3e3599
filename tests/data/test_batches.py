"""Mini-batches: coverage, shapes, shares, weights, and a state that can be restored."""

import itertools
import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse

from aesara_nondecomp.data import MiniBatches, both_classes
from aesara_nondecomp.data import batches as batches_module
from aesara_nondecomp.data.samplers import EpochSampler

N, D = 53, 3
RNG = np.random.default_rng(0)
SIGNS = np.where(RNG.random(N) < 0.3, 1, -1)
# Column 0 is the row's number, so that a batch tells which rows it holds; no row is all zero.
X = np.column_stack([np.arange(1, N + 1), RNG.random((N, D - 1))]).astype(np.float32)
SAMPLERS = ["natural", "stratified", "balanced", 0.2]


def row_numbers(batch):
    return (batch.X[: batch.rows, 0] - 1).astype(int).tolist()


def copies(batches, count):
    """Independent copies, since a batch is only valid until the next."""
    return [(b.X.copy(), b.y.copy(), b.rows) for b in itertools.islice(batches, count)]


def assert_same(left, right):
    assert len(left) == len(right)
    for (X_left, y_left, rows_left), (X_right, y_right, rows_right) in zip(left, right):
        assert rows_left == rows_right
        assert X_left.tobytes() == X_right.tobytes()
        assert y_left.tobytes() == y_right.tobytes()


@pytest.mark.parametrize("batch_size", [1, 7, 53])
def test_an_epoch_covers_every_row_once_including_the_last_incomplete_batch(batch_size):
    batches = MiniBatches(X, SIGNS, batch_size, seed=0)
    for _ in range(3):
        seen = []
        for _ in range(batches.steps_per_epoch):
            batch = next(batches)
            seen += row_numbers(batch)
            assert batch.y[: batch.rows].tolist() == SIGNS[row_numbers(batch)].tolist()
        assert sorted(seen) == list(range(N))


def test_epochs_come_in_different_orders():
    batches = MiniBatches(X, SIGNS, N, seed=0)
    assert row_numbers(next(batches)) != row_numbers(next(batches))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches_have_one_shape_and_the_padding_rows_are_zero(dtype):
    batches = MiniBatches(X.astype(dtype), SIGNS, 10, seed=0)
    for batch in itertools.islice(batches, 12):
        assert batch.X.shape == (10, D) and batch.y.shape == (10,)
        assert batch.X.dtype == batch.y.dtype == dtype
        assert not batch.X[batch.rows :].any() and not batch.y[batch.rows :].any()
        assert batch.y[: batch.rows].all()
    sizes = [batch.rows for batch in itertools.islice(MiniBatches(X, SIGNS, 10, seed=0), 6)]
    assert sizes == [10, 10, 10, 10, 10, 3]


@pytest.mark.parametrize(
    "sampler, positives",
    [("stratified", round(float(np.mean(SIGNS > 0)) * 10)), ("balanced", 5), (0.2, 2), (0.001, 1), (0.999, 9)],
)
def test_each_batch_has_the_positives_asked_for_and_says_its_share(sampler, positives):
    batches = MiniBatches(X, SIGNS, 10, seed=0, sampler=sampler)
    assert batches.positive_share == positives / 10
    for batch in itertools.islice(batches, 20):
        assert batch.rows == 10
        assert np.sum(batch.y > 0) == positives and np.sum(batch.y < 0) == 10 - positives


def test_the_natural_sampler_reports_the_prior():
    assert MiniBatches(X, SIGNS, 10, seed=0).positive_share == np.mean(SIGNS > 0)


@pytest.mark.parametrize("sampler", ["stratified", "balanced", 0.2])
def test_class_streams_use_every_row_of_a_class_equally_often(sampler):
    batches = MiniBatches(X, SIGNS, 10, seed=0, sampler=sampler)
    counts = np.zeros(N, dtype=int)
    for batch in itertools.islice(batches, 40):
        # A batch that crosses two epochs may hold a row twice, which `counts[...] += 1` would miss.
        np.add.at(counts, row_numbers(batch), 1)
    for of_class in (counts[SIGNS > 0], counts[SIGNS < 0]):
        assert of_class.max() - of_class.min() <= 1


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_sums_over_the_positive_share_estimate_the_class_means_without_bias(sampler):
    reward = X[:, 1].astype(float)
    batches = MiniBatches(X, SIGNS, 10, seed=0, sampler=sampler)
    # So many batches that all streams end an epoch together: the average is then exact.
    count = int(np.sum(SIGNS > 0) * np.sum(SIGNS < 0)) * batches.steps_per_epoch
    sums, rows = np.zeros(2), 0
    for batch in itertools.islice(batches, count):
        values = batch.X[:, 1].astype(float)
        sums += values[batch.y > 0].sum(), values[batch.y < 0].sum()
        rows += batch.rows
    shares = np.array([batches.positive_share, 1 - batches.positive_share])
    estimates = sums / (rows * shares)
    np.testing.assert_allclose(estimates, [reward[SIGNS > 0].mean(), reward[SIGNS < 0].mean()], rtol=1e-9)


def test_y_is_the_sign_times_the_sample_weight():
    weight = RNG.random(N)
    batches = MiniBatches(X, SIGNS, 10, seed=0, sample_weight=weight)
    for batch in itertools.islice(batches, 12):
        rows = row_numbers(batch)
        np.testing.assert_allclose(batch.y[: batch.rows], SIGNS[rows] * weight[rows], rtol=1e-6)


@pytest.mark.parametrize("sampler", ["natural", "stratified", "balanced", 0.3])
def test_the_positive_share_is_that_of_the_weight_drawn(sampler):
    weight = np.where(SIGNS > 0, 3.0, 1.0) * RNG.random(N)
    batches = MiniBatches(X, SIGNS, 10, seed=0, sampler=sampler, sample_weight=weight)
    drawn = np.concatenate([next(batches).y.copy() for _ in range(batches.steps_per_epoch * 200)]).astype(float)
    assert batches.positive_share == pytest.approx(drawn[drawn > 0].sum() / np.abs(drawn).sum(), rel=0.01)
    assert batches.positive_share != pytest.approx(MiniBatches(X, SIGNS, 10, 0, sampler).positive_share, rel=0.1)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_equal_seeds_give_equal_batches_and_others_do_not(sampler):
    first, again, other = (copies(MiniBatches(X, SIGNS, 10, seed, sampler), 15) for seed in (4, 4, 5))
    assert_same(first, again)
    assert any((a[0] != b[0]).any() for a, b in zip(first, other))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("matrix", [X, scipy.sparse.csr_matrix(X)], ids=["dense", "csr"])
@pytest.mark.parametrize("block_bytes", [1, 400, 2**23])
def test_blocks_and_sparse_storage_leave_the_batches_unchanged(monkeypatch, sampler, matrix, block_bytes):
    expected = copies(MiniBatches(X, SIGNS, 10, 3, sampler), 20)
    monkeypatch.setattr(batches_module, "BLOCK_BYTES", block_bytes)
    assert_same(copies(MiniBatches(matrix, SIGNS, 10, 3, sampler), 20), expected)


@pytest.mark.parametrize("rows", [20, 40_000])
def test_an_epoch_is_numpys_permutation(rows):
    sampler = EpochSampler(rows, rows, np.random.default_rng(5))
    rng = np.random.default_rng(int(np.random.default_rng(5).integers(2**63)))
    for _ in range(2):
        np.testing.assert_array_equal(sampler.draw(1)[0], rng.permutation(np.arange(rows, dtype="int32")))


def test_a_memory_map_gives_the_batches_of_the_array(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert_same(copies(MiniBatches(mapped, SIGNS, 10, 3), 20), copies(MiniBatches(X, SIGNS, 10, 3), 20))


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("drawn", [0, 1, 4, 6, 17])
@pytest.mark.parametrize("block_bytes", [300, 2**23], ids=["several blocks", "one block"])
def test_a_restored_state_continues_bit_for_bit(monkeypatch, sampler, drawn, block_bytes):
    monkeypatch.setattr(batches_module, "BLOCK_BYTES", block_bytes)
    original = MiniBatches(X, SIGNS, 10, seed=1, sampler=sampler)
    copies(original, drawn)
    stored = json.loads(json.dumps(original.state()))
    restored = MiniBatches(X, SIGNS, 10, seed=99, sampler=sampler)
    copies(restored, 3)
    restored.restore(stored)
    expected = copies(original, 25)
    assert_same(copies(restored, 25), expected)


def test_a_state_of_restored_batches_can_be_restored_again(monkeypatch):
    original = MiniBatches(X, SIGNS, 10, seed=1)
    copies(original, 4)
    # Another size of block, as another version of the package could have.
    monkeypatch.setattr(batches_module, "BLOCK_BYTES", 300)
    middle = MiniBatches(X, SIGNS, 10, seed=2)
    middle.restore(original.state())
    last = MiniBatches(X, SIGNS, 10, seed=3)
    copies(original, 3), copies(middle, 3)
    last.restore(middle.state())
    assert_same(copies(last, 15), copies(original, 15))


def test_a_state_stored_before_epochs_were_padded_continues_with_the_next_epoch():
    batches = MiniBatches(X, SIGNS, 10, seed=1)
    start = batches.state()
    copies(batches, batches.steps_per_epoch)
    old = json.loads(json.dumps(start))
    old["streams"][0]["position"], old["batches_since"] = N, 0
    again = MiniBatches(X, SIGNS, 10, seed=2)
    again.restore(old)
    assert_same(copies(again, 15), copies(batches, 15))


def test_taking_the_state_does_not_disturb_the_batches():
    watched, other = MiniBatches(X, SIGNS, 10, seed=1), MiniBatches(X, SIGNS, 10, seed=1)
    for _ in range(15):
        watched.state()
        assert_same(copies(watched, 1), copies(other, 1))


@pytest.mark.parametrize(
    "changed, message", [({"batch_size": 9}, "batch_size = 9"), ({"sampler": "balanced"}, "positives_per_batch = 5")]
)
def test_a_state_of_other_batches_is_refused(changed, message):
    state = MiniBatches(X, SIGNS, 10, seed=1).state()
    other = MiniBatches(X, SIGNS, **{"batch_size": 10, "seed": 1, **changed})
    with pytest.raises(ValueError, match=message):
        other.restore(state)


def test_a_batch_size_above_n_uses_the_whole_set_and_warns_once():
    with pytest.warns(UserWarning, match="batch_size=100 exceeds the 53 training rows") as caught:
        batches = MiniBatches(X, SIGNS, 100, seed=0)
        batch = next(batches)
    assert len(caught) == 1
    assert batches.batch_size == batch.rows == N and batches.steps_per_epoch == 1
    assert sorted(row_numbers(batch)) == list(range(N))


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": -3}, "batch_size"),
        ({"batch_size": 10.0}, "batch_size"),
        ({"batch_size": True}, "batch_size"),
        ({"sampler": "balansed"}, "Did you mean 'balanced'"),
        ({"sampler": 0.0}, "strictly between 0 and 1"),
        ({"sampler": 1.5}, "strictly between 0 and 1"),
        ({"sampler": "balanced", "batch_size": 1}, "room for both classes"),
        ({"sample_weight": np.ones(3)}, "one weight per row"),
        ({"sample_weight": np.full(N, -1.0)}, "not negative"),
        ({"sample_weight": np.full(N, np.nan)}, "finite"),
        ({"sample_weight": np.zeros(N)}, "above 0 for some rows of each class, got 0 for all positive rows"),
        ({"sample_weight": SIGNS > 0}, "above 0 for some rows of each class, got 0 for all negative rows"),
        ({"signs": np.ones(N)}, "both classes present"),
        ({"signs": np.where(SIGNS > 0, 1, 0)}, r"in \{-1, \+1\}"),
        ({"signs": SIGNS[:-1]}, "same number of rows"),
        ({"X": X.astype(int)}, "floating array"),
    ],
)
def test_unusable_arguments_are_refused(changed, message):
    arguments = {"X": X, "signs": SIGNS, "batch_size": 10, "seed": 0, **changed}
    with pytest.raises(ValueError, match=message):
        MiniBatches(**arguments)


def test_both_classes_skips_batches_of_one_class():
    signs = np.where(np.arange(N) == 20, 1, -1)
    batch = both_classes(MiniBatches(X, signs, 4, seed=0))
    assert 20 in row_numbers(batch) and set(batch.y) == {-1.0, 1.0}


def test_both_classes_gives_up_with_a_clear_error():
    with pytest.raises(ValueError, match="none in 50 draws"):
        both_classes(MiniBatches(X, SIGNS, 1, seed=0), draws=50)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_after_an_interrupt_rows_and_labels_still_belong_together(sampler, monkeypatch):
    monkeypatch.setattr(batches_module, "BLOCK_BYTES", 300)
    batches = MiniBatches(X, SIGNS, 10, 1, sampler)
    copies(batches, 1)
    request, interrupts = batches._loader.request, iter([True])

    def interrupted(indices):
        request(indices)
        if next(interrupts, False):
            raise KeyboardInterrupt

    monkeypatch.setattr(batches._loader, "request", interrupted)
    with pytest.raises(KeyboardInterrupt):
        copies(batches, 20)
    for batch in itertools.islice(batches, 20):
        assert batch.y[: batch.rows].tolist() == SIGNS[row_numbers(batch)].tolist()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_batches_cost_a_few_blocks_of_memory_not_a_copy_of_the_data(sparse):
    rows, columns = 200_000, 64
    dense = np.zeros((rows, columns), dtype=np.float32)
    dense[:, 0] = 1.0
    matrix = scipy.sparse.csr_matrix(dense) if sparse else dense
    signs = np.tile([1, -1], rows // 2)
    tracemalloc.start()
    try:
        batches = MiniBatches(matrix, signs, 512, seed=0)
        for _ in range(batches.steps_per_epoch + 1):
            next(batches)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * batches_module.BLOCK_BYTES < dense.nbytes / 3


def test_rows_that_are_no_array_are_refused_with_what_is_needed():
    with pytest.raises(ValueError, match=r"mini-batches need a 2-D floating array .*, got \(\) of list"):
        MiniBatches([[0.0], [1.0]], np.array([1, -1]), 2, 0)
