# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""bench/run.py still works: compiles its programs, runs them, judges, writes and draws.

    harness_test.py BUILD

Only Shoal takes part, so that nothing is downloaded; no figure is looked at, because the machine of
a test is busy.
"""

import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POINTS = ("latency/8", "bandwidth/65536", "type-blocks8", "multiple-latency/8", "others-blocked/8",
          "ring/8", "startup", "barrier", "allreduce/8", "alltoall/4096", "memory-after-init")
SKIPPED = 77
sys.path.append(os.path.join(ROOT, "tests"))
from cmake_cache import sanitized  # noqa: E402


def compares_like_with_like():
    """What was measured while the cores were near is not compared with what was when they were far."""
    sys.path.insert(0, os.path.join(ROOT, "bench"))
    from harness.results import Results

    results, key = Results([], {"rounds": 3}), "np2/latency/8"
    results.labels = {"shoal": "Shoal", "other": "Other"}

    def start(lib, value, before, after):
        results.begin_start()
        results.add(key, lib, value, "us")
        results.end_start(before, after)

    start("shoal", 0.3, 0.25, 0.26)
    start("shoal", 0.1, 0.05, 0.05)
    start("other", 0.2, 0.05, 0.04)
    before = results.comparable(key)
    start("shoal", 0.3, 0.25, 0.25)
    start("other", 0.5, 0.05, 0.25)
    start("shoal", 0.1, 0.05, 0.04)
    start("other", 0.2, 0.05, 0.04)
    if before or results.ratio(key) != 0.5:
        return False
    for _ in range(5):
        start("shoal", 0.1, 0.05, 0.05)
        start("other", 0.2, 0.05, 0.05)
    start("other", 0.2, 0.01, 0.05)  # a lucky look
    return 0.3 not in results.alike(key)["shoal"]


def knows_when_no_line_was_passed():
    """More than two ranks do not pass a cache line themselves: the times around the start count then."""
    from harness import launch

    found = launch.parse("a\t1\tus\t5\t0\t0\nb\t1\tus\t5\t0.05\t0.25\nc\t1\tus\t5\n")
    return found["a"].lines is None and found["b"].lines == (0.05, 0.25) and found["c"].lines is None


def knows_what_pickling_costs():
    """A root makes a list of objects to scatter and takes one apart that it has gathered. An array that
    goes between two ranks must be read from where the other core has made its pickle, and so must one from
    a root; or bare processes do it in less. What mpi4py needs for a call of its own every rank of a core
    needs."""
    from harness.results import Results

    results = Results([], {})
    results.cores = 2
    none = results.limit("np2/python-array-bcast")
    results.machine = {"pickle-dumps/object": [3.0], "pickle-loads/object": [2.0],
                       "pickle-row/object/4": [15.0], "pickle-dumps/array": [30.0],
                       "pickle-loads/array": [20.0], "fresh-copy/1048576": [7.0],
                       "bare-array-scatter/4": [500.0], "bare-array-bcast/4": [99.0],
                       "bare-array-dumps/4": [40.0], "bare-array-row/4": [490.0]}
    found = [results.limit(f"np4/python-object-{call}")[0] for call in ("bcast", "scatter", "gather")]
    pair = results.limit("np2/python-array-sendrecv")[0]
    arrays = [results.limit(f"np4/python-array-{call}")[0] for call in ("scatter", "bcast", "gather")]
    results.machine.update({"mpi4py-alone/bcast": [9.0], "mpi4py-alone/scatter": [10.0],
                            "mpi4py-alone/gather": [4.0], "mpi4py-alone/sendrecv": [0.5]})
    calls = [results.limit(f"np4/python-object-{call}")[0] for call in ("bcast", "scatter", "gather")]
    calls.append(results.limit("np2/python-object-sendrecv")[0])
    return (none[0] is None and found == [7.0, 19.0, 14.0] and pair == 57.0 and
            arrays == [500.0, 67.0, None] and calls == [15.0, 26.0, 14.0, 5.5])


def knows_what_streams_cost():
    """A stream goes through many places: one message that is passed to and fro again and again says
    nothing of it. And Python's buffers are moved as those of C are."""
    from harness.results import Results

    results, mib = Results([], {}), 1 << 20
    results.cores = 2
    results.machine = {f"two-copies/{mib}": [20.0], f"kernel-relay/{mib}": [10.0],
                       f"stream/{mib}": [40.0], f"kernel-stream/{mib}": [30.0], f"swap/{mib}": [50.0]}
    keys = ("bandwidth", "latency", "python-Sendrecv", "python-Allreduce")
    return [results.limit(f"np2/{key}/{mib}")[0] for key in keys] == [30.0, 10.0, 10.0, 50.0]


def knows_what_data_costs():
    """Long messages of many ranks are read beside copies in as much data; a goal that those would miss
    too is out of reach, unless a rival has shown that they are no limit."""
    from harness import reach
    from harness.results import Results

    results, key, mib = Results([], {"rounds": 1}), "np4/shift/1048576", 1 << 20
    results.labels, results.cores = {"shoal": "Shoal", "other": "Other"}, 2
    results.machine = {f"fetch-set/{mib}/{4 * mib}": [20.0], f"fetch-set/{mib}/{8 * mib}": [30.0],
                       f"fetch-set/{mib}/{16 * mib}": [50.0], f"fetch-set/65536/{8 * mib}": [99.0],
                       f"in-set/{mib}/{4 * mib}": [30.0], f"out-set/{mib}/{4 * mib}": [10.0],
                       f"through-set/{mib}/{4 * mib}": [40.0],
                       f"fetch-same-set/{mib}/{4 * mib}": [19.0], f"copy-set/{mib}/{4 * mib}": [7.0]}
    results.add(key, "shoal", 140.0, "us")
    results.add(key, "other", 150.0, "us")
    reachable = [reach.is_out_of_reach(results, key, bound) for bound in (0.7, 0.9)]
    results.points[key]["values"]["other"] = [100.0]
    disproved = reach.is_out_of_reach(results, key, 0.7)
    # What all get is shown once, or fetched by all; what a rank has for itself is copied once.
    others = [results.limit(f"np4/{kind}/{mib}")[0] for kind in ("bcast", "gather")]
    return (results.limit(key)[0] == 120.0 and reachable == [True, False] and not disproved and
            others == [57.0, 120.0 + 7.0])


def main():
    if not compares_like_with_like():
        print("figures of different states of the machine are compared")
        return 1
    if not knows_when_no_line_was_passed():
        print("times of a cache line that was not passed are believed")
        return 1
    if not knows_what_pickling_costs():
        print("the limit of Python points is wrong")
        return 1
    if not knows_what_streams_cost():
        print("the limit of streams or of Python's buffers is wrong")
        return 1
    if not knows_what_data_costs():
        print("the limit of long messages among many ranks is wrong")
        return 1
    build = os.path.abspath(sys.argv[1])
    if sanitized(build):
        print("skipped: the measuring programs are not linked with sanitizers")
        return SKIPPED
    with tempfile.TemporaryDirectory() as work:
        done = subprocess.run([sys.executable, os.path.join(ROOT, "bench", "run.py"), "--quick",
                               "--libs", "shoal", "--prefix", build, "--work", work,
                               "--np", "1,2,4,16", "--rounds", "1", "--budget", "2",
                               "--points", ",".join(POINTS)],
                              capture_output=True, text=True, timeout=100, check=False)
        print(done.stdout + done.stderr)
        if done.returncode != 0:
            return 1
        with open(os.path.join(work, "results", "results.json"), encoding="utf-8") as text:
            results = json.load(text)
        missing = [key for key, point in results["points"].items() if not point["values"]]
        undrawn = not os.path.exists(os.path.join(work, "results", "latency-bandwidth.svg"))
    print(f"{len(results['points'])} points, missing: {', '.join(missing) or 'none'}")
    return 1 if missing or undrawn or not results["points"] else 0


if __name__ == "__main__":
    sys.exit(main())
