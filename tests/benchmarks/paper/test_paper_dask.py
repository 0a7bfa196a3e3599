"""The paper's grid on a Dask cluster gives the numbers of one process."""

from __future__ import annotations

import pytest
from paper_runs import lines_of, small_grid

from benchmarks.paper.grid import runs
from benchmarks.paper.runner import run_all

pytest.importorskip("distributed", reason="needs Dask: the extra `dask`")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning")
def test_two_dask_workers_give_the_numbers_of_one_process(undisturbed, tmp_path):
    assert run_all(runs(small_grid()), None, tmp_path, 2, {"commit": "c"}, dask="local") == 0
    alone, shared = lines_of(undisturbed), lines_of(tmp_path)
    assert len(alone) >= 2 and shared == alone
