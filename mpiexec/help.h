// SPDX-License-Identifier: BSD-3-Clause
// What mpiexec tells about itself.
#ifndef SHOAL_MPIEXEC_HELP_H
#define SHOAL_MPIEXEC_HELP_H

// Both print to stdout and exit 0.
void shoal_help_print(void) __attribute__((noreturn));
void shoal_help_version(void) __attribute__((noreturn));

#endif
