# SPDX-License-Identifier: BSD-3-Clause
"""The points of Python users: mpi4py's stock wheel on whatever library the environment has.

    mpiexec -n N python pypoints.py [--sizes A,B,..] [--budget MS] [--limit S] [--only GLOB,..] [--line LIB]

Lower-case methods send pickled objects (those of payloads.py), upper-case ones send buffers.
Measured as points/main.c does: rank 0 sends the iteration count, five batches, the median is
printed as "name <tab> value <tab> unit <tab> iterations", and of two ranks alone how long a cache
line took before and after it, which line.c as a library can tell.
"""

import argparse
import ctypes
import fnmatch
import os
import time

import numpy
from mpi4py import MPI
from payloads import ARRAY, SMALL

COMM = MPI.COMM_WORLD
RANK, NP = COMM.rank, COMM.size
TAG_CONTROL, TAG_SYNC = 3, 4
STOP, LINE = -1, -2  # instead of a count: the point is done; pass a cache line
BATCHES = 5
MIB = 1 << 20
TOKEN = numpy.zeros(1, dtype=numpy.float64)


def from_all(value):
    """The largest value of all ranks, on rank 0; plain messages only."""
    if RANK != 0:
        COMM.Send(numpy.array([value]), 0, TAG_SYNC)
        return value
    for rank in range(1, NP):
        COMM.Recv(TOKEN, rank, TAG_SYNC)
        value = max(value, float(TOKEN[0]))
    return value


def to_all(value):
    """Rank 0's value, everywhere."""
    if RANK == 0:
        for rank in range(1, NP):
            COMM.Send(numpy.array([float(value)]), rank, TAG_CONTROL)
        return value
    COMM.Recv(TOKEN, 0, TAG_CONTROL)
    return float(TOKEN[0])


def batch(body, n):
    from_all(0.0)
    to_all(0)
    began = time.perf_counter()
    body(n)
    return from_all(time.perf_counter() - began)


def lead(body, n):
    to_all(n)
    return batch(body, n)


def lead_warm(body, n):
    """The shorter of two: in the first few calls an interpreter's heap grows, and pages are new."""
    return min(lead(body, n), lead(body, n))


def measure(body, budget):
    """On rank 0: seconds for an iteration, and how many were timed."""
    share, n = budget / BATCHES, 1
    took = lead_warm(body, n)
    while took < 0.7 * share:
        n = int(n * min(10.0, 1.1 * share / took)) + 1
        took = lead_warm(body, n)
    if took >= budget:
        return took / n, n
    times = sorted(lead(body, n) for _ in range(BATCHES))
    return times[BATCHES // 2] / n, n * BATCHES


def follow(body, line):
    while (n := int(to_all(0))) != STOP:
        if n == LINE:
            line(False)
        else:
            batch(body, n)


def shared_line(library):
    """What passes a cache line between two ranks that are alone, and tells how long it takes, in µs."""
    if NP != 2 or not library:
        return lambda first: 0.0
    lib, place = ctypes.CDLL(library), ctypes.create_string_buffer(64)
    lib.line_make.restype = lib.line_open.restype = ctypes.c_void_p
    lib.line_time.restype = ctypes.c_double
    page = lib.line_make(place, len(place)) if RANK == 0 else None
    COMM.Bcast(place, 0)
    page = page if RANK == 0 else lib.line_open(place)
    return lambda first: lib.line_time(ctypes.c_void_p(page), int(first)) if page else 0.0


def pass_line(line):
    to_all(LINE)
    return line(True)


def run(name, scale, body, check, args):
    """One point, as bench_run() of points/main.c does it."""
    if args.only and not any(fnmatch.fnmatch(name, g) for g in args.only):
        return
    if not to_all(time.monotonic() - args.start < args.limit):
        report(name, 0, "late", 0)
        return
    batch(body, 1)
    wrong = from_all(0.0 if check() else 1.0)
    if RANK != 0:
        follow(body, args.line)
        return
    if wrong:
        report(name, 0, "wrong", 0)
    else:
        before = pass_line(args.line)
        seconds, n = measure(body, args.budget / 1000)
        after = pass_line(args.line)
        report(name, seconds / scale * 1e6, "us", n, f"\t{before:.4g}\t{after:.4g}")
    to_all(STOP)


def report(name, value, unit, n, lines=""):
    if RANK == 0:
        print(f"{name}\t{value:.6g}\t{unit}\t{n}{lines}", flush=True)


def objects(payload, last):
    """Bodies that send `payload` pickled; what came last is kept for the check."""
    def sendrecv(n):
        other = 1 - RANK
        for _ in range(n):
            if RANK == 0:
                COMM.send(payload, other)
                last[0] = COMM.recv(source=other)
            else:
                last[0] = COMM.recv(source=other)
                COMM.send(payload, other)

    def bcast(n):
        for i in range(n):
            last[0] = COMM.bcast(payload if RANK == i % NP else None, i % NP)

    def scatter(n):
        for i in range(n):
            last[0] = COMM.scatter([payload] * NP if RANK == i % NP else None, i % NP)

    def gather(n):
        for i in range(n):
            got = COMM.gather(payload, i % NP)
            last[0] = got[-1] if got else payload

    return {"sendrecv": (2, sendrecv), "bcast": (1, bcast), "scatter": (1, scatter),
            "gather": (1, gather)}


def object_points(args):
    last = [None]
    for kind, payload in (("object", SMALL), ("array", ARRAY)):
        for name, (scale, body) in objects(payload, last).items():
            if NP == 2 or name != "sendrecv":
                run(f"python-{kind}-{name}", scale, body,
                    lambda payload=payload: numpy.array_equal(last[0], payload), args)

    def allreduce(n):
        for _ in range(n):
            last[0] = COMM.allreduce(RANK + 1)

    run("python-object-allreduce", 1, allreduce, lambda: last[0] == NP * (NP + 1) // 2, args)


def buffer_points(args):
    for size in args.sizes:
        count = size // 4
        mine = numpy.full(count, RANK + 1, dtype=numpy.float32)
        got = numpy.zeros(count, dtype=numpy.float32)

        def sendrecv(n, mine=mine, got=got):
            for _ in range(n):
                if RANK == 0:
                    COMM.Send(mine, 1)
                    COMM.Recv(got, 1)
                else:
                    COMM.Recv(got, 0)
                    COMM.Send(mine, 0)

        def bcast(n, got=got):
            for i in range(n):
                COMM.Bcast(got, i % NP)

        def allreduce(n, mine=mine, got=got):
            for _ in range(n):
                COMM.Allreduce(mine, got)

        if NP == 2 and size <= MIB:
            run(f"python-Sendrecv/{size}", 2, sendrecv, lambda: (got == 2 - RANK).all(), args)
        if size <= MIB:
            run(f"python-Bcast/{size}", 1, bcast, lambda: (got == got[0]).all(), args)
        run(f"python-Allreduce/{size}", 1, allreduce,
            lambda: (got == NP * (NP + 1) // 2).all(), args)


def block_points(args):
    count = MIB // 4
    whole = numpy.repeat(numpy.arange(NP, dtype=numpy.float32), count)
    part = numpy.zeros(count, dtype=numpy.float32)
    mine = numpy.full(count, RANK, dtype=numpy.float32)
    all_parts = numpy.zeros(count * NP, dtype=numpy.float32)

    def scatter(n):
        for i in range(n):
            COMM.Scatter(whole, part, i % NP)

    def gather(n):
        for i in range(n):
            COMM.Gather(mine, all_parts, i % NP)

    run(f"python-Scatter/{MIB}", 1, scatter, lambda: (part == RANK).all(), args)
    run(f"python-Gather/{MIB}", 1, gather, lambda: RANK != 0 or (all_parts == whole).all(), args)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=lambda t: [int(s) for s in t.split(",")], default=[8])
    parser.add_argument("--budget", type=float, default=80, help="milliseconds for a point")
    parser.add_argument("--limit", type=float, default=60, help="seconds; no point begins later")
    parser.add_argument("--only", type=lambda t: t.split(","), default=None)
    parser.add_argument("--line", help="line.c as a library")
    args = parser.parse_args()
    args.start = time.monotonic()
    args.line = shared_line(args.line)
    report("cores-of-rank-0", len(os.sched_getaffinity(0)), "cores", 1)
    object_points(args)
    buffer_points(args)
    block_points(args)


if __name__ == "__main__":
    main()
