# SPDX-License-Identifier: BSD-3-Clause
"""A script that makes itself parallel: start it with plain python, and it goes on as several ranks.

It fits a line by gradient descent: every rank has its own noisy data, gradients are averaged after each step,
and so all end with the same line. More ranks than cores are welcome.

python mpi_fork_demo.py [ranks]
"""

import sys

import numpy as np
from mpi_tools import mpi_avg_grads, mpi_fork, mpi_statistics_scalar, msg, num_procs, proc_id, sync_params


def train(steps: int = 200, rate: float = 0.3) -> np.ndarray:
    random = np.random.default_rng(seed=proc_id())
    x = random.uniform(-1.0, 1.0, 100)
    y = 3.0 * x + 1.0 + random.normal(0.0, 0.1, x.size)
    line = random.normal(size=2).astype(np.float32)  # slope and height, different on every rank ...
    sync_params([line])  # ... until here
    for _ in range(steps):
        error = line[0] * x + line[1] - y
        gradient = np.array([(error * x).mean(), error.mean()], dtype=np.float32)
        mpi_avg_grads([gradient])
        line -= rate * gradient
    return line


def main() -> None:
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 6
    mpi_fork(ranks, bind_to_core=True)
    line = train()
    mean, deviation = mpi_statistics_scalar(line[:1])
    msg(f"{line[0]:.2f} x + {line[1]:.2f}", "the line is")
    if proc_id() == 0:
        print(f"{num_procs()} ranks agree: slope {mean:.2f}, deviation {deviation:.3f}")


if __name__ == "__main__":
    main()
