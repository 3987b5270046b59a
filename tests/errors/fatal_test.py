# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""With MPI_ERRORS_ARE_FATAL a mistake ends the job; the text names rank, call, communicator, values."""

import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

PROGRAM = os.path.join(launch.PROGRAMS, "errors.fatal")
WORLD = "MPI_COMM_WORLD"

# What is done wrong: the words that the report must have.
MISTAKES = {
    "rank": ["rank {last}", "MPI_Send", WORLD, "{beyond}"],
    "tag": ["rank {last}", "MPI_Recv", WORLD, "-44"],
    "count": ["rank {last}", "MPI_Isend", WORLD, "-3"],
    "self": ["rank {last}", "MPI_Send", "MPI_COMM_SELF", "1"],
    "named": ["rank {last}", "MPI_Send", "workers", "7"],
    "request": ["rank {last}", "MPI_Start", "null"],
    "flag": ["rank {last}", "MPI_Iprobe", "flag"],
    "nullcomm": ["rank {last}", "MPI_Comm_rank", "null"],
    "truncate": ["rank {last}", "MPI_Recv", WORLD, "400", "28"],
    "waitall": ["rank {last}", "MPI_Waitall"],
    "init": ["MPI_Init", "once"],
    "early": ["MPI_Comm_rank", "before MPI_Init"],
    "early-send": ["MPI_Send", "before MPI_Init"],
    "late": ["MPI_Comm_rank", "after MPI_Finalize"],
    "late-recv": ["MPI_Recv", "after MPI_Finalize"],
    "late-init": ["MPI_Init", "once"],
    "late-finalize": ["MPI_Finalize", "after MPI_Finalize"],
}


class Fatal(unittest.TestCase):
    def check(self, what, words, n):
        r = launch.run("-n", n, PROGRAM, what, timeout=launch.SOON)
        self.assertNotEqual(r.returncode, 0, what)
        self.assertLess(r.returncode, 128, (what, r.stderr))  # no signal: it did not crash
        self.assertNotIn("still here", r.stdout)
        for word in words:
            self.assertIn(word.format(last=n - 1, beyond=n + 4), r.stderr, what)

    def test_one_rank(self):
        for what, words in MISTAKES.items():
            if what != "self":
                with self.subTest(what):
                    self.check(what, words, 1)

    def test_three_ranks(self):
        for what, words in MISTAKES.items():
            with self.subTest(what):
                self.check(what, words, 3)

    def test_exit_status_is_the_class(self):
        self.assertEqual(launch.run("-n", 2, PROGRAM, "rank").returncode, 6)  # MPI_ERR_RANK
        self.assertEqual(launch.run("-n", 2, PROGRAM, "abort").returncode, 42)

    def test_without_mpiexec(self):
        import subprocess

        r = subprocess.run(
            [PROGRAM, "tag"],
            capture_output=True,
            text=True,
            timeout=10,
            env=launch.clean_environment(),
            check=False,
        )
        self.assertEqual(r.returncode, 4)  # MPI_ERR_TAG
        self.assertTrue(re.search(r"rank 0.*MPI_Recv on MPI_COMM_WORLD.*-44", r.stderr), r.stderr)


if __name__ == "__main__":
    launch.main()
