# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's wheel as it is on PyPI finds Shoal and runs on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import Env


def test_import_alone(env: Env) -> None:
    """Without mpiexec a program is a world of one rank."""
    out = env.run(
        "python", "-c", "from mpi4py import MPI; print(MPI.COMM_WORLD.size, MPI.Get_library_version())"
    ).stdout
    assert out.startswith("1 Shoal ")


def test_the_library_is_the_environments(env: Env) -> None:
    code = "from mpi4py import MPI; print(*(line.split()[-1] for line in open('/proc/self/maps') if 'libmpi' in line))"
    for file in env.run("python", "-c", code).stdout.split():
        assert Path(file).parent == env.prefix / "lib"


def test_helloworld(env: Env) -> None:
    out = env.mpiexec(4, "python", "-m", "mpi4py.bench", "helloworld").stdout
    assert [line.split(" on ")[0] for line in out.splitlines()] == [
        f"Hello, World! I am process {r} of 4" for r in range(4)
    ]


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_ringtest(env: Env, ranks: int) -> None:
    out = env.mpiexec(ranks, "python", "-m", "mpi4py.bench", "ringtest", "-n", "1000", "-l", "20").stdout
    assert re.match(rf"time for 20 loops = \S+ seconds \({ranks} processes, 1000 bytes\)", out)


def test_run_module(env: Env, tmp_path: Path) -> None:
    """python -m mpi4py ends the whole job when one rank raises, instead of leaving the others waiting."""
    script = tmp_path / "raises.py"
    script.write_text(
        "from mpi4py import MPI\nc = MPI.COMM_WORLD\nif c.rank == 1: raise ValueError('on purpose')\n"
        "c.Barrier()\n"
    )
    done = env.mpiexec(3, "python", "-m", "mpi4py", script, check=False, timeout=30)
    assert done.returncode != 0
    assert "ValueError: on purpose" in done.stderr


def test_futures(env: Env, tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(
        "from mpi4py.futures import MPIPoolExecutor\n"
        "def cube(x): return x ** 3\n"
        "if __name__ == '__main__':\n"
        "    with MPIPoolExecutor() as pool:\n"
        "        print(sum(pool.map(cube, range(100))), pool.submit(pow, 2, 10).result())\n"
    )
    out = env.mpiexec(4, "python", "-m", "mpi4py.futures", script).stdout
    assert out.split() == [str(sum(x**3 for x in range(100))), "1024"]


def test_large_objects(env: Env, tmp_path: Path) -> None:
    script = tmp_path / "large.py"
    script.write_text(
        "import numpy as np\nfrom mpi4py import MPI\nc = MPI.COMM_WORLD\n"
        "x = np.arange(1 << 20) + c.rank\n"
        "y = c.sendrecv(x, (c.rank + 1) % c.size, source=(c.rank - 1) % c.size)\n"
        "assert (y == np.arange(1 << 20) + (c.rank - 1) % c.size).all()\n"
        "assert all((part == np.arange(1 << 20) + r).all() for r, part in enumerate(c.allgather(x)))\n"
        "z = c.bcast({'x': x} if c.rank == 0 else None)['x']\nassert (z == np.arange(1 << 20)).all()\n"
    )
    env.mpiexec(3, "python", script)
