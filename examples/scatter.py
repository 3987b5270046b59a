# SPDX-License-Identifier: BSD-3-Clause
"""One rank deals out a list, one element for each rank: element i goes to rank i.

mpiexec -n 10 python scatter.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD

cards = [n * n for n in range(comm.size)] if comm.rank == 0 else None
card = comm.scatter(cards, root=0)
print(f"rank {comm.rank} was dealt {card}")

# More elements than ranks: split them first, into parts that need not be equal.
work = np.array_split(np.arange(23.0), comm.size) if comm.rank == 0 else None
part = comm.scatter(work, root=0)
total = comm.reduce(part.sum(), root=0)
if comm.rank == 0:
    print(f"the parts add up to {total:.0f}")
