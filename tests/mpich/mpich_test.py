# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 600
"""Programs built with MPICH itself run on Shoal unchanged.

    mpich_test.py BUILD

The PyPI package mpich, installed into a virtual environment of the build directory, gives the real
mpi.h and mpicc. Every entry of our table is compiled as an assertion against that header; the
programs in programs/ are compiled by that mpicc and run under our mpiexec with our libmpi.so.12.
"""

import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
RANKS = (1, 2, 4)
SKIPPED = 77


def mpich_environment(build):
    """The prefix with MPICH's mpicc, or None when pip cannot get it."""
    prefix = build / "venv-mpich"
    if not (prefix / "bin" / "mpicc").exists():
        venv.create(prefix, with_pip=True)
        pip = subprocess.run([prefix / "bin" / "pip", "install", "-q", "mpich"], check=False)
        if pip.returncode != 0:
            return None
    return prefix


def run(command, timeout=120, **kwargs):
    """Runs a command and tells whether it succeeded; what it says is shown if not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False,
                              **kwargs)
    except subprocess.TimeoutExpired:
        print(f"FAILED (time): {' '.join(map(str, command))}")
        return False
    if done.returncode != 0:
        print(f"FAILED ({done.returncode}): {' '.join(map(str, command))}")
        print(done.stdout + done.stderr)
    return done.returncode == 0


def sanitizer(library):
    """Variables with which a plain program can load a library that was built with ASan."""
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True)
    if "libasan" not in needed.stdout:
        return {}
    runtime = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True,
                             check=True).stdout.strip()
    return {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0"}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    prefix = mpich_environment(build)
    if prefix is None:
        print("skipped: pip cannot install mpich")
        return SKIPPED
    out = build / "tests" / "mpich"
    out.mkdir(parents=True, exist_ok=True)
    compiler = prefix / "bin" / "mpicc"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(build / "lib"),
                   **sanitizer(build / "lib" / "libmpi.so.12")}
    good = run([compiler, "-Wno-deprecated-declarations", "-o", out / "table",
                build / "generated" / "mpich_table.c"])
    good = good and run([out / "table"], env=environment)
    for source in sorted((HERE / "programs").glob("*.c")):
        program = out / source.stem
        if not run([compiler, "-Wall", "-Wno-deprecated-declarations", "-o", program, source]):
            good = False
            continue
        for n in RANKS:
            good &= run([build / "bin" / "mpiexec", "-n", str(n), program], timeout=60,
                        env=environment)
    print("every program ran" if good else "there were failures")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
