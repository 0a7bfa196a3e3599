"""The runs of the small grid, done once."""

import pytest
from paper_runs import small_grid


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The folder of the small grid, run from beginning to end in one process."""
    pytest.importorskip("joblib")
    pytest.importorskip("threadpoolctl")
    pytest.importorskip("tqdm")
    from benchmarks.paper import runner
    from benchmarks.paper.grid import runs

    out = tmp_path_factory.mktemp("undisturbed")
    assert runner.run_all(runs(small_grid()), None, out, 1, {"commit": "c"}) == 0
    return out
