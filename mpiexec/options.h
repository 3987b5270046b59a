// SPDX-License-Identifier: BSD-3-Clause
// The command line of mpiexec, understood: what is to be started, and how.
#ifndef SHOAL_MPIEXEC_OPTIONS_H
#define SHOAL_MPIEXEC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define SHOAL_STDIN_ALL  (-1)
#define SHOAL_STDIN_NONE (-2)

enum shoal_env_base { SHOAL_ENV_DEFAULT, SHOAL_ENV_ALL, SHOAL_ENV_NONE, SHOAL_ENV_LIST };

// What the environment of the ranks is made of. `sets` are NAME=value strings, later ones win.
typedef struct shoal_env_rules {
    enum shoal_env_base base;
    const char *list; // names, comma separated, for SHOAL_ENV_LIST
    char **sets;
    uint32_t nsets;
} shoal_env_rules;

// One program of the command line; sections are separated by ":".
typedef struct shoal_section {
    uint32_t nranks; // 0: not said
    uint32_t first;  // rank of its first process
    char **argv;     // NULL-terminated
    const char *wdir;
    const char *path; // searched before PATH
    shoal_env_rules env;
} shoal_section;

enum shoal_on_deadlock { SHOAL_DEADLOCK_ABORT, SHOAL_DEADLOCK_REPORT, SHOAL_DEADLOCK_IGNORE };

typedef struct shoal_options {
    shoal_section *sections;
    uint32_t nsections;
    uint32_t nranks; // of all sections
    uint32_t slots;  // what the hosts named on the command line offer; 0: not said
    uint32_t per_node;
    shoal_env_rules genv;
    const char *bind_to, *map_by, *cpu_set;
    uint32_t cpus_per_rank;
    bool report_bindings;
    bool label, merge_stderr, timestamp;
    const char *outfile, *errfile, *output_dir;
    int32_t stdin_to; // a rank, SHOAL_STDIN_ALL or SHOAL_STDIN_NONE
    double timeout;   // seconds; 0: none
    enum shoal_on_deadlock on_deadlock;
    bool keep_going; // a rank that fails does not end the others
    bool quiet, verbose, print_exit_codes;
    int32_t universe; // answer to MPI_UNIVERSE_SIZE; 0: the number of ranks
} shoal_options;

// Understands argv. Prints what --help, --version and --info ask for and exits 0; prints the
// mistake and exits 2 if there is one. Strings of argv are kept, not copied.
void shoal_options_parse(int argc, char **argv, shoal_options *out);

// Reads an option's value as a count from `low` to `high`; exits 2 with a message otherwise.
uint32_t shoal_options_count(const char *option, const char *text, uint32_t low, uint32_t high);

// Prints "mpiexec: <text>" and exits 2.
void shoal_options_reject(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
