# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 240
"""kill -9 of a random rank at a random time, again and again: the job always ends, the rank is
named, and nothing is left. SHOAL_FAULT_ROUNDS says how often (default 200)."""

import os
import random
import signal
import time
import unittest

import launch
from launch import marked

STUCK = os.path.join(launch.PROGRAMS, "launch.stuck")
ROUNDS = int(os.environ.get("SHOAL_FAULT_ROUNDS", "200"))
SEED = int(os.environ.get("SHOAL_FAULT_SEED", "1"))


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            found = [int(x) for x in f.read().split()]
    except OSError:
        return []
    return [c for c in found if name_of(c) == "launch.stuck"]


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            return f.read().strip()
    except OSError:
        return ""


class Faults(unittest.TestCase):
    def one_round(self, dice, mark):
        ranks = dice.choice([2, 3, 4, 8])
        mode = dice.choice(["recv", "send", "slow", "ring", "any", "storm"])
        p = launch.start("-n", ranks, "--on-deadlock=ignore", STUCK, mode, mark)
        delay = dice.random() * dice.choice([0.01, 0.05, 0.3])
        self.assertTrue(launch.wait_until(lambda: children(p.pid) or p.poll() is not None))
        time.sleep(delay)
        victims = children(p.pid)
        victim = dice.choice(victims) if victims else None
        if victim:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                victim = None
        out, err = p.communicate(timeout=launch.SOON)
        if p.returncode == 0:  # it was over before the blow fell
            self.assertEqual(out, "finished\n")
            return False
        self.assertEqual(p.returncode, 137, err)
        self.assertIn(f"(pid {victim}) was killed by signal 9", err)
        return True

    def test_random_kills(self):
        dice = random.Random(SEED)
        mark = f"fault-{os.getpid()}"
        shm = set(os.listdir("/dev/shm"))
        hits = sum(self.one_round(dice, mark) for _ in range(ROUNDS))
        self.assertGreater(hits, ROUNDS * 0.8)
        self.assertEqual(marked(mark), [])
        # What another test's MPICH has there goes in time.
        launch.wait_until(lambda: set(os.listdir("/dev/shm")) <= shm)
        self.assertEqual(set(os.listdir("/dev/shm")) - shm, set())


if __name__ == "__main__":
    launch.main()
