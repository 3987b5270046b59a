# SPDX-License-Identifier: BSD-3-Clause
"""The way back: every rank has something, afterwards one rank has the list of all, in the order of the ranks.

mpiexec -n 5 python gather.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD

squares = comm.gather((comm.rank + 1) ** 2, root=0)
if comm.rank == 0:
    for source, value in enumerate(squares):
        print(f"rank 0 has {value} from rank {source}")
else:
    assert squares is None  # only the root gets the list

# allgather: everyone gets it. Here with arrays, which land one below the other.
rows = np.empty((comm.size, 3))
comm.Allgather(np.full(3, float(comm.rank)), rows)
assert (rows[:, 0] == np.arange(comm.size)).all()
