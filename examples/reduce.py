# SPDX-License-Identifier: BSD-3-Clause
"""Everyone's numbers combined into one result, element by element, by each of the usual operations.

mpiexec -n 3 python reduce.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size

# Rank r contributes (r+1) * [0 1 2 ...]; with three ranks the rows are [0 1 2], [0 2 4] and [0 3 6].
mine = (rank + 1) * np.arange(size, dtype=np.int64)
result = np.zeros_like(mine)

for name in ("SUM", "PROD", "MAX", "MIN", "LAND"):
    comm.Reduce(mine, result, op=getattr(MPI, name), root=0)
    if rank == 0:
        print(f"{name:<6} {result.tolist()}")

# MAXLOC and MINLOC find the extreme value and the rank that has it; they work on (value, rank) pairs. The rank
# in the middle has the largest value here, the last one the smallest.
height = float((rank + 1) * (size - rank)) - 0.5 * rank
highest = comm.reduce((height, rank), op=MPI.MAXLOC, root=0)
lowest = comm.reduce((height, rank), op=MPI.MINLOC, root=0)
if rank == 0:
    print(f"MAXLOC {highest[0]} on rank {highest[1]}")
    print(f"MINLOC {lowest[0]} on rank {lowest[1]}")

# The same with arrays: a structured type laid out like C's, and the MPI datatype that matches it.
pairs = np.zeros(1, dtype=np.dtype([("value", "f8"), ("rank", "i4")], align=True))
pairs["value"], pairs["rank"] = height, rank
best = np.zeros_like(pairs)
comm.Allreduce([pairs, 1, MPI.DOUBLE_INT], [best, 1, MPI.DOUBLE_INT], op=MPI.MAXLOC)
if rank == 0:
    print(f"as an array: {best['value'][0]} on rank {best['rank'][0]}")
