// SPDX-License-Identifier: BSD-3-Clause
// mpiexec's own messages: whole lines on stderr that start with "mpiexec: ". While ranks run they
// go through the output streams, so that they never land within a rank's line.
#ifndef SHOAL_MPIEXEC_SAY_H
#define SHOAL_MPIEXEC_SAY_H

// One line for the user; the newline is added.
void shoal_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// A line without the "mpiexec: " in front, to go on with what the line before said.
void shoal_say_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Only with -verbose.
void shoal_say_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

// Not with -quiet.
void shoal_say_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
