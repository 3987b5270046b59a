# SPDX-License-Identifier: BSD-3-Clause
"""What was measured: medians, ratios to the best rival, limits of the machine, and the table."""

import datetime
import functools
import json
import math
import os
import platform
import statistics
import subprocess
import time

from . import launch
from .plan import COLLECTIVES, KIB, MIB

MACHINE_SECONDS = 40.0
MOVED = 2.5  # a cache line takes so many times as long as when they are near: the cores are apart
FEW = 20  # one of so many looks at a cache line may be lucky
# Points of two ranks that a message's two copies bound, and points in which ranks wait for each other.
TWO_CORES = ("bcast", "ring", "pairs-latency")
SWAPS = ("shift", "allgather", "alltoall")
HAND_OVER = ("barrier", "reduce_scatter", "scan")
# Python's buffers are moved as those of C are.
LIKE_IN_C = {"python-Sendrecv": "latency", "python-Bcast": "bcast", "python-Allreduce": "allreduce",
             "python-Scatter": "scatter", "python-Gather": "gather"}
# These move the same as others, on average or in the end.
SAME_WORK = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather",
             "alltoallv": "alltoall", "alltoallw": "alltoall", "reduce_scatterv": "reduce_scatter",
             "exscan": "scan"}
SAME_WORK.update((f"i{kind}", kind) for kind in ("barrier", *COLLECTIVES))
# How many messages or blocks, at least, ranks have to copy for themselves, leave a rank, come to one,
# and are added to others, and how many there are that a point goes through: roots take turns, and
# streams have a window.
MOVES = {
    "shift": lambda np: (0, np, np, 0, 2 * np), "bcast": lambda np: (0, 1, np - 1, 0, np),
    "gather": lambda np: (1, np - 1, np - 1, 0, np * (np + 1)),
    "scatter": lambda np: (1, np - 1, np - 1, 0, np * (np + 1)),
    "allgather": lambda np: (np, np, np * (np - 1), 0, np * (np + 1)),
    "alltoall": lambda np: (np, np * (np - 1), np * (np - 1), 0, 2 * np * np),
    "reduce": lambda np: (0, 0, 0, np - 1, 2 * np),
    "allreduce": lambda np: (0, 1, np - 1, np - 1, 2 * np),
    "scan": lambda np: (0, 0, 0, np - 1, 2 * np),
    "reduce_scatter": lambda np: (0, 0, 0, np * (np - 1), np * (np + 1)),
    "pairs-stream": lambda np: (0, 1, 1, 0, 16 * np),
}


def size_of(name):
    """The message size in a point's name, or None."""
    tail = name.rsplit("/", 1)[-1]
    return int(tail) if tail.isdigit() else None


def bytes_text(size):
    if size >= MIB:
        return f"{size // MIB} MiB"
    return f"{size // KIB} KiB" if size >= KIB else f"{size} B"


def split_key(key):
    """'np2/latency/8' -> (2, 'latency/8')"""
    np, name = key.split("/", 1)
    return int(np[2:]), name


def value_text(value, unit):
    """A figure for people, three digits."""
    if value is None:
        return "-"
    if unit == "us" and value >= 1e6:
        return f"{value / 1e6:.3g} s"
    if unit == "us" and value >= 1e4:
        return f"{value / 1e3:.3g} ms"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2 if value >= 0.1 else 3
    return f"{value:.{digits}f}" + {"us": "", "KiB": " KiB", "%": " %"}.get(unit, "")


class Results:
    """All figures of a run of the harness; grows while it runs."""

    def __init__(self, libraries, options):
        self.labels = {lib.name: lib.label for lib in libraries}
        self.versions = {lib.name: lib.version() for lib in libraries}
        self.options = options
        self.date = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        self.points = {}  # key -> {"unit": .., "values": {lib: [..]}, "trouble": {lib: ".."}}
        self.machine = {}  # name -> [values]
        self.machine_lines = {}  # name -> [[before, after]] as far as that is known
        self.machine_time = -math.inf
        self.python = None  # an interpreter whose own costs are to be measured too
        self.more = []  # programs that measure more processes than cores, and much data
        self.state = None  # of the machine, for limit(): far cores (True), near (False), any
        self.cores = len(os.sched_getaffinity(0))
        self.reach = []
        self.added = []  # (key, lib, lines) of the figures of the start under way
        self.lines = []  # how long a cache line took, whenever it was asked
        self.far_line = None  # from when on it is far, once that has been asked

    def expect(self, key):
        return self.points.setdefault(key, {"unit": "us", "values": {}, "trouble": {}})

    def begin_start(self):
        self.added = []

    def end_start(self, before, after):
        """What was added since begin_start() was measured between these two times of a line, unless it
        had its own."""
        for key, lib, own in self.added:
            pair = list(own or (before, after))
            self.points[key].setdefault("lines", {}).setdefault(lib, []).append(pair)
            self.note_lines(pair)

    def note_lines(self, lines):
        self.lines += [line for line in lines if line]
        self.far_line = None

    def add(self, key, lib, value, unit, lines=None):
        """`lines`: how long a cache line took just before and just after it."""
        point = self.expect(key)
        if unit in ("late", "wrong", "not allowed"):
            point["trouble"][lib] = unit
            return
        point["unit"] = unit
        point["values"].setdefault(lib, []).append(value)
        self.added.append((key, lib, lines))

    def add_trouble(self, key, lib, text):
        self.expect(key)["trouble"].setdefault(lib, text)

    def measure_machine(self, program, nice):
        """Between rounds, but not more often than every few seconds."""
        if time.monotonic() - self.machine_time < MACHINE_SECONDS:
            return
        self.note_machine(launch.machine(program, nice), None)
        line = launch.line_time(program, nice)
        asks = [functools.partial(launch.machine, one) for one in self.more]
        if self.python:
            asks.append(functools.partial(launch.pickling, self.python))
        for ask in asks:
            found, before = ask(nice), line
            line = launch.line_time(program, nice)
            self.note_machine(found, (before, line))
        self.machine_time = time.monotonic()

    def note_machine(self, found, around):
        """What a program found out; `around` is how long a cache line took before it and after it."""
        for name, figure in found.items():
            if figure.unit == "us":
                pair = list(figure.lines or around or (None, None))
                self.machine.setdefault(name, []).append(figure.value)
                self.machine_lines.setdefault(name, []).append(pair)
                self.note_lines(pair)

    def apart(self, pair):
        """Were the cores far from each other all the time (True), near (False), or who knows (None)?"""
        if self.far_line is None and self.lines:
            # Not the very best: one lucky look must not make the others slow.
            self.far_line = MOVED * sorted(self.lines)[len(self.lines) // FEW]
        far = {line > self.far_line for line in pair if line}
        return far.pop() if len(far) == 1 else None

    def in_state(self, key, lib, state):
        """The figures that a library has in a state: far cores (True), near (False), any (None)."""
        point = self.points.get(key, {})
        values = point.get("values", {}).get(lib, [])
        lines = point.get("lines", {}).get(lib, [])
        return values if state is None else [v for v, pair in zip(values, lines)
                                             if self.apart(pair) is state]

    def alike(self, key):
        """The figures of one state of the machine, {lib: [..]}, if each library has some in it."""
        return self.alike_in(key)[0]

    def alike_in(self, key):
        """The same, and whether the cores were far (True), near (False), or who knows (None)."""
        values = self.points.get(key, {}).get("values", {})
        best, most, which = values, 1, None
        for state in (False, True):
            chosen = {lib: self.in_state(key, lib, state) for lib in values}
            least = min((len(some) for some in chosen.values()), default=0)
            if least > most:
                best, most, which = chosen, least, state
        return best, which

    def comparable(self, key):
        """Has this point enough figures of one state?"""
        enough = min(3, self.options["rounds"])
        alike = self.alike(key)
        return not self.lines or (alike is not self.points[key]["values"] and
                                  all(len(some) >= enough for some in alike.values()))

    def median(self, key, lib):
        values = self.alike(key).get(lib)
        if not values:
            return None
        return min(values) if self.options.get("best") else statistics.median(values)

    def rivals(self):
        return [name for name in self.labels if name != "shoal"]

    def best_rival(self, key):
        """(median, name) of the fastest rival, or (None, None)."""
        known = [(self.median(key, r), r) for r in self.rivals()]
        known = [pair for pair in known if pair[0] is not None]
        return min(known) if known else (None, None)

    def ratio(self, key):
        """Shoal's median over the best rival's, or None where one of them is missing."""
        ours, best = self.median(key, "shoal"), self.best_rival(key)[0]
        if ours is None or best is None:
            return None
        return ours / best if best > 0 else (1.0 if ours == 0 else math.inf)

    def limit(self, key):
        """What the machine itself needs for the same work, in µs, and in words; or (None, '')."""
        self.state = self.alike_in(key)[1]
        np, name = split_key(key)
        kind, size = name.split("/")[0], size_of(name)
        kind = SAME_WORK.get(kind, kind)
        if kind in LIKE_IN_C and size >= 4 * KIB:
            kind = LIKE_IN_C[kind]
        if kind == "startup":
            return self.machine_figure("fork+exec+wait", np, f"{np} x fork+exec+wait")
        if kind.startswith("type-"):
            return self.machine_figure(f"pack-loop/{kind[5:]}", 1, "a pack loop")
        if kind in ("latency", "others-blocked", "multiple-latency") and size is not None:
            if size < 4 * KIB:
                return self.machine_figure("spin-ping-pong", 1, "spinning on a cache line")
            return self.copy_figure(size)
        if kind == "bandwidth" and f"stream/{size}" in self.machine:
            return self.stream_figure(size)
        if (kind in TWO_CORES or kind == "bandwidth") and np == 2 and size >= 4 * KIB:
            return self.copy_figure(size)
        if kind in SWAPS and np == 2 and size >= 64 * KIB:
            return self.swap_figure(size, kind != "shift")
        if np > self.cores and f"crowd-{kind}/{np}/{size}" in self.machine:
            return self.crowd_figure(kind, np, size)
        if kind in HAND_OVER and size in (8, None):
            return self.hand_over(np)
        if kind == "allreduce" and np == 2 and f"swap/{size}" in self.machine:
            return self.machine_figure(f"swap/{size}", 1, "as many bytes each way")
        if kind == "reduce" and np == 2:
            return self.machine_figure(f"float-add/{size}", 1, "adding once")
        if kind in ("gather", "scatter") and np == 2:
            return self.machine_figure(f"copy-each/{size}", 1, "a copy on each core")
        if np > self.cores and kind in MOVES and size is not None and size >= 64 * KIB:
            return self.data_figure(kind, np, size)
        if kind.startswith(("python-object-", "python-array-")):
            return self.pickling(np, *kind.split("-")[1:])
        return None, ""

    def data_figure(self, kind, np, size):
        """More ranks than cores and much data: each byte moved or added once, on all cores. From rank
        to rank either the kernel fetches it, or it goes in two steps, of which the first is for all."""
        own, leave, come, adds, blocks = MOVES[kind](np)
        if kind == "pairs-stream" and size <= 64 * KIB:
            blocks *= 4  # of short messages more are under way

        def cost(work, times):
            each = self.set_figure(work, size, blocks * size)
            return math.inf if each is None else times * size / MIB * each

        crossing = 0
        if leave == come > 0:
            crossing = min(cost("fetch-set", come), cost("through-set", come))
        elif come > 0:
            crossing = min(cost("fetch-same-set", come), cost("in-set", leave) + cost("out-set", come))
        needs = crossing + (cost("copy-set", own) if own else 0) + (cost("add-set", adds) if adds else 0)
        return (needs, "each byte moved") if needs < math.inf else (None, "")

    def set_figure(self, work, size, data):
        """For a MiB, in a set of data that is as large, or the next smaller one that was measured."""
        block = 64 * KIB if size < MIB else MIB
        sets = [int(name.rsplit("/", 1)[1]) for name in self.machine
                if name.startswith(f"{work}/{block}/")]
        if not sets:
            return None
        fits = max((one for one in sets if one <= data), default=min(sets))
        return self.machine_figure(f"{work}/{block}/{fits}", 1, "")[0]

    def pickling(self, np, payload, call):
        """Objects: what the interpreters of a core need for their parts, one after the other, mpi4py's
        calls included; of a list of objects the root has one for each rank."""
        if payload == "array" and call != "sendrecv":
            return self.array_figure(np, call)
        each = math.ceil(np / self.cores)
        made_as, made, taken = f"pickle-dumps/{payload}", 1, each
        if call == "scatter":
            made_as = f"pickle-row/{payload}/{np}"
        elif call == "gather":
            made, taken = each, np
        dumps, text = self.machine_figure(made_as, made, "pickling")
        loads, _ = self.machine_figure(f"pickle-loads/{payload}", taken, "")
        if call == "allreduce" or dumps is None or loads is None:
            return None, ""
        calls = self.calls_of_mpi4py(call) if payload == "object" else None
        if calls is not None:
            if call == "scatter":  # joining the pickles is part of the call
                dumps, _ = self.machine_figure(f"pickle-dumps/{payload}", np, "")
            return dumps + loads + each * calls, "pickling, mpi4py's calls"
        # The pickle of an array is in the caches of the core that made it.
        way = self.machine_figure("fresh-copy/1048576", 1, "")[0] if payload == "array" else None
        return (dumps + loads, text) if way is None else (dumps + loads + way, "pickling, a copy")

    def calls_of_mpi4py(self, call):
        """What a call takes beside pickling, by a rank that talks to nobody: such a rank pickles its own
        object too, unless there is nobody to send it to."""
        alone, _ = self.machine_figure(f"mpi4py-alone/{call}", 1, "")
        dumps, _ = self.machine_figure("pickle-dumps/object", 1, "")
        loads, _ = self.machine_figure("pickle-loads/object", 1, "")
        if None in (alone, dumps, loads):
            return None
        return alone if call == "sendrecv" else max(0.0, alone - dumps - loads)

    def array_figure(self, np, call):
        """Arrays as objects from a root, which the next one must have before it makes its own: pickling in
        turn, a copy, unpickling. Or what bare processes need that do the same, whichever is less."""
        bare = self.machine_figure(f"bare-array-{call}/{np}", 1, "bare processes")
        made_as = {"bcast": "dumps", "scatter": "row"}.get(call)
        steps = (f"bare-array-{made_as}/{np}", "fresh-copy/1048576", "pickle-loads/array")
        chain = [self.machine_figure(name, 1, "")[0] for name in steps]
        if bare[0] is None or made_as is None or None in chain:
            return bare
        return min(bare, (sum(chain), "pickling, a copy"))

    def copy_figure(self, size):
        """A message between two cores: two copies at the same time, or by the kernel from both ends,
        whichever is faster. A short one: what one core has written another copies."""
        ways = [self.machine_figure(f"two-copies/{size}", 1, "two copies at the same time"),
                self.machine_figure(f"kernel-relay/{size}", 1, "the kernel, from both ends")]
        known = [way for way in ways if way[0] is not None]
        if known:
            return min(known)
        fresh = self.machine_figure(f"fresh-copy/{size}", 1, "one copy")
        return fresh if fresh[0] is not None else self.machine_figure(f"memcpy/{size}", 1, "one memcpy")

    def stream_figure(self, size):
        """A message of many in a row, each from a place of its own: as copy_figure()."""
        ways = [self.machine_figure(f"{way}/{size}", 1, "a stream by bare processes")
                for way in ("stream", "kernel-stream")]
        return min(way for way in ways if way[0] is not None)

    def swap_figure(self, size, own):
        """Two messages at the same time, through shared memory or each fetched by the kernel; `own`:
        and what a rank has for itself."""
        copy, _ = self.machine_figure(f"memcpy/{size}", 1, "")
        ways = [self.machine_figure(f"swap/{size}", 1, "two messages at once")[0],
                self.machine_figure(f"kernel-relay/{size}", 2, "")[0]]
        known = [way for way in ways if way is not None]
        if not known or copy is None:
            return None, ""
        return min(known) + (copy if own else 0), "two messages at once"

    def crowd_figure(self, kind, np, size):
        """The same work by bare processes. Pairs may also have the cores one after the other."""
        bare, text = self.machine_figure(f"crowd-{kind}/{np}/{size}", 1, "bare processes")
        alone = self.copy_figure(size)[0] if kind == "pairs-latency" and size > 8 else None
        if alone is None:
            return bare, text
        return min(bare, alone * np / self.cores), text

    def hand_over(self, np):
        """More ranks than cores: all must be given the core."""
        if np <= self.cores:
            return None, ""
        return self.machine_figure("yield-hand-over/one-core", np / self.cores, "cores handed over")

    def machine_figure(self, name, times, text):
        """Of the state that limit() asks for, if the machine was measured in it."""
        values = self.machine.get(name)
        if not values:
            return None, ""
        lines = self.machine_lines.get(name, [])
        chosen = [v for v, pair in zip(values, lines) if self.apart(pair) is self.state]
        return statistics.median(chosen or values) * times, text

    def geometric_mean(self):
        """Of the ratios of all points that are times; (mean, how many)."""
        logs = [math.log(r) for k, p in self.points.items()
                if p["unit"] == "us" and (r := self.ratio(k)) is not None and 0 < r < math.inf]
        return (math.exp(statistics.fmean(logs)), len(logs)) if logs else (None, 0)

    def cell(self, key, lib):
        """A library's figure, or why there is none."""
        value = self.median(key, lib)
        trouble = self.points[key]["trouble"].get(lib, "")
        if value is not None:
            return value_text(value, self.points[key]["unit"]) + ("*" if trouble else "")
        return trouble.split(":")[0][:18] or "-"

    def rows(self):
        """The table's lines as lists of texts, with a title line (one text) for each np."""
        last = None
        order = {}  # kinds of points as they first appear
        for key in self.points:
            order.setdefault(split_key(key)[1].split("/")[0], len(order))

        def place(key):
            np, name = split_key(key)
            return np, order[name.split("/")[0]], size_of(name) or 0

        for key in sorted(self.points, key=place):
            np, name = split_key(key)
            if np != last:
                yield [f"{np} rank{'s' if np > 1 else ''}"]
                last = np
            size, ratio, best = size_of(name), self.ratio(key), self.best_rival(key)[1]
            title = name if size is None else f"{name.rsplit('/', 1)[0]} {bytes_text(size)}"
            limit = self.limit(key)[0]
            yield [title, *(self.cell(key, lib) for lib in self.labels),
                   f"{ratio:.2f}" if ratio is not None else "-", self.labels.get(best, "-"),
                   value_text(limit, "us") if limit is not None else ""]

    def header(self):
        return ["point (µs)", *self.labels.values(), "ratio", "best rival", "machine"]

    def text(self):
        """The table for a terminal."""
        rows = [self.header(), *self.rows()]
        widths = [max((len(r[i]) for r in rows if len(r) > 1), default=0)
                  for i in range(len(rows[0]))]
        lines = []
        for row in rows:
            if len(row) == 1:
                lines.append(f"\n{row[0]}")
                continue
            cells = [c.ljust(w) if i == 0 else c.rjust(w)
                     for i, (c, w) in enumerate(zip(row, widths))]
            lines.append("  ".join(cells).rstrip())
        lines.append("\n*: failed in another round")
        mean, count = self.geometric_mean()
        if mean is not None:
            lines.append(f"\ngeometric mean of the ratios of {count} points: {mean:.3f}")
        return "\n".join(lines)

    def markdown(self):
        """The same as a document, with the reach table, the machine and the versions."""
        host = machine_facts()
        lines = ["# Shoal beside its rivals", "",
                 f"Made by `make bench` on {self.date}; {host['cpu']}, {host['cores']} cores, "
                 f"Linux {host['kernel']}. {'Best' if self.options.get('best') else 'Medians'} of "
                 f"{self.options['rounds']} interleaved rounds, "
                 f"{self.options.get('budget_ms', '?')} ms a point, "
                 "in µs unless a unit is given; lower is better. Ratio: Shoal to the best rival "
                 "in the same run. Machine: what the bare machine needs for the same work.", ""]
        lines += [f"- {self.labels[n]}: {v}" for n, v in self.versions.items()]
        lines += ["", "| goal | bound | worst point | ratio | met |", "|---|---|---|---|---|"]
        lines += [f"| {r['goal']} | {r['bound']} | {r['worst']} | {r['value']} | {r['met']} |"
                  for r in self.reach]
        head = self.header()
        for row in self.rows():
            if len(row) == 1:
                lines += ["", f"## {row[0]}", "", "| " + " | ".join(head) + " |",
                          "|---" * len(head) + "|"]
            else:
                lines.append("| " + " | ".join(row) + " |")
        lines += ["", "## The machine itself", "", "| what | µs |", "|---|---|"]
        lines += [f"| {name} | {value_text(statistics.median(v), 'us')} |"
                  for name, v in self.machine.items()]
        return "\n".join(lines) + "\n"

    def as_json(self):
        points = {}
        for key, point in self.points.items():
            points[key] = {
                "unit": point["unit"], "ratio": self.ratio(key),
                "medians": {lib: self.median(key, lib) for lib in self.labels},
                "values": point["values"], "lines": point.get("lines", {}),
                "trouble": point["trouble"]}
        mean, count = self.geometric_mean()
        return {"date": self.date, "host": machine_facts(), "versions": self.versions,
                "labels": self.labels, "options": self.options,
                "geometric_mean": mean, "points_in_mean": count, "reach": self.reach,
                "machine": {n: {"median": statistics.median(v), "values": v,
                                "lines": self.machine_lines.get(n, [])}
                            for n, v in self.machine.items()},
                "points": points}

    def write(self, directory):
        os.makedirs(directory, exist_ok=True)
        with open(os.path.join(directory, "results.json"), "w", encoding="utf-8") as out:
            json.dump(self.as_json(), out, indent=1)
        with open(os.path.join(directory, "table.md"), "w", encoding="utf-8") as out:
            out.write(self.markdown())

    @classmethod
    def load(cls, path):
        """Results as they were written, to draw or to judge them again."""
        with open(path, encoding="utf-8") as text:
            data = json.load(text)
        self = cls([], data["options"])
        self.labels, self.versions, self.date = data["labels"], data["versions"], data["date"]
        self.machine = {n: m["values"] for n, m in data["machine"].items()}
        self.machine_lines = {n: m.get("lines", []) for n, m in data["machine"].items()}
        self.points = {k: {"unit": p["unit"], "values": p["values"], "trouble": p["trouble"],
                           "lines": p.get("lines", {})}
                       for k, p in data["points"].items()}
        self.lines = [line for p in self.points.values() for pairs in p["lines"].values()
                      for pair in pairs for line in pair if line]
        self.reach = data["reach"]
        self.cores = data["host"]["cores"]
        return self


def machine_facts():
    """The machine in a few words."""
    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            cpu = next((line.split(":", 1)[1].strip() for line in info
                        if line.startswith("model name")), cpu)
    except OSError:
        pass
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False)
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(),
            "python": platform.python_version(),
            "compiler": (compiler.stdout.splitlines() or ["unknown"])[0]}
