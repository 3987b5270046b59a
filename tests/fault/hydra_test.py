# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 300
"""Our library started by MPICH's own mpiexec (Hydra, from PyPI) forms one world: the message tests
run there as they do under ours."""

import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

PROGRAMS = [
    ("p2p.order", 4),
    ("p2p.complete", 4),
    ("p2p.sendrecv", 3),
    ("p2p.leaving", 4),
    ("p2p.buffered", 2),
    ("threads.many", 3),
    ("errors.truncate", 4),
    ("fault.fork", 2),
]


def hydra():
    """MPICH's mpiexec in a folder of the build directory, or None where pip cannot fetch it."""
    folder = os.path.join(launch.BUILD, "hydra")
    mpiexec = os.path.join(folder, "bin", "mpiexec")
    if not os.path.exists(mpiexec):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--target", folder, "mpich"],
            check=False,
            stderr=subprocess.DEVNULL,
        )
    return mpiexec if os.path.exists(mpiexec) else None


class UnderHydra(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mpiexec = hydra()
        if not cls.mpiexec:
            raise unittest.SkipTest("pip cannot install mpich")

    def run_program(self, name, ranks, *args):
        return subprocess.run(
            [self.mpiexec, "-n", str(ranks), os.path.join(launch.PROGRAMS, name), *args],
            capture_output=True,
            text=True,
            timeout=60,
            env=launch.clean_environment(),
            check=False,
        )

    def test_programs(self):
        for name, ranks in PROGRAMS:
            with self.subTest(name):
                r = self.run_program(name, ranks)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertEqual(r.stdout.count(" 0 failed"), ranks, r.stdout)

    def test_fatal_error_ends_the_job(self):
        r = self.run_program("errors.fatal", 3, "rank")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("rank 2", r.stderr)
        self.assertIn("MPI_Send", r.stderr)


if __name__ == "__main__":
    launch.main()
