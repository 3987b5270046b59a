# SPDX-License-Identifier: BSD-3-Clause
"""What the interpreter itself needs to pickle and unpickle the objects of pypoints.py.

    python pickling.py           without MPI
    python pickling.py alone     what mpi4py's calls need of a rank that has nobody to talk to

Prints lines as machine.c does. The harness lets malloc keep what is freed, so that the figures are
not those of page faults.

Arrays are pickled by bare processes that take turns as roots, as in the points: the memory of all
of them is more than the caches hold. And they broadcast, scatter and gather them through shared
memory. An object takes less time than a turn of a process, so nothing can be learned from it so.
"""

import mmap
import os
import pickle
import signal
import statistics
import sys
import time

from payloads import ARRAY, SMALL

BATCHES, BATCH_SECONDS = 5, 0.01
BATCH_CALLS = 10  # of bare processes, for each of them as root
LIMIT_SECONDS = 30
RANKS = (2, 4)


def dumps(payload):
    return pickle.dumps(payload, pickle.HIGHEST_PROTOCOL)


def row(payload, count):
    """What a root makes for MPI_Scatterv: mpi4py pickles one object after the other and joins them."""
    return b"".join([dumps(payload) for _ in range(count)])


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


class Bare:
    """One of some processes with rooms in shared memory, each for a pickled array, that move arrays
    without any library. A room is used again when all are known to be through with it."""

    def __init__(self, count):
        self.count, self.me = count, 0
        self.mine = ARRAY
        self.block = len(dumps(ARRAY))
        self.shown = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
        self.rooms = memoryview(mmap.mmap(-1, count * count * self.block))

    def room(self, owner, number, blocks=1):
        first = owner * self.count + number
        return self.rooms[first * self.block:(first + blocks) * self.block]

    def show(self, call):
        self.shown[self.me] = call

    def await_shown(self, who, call):
        while self.shown[who] < call:
            os.sched_yield()

    def in_turn(self, make, call, root):
        """One after the other makes what a root does; nothing is moved."""
        if self.me == root:
            make()
            self.show(call)
        else:
            self.await_shown(root, call)

    def dumps(self, call, root):
        self.in_turn(lambda: dumps(self.mine), call, root)

    def row(self, call, root):
        self.in_turn(lambda: row(self.mine, self.count), call, root)

    def bcast(self, call, root):
        if self.me == root:
            pickled = dumps(self.mine)
            self.room(root, 0)[:] = pickled
            self.show(call)
            return pickle.loads(pickled)
        self.await_shown(root, call)
        return pickle.loads(bytes(self.room(root, 0)))

    def scatter(self, call, root):
        if self.me == root:
            pickled = row(self.mine, self.count)
            self.room(root, 0, self.count)[:] = pickled
            self.show(call)
            return pickle.loads(pickled[root * self.block:(root + 1) * self.block])
        self.await_shown(root, call)
        return pickle.loads(bytes(self.room(root, self.me)))

    def gather(self, call, root):
        mine = dumps(self.mine)
        if self.me != root:
            self.room(self.me, root)[:] = mine
            self.show(call)
            return None
        got = []
        for who in range(self.count):
            if who != root:
                self.await_shown(who, call)
            got.append(pickle.loads(mine if who == root else bytes(self.room(who, root))))
        self.show(call)
        return got

    def run(self, kind):
        """All calls of this process; on process 0: microseconds for one."""
        self.mine = ARRAY.copy()
        move, batch, taken = getattr(self, kind), BATCH_CALLS * self.count, []
        for call in range((BATCHES + 1) * batch):
            if call % batch == 0:
                taken.append(time.perf_counter())
            move(call + 1, call % self.count)
        taken.append(time.perf_counter())
        # The first batch is for pages to come.
        return statistics.median(b - a for a, b in zip(taken[1:], taken[2:])) / batch * 1e6


def bare(kind, count):
    """Microseconds for a call by so many processes."""
    process = Bare(count)
    children = []
    for me in range(1, count):
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(LIMIT_SECONDS)
                process.me = me
                process.run(kind)
            finally:
                os._exit(0)
        children.append(child)
    signal.alarm(LIMIT_SECONDS)
    value = process.run(kind)
    signal.alarm(0)
    for child in children:
        os.waitpid(child, 0)
    return value, BATCHES * BATCH_CALLS * count


def alone():
    """Calls of mpi4py that move objects, by a rank of its own: what each takes without another rank."""
    from mpi4py import MPI
    comm, nobody = MPI.COMM_SELF, MPI.PROC_NULL

    def sendrecv():
        comm.send(SMALL, nobody)
        comm.recv(source=nobody)

    return {"sendrecv": sendrecv, "bcast": lambda: comm.bcast(SMALL, 0),
            "scatter": lambda: comm.scatter([SMALL], 0), "gather": lambda: comm.gather(SMALL, 0)}


def report(name, found):
    value, n = found
    print(f"{name}\t{value:.6g}\tus\t{n}", flush=True)


def main():
    if sys.argv[1:] == ["alone"]:
        for call, body in alone().items():
            report(f"mpi4py-alone/{call}", per_call(body))
        return
    for name, payload in (("object", SMALL), ("array", ARRAY)):
        pickled = dumps(payload)
        report(f"pickle-dumps/{name}", per_call(lambda: dumps(payload)))
        report(f"pickle-loads/{name}", per_call(lambda: pickle.loads(pickled)))
    for count in RANKS:
        report(f"pickle-row/object/{count}", per_call(lambda: row(SMALL, count)))
        for kind in ("dumps", "row", "bcast", "scatter", "gather"):
            report(f"bare-array-{kind}/{count}", bare(kind, count))


if __name__ == "__main__":
    main()
