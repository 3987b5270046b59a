# SPDX-License-Identifier: BSD-3-Clause
"""Small tools for data-parallel learning, with the names that reinforcement-learning code has come to use.

A training script calls mpi_fork(n) first, and goes on as n ranks. Each gathers its own experience; parameters
are made equal with sync_params, gradients averaged with mpi_avg_grads. Works for lists of numpy arrays and, if
torch is installed, for torch modules; nothing here imports torch by itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np


def mpi_fork(n: int, bind_to_core: bool = False) -> None:
    """Starts this script again as n ranks under mpirun, and ends with it; in a rank it only returns.

    MPI must not be imported before: a process that has begun as a single rank cannot become one of many.
    """
    if n <= 1 or os.getenv("IN_MPI") is not None:
        return
    env = dict(os.environ, MKL_NUM_THREADS="1", OMP_NUM_THREADS="1", IN_MPI="1")
    command = ["mpirun", "-np", str(n)]
    if bind_to_core:
        command += ["-bind-to", "core"]
    done = subprocess.run([*command, sys.executable, *sys.argv], env=env)
    sys.exit(done.returncode)


def _mpi() -> Any:
    from mpi4py import MPI

    return MPI


def proc_id() -> int:
    """This rank's number."""
    return _mpi().COMM_WORLD.Get_rank()


def num_procs() -> int:
    """How many ranks there are."""
    return _mpi().COMM_WORLD.Get_size()


def msg(text: str, string: str = "") -> None:
    """Prints with the rank in front."""
    print(f"Message from {proc_id()}: {string} {text}".rstrip(), flush=True)


def allreduce(*args: Any, **kwargs: Any) -> None:
    _mpi().COMM_WORLD.Allreduce(*args, **kwargs)


def broadcast(x: np.ndarray, root: int = 0) -> None:
    """Makes the array the same everywhere, in place."""
    _mpi().COMM_WORLD.Bcast(x, root=root)


def mpi_op(x: Any, op: Any) -> Any:
    """Combines scalars or arrays of all ranks in single precision; a scalar gives a scalar."""
    scalar = np.isscalar(x)
    mine = np.ascontiguousarray([x] if scalar else x, dtype=np.float32)
    total = np.zeros_like(mine)
    allreduce(mine, total, op=op)
    return total[0] if scalar else total


def mpi_sum(x: Any) -> Any:
    return mpi_op(x, _mpi().SUM)


def mpi_avg(x: Any) -> Any:
    return mpi_sum(x) / num_procs()


def mpi_statistics_scalar(x: Any, with_min_and_max: bool = False) -> tuple[float, ...]:
    """Mean and standard deviation over the values of all ranks, which may be differently many."""
    mine = np.asarray(x, dtype=np.float32)
    total, count = mpi_sum([mine.sum(), mine.size])
    mean = total / count
    deviation = np.sqrt(mpi_sum(((mine - mean) ** 2).sum()) / count)
    if not with_min_and_max:
        return mean, deviation
    smallest = mpi_op(mine.min() if mine.size else np.float32(np.inf), _mpi().MIN)
    largest = mpi_op(mine.max() if mine.size else np.float32(-np.inf), _mpi().MAX)
    return mean, deviation, smallest, largest


def _arrays(params: Any, gradients: bool = False) -> list[np.ndarray]:
    """The arrays behind a list of numpy arrays or a torch module, shared with it, not copied."""
    if hasattr(params, "parameters"):
        tensors = [p.grad if gradients else p.data for p in params.parameters()]
        return [t.numpy() for t in tensors if t is not None]
    return list(params)


def sync_params(params: Any) -> None:
    """Gives every rank the parameters of rank 0."""
    if num_procs() > 1:
        for array in _arrays(params):
            broadcast(array)


def mpi_avg_grads(params: Any) -> None:
    """Replaces each gradient by its mean over the ranks."""
    if num_procs() > 1:
        for array in _arrays(params, gradients=True):
            array[...] = mpi_avg(array)


def setup_pytorch_for_mpi() -> None:
    """Shares the cores between the ranks, so that torch's threads do not fight over them."""
    import torch

    if torch.get_num_threads() > 1:
        torch.set_num_threads(max(1, torch.get_num_threads() // num_procs()))
