// SPDX-License-Identifier: BSD-3-Clause
// One array for each section holds what its ranks have in common; the last places of the array are
// written anew for each rank. Ranks are started one at a time, so the strings are shared as well.
#include "env.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plat/error.h"

#define RANK_VARS        24
#define VAR_BYTES        64
#define SHOAL_APPNUM_ENV "SHOAL_APPNUM" // which section of the command line the rank belongs to

static const shoal_section *built_for;
static char **env;       // of `built_for`, with room for RANK_VARS more
static size_t env_count; // without these
static char rank_vars[RANK_VARS][VAR_BYTES];

// What an outer job told its ranks is not true for ours.
static const char *const outer_prefixes[] = {"PMI_", "PMIX_", "OMPI_COMM_WORLD_", "HYDI_", NULL};
static const char *const outer_names[] = {SHOAL_WORLD_ENV, SHOAL_APPNUM_ENV, "MPI_LOCALRANKID",
                                          "MPI_LOCALNRANKS", NULL};
// These the user may set; inside a job of ours they are known not to be the user's.
static const char *const torch_names[] = {
    "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", NULL};

extern char **environ;

const char *shoal_env_get(char *const *e, const char *name)
{
    size_t n = strlen(name);
    for (; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') return *e + n + 1;
    return NULL;
}

static bool is_name(const char *entry, const char *name, size_t n)
{
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool in_names(const char *entry, const char *const *names)
{
    for (; *names; names++)
        if (is_name(entry, *names, strlen(*names))) return true;
    return false;
}

static bool from_outer_job(const char *entry, bool nested)
{
    for (const char *const *p = outer_prefixes; *p; p++)
        if (strncmp(entry, *p, strlen(*p)) == 0) return true;
    return in_names(entry, outer_names) || (nested && in_names(entry, torch_names));
}

static bool in_list(const char *entry, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, ",");
        if (n && is_name(entry, list, n)) return true;
        list += n + (list[n] == ',');
    }
    return false;
}

// Puts NAME=value in place of another value of that name, or at the end.
static void put(char *entry)
{
    size_t n = strcspn(entry, "=");
    for (size_t i = 0; i < env_count; i++) {
        if (!is_name(env[i], entry, n)) continue;
        env[i] = entry;
        return;
    }
    env[env_count++] = entry;
}

static int build_base(const shoal_section *section)
{
    const shoal_env_rules *local = &section->env, *global = &shoal_the_run.options.genv;
    const shoal_env_rules *rule = local->base != SHOAL_ENV_DEFAULT ? local : global;
    bool nested = getenv(SHOAL_WORLD_ENV) != NULL;
    size_t inherited = 0;
    while (environ[inherited]) inherited++;
    free(env);
    env = calloc(inherited + local->nsets + global->nsets + RANK_VARS + 1, sizeof *env);
    if (!env) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    env_count = 0;
    for (size_t i = 0; i < inherited && rule->base != SHOAL_ENV_NONE; i++) {
        if (from_outer_job(environ[i], nested)) continue;
        if (rule->base == SHOAL_ENV_LIST && !in_list(environ[i], rule->list)) continue;
        env[env_count++] = environ[i];
    }
    for (uint32_t i = 0; i < global->nsets; i++) put(global->sets[i]);
    for (uint32_t i = 0; i < local->nsets; i++) put(local->sets[i]);
    built_for = section;
    return 0;
}

// A port that was free a moment ago, for torch.distributed's rendezvous.
static int free_port(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int port = 29500;
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        port = ntohs(address.sin_port);
    if (fd >= 0) close(fd);
    return port;
}

// Adds a variable of the rank; `always` or only if the user has none of that name.
static size_t add(size_t at, bool always, const char *name, const char *value)
{
    size_t slot = at - env_count;
    for (size_t i = 0; i < env_count && !always; i++)
        if (is_name(env[i], name, strlen(name))) return at;
    snprintf(rank_vars[slot], VAR_BYTES, "%s=%s", name, value);
    env[at] = rank_vars[slot];
    return at + 1;
}

char **shoal_env_of(const shoal_rank *r)
{
    static char port[16];
    if (!port[0]) snprintf(port, sizeof port, "%d", free_port());
    if (built_for != r->section && build_base(r->section)) return NULL;
    char world[48], rank[16], size[16], pmi[16], app[16];
    const shoal_run *run = &shoal_the_run;
    snprintf(world, sizeof world, "%d,%d,%u", run->world_fd, run->notify_fd, r->rank);
    snprintf(rank, sizeof rank, "%u", r->rank);
    snprintf(size, sizeof size, "%u", run->nranks);
    snprintf(pmi, sizeof pmi, "%d", r->pmi_fd);
    snprintf(app, sizeof app, "%d", (int)(r->section - run->options.sections));
    size_t at = env_count;
    at = add(at, true, "PMI_RANK", rank);
    at = add(at, true, "PMI_SIZE", size);
    at = add(at, true, "PMI_FD", pmi);
    at = add(at, true, SHOAL_WORLD_ENV, world);
    at = add(at, true, SHOAL_APPNUM_ENV, app);
    at = add(at, true, "MPI_LOCALRANKID", rank);
    at = add(at, true, "MPI_LOCALNRANKS", size);
    at = add(at, true, "OMPI_COMM_WORLD_RANK", rank);
    at = add(at, true, "OMPI_COMM_WORLD_SIZE", size);
    at = add(at, true, "OMPI_COMM_WORLD_LOCAL_RANK", rank);
    at = add(at, true, "OMPI_COMM_WORLD_LOCAL_SIZE", size);
    at = add(at, true, "OMPI_COMM_WORLD_NODE_RANK", rank);
    at = add(at, false, "RANK", rank);
    at = add(at, false, "WORLD_SIZE", size);
    at = add(at, false, "LOCAL_RANK", rank);
    at = add(at, false, "LOCAL_WORLD_SIZE", size);
    at = add(at, false, "MASTER_ADDR", "127.0.0.1");
    at = add(at, false, "MASTER_PORT", port);
    env[at] = NULL;
    return env;
}
