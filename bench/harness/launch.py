# SPDX-License-Identifier: BSD-3-Clause
"""One run of one program under one library, bounded in time, with nothing left behind."""

import ctypes
import os
import signal
import statistics
import subprocess
import time
import typing

from .libs import BENCH

GRACE = 15.0  # seconds for start-up and shut-down beside the time that the points take
PR_SET_CHILD_SUBREAPER = 36


def become_reaper():
    """Makes orphans of our launchers our own children, so that they can be found and ended."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    """The processes whose parent is this one."""
    mine = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                parent = int(stat.read().rsplit(b")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == mine:
            yield int(name)


def end_leftovers():
    """Ends what a launcher left behind; killing a parent brings its children to us in turn."""
    for _ in range(50):
        left = list(children())
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def bounded(command, env, seconds):
    """Runs a command. Returns (status or None if it took too long, stdout, stderr, seconds)."""
    began = time.monotonic()
    process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace",
                               start_new_session=True)
    status = None
    try:
        out, err = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            out, err = process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            end_leftovers()
            out, err = process.communicate()
    took = time.monotonic() - began
    end_leftovers()
    return status, out, err, took


class Figure(typing.NamedTuple):
    """What a measuring program printed: a value, and how long a cache line took before and after it."""

    value: float
    unit: str
    lines: typing.Optional[tuple] = None  # µs, or None where that is not known


def parse(text):
    """{name: Figure} of the lines that a measuring program printed."""
    found = {}
    for line in text.splitlines():
        words = line.split("\t")
        if len(words) in (4, 6):
            try:
                lines = tuple(float(word) or None for word in words[4:])
                found[words[0]] = Figure(float(words[1]), words[2], lines if any(lines) else None)
            except ValueError:
                continue
    return found


def last_word(err):
    """The line that says most: the last one that is not the launcher's farewell."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("mpiexec", "prterun", "[mpiexec"))]
    return (telling or lines or ["nothing said"])[-1][:200]


def preferred(command, nice):
    """The command, with another weight among the sessions of a busy machine.

    Linux shares the processor among sessions first (autogroup), so that nice alone does little; and
    launchers make sessions of their own, so that each rank has to ask for itself.
    """
    if nice is None:
        return command
    ask = f'echo {nice} > /proc/self/autogroup; exec nice -n {nice} "$@"'
    return ["/bin/sh", "-c", ask, "sh", *command]


def points(lib, unit, names, cores, args):
    """Runs a unit; returns ({name: Figure}, a word on what went wrong or '')."""
    budget, limit = args.budget, args.limit
    bound = unit.np <= cores
    env, command = lib.environment(bound), lib.command(unit.np, bound)
    if unit.group == "startup":
        return startup(command, env, lib, limit)
    program = [lib.program("points"), unit.group]
    if unit.group == "python":
        program = [lib.bin("python"), os.path.join(BENCH, "pypoints.py"), "--line",
                   os.path.join(lib.work, "line.so")]
    command += preferred(program, args.nice)
    command += [*unit.options, "--budget", str(budget), "--limit", str(limit),
                "--only", ",".join(names)]
    if unit.sizes:
        command += ["--sizes", ",".join(map(str, unit.sizes))]
    status, out, err, _ = bounded(command, env, limit + GRACE)
    found = parse(out)
    cores_seen = found.pop("cores-of-rank-0", Figure(0, "")).value
    trouble = ""
    if status is None:
        trouble = f"ended after {limit + GRACE:.0f} s"
    elif status != 0:
        trouble = f"status {status}: {last_word(err)}"
    elif bound and cores_seen > 1:
        trouble = f"rank 0 was not bound: it had {cores_seen:.0f} cores"
    return {n: v for n, v in found.items() if n in names}, trouble


def startup(command, env, lib, limit):
    """The median of a few starts, as many as fit a second or one."""
    times = []
    while not times or (len(times) < 5 and sum(times) < 1.0):
        status, _, err, took = bounded([*command, lib.program("startup")], env, limit + GRACE)
        if status is None:
            return {}, f"ended after {took:.0f} s"
        if status != 0:
            return {}, f"status {status}: {last_word(err)}"
        times.append(took)
    return {"startup": Figure(statistics.median(times) * 1e6, "us")}, ""


def machine(program, nice):
    """The machine's own figures."""
    status, out, _, _ = bounded(preferred([program], nice), dict(os.environ), 60)
    return parse(out) if status == 0 else {}


def pickling(python, nice):
    """What an interpreter needs for the objects of the Python points, without MPI; and mpi4py's calls,
    on the library of its environment, if that runs."""
    env = {**os.environ, "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
           "MALLOC_MMAP_THRESHOLD_": str(32 << 20)}
    found = {}
    for words in ((), ("alone",)):
        command = [python, os.path.join(BENCH, "pickling.py"), *words]
        status, out, _, _ = bounded(preferred(command, nice), env, 60)
        found.update(parse(out) if status == 0 else {})
    return found


def line_time(program, nice):
    """How long a cache line takes from core to core just now, in µs; None on one core."""
    _, out, _, _ = bounded(preferred([program, "--line"], nice), dict(os.environ), 10)
    return parse(out).get("spin-ping-pong", Figure(None, "")).value
