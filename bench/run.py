#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures Shoal beside MPICH, Open MPI and Intel MPI, all in one run; what `make bench` calls.

The same programs run under every library in turn (A,B,C,D, then B,C,D,A, ...), at least five times;
medians are compared, and the ratio to the best rival is what counts. The machine itself is measured
between the rounds. Writes table.md, results.json and pictures, prints the table, and says of every
goal whether it is met.

    bench/run.py                             everything; about 25 minutes
    bench/run.py --quick                     few sizes and ranks, two rounds; a few minutes
    bench/run.py --points 'allreduce/*' --np 2,8 --rounds 7
    bench/run.py --libs shoal,intel --points 'latency/*'
"""

import argparse
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import draw, launch, libs, plan, reach  # noqa: E402
from harness.results import Results  # noqa: E402

MORE_ROUNDS = 2  # times as many as were asked for, at most
STARTS = 3  # how often a library may start again after a crash, in a round of a unit
PUBLISHED = os.path.join(libs.ROOT, "docs", "benchmarks")


def say(text):
    print(f"== {text}", file=sys.stderr, flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(n) for n in text.split(",")]  # noqa: E731
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--points", type=words, metavar="GLOB,..", help="which points")
    parser.add_argument("--np", type=numbers, metavar="N,..", help="only these numbers of ranks")
    parser.add_argument("--rounds", type=int, help="rounds (default 5; 2 with --quick)")
    parser.add_argument("--libs", type=words, default=["shoal", "mpich", "openmpi", "intel"],
                        metavar="NAME,..", help="shoal, mpich, openmpi, intel")
    parser.add_argument("--quick", action="store_true", help="few sizes, few ranks, short")
    parser.add_argument("--best", action="store_true",
                        help="compare the best rounds, not medians: for tuning on a busy machine")
    parser.add_argument("--nice", type=int, help="run everything at this nice value; a negative "
                        "one (root only) helps on a busy machine")
    parser.add_argument("--budget", type=float, help="milliseconds for a point (default 15)")
    parser.add_argument("--limit", type=float, help="seconds for a start of a program (default 6)")
    parser.add_argument("--work", default=os.path.join(libs.ROOT, "build", "bench"),
                        help="where environments and programs are kept")
    parser.add_argument("--prefix", help="an installed Shoal to measure instead of building one")
    parser.add_argument("--source", help="another checkout of Shoal to build and measure")
    parser.add_argument("--out", help="where results go (default: WORK/results)")
    parser.add_argument("--publish", action="store_true",
                        help="write table, data and pictures to docs/benchmarks too")
    parser.add_argument("--from", dest="old", metavar="JSON",
                        help="measure nothing: judge and draw these results again")
    args = parser.parse_args()
    args.rounds = args.rounds or (2 if args.quick else 5)
    args.budget = args.budget or 15
    args.limit = args.limit or 6
    args.out = args.out or os.path.join(args.work, "results")
    return args


def build_bare(work, name, *options):
    """A program that measures the machine without MPI."""
    program = os.path.join(work, name)
    source = os.path.splitext(name)[0] + ".c"
    libs.run(["cc", "-std=gnu11", "-O2", "-ftree-vectorize", *options, "-o", program,
              os.path.join(libs.BENCH, source)], os.path.join(work, name + ".log"))
    return program


def run_unit(unit, lib, todo, args, results):
    """One round of a unit for one library. Returns the points that it may be asked for again.

    A crash or a hang is held against the point under way; the points after it get another start.
    """
    cores = len(os.sched_getaffinity(0))
    left, good, trouble = list(todo), [], ""
    for _ in range(STARTS):
        found, trouble = launch.points(lib, unit, left, cores, args)
        for name, figure in found.items():
            results.add(unit.key(name), lib.name, *figure)
        good += [n for n in left if n in found and found[n].unit not in ("late", "wrong")]
        left = [n for n in left if n not in found]
        if not left:
            break
        say(f"{unit.title}, {lib.label}: {left[0]}: {trouble or 'no figure'}")
        results.add_trouble(unit.key(left.pop(0)), lib.name, trouble or "no figure")
    for name in left:
        results.add_trouble(unit.key(name), lib.name, trouble or "no figure")
    return good, trouble


def measure_round(unit, title, libraries, asked, args, results, machine):
    """The libraries in turn; notes of each how long a cache line took before it and after it."""
    line = launch.line_time(machine, args.nice)
    for lib in libraries:
        if not asked[lib.name]:
            continue
        began, before, so_far = time.monotonic(), len(asked[lib.name]), line
        results.begin_start()
        asked[lib.name], trouble = run_unit(unit, lib, asked[lib.name], args, results)
        line = launch.line_time(machine, args.nice)
        results.end_start(so_far, line)
        say(f"{title}, {lib.label}, {len(asked[lib.name])} of {before} points, "
            f"{time.monotonic() - began:.1f} s" + (f"; {trouble}" if trouble else ""))
    results.measure_machine(machine, args.nice)


def measure_unit(unit, names, libraries, args, results, machine):
    """All rounds of a unit, and some more of the points whose figures cannot be compared.

    A virtual machine's host moves its cores about, and everything small takes several times as
    long when they no longer share a cache. Only what was measured in one state is compared.
    """
    asked = {lib.name: list(names) for lib in libraries}
    for name in names:
        results.expect(unit.key(name))
    for number in range(1, MORE_ROUNDS * args.rounds + 1):
        if number > args.rounds:
            again = {name for name in names if not results.comparable(unit.key(name))}
            asked = {lib: [name for name in some if name in again] for lib, some in asked.items()}
        if not any(asked.values()):
            break
        turn = number % len(libraries)
        title = f"{unit.title}: round {number} of {args.rounds}"
        measure_round(unit, title, libraries[turn:] + libraries[:turn], asked, args, results,
                      machine)


def measure(args):
    os.makedirs(args.work, exist_ok=True)
    work = os.path.abspath(args.work)
    todo = plan.make(args.np, args.points, args.quick)
    if not todo:
        raise SystemExit("no point has such a name")
    python = any(unit.group == "python" for unit, _ in todo)
    libraries = libs.prepare(libs.choose(args.libs, work, args.prefix, args.source), work, python,
                             say)
    machine = build_bare(work, "machine", os.path.join(libs.BENCH, "line.c"))
    if python:
        build_bare(work, "line.so", "-shared", "-fPIC")
    if os.getloadavg()[0] > 0.5:
        say(f"the machine is busy (load {os.getloadavg()[0]:.1f}): figures will be poor")
    launch.become_reaper()
    results = Results(libraries, {"rounds": args.rounds, "budget_ms": args.budget,
                                  "quick": args.quick, "best": args.best, "nice": args.nice,
                                  "load_before": os.getloadavg()[0], "points": args.points,
                                  "np": args.np})
    results.python = libraries[0].bin("python") if python else None
    if any(plan.is_crowd(unit, results.cores) for unit, _ in todo):
        results.more = [build_bare(work, "crowd"), build_bare(work, "sets")]
    results.measure_machine(machine, args.nice)
    for i, (unit, names) in enumerate(todo):
        measure_unit(unit, names, libraries, args, results, machine)
        results.write(args.out)
        say(f"{i + 1} of {len(todo)} units done")
    return results


def finish(results, args):
    rows = reach.evaluate(results)
    places = [args.out] + ([PUBLISHED] if args.publish else [])
    for place in places:
        results.write(place)
        draw.everything(results, place)
    print(results.text())
    print()
    print(reach.text(rows))
    say(f"written to {', '.join(places)}")


def main():
    args = parse_arguments()
    began = time.monotonic()
    results = Results.load(args.old) if args.old else measure(args)
    finish(results, args)
    say(f"took {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
