# SPDX-License-Identifier: BSD-3-Clause
"""The first program: every rank runs the same script and learns which one it is.

mpiexec -n 5 python hello.py
"""

from mpi4py import MPI

comm = MPI.COMM_WORLD  # all the ranks that mpiexec started
print(f"hello from rank {comm.rank} of {comm.size}")
