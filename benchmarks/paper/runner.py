"""One run to a file of lines, and many runs in parallel.

A run writes its lines to a temporary file and renames it when all are there: however the harness is killed, a file is
whole or absent, and the next start runs what is absent. Every process uses one BLAS thread.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.gemm_floor import linked_blas
from benchmarks.paper.grid import Run
from benchmarks.paper.training import lines_of


def run_all(
    runs: Sequence[Run], data_dir: str | None, out: Path, jobs: int, stamp: dict[str, Any], dask: str | None = None
) -> int:
    """Run what has no file yet, `jobs` at a time; the number of runs that failed.

    Parameters
    ----------
    runs : sequence of Run
    data_dir : str or None
    out : Path. Gets ``runs/NAME.jsonl``, and ``errors/NAME.json`` for a run that fails; it is tried again next time.
    jobs : int. Number of processes.
    stamp : dict. Commit and versions, for every line.
    dask : str, optional
        Address of a Dask scheduler, whose workers see `out` and `data_dir` under the same paths; "local" starts `jobs`
        workers here.
    """
    out = out.resolve()
    waiting = [run for run in runs if not lines_path(out, run).exists()]
    for folder in ("runs", "errors"):
        (out / folder).mkdir(parents=True, exist_ok=True)
        for stale in (out / folder).glob("*.partial"):  # of a harness that was killed
            stale.unlink(missing_ok=True)
    if not waiting:
        return 0
    tqdm = _tqdm()
    pause = 0.1 if sys.stderr.isatty() else 30.0
    with _workers(jobs, dask) as (joblib, count):
        pool = joblib.Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1)
        done = pool(joblib.delayed(run_one)(run, data_dir, out, stamp) for run in waiting)
        return sum(not ok for ok in tqdm(done, total=len(waiting), unit="run", mininterval=pause))


def run_one(run: Run, data_dir: str | None, out: Path, stamp: dict[str, Any]) -> bool:
    """Make a run and write its file; False, and a file of the error, if it fails."""
    from threadpoolctl import threadpool_limits

    begun = time.perf_counter()
    error_path = out / "errors" / f"{run.name}.json"
    try:
        # Single process too, where joblib starts no worker with limits of its own; what is not loaded has no limit.
        linked_blas()
        with threadpool_limits(1):
            lines = lines_of(run, data_dir)
    except Exception as error:  # the grid goes on, whatever went wrong in one run
        content = {**run._asdict(), "error": f"{type(error).__name__}: {error}", "traceback": traceback.format_exc()}
        _write_whole(error_path, [content])
        return False
    whole = round(time.perf_counter() - begun, 3)
    _write_whole(lines_path(out, run), [{**line, "run_seconds": whole, **stamp} for line in lines])
    error_path.unlink(missing_ok=True)
    return True


def lines_path(out: Path, run: Run) -> Path:
    """The file of a finished run."""
    return out / "runs" / f"{run.name}.jsonl"


def _write_whole(path: Path, lines: list[dict]) -> None:
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    with partial.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, allow_nan=False) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)


@contextmanager
def _workers(jobs: int, dask: str | None) -> Iterator[tuple[Any, int]]:
    """joblib, set to use processes here or the workers of a Dask cluster, and their number (-1: all there are)."""
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


def _distributed():
    try:
        import distributed
    except ImportError as missing:
        raise ValueError("--dask needs Dask: pip install 'aesara-nondecomp[dask]'") from missing
    return distributed


def _joblib():
    try:
        import joblib
    except ImportError as missing:
        raise ValueError("the harness needs joblib: pip install 'aesara-nondecomp[benchmarks]'") from missing
    return joblib


def _tqdm():
    try:
        from tqdm import tqdm
    except ImportError as missing:
        raise ValueError("the harness needs tqdm: pip install 'aesara-nondecomp[benchmarks]'") from missing
    return tqdm
