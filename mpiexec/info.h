// SPDX-License-Identifier: BSD-3-Clause
// mpiexec --info.
#ifndef SHOAL_MPIEXEC_INFO_H
#define SHOAL_MPIEXEC_INFO_H

#include <stdbool.h>
#include <stdint.h>

// Prints what the library is and what it found on this machine, with the world as it would be for
// `nranks` ranks (0: one for each core); `verbose` adds the names of what is not implemented.
// Exits 0.
void shoal_info_print(uint32_t nranks, bool verbose) __attribute__((noreturn));

#endif
