# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 240
"""PMI-1: the server by hand, with bad input, and with programs linked to MPICH from PyPI."""

import os
import shutil
import subprocess
import sys
import unittest

import launch
from launch import run

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = (sys.executable, os.path.join(HERE, "pmi_client.py"))


class ByHand(unittest.TestCase):
    def check(self, ranks, what):
        r = run("-n", ranks, *CLIENT, what, timeout=60)
        self.assertEqual((r.returncode, r.stdout), (0, "ok\n" * ranks), r.stderr)

    def test_whole_life(self):
        self.check(4, "whole_life")

    def test_nonsense(self):
        self.check(2, "nonsense")

    def test_pieces(self):
        self.check(2, "pieces")

    def test_flood(self):
        self.check(2, "flood")

    def test_leaving_without_finalize(self):
        r = run("-n", 3, *CLIENT, "leave", timeout=launch.SOON)
        self.assertEqual(r.returncode, 1)
        self.assertIn("rank 0", r.stderr)
        self.assertIn("without calling MPI_Finalize", r.stderr)

    def test_barrier_with_somebody_who_left(self):
        r = run("-n", 3, *CLIENT, "never")
        self.assertEqual(r.returncode, 86)
        self.assertIn("deadlock: 2 of 3 ranks wait", r.stderr)

    def test_abort(self):
        r = run("-n", 3, *CLIENT, "abort")
        self.assertEqual(
            (r.returncode, r.stderr), (9, "mpiexec: rank 1 called MPI_Abort(comm, 9)\n")
        )


def mpich():
    """A virtual environment with MPICH, made once in the build directory; None if it cannot be."""
    venv = os.path.join(launch.BUILD, "venv-mpich")
    mpicc = os.path.join(venv, "bin", "mpicc")
    if not os.path.exists(mpicc):
        shutil.rmtree(venv, ignore_errors=True)
        made = subprocess.run([sys.executable, "-m", "venv", venv], check=False)
        if made.returncode == 0:
            subprocess.run(
                [os.path.join(venv, "bin", "pip"), "install", "-q", "mpich"],
                check=False,
                stderr=subprocess.DEVNULL,
            )
    return venv if os.path.exists(mpicc) else None


class WithMpich(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.venv = mpich()
        if not cls.venv:
            raise unittest.SkipTest("pip cannot install mpich")
        source = os.path.join(launch.BUILD, "allreduce_mpich.c")
        shutil.copy(os.path.join(HERE, "allreduce_mpich.c.in"), source)
        cls.program = os.path.join(launch.BUILD, "allreduce_mpich")
        subprocess.run(
            [os.path.join(cls.venv, "bin", "mpicc"), source, "-o", cls.program], check=True
        )

    def test_four_ranks(self):
        r = run("-n", 4, self.program, timeout=60)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(sorted(r.stdout.splitlines()), [f"rank {i} of 4: 10" for i in range(4)])

    def test_one_rank(self):
        self.assertEqual(run("-n", 1, self.program).stdout, "rank 0 of 1: 1\n")

    def test_our_program_under_mpich_mpiexec(self):
        hydra = os.path.join(self.venv, "bin", "mpiexec")
        stuck = os.path.join(launch.PROGRAMS, "launch.stuck")
        r = subprocess.run(
            [hydra, "-n", "4", stuck, "ring"],
            capture_output=True,
            text=True,
            timeout=60,
            env=launch.clean_environment(),
            check=False,
        )
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "finished\n", ""))

    def test_abort(self):
        r = run("-n", 3, self.program, 6, timeout=60)
        self.assertEqual(r.returncode, 6)
        self.assertIn("mpiexec: rank 1 called MPI_Abort(comm, 6)", r.stderr)


if __name__ == "__main__":
    launch.main()
