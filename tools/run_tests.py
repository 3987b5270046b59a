#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds Shoal in the ways that matter and runs the tests in each; what `make test` calls.

release  everything
asan     the same tests under the address and undefined-behaviour sanitizers
clang    compiles without a warning (where clang is to be had)
lint     ruff finds nothing in the Python files, clang-format nothing in the C files
python   the wheel: installation, the shoal command, examples, mpi4py, ipyparallel, torch
mpi4py   mpi4py's own test suite, a selection (tests/mpi4py/run_suite.py --all runs all of it)

`--only release,python` runs some of them. Ends with `N passed, N failed`, added up over all runs.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def say(text):
    print(f"== {text}", flush=True)


def run(command, log=None):
    """Runs a command in the checkout; its output goes to the terminal or to a file."""
    out = open(log, "w") if log else None
    try:
        return subprocess.run(
            command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT if out else None
        ).returncode
    finally:
        if out:
            out.close()


def build(name, options, jobs):
    began = time.time()
    where = os.path.join("build", name)
    log = os.path.join(ROOT, "build", f"{name}.log")
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    steps = (
        ["cmake", "-S", ".", "-B", where, "-G", "Ninja", *options],
        ["cmake", "--build", where, "-j", str(jobs)],
    )
    for step in steps:
        if run(step, log) != 0:
            print(open(log).read()[-8000:])
            say(f"{name}: the build failed")
            return False
    say(f"{name}: built in {time.time() - began:.0f} s")
    return True


def test(name, extra=()):
    """Runs ctest in a build; returns (passed, failed)."""
    began = time.time()
    where = os.path.join(ROOT, "build", name)
    process = subprocess.Popen(
        ["ctest", "--test-dir", where, "--output-on-failure", *extra],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=ROOT,
    )
    passed = failed = 0
    for line in process.stdout:
        sys.stdout.write(line)
        # "99% tests passed, 1 tests failed out of 9"; newer versions say only "... passed out of 9".
        m = re.search(r"% tests passed(?:, (\d+) tests? failed)? out of (\d+)", line)
        if m:
            failed = int(m[1] or 0)
            passed = int(m[2]) - failed
    if process.wait() != 0 and failed == 0:
        failed = 1
    say(f"{name}: {passed} passed, {failed} failed in {time.time() - began:.0f} s")
    return passed, failed


def tally(name, command):
    """Runs a command that reports `N passed` and `N failed` in its last lines; returns (passed, failed)."""
    began = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    last = ""
    for line in process.stdout:
        sys.stdout.write(line)
        sys.stdout.flush()
        if re.search(r"\d+ (passed|failed|error)", line):
            last = line
    passed, failed = (
        sum(map(int, re.findall(rf"(\d+) {word}", last))) for word in ("passed", "(?:failed|error)")
    )
    if process.wait() != 0 and failed == 0:
        failed = 1
    say(f"{name}: {passed} passed, {failed} failed in {time.time() - began:.0f} s")
    return passed, failed


def build_wheel():
    """The wheel that users get, built incrementally; None if that failed."""
    began = time.time()
    house = os.path.join(ROOT, "build", "wheelhouse")
    shutil.rmtree(house, ignore_errors=True)
    log = os.path.join(ROOT, "build", "wheel.log")
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    if (
        run(
            [
                shutil.which("python3"),
                "-m",
                "pip",
                "wheel",
                "--disable-pip-version-check",
                "--no-deps",
                "--no-build-isolation",
                "--config-settings=build-dir=build/wheel",
                "--wheel-dir",
                house,
                ".",
            ],
            log,
        )
        != 0
    ):
        print(open(log).read()[-8000:])
        say("the wheel could not be built")
        return None
    say(f"wheel: built in {time.time() - began:.0f} s")
    return os.path.join(house, os.listdir(house)[0])


def lint(python):
    """What the commit hooks look at; returns (passed, failed)."""
    listed = subprocess.run(["git", "ls-files", "*.c", "*.h"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    files = listed.stdout.split()
    checks = [[python, "-m", "ruff", "check", "--quiet", "."]]
    if files:  # a checkout without git has no list
        checks.append(["clang-format", "--dry-run", "-Werror", "--ferror-limit=5", *files])
    failed = sum(run(check) != 0 for check in checks)
    say(f"lint: {len(checks) - failed} passed, {failed} failed")
    return len(checks) - failed, failed


def test_python(names):
    """What is tested from Python; returns (passed, failed)."""
    python = shutil.which("python3")
    passed = failed = 0
    if "lint" in names:
        passed, failed = lint(python)
    if not {"python", "mpi4py"} & set(names):
        return passed, failed
    wheel = build_wheel()
    if not wheel:
        return passed, failed + 1
    os.environ["SHOAL_TEST_WHEEL"] = wheel
    if "python" in names:
        p, f = tally(
            "python",
            [python, "-m", "pytest", "-q", "--durations=5", "-p", "no:cacheprovider", "tests/python"],
        )
        passed, failed = passed + p, failed + f
    if "mpi4py" in names:
        p, f = tally(
            "mpi4py",
            [
                python,
                "tests/mpi4py/run_suite.py",
                "--wheel",
                wheel,
                "--timeout",
                "300",
                "--report",
                os.path.join("build", "mpi4py-failures.txt"),
            ],
        )
        passed, failed = passed + p, failed + f
    return passed, failed


def find_clang():
    for name in ("clang", "clang-14", "clang-15", "clang-16"):
        if shutil.which(name):
            return name
    return None


STAGES = ("release", "asan", "clang", "lint", "python", "mpi4py")


def test_builds(names, build_only, jobs):
    """The C library built in the ways that matter; returns (passed, failed)."""
    passed = failed = 0
    for name, options in (("release", []), ("asan", ["-DSHOAL_SANITIZE=address,undefined"])):
        if name not in names:
            continue
        if not build(name, options, jobs):
            failed += 1
        elif not build_only:
            p, f = test(name)
            passed, failed = passed + p, failed + f
    clang = find_clang()
    if "clang" in names and clang:
        good = build("clang", [f"-DCMAKE_C_COMPILER={clang}"], jobs)
        passed, failed = passed + good, failed + (not good)
    elif "clang" in names:
        say("no clang here: the clang build is left out")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-only", action="store_true", help="build, and run no tests")
    parser.add_argument("--only", default=",".join(STAGES), help="some of " + ",".join(STAGES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_args()
    names = args.only.split(",")
    passed, failed = test_builds(names, args.build_only, args.jobs)
    if not args.build_only:
        p, f = test_python(names)
        passed, failed = passed + p, failed + f
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
