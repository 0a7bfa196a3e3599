"""
MPI: every process holds its own rows
=====================================

Start it by ``mpirun -n 4 python mpi_fit.py`` (extra ``mpi``). All processes get the model that one would train on all
rows.
"""

from mpi4py import MPI

import aesara_nondecomp as an
from aesara_nondecomp import data

comm = MPI.COMM_WORLD
letter = data.load("letter")
mine = slice(comm.rank, None, comm.size)  # in real life each process reads its own file
model = an.fit(letter.X_train[mine], letter.y_train[mine], "f1", comm=comm, steps=200, validation=0.2, seed=0)
if comm.rank == 0:
    print("F1", model.value(letter.X_test, letter.y_test))
