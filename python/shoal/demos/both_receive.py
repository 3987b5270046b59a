# SPDX-License-Identifier: BSD-3-Clause
"""A mistake on purpose: both ranks wait for the other's message before they send their own."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
other = 1 - comm.rank
theirs = comm.recv(source=other, tag=7)
comm.send(f"from {comm.rank}", dest=other, tag=7)
