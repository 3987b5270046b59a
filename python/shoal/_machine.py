# SPDX-License-Identifier: BSD-3-Clause
"""What the machine or the container allows: cores, memory, processes, open files, address space."""

from __future__ import annotations

import os
import resource
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")


def read_word(path: Path) -> str | None:
    """The first line of a small file of the kernel's, None if it is not there."""
    try:
        return path.read_text().splitlines()[0].strip()
    except (OSError, IndexError, UnicodeDecodeError):
        return None


def usable_cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0))


def cpu_quota() -> float | None:
    """Cores' worth of time that the control group grants, None without a limit."""
    words = (read_word(CGROUP / "cpu.max") or "").split()
    if len(words) == 2 and words[0] != "max":
        return int(words[0]) / int(words[1])
    quota = read_word(CGROUP / "cpu/cpu.cfs_quota_us")
    period = read_word(CGROUP / "cpu/cpu.cfs_period_us")
    if quota and period and int(quota) > 0:
        return int(quota) / int(period)
    return None


def _limit(*names: str) -> int | None:
    for name in names:
        text = read_word(CGROUP / name)
        if text and text.isdigit() and int(text) < 1 << 60:
            return int(text)
    return None


def memory_limit() -> int | None:
    """Bytes that the control group grants, None without a limit."""
    return _limit("memory.max", "memory/memory.limit_in_bytes")


def process_limit() -> int | None:
    """Processes and threads that the control group or the user may have, None without a limit."""
    group = _limit("pids.max", "pids/pids.max")
    soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    limits = [n for n in (group, None if soft == resource.RLIM_INFINITY else soft) if n is not None]
    return min(limits) if limits else None


def address_space_limit() -> int | None:
    """`ulimit -v` in bytes, None if unlimited."""
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def open_files_limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def strict_overcommit() -> bool:
    return read_word(Path("/proc/sys/vm/overcommit_memory")) == "2"


def human(size: int) -> str:
    """1536 MiB and the like: the largest unit that leaves a number of at least 2."""
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 2048:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}"
