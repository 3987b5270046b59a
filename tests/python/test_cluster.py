# SPDX-License-Identifier: BSD-3-Clause
"""Moving on: a program built with Shoal's mpicc runs, the same file, on MPICH's library with the standard ABI, as
it would on a cluster that has its own MPI; and a program built for MPICH runs on Shoal."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import EXAMPLES, Env

pytestmark = pytest.mark.network


def library_used(program: Path, env: Env, variables: dict[str, str]) -> str:
    """Which file the loader takes for the program's MPI library."""
    out = subprocess.run(
        ["ldd", program], capture_output=True, text=True, env=env.variables(**variables)
    ).stdout
    return next(line.split("=> ")[1].split(" (")[0] for line in out.splitlines() if "libmpi" in line)


@pytest.mark.parametrize("name, expected", [("pi", "pi is about 3.1415926536"), ("ring", "after 4 ranks")])
def test_same_binary_on_mpich(env: Env, mpich_env: Env, tmp_path: Path, name: str, expected: str) -> None:
    program = tmp_path / name
    env.run("mpicc", "-O2", EXAMPLES / f"{name}.c", "-o", program)
    assert expected in env.mpiexec(4, program).stdout
    before = program.read_bytes()
    there = {"LD_LIBRARY_PATH": str(mpich_env.prefix / "lib")}
    used = Path(library_used(program, mpich_env, there))
    assert used == mpich_env.prefix / "lib/libmpi_abi.so.1"
    assert expected in mpich_env.mpiexec(4, program, env=there).stdout
    assert program.read_bytes() == before


def test_mpich_binary_on_shoal(env: Env, mpich_env: Env, tmp_path: Path) -> None:
    """Compiled and linked by MPICH's mpicc, against its libmpi.so.12."""
    program = tmp_path / "pi"
    mpich_env.run("mpicc", "-O2", EXAMPLES / "pi.c", "-o", program)
    here = {"LD_LIBRARY_PATH": str(env.prefix / "lib")}
    used = Path(library_used(program, env, here))
    assert used == env.prefix / "lib/libmpi.so.12"
    assert env.mpiexec(4, program, env=here).stdout.strip() == "pi is about 3.1415926536"
