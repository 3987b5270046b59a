# SPDX-License-Identifier: BSD-3-Clause
"""What the interpreter itself needs to pickle and unpickle the objects of pypoints.py, without MPI.

    python pickling.py

No library can send them in less time. Prints lines as machine.c does. The harness lets malloc keep
what is freed, so that the figures are not those of page faults.
"""

import pickle
import statistics
import time

from payloads import ARRAY, SMALL

BATCHES, BATCH_SECONDS = 5, 0.01
ROWS = (2, 4)


def row(payload, count):
    """What a root makes for MPI_Scatterv: mpi4py pickles one object after the other and joins them."""
    return b"".join([pickle.dumps(payload, pickle.HIGHEST_PROTOCOL) for _ in range(count)])


def per_call(call):
    """Microseconds for a call, the median of some batches."""
    def batch(n):
        began = time.perf_counter()
        for _ in range(n):
            call()
        return time.perf_counter() - began

    n = 1
    while batch(n) < BATCH_SECONDS:
        n *= 2
    return statistics.median(batch(n) / n for _ in range(BATCHES)) * 1e6, n * BATCHES


def main():
    for name, payload in (("object", SMALL), ("array", ARRAY)):
        pickled = pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)
        for way, call in (("dumps", lambda: pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)),
                          ("loads", lambda: pickle.loads(pickled))):
            value, n = per_call(call)
            print(f"pickle-{way}/{name}\t{value:.6g}\tus\t{n}")
        for count in ROWS:
            value, n = per_call(lambda: row(payload, count))
            print(f"pickle-row/{name}/{count}\t{value:.6g}\tus\t{n}")


if __name__ == "__main__":
    main()
