"""Settings that `fit` takes from the number and kind of the rows."""

import numpy as np
import pytest

import aesara_nondecomp as an
from aesara_nondecomp.training.run_settings import default_batch_size


@pytest.mark.parametrize(("n_rows", "text", "rows_of_a_step"), [
    (100, False, 100), (1_000, False, 256), (39_999, False, 256), (40_000, False, 512), (1_000_000, False, 512),
    (300, True, 300), (1_000, True, 512),
])  # fmt: skip
def test_small_tables_are_trained_on_half_as_many_rows_a_step_as_large_ones_and_texts(n_rows, text, rows_of_a_step):
    assert default_batch_size(n_rows, text) == rows_of_a_step


def test_a_batch_has_room_for_the_cells_of_many_groups():
    X, y = np.random.default_rng(0).normal(size=(18_000, 2)).astype("float32"), np.arange(18_000) % 2
    options = {"sampler": "cell_balanced", "network": (2,), "steps": 1, "validation": None, "seed": 0}
    model = an.fit(X, y, "worst_cell", groups=np.arange(18_000) // 120, **options)  # 300 cells of 60 rows
    assert model.history[0].samples == 512


def trained(X, y, batch_size):
    return an.fit(X, y, "min", steps=2, batch_size=batch_size, validation=None, averaging=0.0, seed=0)


@pytest.mark.parametrize(("rows", "rows_of_a_step"), [
    (np.random.default_rng(0).normal(size=(1024, 3)).astype("float32"), 256), (["good day", "bad day"] * 512, 512),
], ids=["numbers", "texts"])  # fmt: skip
def test_a_step_takes_the_default_number_of_rows_if_none_is_given(rows, rows_of_a_step):
    by_default, asked, other = (trained(rows, [1, 0] * 512, given) for given in (None, rows_of_a_step, 128))
    assert by_default.history[0].samples == asked.history[0].samples == rows_of_a_step
    assert np.array_equal(by_default.parameters[0], asked.parameters[0]) and other.history[0].samples == 128
