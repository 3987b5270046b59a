# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 300
"""How many instructions an 8-byte MPI_Send and an 8-byte MPI_Recv take, with a bound for each.

    instructions_test.py BUILD

The guard of the fast path: times differ from run to run and machine to machine, instruction counts
do not. Rank 0 of two runs under callgrind, which collects only inside the call; two runs with
different numbers of calls are subtracted, so that the first calls do not count. See counted.c for
how rank 0 is kept from waiting.

A change that needs more instructions than the bound says why in its commit and raises the bound.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cmake_cache import sanitized, setting  # noqa: E402

FEW, MANY = 40, 140
SKIPPED = 77
# What is counted: a title, the program's mode, messages in a batch, and the instructions that a
# call may take from its entry to its return in an optimised build.
COUNTS = (
    ("MPI_Send, the ring has room", "send", 16, 300),
    ("MPI_Recv, one message waits", "recv", 1, 355),
    ("MPI_Recv, sixteen wait", "recv", 16, 355),
    ("MPI_Isend and its part of MPI_Waitall", "isend", 64, 490),
    ("MPI_Irecv and its part of MPI_Waitall", "irecv", 64, 610),
    ("MPI_Recv, last sent first", "keep", 64, 865),
    ("MPI_Sendrecv, sixteen wait", "exchange", 16, 640),
)
CALLS = {
    "send": ("MPI_Send",),
    "recv": ("MPI_Recv",),
    "isend": ("MPI_Isend", "MPI_Waitall"),
    "irecv": ("MPI_Irecv", "MPI_Waitall"),
    "keep": ("MPI_Recv",),
    "exchange": ("MPI_Sendrecv",),
}


class Unreadable(Exception):
    """This valgrind does not know the debug information that this compiler writes."""


def collected(build, what, batch, batches, where):
    """The instructions that callgrind saw inside the call on rank 0."""
    fifo = os.path.join(where, f"fifo-{what}-{batch}-{batches}")
    os.mkfifo(fifo)
    program = [os.path.join(build, "tests", "instructions.counted"), what, str(batches),
               str(batch), fifo]
    watched = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={where}/out",
               *(f"--toggle-collect={p}{call}" for call in CALLS[what] for p in ("", "P")),
               *program]
    done = subprocess.run([os.path.join(build, "bin", "mpiexec"), "-n", "1", *watched, ":",
                           "-n", "1", *program], capture_output=True, text=True, timeout=120,
                          check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if "Valgrind: debuginfo reader" in done.stderr:
        raise Unreadable
    if done.returncode != 0 or not found:
        raise RuntimeError(f"status {done.returncode}: {done.stdout}{done.stderr}")
    return int(found[1])


def count_all(build):
    """Counts and judges everything; whether all are within their bounds."""
    good = True
    with tempfile.TemporaryDirectory() as where:
        for title, what, batch, bound in COUNTS:
            few = collected(build, what, batch, FEW, where)
            many = collected(build, what, batch, MANY, where)
            count = (many - few) / ((MANY - FEW) * batch)
            verdict = "ok" if 0 < count <= bound else "TOO MANY" if count > bound else "NONE SEEN"
            good &= verdict == "ok"
            print(f"{title}: {count:.1f} instructions a call, bound {bound}: {verdict}")
    return good


def main():
    build = os.path.abspath(sys.argv[1])
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed, so instructions cannot be counted")
        return SKIPPED
    kind = setting(build, "CMAKE_BUILD_TYPE")
    if sanitized(build) or kind not in ("Release", "RelWithDebInfo"):
        print("skipped: the bounds are those of an optimised build without sanitizers")
        return SKIPPED
    try:
        return 0 if count_all(build) else 1
    except Unreadable as reason:
        print(f"skipped: {reason.__doc__}")
        return SKIPPED


if __name__ == "__main__":
    sys.exit(main())
