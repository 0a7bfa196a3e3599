"""Write the lines of one run to a file, and do many runs in parallel.

A run writes its lines to a temporary file and renames it when it is complete. So if the command is killed, each file is
complete or absent, and the next start does the runs whose files are absent. Every process uses one BLAS thread.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from aesara_nondecomp._files import replacing
from benchmarks.gemm_floor import linked_blas
from benchmarks.paper.grid import Run
from benchmarks.paper.training import lines_of


def run_all(
    runs: Sequence[Run], data_dir: str | None, out: Path, jobs: int, stamp: dict[str, Any], dask: str | None = None
) -> int:
    """Do the runs that have no file yet.

    Parameters
    ----------
    runs : sequence of Run
        All runs, finished or not.
    data_dir : str or None
        Folder of the data sets that are not embedded.
    out : Path
        Gets ``runs/NAME.jsonl`` for each run, or ``errors/NAME.json`` if it fails; failed runs are repeated next time.
    jobs : int
        Number of processes.
    stamp : dict
        Commit and versions, added to every line.
    dask : str, optional
        Address of a Dask scheduler whose workers see `out` and `data_dir` under the same paths; "local" starts `jobs`
        workers here.

    Returns
    -------
    int
        Number of failed runs.
    """
    out = out.resolve()
    waiting = [run for run in runs if not lines_path(out, run).exists()]
    for folder in ("runs", "errors"):
        (out / folder).mkdir(parents=True, exist_ok=True)
        for stale in (out / folder).glob("*.partial"):  # of a command that was killed
            stale.unlink(missing_ok=True)
    if not waiting:
        return 0
    return sum(not ok for ok in unordered(run_one, [(run, data_dir, out, stamp) for run in waiting], jobs, dask))


def unordered(function: Callable[..., Any], calls: Sequence[tuple], jobs: int, dask: str | None = None) -> Iterator:
    """The results of many calls as they come, with a progress bar on stderr.

    Parameters
    ----------
    function : callable
        What is called; each process imports it.
    calls : sequence of tuple
        The arguments of each call.
    jobs : int
        Number of processes.
    dask : str, optional
        As in `run_all`.

    Yields
    ------
    object
        The result of a call.
    """
    tqdm = _tqdm()
    pause = 0.1 if sys.stderr.isatty() else 30.0
    with _workers(jobs, dask) as (joblib, count):
        pool = joblib.Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1)
        done = pool(joblib.delayed(function)(*call) for call in calls)
        yield from tqdm(done, total=len(calls), unit="run", mininterval=pause)


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread; joblib limits its workers, but with one job it starts none."""
    from threadpoolctl import threadpool_limits

    linked_blas()  # only a library that is loaded can be limited
    with threadpool_limits(1):
        yield


def run_one(run: Run, data_dir: str | None, out: Path, stamp: dict[str, Any]) -> bool:
    """Do a run and write its file; return False and write the error to a file if it fails."""
    begun = time.perf_counter()
    error_path = out / "errors" / f"{run.name}.json"
    try:
        with one_thread():
            lines = lines_of(run, data_dir)
    except Exception as error:  # a failed run must not stop the grid
        content = {**run._asdict(), "error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        _write_whole(error_path, [content])
        return False
    seconds = round(time.perf_counter() - begun, 3)
    _write_whole(lines_path(out, run), [{**line, "run_seconds": seconds, **stamp} for line in lines])
    error_path.unlink(missing_ok=True)
    return True


def lines_path(out: Path, run: Run) -> Path:
    """The file of a finished run."""
    return out / "runs" / f"{run.name}.jsonl"


def _write_whole(path: Path, lines: list[dict]) -> None:
    with replacing(path, text=True) as file:
        for line in lines:
            file.write(json.dumps(line, allow_nan=False) + "\n")


@contextmanager
def _workers(jobs: int, dask: str | None) -> Iterator[tuple[Any, int]]:
    """joblib with local processes or the workers of a Dask cluster, and their number (-1 for all)."""
    joblib = _joblib()
    if dask is None:
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield joblib, jobs
        return
    distributed = _distributed()
    local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**local) if dask == "local" else nullcontext(dask)
    with cluster as where, distributed.Client(where), joblib.parallel_config(backend="dask"):
        yield joblib, -1


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as missing:
        raise ValueError("--dask needs Dask: pip install 'aesara-nondecomp[dask]'") from missing
    return distributed


def _joblib() -> Any:
    try:
        import joblib
    except ImportError as missing:
        raise ValueError("runs in processes need joblib: pip install 'aesara-nondecomp[benchmarks]'") from missing
    return joblib


def _tqdm() -> Any:
    try:
        from tqdm import tqdm
    except ImportError as missing:
        raise ValueError("the progress of runs needs tqdm: pip install 'aesara-nondecomp[benchmarks]'") from missing
    return tqdm
