# SPDX-License-Identifier: BSD-3-Clause
"""`shoal demo`: about a minute that shows what Shoal is for. Every figure in it is measured while you look."""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from shoal import _machine as machine
from shoal._place import Place

SCRIPTS = Path(__file__).parent / "demos"
DEADLOCK = 86  # mpiexec's status for one
WIDTH = 40  # of the bar


class Show:
    """Runs the scripts of demos/ with this environment's mpiexec and Python."""

    def __init__(self, place: Place) -> None:
        self.place = place
        # One thread of arithmetic for a rank: a fair speed-up, and what a parallel job wants anyway.
        self.env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
        self.terminal = sys.stdout.isatty()

    def command(self, ranks: int, script: str, *args: str) -> list[str]:
        return [str(self.place.mpiexec), "-n", str(ranks), sys.executable, str(SCRIPTS / script), *args]

    def run(self, ranks: int, script: str, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(ranks, script, *args),
            env=self.env,
            timeout=120,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def title(self, number: int, text: str, shown: str) -> None:
        print(f"\n{number}. {text}\n   $ {shown}", flush=True)

    def bar(self, label: str, percent: int) -> None:
        full = WIDTH * percent // 100
        text = f"   {label} [{'#' * full}{'.' * (WIDTH - full)}] {percent:3d} %"
        if self.terminal:
            print("\r" + text, end="", flush=True)
        elif percent == 100:
            print(text, end="", flush=True)

    def mandelbrot(self, ranks: int, out: str, width: int) -> float:
        """Follows the job's progress; returns the seconds that it reports."""
        seconds = 0.0
        shown = -1
        label = f"{ranks} rank{'s' if ranks > 1 else ' '}"
        job = subprocess.Popen(
            self.command(ranks, "mandelbrot.py", out, str(width)),
            env=self.env,
            text=True,
            stdout=subprocess.PIPE,
        )
        assert job.stdout is not None
        for line in job.stdout:
            word, _, value = line.partition(" ")
            if word == "progress" and int(value) != shown:
                shown = int(value)
                self.bar(label, shown)
            elif word == "seconds":
                seconds = float(value)
        if job.wait() != 0:
            raise RuntimeError(f"mandelbrot.py ended with status {job.returncode}")
        print(f"  {seconds:.2f} s")
        return seconds


def echo(pipe: Connection, count: int) -> None:
    for _ in range(count):
        pipe.send(pipe.recv())


def pipe_time(count: int = 4000) -> float:
    """The same ping-pong as demos/pingpong.py through multiprocessing.Pipe, in microseconds."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.Process(target=echo, args=(there, 5 * count))
    child.start()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        for i in range(count):
            here.send(i)
            here.recv()
        times.append((time.perf_counter() - start) / count / 2 * 1e6)
    child.join()
    return sorted(times)[2]


def show_hello(show: Show) -> bool:
    show.title(1, "Four ranks say hello", "mpiexec -n 4 python hello.py")
    start = time.perf_counter()
    done = show.run(4, "hello.py")
    seconds = time.perf_counter() - start
    for line in sorted(done.stdout.splitlines()):
        print(f"   {line}")
    print(f"   started, greeted and ended in {seconds:.2f} s")
    return done.returncode == 0


def show_picture(show: Show, out: str, width: int) -> bool:
    ranks = max(2, machine.usable_cores())
    show.title(
        2,
        "A parallel job: the rows of a picture scattered, computed, gathered",
        f"mpiexec -n {ranks} python mandelbrot.py {out}",
    )
    alone = show.mandelbrot(1, out, width)
    together = show.mandelbrot(ranks, out, width)
    print(
        f"   {out}: {width} x {width * 2 // 3} points, {alone / together:.2f} times as fast on {ranks} ranks"
    )
    return True


def show_mistake(show: Show) -> bool:
    show.title(
        3,
        "A mistake: both ranks receive before they send. Elsewhere this hangs until you notice",
        "mpiexec -n 2 python both_receive.py",
    )
    start = time.perf_counter()
    done = show.run(2, "both_receive.py")
    seconds = time.perf_counter() - start
    for line in done.stdout.splitlines():
        print(f"   {line}")
    print(f"   told and ended after {seconds:.2f} s, status {done.returncode}")
    return done.returncode == DEADLOCK


def show_comparison(show: Show) -> bool:
    crowd = 8 * machine.usable_cores()
    show.title(
        4,
        f"Waiting costs nothing: two ranks talk, then the same two with {crowd - 2} others waiting",
        f"mpiexec -n {crowd} python pingpong.py",
    )
    pipe = pipe_time()
    alone = show.run(2, "pingpong.py")
    crowded = show.run(crowd, "pingpong.py")
    if alone.returncode or crowded.returncode:
        print(alone.stdout + crowded.stdout)
        return False
    print(
        f"   a small object one way: {pipe:.1f} us by multiprocessing.Pipe, {float(alone.stdout):.1f} us by mpi4py"
        f" on Shoal, {float(crowded.stdout):.1f} us with {crowd} ranks"
    )
    print("   (make bench compares with MPICH, Open MPI and Intel MPI on your machine)")
    return True


def run(place: Place, out: str = "mandelbrot.png", quick: bool = False) -> int:
    missing = [name for name in ("mpi4py", "numpy") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"The demonstration needs {' and '.join(missing)}: pip install {' '.join(missing)}")
        return 1
    start = time.perf_counter()
    show = Show(place)
    width = 300 if quick else 1200
    good = [show_hello(show), show_picture(show, out, width), show_mistake(show), show_comparison(show)]
    print(f"\nThe demonstration took {time.perf_counter() - start:.0f} s.")
    return 0 if all(good) else 1
