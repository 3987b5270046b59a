# SPDX-License-Identifier: BSD-3-Clause
"""One rank has something, afterwards all have it.

Every rank calls bcast, with the same root; what the others pass in does not matter.

mpiexec -n 10 python broadcast.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD

settings = {"steps": 100, "rate": 0.5} if comm.rank == 0 else None
settings = comm.bcast(settings, root=0)
print(f"rank {comm.rank} works with {settings['steps']} steps at a rate of {settings['rate']}")

# The same for an array, in place: the others bring room for it.
weights = np.linspace(0.0, 1.0, 5) if comm.rank == 0 else np.empty(5)
comm.Bcast(weights, root=0)
assert weights[-1] == 1.0
