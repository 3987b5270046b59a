// SPDX-License-Identifier: BSD-3-Clause
// The table of options: every spelling, how many values follow, and what it means.
#ifndef SHOAL_MPIEXEC_OPTABLE_H
#define SHOAL_MPIEXEC_OPTABLE_H

#include <stdint.h>

enum shoal_opt {
    OPT_ACCEPT, // of another mpiexec, without a meaning on one machine
    OPT_N,
    OPT_WDIR,
    OPT_PATH,
    OPT_ENV,
    OPT_ENVALL,
    OPT_ENVNONE,
    OPT_ENVLIST,
    OPT_GENV,
    OPT_GENVALL,
    OPT_GENVNONE,
    OPT_GENVLIST,
    OPT_X,
    OPT_HOST,
    OPT_HOSTFILE,
    OPT_PPN,
    OPT_PERNODE,
    OPT_BIND,
    OPT_BIND_CORE,
    OPT_BIND_SOCKET,
    OPT_BIND_NONE,
    OPT_MAP,
    OPT_MAP_SOCKET,
    OPT_CPUS_PER_RANK,
    OPT_CPU_SET,
    OPT_REPORT_BINDINGS,
    OPT_LABEL,
    OPT_TIMESTAMP,
    OPT_MERGE,
    OPT_OUTPUT,
    OPT_OUTFILE,
    OPT_ERRFILE,
    OPT_OUTPUT_DIR,
    OPT_STDIN,
    OPT_TIMEOUT,
    OPT_ON_DEADLOCK,
    OPT_KEEP_GOING,
    OPT_PRINT_CODES,
    OPT_UNIVERSE,
    OPT_CONFIGFILE,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_VERSION,
    OPT_HELP,
    OPT_INFO,
};

typedef struct shoal_optrow {
    const char *names; // separated by spaces, without dashes
    uint8_t values;    // how many follow
    enum shoal_opt id;
} shoal_optrow;

// The row of a name (without dashes, `length` characters), or NULL.
const shoal_optrow *shoal_optable_find(const char *name, uint32_t length);

// The known name that is most like a mistyped one, or NULL if none is near.
const char *shoal_optable_nearest(const char *name);

#endif
