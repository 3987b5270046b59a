# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of mpiexec share: running it, and looking for what it left behind."""

import os
import signal
import subprocess
import sys
import time
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from cmake_cache import sanitized  # noqa: E402,F401

BUILD = os.environ.get("SHOAL_BUILD") or sys.argv[1]
MPIEXEC = os.path.join(BUILD, "bin", "mpiexec")
PROGRAMS = os.path.join(BUILD, "tests")


def clean_environment(**more):
    """The environment of a user: whatever job this test may be part of does not show."""
    hidden = ("PMI_", "SHOAL_WORLD", "OMPI_", "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
    env.update(more)
    return env


def run(*args, timeout=30, stdin=subprocess.DEVNULL, env=None, **kw):
    """Runs mpiexec with these arguments; returns what subprocess.run() does."""
    if "input" in kw:
        stdin = None
    return subprocess.run(
        [MPIEXEC, *map(str, args)],
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=env or clean_environment(),
        check=False,
        **kw,
    )


def start(*args, **kw):
    """Starts mpiexec and does not wait."""
    kw.setdefault("stdout", subprocess.PIPE)
    kw.setdefault("stderr", subprocess.PIPE)
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([MPIEXEC, *map(str, args)], text=True, env=clean_environment(), **kw)


# Seconds within which a job ends that would otherwise end after 20 or never: long, since a machine
# may be very busy.
SOON = 15


def wait_until(condition, seconds=SOON):
    """Waits until condition() holds; whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def marked(mark):
    """The living processes that have `mark` among their arguments."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{name}/stat", "rb") as f:
                state = f.read().rsplit(b")", 1)[1].split()[0]
        except OSError:
            continue
        if any(mark.encode() in w for w in words) and state not in (b"Z", b"X"):
            found.append(int(name))
    return found


def kill_marked(mark):
    """Cleans up after a test that failed."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    """Runs the tests of the calling script."""
    unittest.main(argv=[sys.argv[0]], verbosity=2)
