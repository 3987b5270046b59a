// SPDX-License-Identifier: BSD-3-Clause
// The variables that the MPICH ABI exports. Programs compare and pass on their values, never what
// they point to: so they hold the standard ABI's addresses, which need no conversion. Fortran's
// ignored statuses need real places.
int *const MPI_UNWEIGHTED = (int *)10;
int *const MPI_WEIGHTS_EMPTY = (int *)11;
void *const MPI_T_PVAR_ALL_HANDLES = (void *)1;

static int ignored[4][5];
int *MPI_F_STATUS_IGNORE = ignored[0];
int *MPI_F_STATUSES_IGNORE = ignored[1];
int *MPI_F08_STATUS_IGNORE = ignored[2];
int *MPI_F08_STATUSES_IGNORE = ignored[3];
