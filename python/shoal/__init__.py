# SPDX-License-Identifier: BSD-3-Clause
"""Shoal: MPI for the machine in front of you."""
