// SPDX-License-Identifier: BSD-3-Clause
// Hosts on the command line and in host files. One machine is all there is, so a host is either
// this one, perhaps with a number of slots, or an error that says so.
#ifndef SHOAL_MPIEXEC_HOSTS_H
#define SHOAL_MPIEXEC_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

// Reads "localhost,thishost:4"; returns the slots they offer, 0 if none says. Exits 2 if a host
// is another one.
uint32_t shoal_hosts_from_list(const char *option, const char *list);

// Reads a host file: a host on each line, "name", "name:4" or "name slots=4"; # begins a comment.
uint32_t shoal_hosts_from_file(const char *option, const char *path);

// Whether a name or address means this machine.
bool shoal_hosts_is_here(const char *name);

#endif
