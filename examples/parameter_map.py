# SPDX-License-Identifier: BSD-3-Clause
"""A map over two parameters: the outer one is scattered, each rank does the inner loop, the rows are gathered.

The model is the steady state of a surface reaction A + B -> AB in which both gases compete for free sites;
it stands for any function that takes a while for each pair of parameters.

mpiexec -n 10 python parameter_map.py [points]
"""

import sys

import numpy as np
from mpi4py import MPI


def rate(pressure_a: float, pressure_b: float, steps: int = 400) -> float:
    """The reaction's rate once the coverages have settled, by following them in time."""
    a = b = 0.0
    for _ in range(steps):
        free = 1.0 - a - b
        reaction = 2.0 * a * b
        a += 0.05 * (pressure_a * free - 0.1 * a - reaction)
        b += 0.05 * (pressure_b * free - 0.1 * b - reaction)
    return 2.0 * a * b


comm = MPI.COMM_WORLD
points = int(sys.argv[1]) if len(sys.argv) > 1 else 30
axis = np.linspace(1e-5, 0.5, points)

start = MPI.Wtime()
# Every rank gets each size-th row: [0, 10, 20], [1, 11, 21], ...
mine = comm.scatter([axis[r :: comm.size] for r in range(comm.size)] if comm.rank == 0 else None, root=0)
rows = [[rate(a, b) for b in axis] for a in mine]
gathered = comm.gather(rows, root=0)

if comm.rank == 0:
    table = np.empty((points, points))
    for r, part in enumerate(gathered):
        if part:
            table[r :: comm.size] = part
    assert np.allclose(table, table.T)  # the model does not care which gas is called A
    i, j = np.unravel_index(table.argmax(), table.shape)
    print(f"{points} x {points} points on {comm.size} ranks")
    print(f"the largest rate is {table.max():.4f} at pressures {axis[i]:.3f} and {axis[j]:.3f}")
    print(f"took {MPI.Wtime() - start:.2f} s", file=sys.stderr)
