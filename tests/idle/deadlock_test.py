# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""Deadlocks in every call that can block: status 86, and who waits where, for whom, for what."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

STUCK = os.path.join(launch.PROGRAMS, "idle.stuck_in")
BIG = 1 << 20

# What rank 0 of two is stuck in, as the report must say it.
REPORTS = {
    "wait": "rank 0  MPI_Wait(source=1, tag=21) on solvers, 4 bytes",
    "waitall": "rank 0  MPI_Waitall(source=1, tag=20), the first of 3 requests on solvers, 4 bytes",
    "waitany": "rank 0  MPI_Waitany(source=1, tag=20), the first of 3 requests on solvers, 4 bytes",
    "probe": "rank 0  MPI_Probe(source=1, tag=5) on solvers",
    "mprobe": "ranks 0-1  MPI_Mprobe(source=MPI_ANY_SOURCE, tag=5) on solvers",
    "ssend": "rank 0  MPI_Ssend(dest=1, tag=6) on solvers, 4 bytes",
    "large": f"rank 0  MPI_Send(dest=1, tag=6) on solvers, {BIG} bytes",
    "sendrecv": "rank 0  MPI_Sendrecv(source=1, tag=8) on solvers, 4 bytes",
    "detach": "MPI_Buffer_flush()",
    "finalize": "MPI_Finalize()",
    "flood": "rank 0  MPI_Send(dest=1, tag=6) on solvers, 8000 bytes",
    "threads": "1 more thread waits",
    "joined": "rank 0  MPI_Recv(source=1, tag=30) on MPI_COMM_WORLD, 4 bytes",
}


class Deadlocks(unittest.TestCase):
    def test_every_call(self):
        for what, report in REPORTS.items():
            with self.subTest(what):
                r = launch.run("-n", 2, STUCK, what, timeout=launch.SOON)
                self.assertEqual(r.returncode, 86, r.stderr)
                self.assertIn(report, r.stderr)

    def test_sixteen_ranks(self):
        r = launch.run("-n", 16, STUCK, "ssend", timeout=20)
        self.assertEqual(r.returncode, 86, r.stderr)
        for rank in range(16):
            self.assertIn(f"rank {rank}  MPI_Ssend(dest={(rank + 1) % 16}, tag=6) on solvers", r.stderr)


if __name__ == "__main__":
    launch.main()
