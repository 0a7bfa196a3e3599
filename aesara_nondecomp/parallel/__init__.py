"""Data-parallel training on MPI: every process holds some of the rows, and all of them take the same steps.

A mini-batch is drawn over all rows, alike in every process; each computes class sums and gradient on those of its
rows that are in it, one Allreduce adds them up, and the same update follows everywhere.  So the weights, the duals and
the history are those of one process with all the rows, up to the rounding of sums, and stay alike in all processes
without being sent.  A process whose part of a batch is empty, or lacks a class, is ordinary.

The communicator is mpi4py's (extra ``mpi``); nothing here imports it.
"""

from aesara_nondecomp.parallel.functions import SharedFunctions
from aesara_nondecomp.parallel.rows import Part, SharedRows, share
from aesara_nondecomp.parallel.together import (
    agreed,
    ending_together,
    gathered,
    on_root,
    own_numbers,
    own_share,
    world,
)

__all__ = [
    "Part", "SharedFunctions", "SharedRows", "agreed", "ending_together", "gathered", "on_root", "own_numbers",
    "own_share", "share", "world",
]  # fmt: skip
