// SPDX-License-Identifier: BSD-3-Clause
// mpiexec --info.
#ifndef SHOAL_MPIEXEC_INFO_H
#define SHOAL_MPIEXEC_INFO_H

// Prints what the library is and what it found on this machine, and exits 0.
void shoal_info_print(void) __attribute__((noreturn));

#endif
