# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 60
"""Whether malloc keeps what is freed: it does without mpiexec too, and it is left alone where the
user has settings of his own, by each variable that says so."""

import os
import subprocess
import sys
import unittest

BUILD = sys.argv.pop(1) if len(sys.argv) > 1 else os.environ["SHOAL_BUILD"]
PROGRAM = os.path.join(BUILD, "tests", "memory.kept")
# The values are glibc's own defaults: they change nothing but that somebody has chosen.
CHOICES = ({"SHOAL_MALLOC": "0"}, {"MALLOC_TRIM_THRESHOLD_": "131072"},
           {"MALLOC_MMAP_THRESHOLD_": "131072"}, {"MALLOC_TOP_PAD_": "131072"},
           {"GLIBC_TUNABLES": "glibc.malloc.trim_threshold=131072"})
OURS = ("SHOAL_MALLOC", "MALLOC_", "GLIBC_TUNABLES")


class Choice(unittest.TestCase):
    def run_with(self, argument, more):
        env = {k: v for k, v in os.environ.items() if not k.startswith(OURS)}
        done = subprocess.run([PROGRAM, argument], env={**env, **more}, timeout=30,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), more)

    def test_kept_without_mpiexec(self):
        self.run_with("kept", {})
        self.run_with("kept", {"SHOAL_MALLOC": "1"})
        self.run_with("kept", {"GLIBC_TUNABLES": "glibc.pthread.rseq=1"})

    def test_the_users_choice_counts(self):
        for choice in CHOICES:
            with self.subTest(choice=choice):
                self.run_with("untouched", choice)


if __name__ == "__main__":
    unittest.main()
