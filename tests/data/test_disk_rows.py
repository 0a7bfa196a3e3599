"""A matrix in a temporary file gives the rows of the array, and its epochs hold each row once."""

import gc
import json
import os

import numpy as np
import pytest

from aesara_nondecomp.data import LazyRows, MiniBatches, Standardiser, batches, disk_rows
from aesara_nondecomp.data.disk_rows import DiskMatrix, check_disk_space
from aesara_nondecomp.data.samplers import GROUPED_BLOCKS, EpochSampler

ROWS = np.random.default_rng(0).normal(size=(1000, 3))
SIGNS = np.where(np.arange(1000) % 3, -1, 1).astype("int8")


def on_disk(rows=ROWS, dtype="float64"):
    matrix = DiskMatrix(rows.shape[1], dtype)
    for part in np.array_split(rows, 7):
        matrix.append(part)
    return matrix.finish()


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of two rows, of which 600 are a group and 1,200 are kept."""
    monkeypatch.setattr(disk_rows, "BLOCK_BYTES", 2 * 3 * 8)


SELECTIONS = {
    "all": slice(None),
    "a part": slice(100, 300),
    "the end": slice(-5, None),
    "every third": slice(10, 50, 3),
    "nothing": slice(5, 5),
    "some": np.array([999, 0, 5, 5, 400]),
    "none": np.array([], dtype=int),
    "scattered": np.arange(0, 1000, 3)[::-1],
}


@pytest.mark.parametrize("name", SELECTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_on_a_disk_are_those_of_the_array(name, dtype, small_blocks):
    expected = ROWS.astype(dtype)[SELECTIONS[name]]
    found = on_disk(dtype=dtype)[SELECTIONS[name]]
    assert found.dtype == dtype and np.array_equal(found, expected)


def test_blocks_that_are_kept_and_replaced_give_the_rows_of_the_array(small_blocks, monkeypatch):
    monkeypatch.setattr(disk_rows, "_KEPT_BLOCKS", 4)
    matrix, rng = on_disk(), np.random.default_rng(1)
    for _ in range(300):
        chosen = 2 * rng.integers(500, size=rng.integers(1, 8)) + rng.integers(2)  # up to 7 blocks
        assert np.array_equal(matrix[chosen], ROWS[chosen])
    assert len(matrix._blocks) == 8


def test_each_request_of_an_epoch_reads_its_blocks_once(small_blocks, monkeypatch):
    monkeypatch.setattr(batches, "BLOCK_BYTES", 1)
    matrix, read = on_disk(np.tile(ROWS, (2, 1))), []
    original = DiskMatrix._read
    monkeypatch.setattr(DiskMatrix, "_read", lambda self, *at: read.append(at) or original(self, *at))
    drawn = MiniBatches(LazyRows(matrix), np.tile(SIGNS, 2), 50, seed=0)
    for _ in range(drawn.steps_per_epoch):
        next(drawn)
    assert len(read) <= 1.3 * 1000  # 1,000 blocks, and some of the next epoch, which is prefetched


def test_the_temporary_file_is_gone_with_the_matrix():
    matrix = on_disk()
    file = matrix._file.fileno()
    assert os.fstat(file).st_nlink == 0  # it has no name, so nothing is left if the process is killed
    del matrix
    gc.collect()
    with pytest.raises(OSError):
        os.fstat(file)


def test_too_little_space_is_told_before_rows_are_written():
    check_disk_space(1000, 10, "float32")
    with pytest.raises(ValueError, match=r"need 4000000000.0 GB in .*, got .*TMPDIR"):
        check_disk_space(10**15, 1000, "float32")


BLOCKS = {
    "whole blocks": (4096, 8, 64),
    "a part of a block": (4099, 8, 64),
    "padding": (5000, 7, 64),
    "one": (300, 1, 32),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_an_epoch_by_blocks_holds_each_row_once_and_then_padding(name):
    rows, block_rows, batch = BLOCKS[name]
    sampler = EpochSampler(rows, batch, np.random.default_rng(0), block_rows)
    per_epoch = -(-rows // batch)
    epochs = [sampler.draw(per_epoch).reshape(-1) for _ in range(3)]
    for drawn in epochs:
        assert np.array_equal(np.sort(drawn[:rows]), np.arange(rows)) and (drawn[rows:] == -1).all()
    assert not np.array_equal(epochs[0], epochs[1])


def test_a_group_holds_the_rows_of_randomly_chosen_blocks_in_random_order():
    rows, block_rows = 100_000, 10
    group = EpochSampler(rows, 1, np.random.default_rng(0), block_rows).draw(GROUPED_BLOCKS * block_rows).reshape(-1)
    assert len(np.unique(group // block_rows)) == GROUPED_BLOCKS
    assert abs(np.mean(group) / rows - 0.5) < 4 / np.sqrt(12 * GROUPED_BLOCKS)  # four standard errors
    assert abs(np.corrcoef(np.arange(len(group)), group)[0, 1]) < 0.1


@pytest.mark.parametrize("block_rows", [1000, 4])
def test_rows_of_a_single_group_are_shuffled_as_those_in_memory(block_rows):
    whole, grouped = (EpochSampler(1000, 32, np.random.default_rng(3), blocks) for blocks in (None, block_rows))
    assert np.array_equal(whole.draw(100), grouped.draw(100))


@pytest.mark.parametrize("before", [0, 3, 40, 156, 157, 200])
def test_a_restored_stream_of_blocks_goes_on_with_the_same_rows(before):
    first, second = (EpochSampler(5000, 32, np.random.default_rng(seed), 4) for seed in (0, 1))
    first.draw(before + 1)
    state = json.loads(json.dumps(first.state()))
    second.restore(state)
    assert np.array_equal(first.draw(300), second.draw(300))


def test_batches_from_a_disk_can_be_restored_and_are_standardised(small_blocks):
    scaling = Standardiser.fit(ROWS)
    rows = LazyRows(on_disk()).prepared("float32", scaling)
    first, again = (MiniBatches(rows, SIGNS, 64, seed=0) for _ in range(2))
    for _ in range(20):
        next(first)
    again.restore(json.loads(json.dumps(first.state())))
    scaled = scaling.transform(ROWS, "float32")
    for _ in range(30):
        batch = next(first)
        assert np.array_equal(next(again).X, batch.X)
        assert all((scaled == row).all(axis=1).any() for row in batch.X[: batch.rows])


def test_means_and_deviations_of_rows_on_a_disk_are_those_of_the_array():
    for found, expected in zip(Standardiser.fit(LazyRows(on_disk())), Standardiser.fit(ROWS)):
        assert np.array_equal(found, expected)
