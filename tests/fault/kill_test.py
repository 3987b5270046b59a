# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 240
"""kill -9 of a rank, or of mpiexec, in the middle of heavy traffic with large messages: the job ends
at once, the rank is named, no process and no file stays. SHOAL_FAULT_ROUNDS says how often."""

import os
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

TRAFFIC = os.path.join(launch.PROGRAMS, "fault.traffic")
ROUNDS = int(os.environ.get("SHOAL_FAULT_ROUNDS", "20"))
PLACES = ("/dev/shm", "/tmp", "/run")


def processes(name):
    """The living processes of this program: kernel name and its first 15 characters."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        comm, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :]
        if comm == name[:15] and rest[0] not in "ZX":
            found.append((int(pid), int(rest.split()[1])))
    return found


def listing():
    return {
        os.path.join(d, n) for d in PLACES if os.path.isdir(d) for n in os.listdir(d) if "shoal" in n.lower()
    }


class Kills(unittest.TestCase):
    def setUp(self):
        self.dice = random.Random(int(os.environ.get("SHOAL_FAULT_SEED", "7")))
        self.before = listing()

    def start(self):
        """A job in full swing, and its ranks."""
        ranks = self.dice.choice([2, 3, 4, 8])
        job = launch.start("-n", ranks, TRAFFIC)

        def mine():
            return [pid for pid, parent in processes("fault.traffic") if parent == job.pid]

        self.assertTrue(launch.wait_until(lambda: len(mine()) == ranks))
        time.sleep(self.dice.random() * self.dice.choice([0.005, 0.05, 0.3]))
        return job, mine

    def test_a_rank(self):
        for _ in range(ROUNDS):
            job, mine = self.start()
            victim = self.dice.choice(mine())
            os.kill(victim, signal.SIGKILL)
            err = job.communicate(timeout=launch.SOON)[1]
            self.assertEqual(job.returncode, 137, err)
            self.assertRegex(err, rf"mpiexec: rank \d+ \(pid {victim}\) was killed by signal 9")
            self.assertEqual(mine(), [])
        self.assertEqual(listing() - self.before, set())

    def test_mpiexec(self):
        for _ in range(ROUNDS):
            job, mine = self.start()
            pids = set(mine())
            job.kill()
            job.communicate(timeout=launch.SOON)
            gone = launch.wait_until(lambda: not pids & {p for p, _ in processes("fault.traffic")})
            self.assertTrue(gone, processes("fault.traffic"))
        self.assertEqual(listing() - self.before, set())


if __name__ == "__main__":
    launch.main()
