#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every algorithm of every collective, for 1 to 9 ranks: the programs of this folder with SHOAL_COLL
set so that each algorithm is used whatever the size."""
# TIMEOUT: 300

import os
import subprocess
import sys

BUILD = sys.argv[1] if len(sys.argv) > 1 else os.environ["SHOAL_BUILD"]
PROGRAMS = {
    "coll.data": [
        "bcast:binomial,gather:linear,scatter:linear,allgather:ring,alltoall:pairwise",
        "bcast:scatter,gather:binomial,scatter:binomial,allgather:bruck,alltoall:bruck",
        "allgather:direct",
        "allgather:doubling",
    ],
    "coll.reduce": [
        "reduce:binomial,allreduce:doubling,reduce_scatter:ordered,scan:doubling",
        "reduce:scatter,allreduce:scatter,reduce_scatter:windowed,scan:chain",
        "allreduce:halving",
    ],
    "coll.long_vectors": [
        "allreduce:scatter,scan:chain",
        "allreduce:doubling,scan:doubling",
        "allreduce:halving",
    ],
}


def run(program, choice, ranks):
    """Runs one program; returns a complaint or None."""
    command = [f"{BUILD}/bin/mpiexec", "-n", str(ranks), f"{BUILD}/tests/{program}"]
    env = dict(os.environ, SHOAL_COLL=choice)
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return f"{program} with {choice} on {ranks} ranks did not end"
    if done.returncode == 0:
        return None
    tail = (done.stdout + done.stderr)[-1000:]
    return f"{program} with {choice} on {ranks} ranks: status {done.returncode}\n{tail}"


def main():
    jobs = [(program, choice, ranks) for program, choices in PROGRAMS.items()
            for choice in choices for ranks in range(1, 10)]
    complaints = [c for c in (run(*job) for job in jobs) if c]
    print("\n".join(complaints[:5]))
    print(f"{len(jobs)} runs, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
