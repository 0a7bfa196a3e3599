"""Data-parallel training on MPI: every process holds some of the rows, and all of them take the same steps.

A mini-batch is drawn over all rows, alike in every process; each computes class sums and gradient on those of its
rows that are in it, one Allreduce adds them up, and the same update follows everywhere.  So the weights, the duals and
the history are those of one process with all the rows, up to the rounding of sums, and stay alike in all processes
without being sent.  A process whose part of a batch is empty, or lacks a class, is ordinary.

The communicator is mpi4py's (extra ``mpi``); nothing here imports it.
"""

from aesara_nondecomp._communicator import LOCAL, Communicator, SingleProcess, communicator
from aesara_nondecomp.parallel.collectives import (
    abort_on_error,
    all_succeed,
    allgather,
    comm_world,
    local_indices,
    local_slice,
    on_root,
)
from aesara_nondecomp.parallel.functions import DistributedFunctions, distributed
from aesara_nondecomp.parallel.rows import DistributedRows, LocalBatch, distribute_rows, gather_vectors

__all__ = [
    "LOCAL", "Communicator", "DistributedFunctions", "DistributedRows", "LocalBatch", "SingleProcess", "abort_on_error",
    "all_succeed", "allgather", "comm_world", "communicator", "distribute_rows", "distributed",
    "gather_vectors", "local_indices", "local_slice", "on_root",
]  # fmt: skip
