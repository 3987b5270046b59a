# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: units, each a group of points that one start of a program measures."""

import dataclasses
import fnmatch

KIB, MIB = 1024, 1024 * 1024
P2P = (0, 8, 64, 512, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)
COLLECTIVE = (8, 512, 4 * KIB, 64 * KIB, MIB, 16 * MIB)
FEWER = (8, 4 * KIB, 64 * KIB, MIB, 16 * MIB)
CROWD = (8, 4 * KIB, 64 * KIB, MIB)
QUIET = (8, 64 * KIB, MIB)
THREADED = (8, 4 * KIB)
PYTHON = (8, 4 * KIB, 64 * KIB, MIB, 16 * MIB)
COLLECTIVES = ("bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter",
               "reduce_scatter", "scan")
UNEVEN = ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatterv", "exscan")
NONBLOCKING = tuple("i" + kind for kind in COLLECTIVES)
WHOLE = ("bcast", "reduce", "allreduce", "scan", "exscan", "ibcast", "ireduce", "iallreduce", "iscan")
BLOCKS = tuple(kind for kind in (*COLLECTIVES, *UNEVEN, *NONBLOCKING) if kind not in WHOLE)
TYPES = ("type-column", "type-blocks8", "type-blocks64", "type-indexed", "type-face",
         "type-records")
STANDING = ("memory-after-init", "shared-memory-after-init", "memory-after-all-to-all",
            "shared-memory-after-all-to-all")
OBJECTS = ("python-object-sendrecv", "python-object-bcast", "python-object-scatter",
           "python-object-gather")
ARRAYS = ("python-array-sendrecv", "python-array-bcast", "python-array-scatter",
          "python-array-gather")
QUICK = {"sizes": (0, 8, 4 * KIB, 64 * KIB, MIB), "np": (1, 2, 4, 8, 17)}


@dataclasses.dataclass(frozen=True)
class Unit:
    """A group of points at a number of ranks."""

    group: str
    np: int
    sizes: tuple = ()
    options: tuple = ()

    @property
    def title(self):
        return f"{self.group}, {self.np} rank{'s' if self.np > 1 else ''}"

    def names(self):
        """The points that a run of this unit reports."""
        return list(NAMES[self.group](self.sizes, self.np))

    def key(self, name):
        return f"np{self.np}/{name}"


def by_size(names, sizes):
    """In the order in which the programs measure: all of one size, then all of the next."""
    return (f"{name}/{size}" for size in sizes for name in names)


def p2p_names(sizes, _):
    yield from by_size(("latency",), sizes)
    yield from by_size(("bandwidth",), (s for s in sizes if s > 8))
    yield from ("rate/8", "unexpected-10000/8", "posted-10000/8")


def crowd_names(sizes, _):
    yield from by_size(("ring", "shift", "pairs-latency", "pairs-stream"), sizes)


def collective_names(kinds, sizes, np):
    for size in sizes:
        blocks_fit = np <= 2 or size * np <= 16 * MIB
        yield from by_size((kind for kind in kinds if kind in WHOLE or blocks_fit), (size,))


def coll_names(sizes, np):
    yield "barrier"
    yield from collective_names(COLLECTIVES, sizes, np)


def uneven_names(sizes, np):
    yield from collective_names(UNEVEN, sizes, np)


def nonblocking_names(sizes, np):
    yield "ibarrier"
    yield from collective_names(NONBLOCKING, sizes, np)


def python_names(sizes, np):
    yield from (n for n in OBJECTS + ARRAYS if np == 2 or not n.endswith("sendrecv"))
    yield "python-object-allreduce"
    for size in sizes:
        kinds = ("python-Sendrecv",) * (np == 2) + ("python-Bcast",) if size <= MIB else ()
        yield from by_size((*kinds, "python-Allreduce"), (size,))
    yield from by_size(("python-Scatter", "python-Gather"), (MIB,))


NAMES = {
    "p2p": p2p_names,
    "crowd": crowd_names,
    "coll": coll_names,
    "uneven": uneven_names,
    "nonblocking": nonblocking_names,
    "quiet": lambda sizes, _: by_size(("others-blocked",), sizes),
    "types": lambda *_: TYPES,
    "threads": lambda sizes, _: [*by_size(("multiple-latency",), sizes),
                                 "multiple-rate-4-threads/8"],
    "memory": lambda *_: STANDING,
    "idle": lambda *_: ("idle-in-recv", "idle-in-barrier"),
    "startup": lambda *_: ("startup",),
    "python": python_names,
}


def everything():
    yield Unit("p2p", 2, P2P)
    yield Unit("threads", 2, THREADED, ("--threads",))
    yield Unit("types", 2)
    for np in (2, 4, 8, 16):
        yield Unit("crowd", np, CROWD)
        yield Unit("coll", np, COLLECTIVE)
        yield Unit("uneven", np, FEWER)
        yield Unit("nonblocking", np, FEWER)
        if np > 2:
            yield Unit("quiet", np, QUIET)
    yield Unit("python", 2, PYTHON)
    yield Unit("python", 4, PYTHON)
    for np in (1, 8, 64, 256):
        yield Unit("startup", np)
    yield Unit("memory", 16)
    yield Unit("memory", 64)
    yield Unit("idle", 17)


def is_crowd(unit, cores):
    """Do all ranks of a unit talk, and are there more of them than cores?"""
    return unit.np > cores and unit.group in ("crowd", "coll", "uneven", "nonblocking")


def shorten(unit):
    """A unit with the sizes of a quick run."""
    sizes = tuple(s for s in unit.sizes if s in QUICK["sizes"])
    return dataclasses.replace(unit, sizes=sizes)


def wanted(unit, globs):
    """The points of a unit that the user asked for."""
    if not globs:
        return unit.names()
    return [n for n in unit.names()
            if any(fnmatch.fnmatch(n, g) or fnmatch.fnmatch(unit.key(n), g) for g in globs)]


def make(np=None, globs=None, quick=False):
    """The units to run, each with the names asked for."""
    plan = []
    for unit in everything():
        if np and unit.np not in np:
            continue
        if quick:
            if not np and unit.np not in QUICK["np"]:
                continue
            unit = shorten(unit)
        names = wanted(unit, globs)
        if names:
            plan.append((unit, names))
    return plan
