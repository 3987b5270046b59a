#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds Shoal in the ways that matter and runs the tests in each; what `make test` calls.

release  everything
asan     the same tests under the address and undefined-behaviour sanitizers
clang    compiles without a warning (where clang is to be had)

Ends with `N passed, N failed`, added up over all runs.
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
        return subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT if out else None).returncode
    finally:
        if out:
            out.close()


def build(name, options, jobs):
    began = time.time()
    where = os.path.join("build", name)
    log = os.path.join(ROOT, "build", f"{name}.log")
    os.makedirs(os.path.join(ROOT, "build"), exist_ok=True)
    steps = (["cmake", "-S", ".", "-B", where, "-G", "Ninja", *options],
             ["cmake", "--build", where, "-j", str(jobs)])
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
    process = subprocess.Popen(["ctest", "--test-dir", where, "--output-on-failure", *extra],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    passed = failed = 0
    for line in process.stdout:
        sys.stdout.write(line)
        m = re.search(r"(\d+) tests failed out of (\d+)", line)
        if m:
            failed = int(m[1])
            passed = int(m[2]) - failed
    if process.wait() != 0 and failed == 0:
        failed = 1
    say(f"{name}: {passed} passed, {failed} failed in {time.time() - began:.0f} s")
    return passed, failed


def find_clang():
    for name in ("clang", "clang-14", "clang-15", "clang-16"):
        if shutil.which(name):
            return name
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-only", action="store_true", help="only build build/release")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    args = parser.parse_args()
    passed = failed = 0
    if not build("release", [], args.jobs):
        failed += 1
    if args.build_only:
        return failed
    if not failed:
        p, f = test("release")
        passed, failed = passed + p, failed + f
    if build("asan", ["-DSHOAL_SANITIZE=address,undefined"], args.jobs):
        p, f = test("asan")
        passed, failed = passed + p, failed + f
    else:
        failed += 1
    clang = find_clang()
    if clang:
        if build("clang", [f"-DCMAKE_C_COMPILER={clang}"], args.jobs):
            passed += 1
        else:
            failed += 1
    else:
        say("no clang here: the clang build is left out")
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
