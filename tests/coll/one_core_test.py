#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of two and three ranks that have one core between them: more ranks than cores, and the
fewest ranks that can be."""
# TIMEOUT: 300

import os
import subprocess
import sys

BUILD = sys.argv[1] if len(sys.argv) > 1 else os.environ["SHOAL_BUILD"]
JOBS = [
    (["coll.adjacent"], 2),
    (["coll.adjacent"], 3),
    (["coll.large"], 2),
    (["coll.data"], 2),
    (["coll.stress", "11", "100"], 2),
]


def main():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    failed = 0
    for words, ranks in JOBS:
        command = [f"{BUILD}/bin/mpiexec", "-n", str(ranks), f"{BUILD}/tests/{words[0]}", *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            failed += 1
            print(f"{' '.join(words)} on {ranks} ranks: status {done.returncode}")
            print((done.stdout + done.stderr)[-1000:])
    print(f"{len(JOBS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
