# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, on fewer cores than ranks, and say what they should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import EXAMPLES, Env


def lines(env: Env, ranks: int, script: str, *args: str) -> list[str]:
    """What a script prints, sorted: the order between ranks is nobody's promise."""
    done = env.mpiexec(ranks, "python", EXAMPLES / script, *args, cwd=EXAMPLES)
    return sorted(done.stdout.splitlines())


@pytest.mark.parametrize("ranks", [1, 5, 16])
def test_hello(env: Env, ranks: int) -> None:
    assert lines(env, ranks, "hello.py") == sorted(f"hello from rank {r} of {ranks}" for r in range(ranks))


def test_p2p(env: Env) -> None:
    assert lines(env, 9, "p2p.py") == [
        "rank 0 heard 'who am I?' from rank 7",
        "rank 0 sent a number to rank 4",
        "rank 1 sent a dictionary to rank 8",
        "rank 3 took tag 22 (came second) before tag 11 (came first)",
        "rank 4 received 10000000",
        "rank 6 received an array with the sum 45",
        "rank 8 received {'greeting': 'hello', 'from': 1}",
    ]


def test_p2p_wants_nine_ranks(env: Env) -> None:
    done = env.mpiexec(2, "python", EXAMPLES / "p2p.py", check=False)
    assert done.returncode == 1
    assert "wants nine ranks" in done.stderr


@pytest.mark.parametrize("ranks", [1, 10])
def test_broadcast(env: Env, ranks: int) -> None:
    expected = [f"rank {r} works with 100 steps at a rate of 0.5" for r in range(ranks)]
    assert lines(env, ranks, "broadcast.py") == sorted(expected)


@pytest.mark.parametrize("ranks", [1, 3, 10])
def test_scatter(env: Env, ranks: int) -> None:
    expected = [f"rank {r} was dealt {r * r}" for r in range(ranks)] + ["the parts add up to 253"]
    assert lines(env, ranks, "scatter.py") == sorted(expected)


@pytest.mark.parametrize("ranks", [1, 5])
def test_gather(env: Env, ranks: int) -> None:
    assert lines(env, ranks, "gather.py") == sorted(
        f"rank 0 has {(r + 1) ** 2} from rank {r}" for r in range(ranks)
    )


def test_reduce(env: Env) -> None:
    done = env.mpiexec(3, "python", EXAMPLES / "reduce.py")
    assert done.stdout.splitlines() == [
        "SUM    [0, 6, 12]",
        "PROD   [0, 6, 48]",
        "MAX    [0, 3, 6]",
        "MIN    [0, 1, 2]",
        "LAND   [0, 1, 1]",
        "MAXLOC 3.5 on rank 1",
        "MINLOC 2.0 on rank 2",
        "as an array: 3.5 on rank 1",
    ]


def test_modes(env: Env) -> None:
    modes = {
        "standard": ("Send", "Isend"),
        "buffered": ("Bsend", "Ibsend"),
        "synchronous": ("Ssend", "Issend"),
        "ready": ("Rsend", "Irsend"),
    }
    expected = [
        f"{mode:<12} {call:<7} received {[i] * 4}" for i, mode in enumerate(modes) for call in modes[mode]
    ]
    expected += ["rank 0 received {'rank': 1}", "rank 1 received {'rank': 0}"]
    assert lines(env, 2, "modes.py") == sorted(expected)


@pytest.mark.parametrize("ranks", [1, 4, 10])
def test_parameter_map(env: Env, ranks: int) -> None:
    assert lines(env, ranks, "parameter_map.py", "12") == [
        f"12 x 12 points on {ranks} ranks",
        "the largest rate is 0.1748 at pressures 0.500 and 0.500",
    ]


def test_psum(env: Env) -> None:
    assert lines(env, 8, "psum.py") == ["[3160.0, 1, 2, 3, 4, 5, 6, 7]"]


@pytest.mark.parametrize("ranks", [1, 2, 6])
def test_mpi_fork(env: Env, ranks: int) -> None:
    """The script starts itself again by mpirun -bind-to core, with more ranks than cores."""
    done = env.run("python", EXAMPLES / "mpi_fork_demo.py", ranks)
    fits = re.findall(r"Message from (\d+): the line is (\S+) x \+ (\S+)", done.stdout)
    assert sorted(int(rank) for rank, _, _ in fits) == list(range(ranks))
    assert len({(slope, height) for _, slope, height in fits}) == 1
    assert float(fits[0][1]) == pytest.approx(3.0, abs=0.1)
    assert float(fits[0][2]) == pytest.approx(1.0, abs=0.1)
    assert f"{ranks} ranks agree" in done.stdout


def test_mpi_tools(env: Env, tmp_path: Path) -> None:
    script = tmp_path / "tools.py"
    script.write_text(
        "import numpy as np, mpi_tools as t\n"
        "from mpi4py import MPI\n"
        "r, n = t.proc_id(), t.num_procs()\n"
        "assert t.mpi_sum(1) == n and t.mpi_avg(r) == (n - 1) / 2\n"
        "assert t.mpi_op([r, -r], MPI.MAX).tolist() == [n - 1, 0]\n"
        "mean, std, low, high = t.mpi_statistics_scalar(np.arange(r + 1), with_min_and_max=True)\n"
        "everything = np.concatenate([np.arange(k + 1) for k in range(n)])\n"
        "assert np.isclose(mean, everything.mean()) and np.isclose(std, everything.std())\n"
        "assert (low, high) == (0, n - 1)\n"
        "x = np.full(3, float(r)); t.broadcast(x); assert (x == 0).all()\n"
        "p = [np.full((2, 2), float(r)), np.full(5, r + 1.0)]\n"
        "t.mpi_avg_grads(p); assert np.allclose(p[0], (n - 1) / 2)\n"
        "t.sync_params(p); assert np.allclose(p[1], (n + 1) / 2)\n"
        "t.msg('done')\n"
    )
    done = env.mpiexec(4, "python", script, env={"PYTHONPATH": str(EXAMPLES)})
    assert sorted(done.stdout.splitlines()) == [f"Message from {r}:  done" for r in range(4)]


@pytest.mark.parametrize(
    "name, ranks, expected",
    [
        ("ring", 1, "the token came back as 1 after 1 ranks"),
        ("ring", 6, "the token came back as 6 after 6 ranks"),
        ("pi", 4, "pi is about 3.1415926536"),
    ],
)
def test_c_example(env: Env, tmp_path: Path, name: str, ranks: int, expected: str) -> None:
    program = tmp_path / name
    env.run("mpicc", "-Wall", "-Werror", "-O2", EXAMPLES / f"{name}.c", "-o", program)
    assert env.mpiexec(ranks, program).stdout.strip() == expected
