# SPDX-License-Identifier: BSD-3-Clause
"""The sum of an array in parallel, the loop compiled by numba where it is installed.

By itself:      mpiexec -n 8 python psum.py
In ipyparallel: ipcluster start -n 8 --engines=mpi, then view.run("psum.py") and %px total = psum(x);
                rank 0 has the sum, each other rank its own number.
"""

import numpy as np
from mpi4py import MPI

try:
    from numba import njit
except ImportError:

    def njit(function):
        """Without numba the function stays as it is."""
        return function


@njit
def local_sum(x):
    total = 0.0
    for value in x:
        total += value
    return total


def psum(x):
    comm = MPI.COMM_WORLD
    parts = np.array_split(x, comm.size) if comm.rank == 0 else None
    part = comm.scatter(parts, root=0)
    total = comm.reduce(local_sum(part), op=MPI.SUM, root=0)
    return total if comm.rank == 0 else comm.rank


if __name__ == "__main__":
    everyone = MPI.COMM_WORLD.gather(psum(np.arange(80.0)), root=0)
    if MPI.COMM_WORLD.rank == 0:
        print([float(everyone[0]), *everyone[1:]])
