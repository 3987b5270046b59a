// SPDX-License-Identifier: BSD-3-Clause
// What the ranks write, brought to where it belongs: line by line, nothing lost, bounded memory.
//
//   rank's pipe -> stream (its lines, and the beginning of the next one) -> sink (a descriptor)
//
// A sink is in the middle of at most one line, and only the stream whose line it is may write
// then. A stream gives away whole lines; the beginning of a line stays with it until the newline,
// the end of the stream, or 1 MiB. A sink that does not accept data (a slow reader) makes its
// streams stop reading, so the pipe fills and the rank waits, as it would without mpiexec.
#ifndef SHOAL_MPIEXEC_OUTPUT_H
#define SHOAL_MPIEXEC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "run.h"

// Prepares stdout and stderr of mpiexec. Returns 0 or a negative SHOAL_E_*.
int shoal_output_open(void);

// Makes the pipes of a rank and sets its stdout_fd and stderr_fd.
int shoal_output_attach(shoal_rank *);

// Writes a line of mpiexec's own to stderr, between the lines of the ranks.
void shoal_output_message(const char *line, size_t length);

// All ranks are gone: what is in the pipes is still read, but a process that a rank left behind
// and that keeps a pipe open is not waited for.
void shoal_output_finish(void);

// Nothing is left to read or write.
bool shoal_output_done(void);

#endif
