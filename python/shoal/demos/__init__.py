# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that `shoal demo` runs under mpiexec; plain mpi4py, nothing of Shoal's is imported."""
