# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that do not make the same collective call get an error that names both ranks and both calls."""
# TIMEOUT: 120

import os
import subprocess
import sys

build = sys.argv[1]
failures = 0

CASES = {
    "other-call": ("MPI_Allreduce(8 bytes, MPI_SUM)", "MPI_Bcast(8 bytes"),
    "size": ("MPI_Allreduce(16 bytes, MPI_SUM)", "MPI_Allreduce(32 bytes, MPI_SUM)"),
    "root": ("root 0", "root 1"),
    "op": ("MPI_MAX", "MPI_SUM"),
    "two-roots": ("MPI_Bcast(8 bytes, root 0)", "MPI_Bcast(8 bytes, root "),
    "blocks": ("MPI_Gatherv(0 bytes, root 0)", "MPI_Scatterv(0 bytes, root 0)"),
    "blocks-unheard": ("MPI_Bcast(8 bytes, root 0)", "MPI_Gatherv(0 bytes, root 0)"),
    "long-unheard": ("MPI_Bcast(8 bytes, root 0)", "MPI_Reduce(8 bytes, root 0, MPI_SUM)"),
    "blocks-alike": ("MPI_Gatherv(0 bytes, root 0)", "MPI_Alltoallv(0 bytes)"),
    "exchanges-alike": ("MPI_Alltoallv(0 bytes)", "MPI_Alltoallw(0 bytes)"),
    "seen-at-the-end": ("MPI_Finalize on MPI_COMM_WORLD", "MPI_Bcast(8 bytes, root 0)"),
    "nonblocking-root": ("root 0, non-blocking", "root 1, non-blocking"),
    "nonblocking-two-roots": ("MPI_Bcast(8 bytes, root 0, non-blocking)", "MPI_Bcast(8 bytes, root "),
    "nonblocking-shifted": ("MPI_Bcast(8 bytes, root 0, non-blocking)", "MPI_Gatherv(0 bytes, root 0, non-blocking)"),
    "long-sums-prefix": (
        "MPI_Allreduce(800000 bytes, MPI_SUM, non-blocking)",
        "MPI_Scan(800000 bytes, MPI_SUM, non-blocking)",
    ),
    "long-sums-shorter": (
        "MPI_Allreduce(800000 bytes, MPI_SUM, non-blocking)",
        "MPI_Allreduce(80000 bytes, MPI_SUM, non-blocking)",
    ),
    "long-sums-barrier": ("MPI_Allreduce(800000 bytes, MPI_SUM, non-blocking)", "MPI_Barrier"),
    "nonblocking-late": (
        "MPI_Allreduce(8 bytes, MPI_SUM, non-blocking)",
        "MPI_Bcast(800000 bytes, root 0, non-blocking)",
    ),
}

# With a core for each rank the root, which has a message that looks right, must not take it. In a crowd others may
# be the first to tell.
TOLD_IN = {("blocks-alike", 2): "MPI_Gatherv on MPI_COMM_WORLD"}

program = os.path.join(build, "tests", "coll.mismatched")


def run_case(ranks, case):
    return subprocess.run(
        [f"{build}/bin/mpiexec", "-n", str(ranks), program, case], capture_output=True, text=True, timeout=30
    )


for case, words in CASES.items():
    for ranks in (2, 4):
        run = run_case(ranks, case)
        said = "do not make the same collective call" in run.stderr
        named = all(w in run.stderr for w in words) and f"rank {ranks - 1} calls" in run.stderr
        told = TOLD_IN.get((case, ranks), "") in run.stderr
        if run.returncode == 0 or not said or not named or not told:
            failures += 1
            print(f"{case} with {ranks} ranks: status {run.returncode}, said:\n{run.stderr}")
# Blocking and non-blocking calls do not match either; here the ranks wait for ever, which the watch tells.
run = run_case(2, "form")
if run.returncode != 86 or "MPI_Barrier()" not in run.stderr or "MPI_Ibarrier" not in run.stderr:
    failures += 1
    print(f"form: status {run.returncode}, said:\n{run.stderr}")
# What is no longer on record cannot be named, but it is told; a rank that is late may still find it there.
for ranks in (2, 4):
    run = run_case(ranks, "long-past")
    if run.returncode == 0 or "do not make the same collective call" not in run.stderr:
        failures += 1
        print(f"long-past with {ranks} ranks: status {run.returncode}, said:\n{run.stderr}")
print(f"{len(CASES) * 2 + 3 - failures} passed, {failures} failed")
sys.exit(failures != 0)
