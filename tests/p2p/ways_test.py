# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 240
"""The message tests once more with other ways for large messages: without reading other processes'
memory (SHOAL_CMA=0), with that from 12 KiB on (SHOAL_CMA=always), on one core (where the receiver
reads alone what is very long), and on all cores; and with a kernel that refuses to read or write it,
in each of the ways of refusing.h."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

PROGRAMS = [
    ("p2p.modes", 2),
    ("p2p.order", 2),
    ("p2p.sendrecv", 4),
    ("p2p.cancel", 2),
    ("p2p.counted_on", 2),
    ("errors.truncate", 2),
    ("threads.many", 2),
]
REFUSALS = 5


class Ways(unittest.TestCase):
    def check(self, *options, programs=PROGRAMS, **env):
        for name, ranks in programs:
            with self.subTest(name):
                r = launch.run("-n", ranks, *options, os.path.join(launch.PROGRAMS, name), timeout=100,
                               env=launch.clean_environment(**env))
                self.assertEqual(r.returncode, 0, r.stderr)
                self.assertEqual(r.stdout.count(" 0 failed"), ranks, r.stdout)

    def test_without_single_copy(self):
        self.check("-env", "SHOAL_CMA", "0")

    def test_with_single_copy_of_what_is_shorter(self):
        more = [("p2p.counted_on", 4), ("p2p.thresholds", 2), ("p2p.random", 3), ("p2p.backpressure", 2),
                ("p2p.matched", 2), ("p2p.probe", 2)]
        self.check(programs=PROGRAMS + more, SHOAL_CMA="always")

    def test_with_one_rank_that_may_not(self):
        program = os.path.join(launch.PROGRAMS, "p2p.counted_on")
        r = launch.run("-n", 1, "-env", "SHOAL_CMA", "0", program, ":", "-n", 1, program, timeout=60,
                       env=launch.clean_environment(SHOAL_CMA="always"))
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual(r.stdout.count(" 0 failed"), 2, r.stdout)

    def test_on_one_core(self):
        core = min(os.sched_getaffinity(0))
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})
        try:
            self.check()
        finally:
            os.sched_setaffinity(0, before)

    def test_without_single_copy_on_one_core(self):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {max(before)})
        try:
            self.check("-env", "SHOAL_CMA", "0")
        finally:
            os.sched_setaffinity(0, before)

    def test_with_a_kernel_that_refuses(self):
        for refusal in range(REFUSALS):
            self.check("-env", "REFUSAL", refusal, programs=[("p2p.meetings", 2)])
            self.check("-env", "REFUSAL", refusal, programs=[("p2p.meetings", 2)], SHOAL_CMA="always")


if __name__ == "__main__":
    launch.main()
