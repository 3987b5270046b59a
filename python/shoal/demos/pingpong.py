# SPDX-License-Identifier: BSD-3-Clause
"""Half the round trip of a small Python object between two ranks, in microseconds; other ranks wait."""

from __future__ import annotations

import sys
import time

from mpi4py import MPI

ROUNDS = 5


def play(comm: MPI.Comm, count: int) -> float:
    start = time.perf_counter()
    for i in range(count):
        if comm.rank == 0:
            comm.send(i, dest=1)
            comm.recv(source=1)
        else:
            comm.send(comm.recv(source=0), dest=0)
    return (time.perf_counter() - start) / count / 2 * 1e6


def main() -> None:
    comm = MPI.COMM_WORLD
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    if comm.rank < 2:
        times = [play(comm, count) for _ in range(ROUNDS)]
        if comm.rank == 0:
            print(f"{sorted(times)[ROUNDS // 2]:.2f}")
    # The others sleep here until the two are done.
    if comm.rank == 0:
        for rank in range(2, comm.size):
            comm.send(None, dest=rank)
    elif comm.rank > 1:
        comm.recv(source=0)


if __name__ == "__main__":
    main()
