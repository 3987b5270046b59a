# SPDX-License-Identifier: BSD-3-Clause
"""`shoal info`: what this installation is and what it found on this machine."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

from shoal import __version__
from shoal import _machine as machine
from shoal._place import Place


def _mpiexec_info(place: Place) -> str:
    try:
        done = subprocess.run([place.mpiexec, "--info"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as why:
        return f"{place.mpiexec} --info: {why}"
    return (done.stdout + done.stderr).rstrip()


def _version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _limits() -> list[tuple[str, str]]:
    quota = machine.cpu_quota()
    memory = machine.memory_limit()
    processes = machine.process_limit()
    space = machine.address_space_limit()
    return [
        ("cores", f"{machine.usable_cores()} usable, " + (f"quota {quota:.2g}" if quota else "no quota")),
        ("memory", f"at most {machine.human(memory)}" if memory else "no limit set"),
        ("processes", f"at most {processes}" if processes else "no limit set"),
        ("address space", f"at most {machine.human(space)}" if space else "no limit set"),
        ("open files", f"at most {machine.open_files_limit()} for a process"),
    ]


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    return "\n".join([title] + [f"  {name:<15} {text}" for name, text in rows])


def run(place: Place) -> int:
    print(_mpiexec_info(place))
    print()
    print(_section("Limits", _limits()))
    print()
    rows = [
        ("shoal", f"{__version__} in {place.prefix}"),
        ("python", f"{sys.version.split()[0]}, {sys.executable}"),
        ("mpi4py", _version_of("mpi4py")),
        ("numpy", _version_of("numpy")),
    ]
    print(_section("Installation", rows))
    return 0
