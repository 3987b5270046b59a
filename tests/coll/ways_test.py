#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives once more where other ways are taken: two and three ranks that have one core between
them (more ranks than cores, and the fewest ranks that can be); a kernel that counts as quick
(SHOAL_CMA=always) and so moves blocks of 32 KiB already, whether the machine's is or not; and one
that is not used at all."""
# TIMEOUT: 400

import os
import subprocess
import sys

BUILD = sys.argv[1] if len(sys.argv) > 1 else os.environ["SHOAL_BUILD"]
ON_ONE_CORE = [
    (["coll.adjacent"], 2),
    (["coll.adjacent"], 3),
    (["coll.large"], 2),
    (["coll.data"], 2),
    (["coll.stress", "11", "100"], 2),
]
WITH_KERNEL = [
    (["coll.blocks"], 2),
    (["coll.blocks"], 4),
    (["coll.large"], 2),
    (["coll.large"], 3),
    (["coll.pairs"], 2),
    (["coll.refused"], 2),
    (["coll.refused"], 4),
    (["coll.stress", "12", "60"], 4),
    (["coll.turns"], 4),
]


def run(jobs, what, cores, **env):
    """Runs the programs on some cores; returns how many failed."""
    failed = 0
    for words, ranks in jobs:
        command = [f"{BUILD}/bin/mpiexec", "-n", str(ranks), f"{BUILD}/tests/{words[0]}", *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False,
                              env={**os.environ, **env}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        if done.returncode != 0:
            failed += 1
            print(f"{what}: {' '.join(words)} on {ranks} ranks: status {done.returncode}")
            print((done.stdout + done.stderr)[-1000:])
    return failed


def main():
    cores = os.sched_getaffinity(0)
    failed = run(ON_ONE_CORE, "on one core", {min(cores)})
    failed += run(WITH_KERNEL, "with a quick kernel", cores, SHOAL_CMA="always")
    failed += run(WITH_KERNEL, "without the kernel", cores, SHOAL_CMA="0")
    total = len(ON_ONE_CORE) + 2 * len(WITH_KERNEL)
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
