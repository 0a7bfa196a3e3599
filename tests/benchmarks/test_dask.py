"""The paper harness on a Dask cluster gives the numbers of one process."""

from __future__ import annotations

import json

import pytest

from benchmarks.paper.grid import make_grid, runs
from benchmarks.paper.runner import run_all

pytest.importorskip("distributed", reason="needs Dask: the extra `dask`")
pytest.importorskip("joblib", reason="needs joblib: the extra `benchmarks`")

CLOCKS = {"seconds", "seconds_with_compilation", "run_seconds"}


def numbers(out):
    """The lines of all runs by file, clocks aside."""
    files = {path.name: path.read_text().splitlines() for path in sorted(out.glob("runs/*.jsonl"))}
    return {
        name: [{key: value for key, value in json.loads(line).items() if key not in CLOCKS} for line in lines]
        for name, lines in files.items()
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning")
def test_two_dask_workers_give_the_numbers_of_one_process(tmp_path):
    grid = make_grid(["f1"], ["letter"], ["dame", "plug_in"], [3], 3, None)
    outs = [tmp_path / name for name in ("alone", "dask")]
    assert run_all(runs(grid), None, outs[0], 1, {}) == 0
    assert run_all(runs(grid), None, outs[1], 2, {}, dask="local") == 0
    alone, shared = map(numbers, outs)
    assert len(alone) >= 2 and shared == alone
