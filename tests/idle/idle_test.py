# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""Blocked ranks use no processor: the sum over 15 ranks blocked for two seconds, in several calls."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

BLOCKED = os.path.join(launch.PROGRAMS, "idle.blocked")
SECONDS = 2
# The goal is 1 % of a core. Falling asleep and waking are in the figure, and sanitizers slow both.
SHARE = 0.03


class Idle(unittest.TestCase):
    def check(self, how):
        r = launch.run("-n", 16, BLOCKED, how)
        self.assertEqual(r.returncode, 0, r.stderr)
        share = float(r.stdout) / SECONDS
        print(f"{how}: {share * 100:.2f} % of a core")
        self.assertLess(share, SHARE, how)

    def test_recv(self):
        self.check("recv")

    def test_recv_from_anybody(self):
        self.check("any")

    def test_probe(self):
        self.check("probe")

    def test_waitany(self):
        self.check("waitany")

    def test_synchronous_send(self):
        self.check("ssend")

    def test_thread_multiple(self):
        self.check("threads")


if __name__ == "__main__":
    launch.main()
