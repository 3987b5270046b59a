# SPDX-License-Identifier: BSD-3-Clause
"""Each rank says who it is."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
print(f"hello from rank {comm.rank} of {comm.size} on {MPI.Get_processor_name()}")
