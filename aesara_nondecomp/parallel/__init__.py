"""Data-parallel training on MPI: every process holds some of the rows, and all processes take the same steps.

Each process draws the same mini-batch over all rows and computes class sums and gradient on its own rows in it; one
Allreduce adds them up, and every process makes the same update. So the weights, the duals and the history are those
of one process with all the rows, up to the rounding of sums, and stay equal in all processes without being sent. The
part of a batch in one process may be empty, or lack a class.

The communicator is mpi4py's (extra ``mpi``), or `LOCAL` in a single process; mpi4py is imported by `comm_world` alone.

Reading order: `collectives`, `rows` (features spread over processes), `functions` (the step on them), `class_functions`
(that of several classes).
"""

from aesara_nondecomp._communicator import LOCAL, Communicator, SingleProcess, communicator
from aesara_nondecomp.parallel.collectives import (
    CommonError,
    abort_on_error,
    agree,
    all_succeed,
    allgather,
    comm_world,
    common_error,
    local_indices,
    local_slice,
    on_root,
)
from aesara_nondecomp.parallel.functions import DistributedFunctions, Functions, distributed
from aesara_nondecomp.parallel.rows import DistributedRows, LocalBatch, distribute_rows, gather_vectors, rows_digest

__all__ = [
    "LOCAL", "CommonError", "Communicator", "DistributedFunctions", "DistributedRows", "Functions", "LocalBatch",
    "SingleProcess", "abort_on_error", "agree", "all_succeed", "allgather", "comm_world", "common_error",
    "communicator", "distribute_rows", "distributed", "gather_vectors", "local_indices", "local_slice", "on_root",
    "rows_digest",
]  # fmt: skip
