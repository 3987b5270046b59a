# SPDX-License-Identifier: BSD-3-Clause
"""What people build beside mpi4py: C extensions that receive a communicator, ipyparallel, torch.

Each kind has an environment of its own, with what it needs from the package index.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import EXAMPLES, Env

pytestmark = pytest.mark.network

CTYPES = """
import ctypes, sys
from mpi4py import MPI

kinds = {4: ctypes.c_int, 8: ctypes.c_void_p}
handle = kinds[MPI._sizeof(MPI.Comm)]
library = ctypes.CDLL(sys.argv[1])
library.sum_over.argtypes = [handle, ctypes.c_int]
address = MPI._addressof(MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2))
print(MPI.COMM_WORLD.rank, library.sum_over(handle.from_address(address), MPI.COMM_WORLD.rank))
"""

CFFI = """
import sys
import cffi
from mpi4py import MPI

ffi = cffi.FFI()
ffi.cdef("typedef int MPI_Comm; int sum_over(MPI_Comm, int);")
library = ffi.dlopen(sys.argv[1])
half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
rank = MPI.COMM_WORLD.rank
print(rank, library.sum_over(ffi.cast("MPI_Comm *", MPI._addressof(half))[0], rank))
"""

# The MPICH ABI as a C compiler sees it: what a library built for MPICH would have been compiled from.
SHARED = """
typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Op;
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

int sum_over(MPI_Comm comm, int value)
{
    int sum = -1;
    MPI_Allreduce(&value, &sum, 1, 0x4c000405, 0x58000003, comm);
    return sum;
}
"""

CYTHON = """
# cython: language_level=3
cimport mpi4py.MPI as MPI
from mpi4py.libmpi cimport MPI_Allreduce, MPI_INT, MPI_SUM

def sum_over(MPI.Comm comm, int value):
    cdef int total = -1
    MPI_Allreduce(&value, &total, 1, MPI_INT, MPI_SUM, comm.ob_mpi)
    return total
"""

CYTHON_SETUP = """
import mpi4py
from setuptools import Extension, setup
from Cython.Build import cythonize

setup(name="ranksum", ext_modules=cythonize([Extension("ranksum", ["ranksum.pyx"],
      include_dirs=[mpi4py.get_include()])]))
"""

CYTHON_USE = """
import ranksum
from mpi4py import MPI

half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
print(MPI.COMM_WORLD.rank, ranksum.sum_over(half, MPI.COMM_WORLD.rank))
"""

SUMS = ["0 2", "1 4", "2 2", "3 4"]  # of the even and of the odd ranks among four


@pytest.fixture(scope="session")
def c_library(env: Env, tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("c")
    source, library = where / "shared.c", where / "libshared.so"
    source.write_text(SHARED)
    lib = env.prefix / "lib"
    env.run("gcc", "-shared", "-fPIC", source, "-o", library, f"-L{lib}", f"-Wl,-rpath,{lib}", "-lmpi")
    return library


def sums(env: Env, script: Path, text: str, *arguments: object, **options: object) -> list[str]:
    script.write_text(text)
    return sorted(env.mpiexec(4, "python", script, *arguments, **options).stdout.splitlines())


def test_ctypes(env: Env, c_library: Path, tmp_path: Path) -> None:
    assert sums(env, tmp_path / "use.py", CTYPES, c_library) == SUMS


def test_cffi(wheel: Path, new_env: Callable[..., Env], c_library: Path, tmp_path: Path) -> None:
    env = new_env(wheel, "mpi4py", "cffi")
    assert sums(env, tmp_path / "use.py", CFFI, c_library) == SUMS


def test_cython(wheel: Path, new_env: Callable[..., Env], tmp_path: Path) -> None:
    """Built with Shoal's mpicc, which means the standard ABI; so mpi4py is built from its sources, too."""
    env = new_env(wheel, "cython", "setuptools", "wheel")
    flags = {"CFLAGS": "-O0 -g0", "CC": "mpicc", "LDSHARED": "mpicc -shared"}
    build = {"CFLAGS": "-O0 -g0", "MPICC": str(env.bin / "mpicc")}
    env.pip("install", "--quiet", "--no-build-isolation", "--no-binary", "mpi4py", "mpi4py", env=build)
    (tmp_path / "ranksum.pyx").write_text(CYTHON)
    (tmp_path / "setup.py").write_text(CYTHON_SETUP)
    env.run("python", "setup.py", "--quiet", "build_ext", "--inplace", cwd=tmp_path, env=flags, timeout=300)
    assert sums(env, tmp_path / "use.py", CYTHON_USE, cwd=tmp_path) == SUMS


# --- ipyparallel ------------------------------------------------------------------------------------------------


PSUM_CLIENT = """
import sys, time
import numpy as np
import ipyparallel as ipp

client = ipp.Client(profile_dir=sys.argv[1], timeout=60)
client.wait_for_engines(8, timeout=90)
view = client[:]
view.run(sys.argv[2], block=True)
view["x"] = np.arange(80.0)
view.execute("total = psum(x)", block=True)
print([float(view["total"][0]), *view["total"][1:]])
"""


@pytest.fixture(scope="session")
def ipp_env(wheel: Path, new_env: Callable[..., Env]) -> Env:
    return new_env(wheel, "mpi4py", "numpy", "ipyparallel")


class Daemon:
    """A program that runs beside the test, ended with all its children."""

    def __init__(self, env: Env, log: Path, *command: object) -> None:
        self.log = log
        with open(log, "wb") as out:
            words = [str(env.bin / str(command[0])), *map(str, command[1:])]
            self.job = subprocess.Popen(
                words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, start_new_session=True,
                env=env.variables(IPYTHONDIR=str(log.parent / "ipython")))  # fmt: skip

    def stop(self) -> None:
        # ipcluster ends its cluster by ctrl-C; engines take that for an interrupt of their work.
        gentle = signal.SIGINT if "ipcluster" in self.job.args[0] else signal.SIGTERM
        for number in (gentle, signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.job.pid, number)
                self.job.wait(10)
                return
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                return


@pytest.fixture
def daemons() -> Iterator[list[Daemon]]:
    running: list[Daemon] = []
    yield running
    for daemon in reversed(running):
        daemon.stop()


def run_psum(env: Env, profile: Path, tmp_path: Path, daemons: list[Daemon]) -> str:
    client = tmp_path / "client.py"
    client.write_text(PSUM_CLIENT)
    connection = profile / "security/ipcontroller-client.json"
    for _ in range(600):
        if connection.exists():
            break
        time.sleep(0.1)
    done = env.run("python", client, profile, EXAMPLES / "psum.py", timeout=180, check=False)
    logs = "\n".join(daemon.log.read_text(errors="replace")[-3000:] for daemon in daemons)
    assert done.returncode == 0, done.stderr + logs
    return done.stdout.strip()


def test_ipcluster(ipp_env: Env, tmp_path: Path, daemons: list[Daemon]) -> None:
    """ipcluster's own launcher calls our mpiexec; eight engines on however few cores there are."""
    profile = tmp_path / "profile"
    daemons.append(
        Daemon(ipp_env, tmp_path / "cluster.log", "ipcluster", "start", "-n", 8, "--engines=mpi",
               f"--profile-dir={profile}"))  # fmt: skip
    assert run_psum(ipp_env, profile, tmp_path, daemons) == "[3160.0, 1, 2, 3, 4, 5, 6, 7]"


def test_ipengine(ipp_env: Env, tmp_path: Path, daemons: list[Daemon]) -> None:
    """Engines started by hand against a controller."""
    profile = tmp_path / "profile"
    daemons.append(Daemon(ipp_env, tmp_path / "controller.log", "ipcontroller", f"--profile-dir={profile}"))
    for _ in range(600):
        if (profile / "security/ipcontroller-engine.json").exists():
            break
        time.sleep(0.1)
    daemons.append(
        Daemon(ipp_env, tmp_path / "engines.log", "mpiexec", "-n", 8, ipp_env.bin / "ipengine", "--mpi",
               f"--profile-dir={profile}"))  # fmt: skip
    assert run_psum(ipp_env, profile, tmp_path, daemons) == "[3160.0, 1, 2, 3, 4, 5, 6, 7]"


# --- torch ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def torch_env(wheel: Path, new_env: Callable[..., Env]) -> Env:
    return new_env(wheel, "mpi4py", "numpy", "torch==2.13.0")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_torch_gloo(torch_env: Env, ranks: int) -> None:
    for _ in range(3):
        done = torch_env.mpiexec(ranks, "python", EXAMPLES / "torch_gloo.py", timeout=180, check=False)
        # Now and then torch's own threads trip over its exit, also when started without mpiexec.
        if "terminate called without an active exception" not in done.stderr:
            assert done.returncode == 0, done.stderr
            break
    else:
        pytest.fail(f"torch aborted at its exit three times in a row:\n{done.stderr}")
    assert done.stdout.strip().splitlines()[-1] == f"{ranks} ranks, one line: 2.00 x -0.50 True"


@pytest.mark.slow
def test_torch_modules(torch_env: Env, tmp_path: Path) -> None:
    """mpi_tools works on torch modules, through mpi4py."""
    script = tmp_path / "module.py"
    script.write_text(
        "import torch, mpi_tools as t\n"
        "t.setup_pytorch_for_mpi()\n"
        "torch.manual_seed(t.proc_id())\n"
        "net = torch.nn.Linear(3, 2)\n"
        "t.sync_params(net)\n"
        "x = torch.full((1, 3), float(t.proc_id()))\n"
        "net(x).sum().backward()\n"
        "t.mpi_avg_grads(net)\n"
        "print([round(v, 3) for v in net.weight.grad[0].tolist()], round(float(net.weight.sum()), 4))\n"
    )
    out = torch_env.mpiexec(3, "python", script, env={"PYTHONPATH": str(EXAMPLES)}, timeout=180).stdout
    assert len(set(out.splitlines())) == 1
    assert out.startswith("[1.0, 1.0, 1.0]")
