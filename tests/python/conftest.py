# SPDX-License-Identifier: BSD-3-Clause
"""Environments for the tests: real ones, made by pip, as a user would.

SHOAL_TEST_WHEEL  a wheel to test; without it one is built from the checkout
SHOAL_TEST_ENV    an environment with Shoal, mpi4py and numpy to use; without it one is made
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

# Variables of the outside that would lead programs out of the environment under test.
UNWANTED = (
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MPI4PY_LIBMPI",
    "IN_MPI",
)


class Env:
    """A virtual environment and how to run something in it."""

    def __init__(self, prefix: Path) -> None:
        self.prefix = prefix
        self.bin = prefix / "bin"
        self.python = self.bin / "python"

    def variables(self, **more: str) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if k not in UNWANTED and not k.startswith("PYTEST")}
        return {**clean, "PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", **more}

    def run(
        self,
        *command: object,
        timeout: float = 60,
        check: bool = True,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs to the end, with its whole process group killed when the time is up."""
        words = [str(word) for word in command]
        words[0] = shutil.which(words[0], path=self.variables()["PATH"]) or words[0]
        job = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env=self.variables(**(env or {})),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            out, err = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            out, err = job.communicate()
            pytest.fail(f"{' '.join(words)}: not done after {timeout} s\n{out}\n{err}")
        if check and job.returncode != 0:
            pytest.fail(f"{' '.join(words)}: status {job.returncode}\n{out}\n{err}")
        return subprocess.CompletedProcess(words, job.returncode, out, err)

    def mpiexec(self, ranks: int, *command: object, **options: object) -> subprocess.CompletedProcess[str]:
        return self.run("mpiexec", "-n", ranks, *command, **options)  # type: ignore[arg-type]

    def pip(self, *arguments: object, timeout: float = 600, env: dict[str, str] | None = None) -> str:
        """Lets the pip of the tests' own Python work on this environment, which therefore needs none."""
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", self.python]
        return self.run(*command, *arguments, timeout=timeout, env=env).stdout


def make_env(prefix: Path, *packages: object) -> Env:
    venv.create(prefix, with_pip=False, symlinks=True)
    env = Env(prefix)
    if packages:
        env.pip("install", "--quiet", *packages)
    return env


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shoal as a wheel."""
    given = os.environ.get("SHOAL_TEST_WHEEL")
    if given:
        return Path(given).resolve()
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", out, ROOT], check=True
    )
    return next(out.glob("shoal-*.whl"))


@pytest.fixture(scope="session")
def new_env(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Env]:
    """Makes an environment with the packages named."""
    return lambda *packages: make_env(tmp_path_factory.mktemp("env") / "venv", *packages)


@pytest.fixture(scope="session")
def env(wheel: Path, new_env: Callable[..., Env]) -> Env:
    """Shoal, mpi4py's wheel and numpy; not to be changed by tests."""
    given = os.environ.get("SHOAL_TEST_ENV")
    return Env(Path(given).resolve()) if given else new_env(wheel, "mpi4py", "numpy")


@pytest.fixture(scope="session")
def mpich_env(new_env: Callable[..., Env]) -> Env:
    """MPICH from PyPI, to compare with and to move programs to."""
    return new_env("mpich", "mpi4py", "numpy")
