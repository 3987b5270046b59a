# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""The watch: deadlocks are found at once and told, and nothing else is taken for one."""

import os
import signal
import subprocess
import time
import unittest

import launch
from launch import run

STUCK = os.path.join(launch.PROGRAMS, "launch.stuck")


class Deadlocks(unittest.TestCase):
    def check(self, ranks, mode, *lines):
        r = run("-n", ranks, STUCK, mode, timeout=launch.SOON)
        self.assertEqual(r.returncode, 86, r.stderr)
        for line in lines:
            self.assertIn(line + "\n", r.stderr)
        return r.stderr

    def test_receives_in_a_ring(self):
        self.check(
            3,
            "recv",
            "mpiexec: deadlock: all 3 ranks wait and nothing is under way",
            "  rank 0  MPI_Recv(source=1, tag=7) on MPI_COMM_WORLD, 4096 bytes",
            "  rank 1  MPI_Recv(source=2, tag=7) on MPI_COMM_WORLD, 4096 bytes",
            "  rank 2  MPI_Recv(source=0, tag=7) on MPI_COMM_WORLD, 4096 bytes",
        )

    def test_any_source_on_many_ranks(self):
        text = self.check(16, "any")
        self.assertIn("  ranks 0-15  MPI_Recv(source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG)", text)

    def test_sends(self):
        self.check(2, "send", "  rank 1  MPI_Ssend(dest=0, tag=3) on MPI_COMM_WORLD, 4194304 bytes")

    def test_barrier(self):
        self.check(
            4,
            "barrier",
            "  ranks 0 2-3  MPI_Barrier() on MPI_COMM_WORLD, to which rank 1 has not come",
            "  rank 1  MPI_Recv(source=0, tag=2) on MPI_COMM_WORLD, 4 bytes",
        )

    def test_many_sums(self):
        text = self.check(4, "sums", "  rank 3  MPI_Recv(source=0, tag=2) on MPI_COMM_WORLD, 4 bytes")
        self.assertIn("ranks 0-2  MPI_Iallreduce() on MPI_COMM_WORLD, to which rank 3 has not come", text)

    def test_alone(self):
        self.check(
            1,
            "self",
            "mpiexec: deadlock: the only rank waits and nothing is under way",
            "  rank 0  MPI_Recv(source=0, tag=1) on MPI_COMM_SELF, 4 bytes",
        )

    def test_threads_that_cannot_act(self):
        self.check(
            2, "thread-waits", "mpiexec: deadlock: all 2 ranks wait and nothing is under way"
        )

    def test_a_rank_that_left(self):
        r = run("-n", 3, STUCK, "left")
        self.assertEqual(r.returncode, 1)
        self.assertIn("exited with status 0 without calling MPI_Finalize", r.stderr)

    def test_report_goes_on(self):
        p = launch.start("-n", 2, "--on-deadlock=report", STUCK, "recv")
        time.sleep(1.2)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGTERM)
        err = p.communicate(timeout=launch.SOON)[1]
        self.assertEqual(err.count("deadlock"), 1, err)

    def test_ignore(self):
        r = run("-timeout", "0.8", "-on-deadlock", "ignore", "-n", 2, STUCK, "recv")
        self.assertEqual(r.returncode, 124)
        self.assertNotIn("deadlock", r.stderr)


class NoDeadlocks(unittest.TestCase):
    def check(self, ranks, mode):
        r = run("-n", ranks, STUCK, mode, timeout=40)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        self.assertEqual(r.stdout, "finished\n")

    def test_a_late_message(self):
        self.check(4, "slow")

    def test_a_ring(self):
        self.check(6, "ring")

    def test_storms(self):
        for mode in ("storm", "thread-storm"):
            for ranks in (2, 3, 8, 16):
                self.check(ranks, mode)

    def test_another_thread_acts(self):
        self.check(3, "thread-acts")

    def test_stopped_and_continued(self):
        p = launch.start("-n", 3, STUCK, "slow")
        time.sleep(0.3)
        p.send_signal(signal.SIGTSTP)
        time.sleep(0.5)
        p.send_signal(signal.SIGCONT)
        out, err = p.communicate(timeout=launch.SOON)
        self.assertEqual((p.returncode, out, err), (0, "finished\n", ""))


class Deaths(unittest.TestCase):
    def test_death_in_mpi(self):
        r = run("-n", 4, STUCK, "die")
        self.assertEqual(r.returncode, 137)
        self.assertRegex(r.stderr, r"\Ampiexec: rank 1 \(pid \d+\) was killed by signal 9")

    def test_abort(self):
        for code, status in ((7, 7), (300, 44), (256, 1), (0, 0)):
            r = run("-n", 3, STUCK, "abort", code)
            self.assertEqual(r.returncode, status)
            self.assertEqual(r.stderr, f"mpiexec: rank 1 called MPI_Abort(comm, {code})\n")

    def test_wrapped_rank_dies(self):
        r = run("-n", 3, "sh", "-c", f"{STUCK} die; true")
        self.assertNotEqual(r.returncode, 0)
        self.assertIn("rank 1", r.stderr)

    def test_wrapped_rank_dies_and_the_wrapper_goes_on(self):
        r = run("-n", 3, "sh", "-c", f"{STUCK} die; sleep 20", timeout=launch.SOON)
        self.assertEqual(r.returncode, 1)
        self.assertIn("mpiexec: rank 1: process ", r.stderr)
        self.assertIn("without calling MPI_Finalize", r.stderr)

    def test_kill_9_of_mpiexec_behind_a_shell(self):
        mark = f"36{os.getpid()}"
        p = launch.start(
            "-n",
            3,
            "--on-deadlock=ignore",
            "setsid",
            "-w",
            STUCK,
            "recv",
            mark,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.assertTrue(launch.wait_until(lambda: len(launch.marked(mark)) >= 7))
        time.sleep(0.3)
        p.kill()
        p.wait()
        self.assertTrue(launch.wait_until(lambda: not launch.marked(mark), 2), launch.marked(mark))


if __name__ == "__main__":
    launch.main()
