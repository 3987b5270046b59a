// SPDX-License-Identifier: BSD-3-Clause
// PMI-1, the server. What comes over a socket is input: a line that makes no sense gets an answer
// that says so, and a rank that does not read its answers loses its socket, never our time.
#include "pmi_server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job/pmi_wire.h"
#include "kvs.h"
#include "plat/error.h"
#include "say.h"

#define VALUES_PER_RANK 256
#define VALUES_MORE     4096

typedef struct client {
    char buffer[SHOAL_PMI_LINE_MAX];
    size_t used;
    bool skipping; // the rest of a line that was too long
    bool spawning; // between "mcmd=spawn" and "endcmd"
    bool inited, finalized, in_barrier;
} client;

static client *clients;
static shoal_kvs values, names;
static char space_name[32];
static uint32_t in_barrier;

int shoal_pmi_server_open(void)
{
    uint32_t n = shoal_the_run.nranks;
    char mapping[64];
    clients = calloc(n, sizeof *clients);
    if (!clients) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    int rc = shoal_kvs_open(&values, n * VALUES_PER_RANK + VALUES_MORE);
    if (!rc) rc = shoal_kvs_open(&names, n * VALUES_PER_RANK);
    if (rc) return rc;
    snprintf(space_name, sizeof space_name, "shoal_%d", (int)getpid());
    // "Node 0 has n processes", in the words of MPICH.
    snprintf(mapping, sizeof mapping, "(vector,(0,1,%u))", n);
    return shoal_kvs_put(&values, "PMI_process_mapping", mapping);
}

static void hang_up(shoal_rank *r)
{
    if (r->pmi.fd < 0) return;
    shoal_loop_watch(&r->pmi, 0);
    close(r->pmi.fd);
    r->pmi.fd = -1;
    client *c = &clients[r->rank];
    if (c->in_barrier) in_barrier--;
    c->in_barrier = false;
}

static void answer(shoal_rank *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void answer(shoal_rank *r, const char *fmt, ...)
{
    char line[SHOAL_PMI_LINE_MAX];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line - 1, fmt, ap);
    va_end(ap);
    if (r->pmi.fd < 0 || n < 0 || (size_t)n >= sizeof line - 1) return;
    line[n++] = '\n';
    if (send(r->pmi.fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) == n) return;
    shoal_say_verbose("rank %u does not read what it asked by PMI; hanging up", r->rank);
    hang_up(r);
}

static void do_init(shoal_rank *r, const shoal_pmi_line *line)
{
    if (shoal_pmi_line_int(line, "pmi_version", 0) != 1) {
        answer(r, "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1");
        return;
    }
    clients[r->rank].inited = true;
    answer(r, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1");
}

static bool right_space(const shoal_pmi_line *line)
{
    const char *space = shoal_pmi_line_get(line, "kvsname");
    return space && strcmp(space, space_name) == 0;
}

static bool length_ok(const char *text, size_t max)
{
    return text && *text && strlen(text) <= max;
}

static void do_put(shoal_rank *r, const shoal_pmi_line *line)
{
    const char *key = shoal_pmi_line_get(line, "key"), *value = shoal_pmi_line_get(line, "value");
    if (!right_space(line))
        answer(r, "cmd=put_result rc=-1 msg=unknown_kvsname");
    else if (!length_ok(key, SHOAL_PMI_KEY_MAX))
        answer(r, "cmd=put_result rc=-1 msg=bad_key");
    else if (!value || strlen(value) > SHOAL_PMI_VALUE_MAX)
        answer(r, "cmd=put_result rc=-1 msg=bad_value");
    else if (shoal_kvs_put(&values, key, value))
        answer(r, "cmd=put_result rc=-1 msg=no_room");
    else
        answer(r, "cmd=put_result rc=0 msg=success");
}

static void do_get(shoal_rank *r, const shoal_pmi_line *line)
{
    const char *key = shoal_pmi_line_get(line, "key");
    const char *value = key && right_space(line) ? shoal_kvs_get(&values, key) : NULL;
    if (value)
        answer(r, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        answer(r, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
}

// Everybody who is left waits for somebody who has left: as much a deadlock as any other.
void shoal_pmi_server_gone(void)
{
    shoal_run *run = &shoal_the_run;
    bool ignored = run->options.on_deadlock == SHOAL_DEADLOCK_IGNORE;
    if (in_barrier == 0 || in_barrier < run->alive || run->alive == run->nranks) return;
    if (run->ending || run->interrupted || ignored) return;
    uint32_t first = 0;
    while (first < run->nranks - 1 && !run->ranks[first].gone) first++;
    if (run->ranks[first].unfinished) return; // it left within MPI, and that is what gets told
    shoal_say("deadlock: %u of %u ranks wait for all others in a PMI barrier (MPI_Init, "
              "MPI_Finalize), and rank %u has exited",
              in_barrier, run->nranks, first);
    run->cause_told = true;
    if (run->options.on_deadlock == SHOAL_DEADLOCK_ABORT) shoal_run_end(SHOAL_EXIT_DEADLOCK);
}

static void do_barrier(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    client *c = &clients[r->rank];
    if (c->in_barrier) {
        answer(r, "cmd=barrier_out rc=-1 msg=already_in_barrier");
        return;
    }
    c->in_barrier = true;
    if (++in_barrier < shoal_the_run.nranks) {
        shoal_pmi_server_gone();
        return;
    }
    in_barrier = 0;
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) {
        clients[i].in_barrier = false;
        answer(&shoal_the_run.ranks[i], "cmd=barrier_out rc=0");
    }
}

static void do_publish(shoal_rank *r, const shoal_pmi_line *line)
{
    const char *service = shoal_pmi_line_get(line, "service"),
               *port = shoal_pmi_line_get(line, "port");
    bool ok = length_ok(service, SHOAL_PMI_NAME_MAX) && length_ok(port, SHOAL_PMI_VALUE_MAX);
    if (ok && shoal_kvs_get(&names, service))
        answer(r, "cmd=publish_result rc=-1 msg=name_is_taken");
    else if (!ok || shoal_kvs_put(&names, service, port))
        answer(r, "cmd=publish_result rc=-1 msg=bad_name");
    else
        answer(r, "cmd=publish_result rc=0 msg=success");
}

static void do_lookup(shoal_rank *r, const shoal_pmi_line *line)
{
    const char *service = shoal_pmi_line_get(line, "service");
    const char *port = service ? shoal_kvs_get(&names, service) : NULL;
    if (port)
        answer(r, "cmd=lookup_result rc=0 msg=success port=%s", port);
    else
        answer(r, "cmd=lookup_result rc=-1 msg=name_not_found");
}

static void do_unpublish(shoal_rank *r, const shoal_pmi_line *line)
{
    const char *service = shoal_pmi_line_get(line, "service");
    if (service && shoal_kvs_remove(&names, service))
        answer(r, "cmd=unpublish_result rc=0 msg=success");
    else
        answer(r, "cmd=unpublish_result rc=-1 msg=name_not_found");
}

static void do_maxes(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    answer(r, "cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d", SHOAL_PMI_NAME_MAX,
           SHOAL_PMI_KEY_MAX, SHOAL_PMI_VALUE_MAX);
}

static void do_appnum(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    answer(r, "cmd=appnum rc=0 appnum=%d", (int)(r->section - shoal_the_run.options.sections));
}

static void do_kvsname(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    answer(r, "cmd=my_kvsname rc=0 kvsname=%s", space_name);
}

static void do_universe(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    int32_t said = shoal_the_run.options.universe;
    answer(r, "cmd=universe_size rc=0 size=%d", said ? said : (int32_t)shoal_the_run.nranks);
}

static void do_finalize(shoal_rank *r, const shoal_pmi_line *line)
{
    (void)line;
    clients[r->rank].finalized = true;
    answer(r, "cmd=finalize_ack rc=0");
}

static void do_abort(shoal_rank *r, const shoal_pmi_line *line)
{
    int code = shoal_pmi_line_int(line, "exitcode", 1);
    const char *message = shoal_pmi_line_get(line, "message");
    shoal_run_abort(r, code, message);
}

static const struct command {
    const char *name;
    void (*run)(shoal_rank *, const shoal_pmi_line *);
} commands[] = {
    {"init", do_init},
    {"get_maxes", do_maxes},
    {"get_appnum", do_appnum},
    {"get_my_kvsname", do_kvsname},
    {"get_universe_size", do_universe},
    {"put", do_put},
    {"get", do_get},
    {"barrier_in", do_barrier},
    {"publish_name", do_publish},
    {"lookup_name", do_lookup},
    {"unpublish_name", do_unpublish},
    {"finalize", do_finalize},
    {"abort", do_abort},
};

// Lines of a spawn request are taken in up to its end, which gets the answer.
static bool part_of_spawn(shoal_rank *r, const char *text)
{
    client *c = &clients[r->rank];
    if (strncmp(text, "mcmd=spawn", 10) == 0) c->spawning = true;
    if (!c->spawning) return false;
    if (strcmp(text, "endcmd") == 0) {
        c->spawning = false;
        answer(r, "cmd=spawn_result rc=-1 msg=spawn_is_not_supported");
    }
    return true;
}

static void serve(shoal_rank *r, char *text)
{
    shoal_pmi_line line;
    if (part_of_spawn(r, text)) return;
    if (shoal_pmi_line_split(text, &line)) {
        answer(r, "cmd=error rc=-1 msg=not_a_pmi_line");
        return;
    }
    const char *name = shoal_pmi_line_get(&line, "cmd");
    for (size_t i = 0; name && i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, name) != 0) continue;
        commands[i].run(r, &line);
        return;
    }
    answer(r, "cmd=error rc=-1 msg=unknown_command");
}

static void take_lines(shoal_rank *r)
{
    client *c = &clients[r->rank];
    char *at = c->buffer, *end = c->buffer + c->used, *newline;
    while ((newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        *newline = 0;
        if (!c->skipping) serve(r, at);
        c->skipping = false;
        at = newline + 1;
    }
    c->used = (size_t)(end - at);
    memmove(c->buffer, at, c->used);
    if (c->used < sizeof c->buffer) return;
    if (!c->skipping) answer(r, "cmd=error rc=-1 msg=line_too_long");
    c->skipping = true;
    c->used = 0;
}

// Reads once; false when there is nothing more.
static bool read_some(shoal_rank *r)
{
    if (r->pmi.fd < 0) return false;
    client *c = &clients[r->rank];
    ssize_t n = recv(r->pmi.fd, c->buffer + c->used, sizeof c->buffer - c->used, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n <= 0) {
        hang_up(r);
        return false;
    }
    c->used += (size_t)n;
    take_lines(r);
    return true;
}

static void on_ready(shoal_source *source, uint32_t events)
{
    (void)events;
    read_some(SHOAL_OWNER(source, shoal_rank, pmi));
}

int shoal_pmi_server_attach(shoal_rank *r)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return shoal_fail(SHOAL_E_SYS, "cannot make a socket for rank %u: %s", r->rank,
                          strerror(errno));
    r->pmi = (shoal_source){.fd = ends[0], .ready = on_ready};
    r->pmi_fd = ends[1];
    shoal_loop_watch(&r->pmi, EPOLLIN);
    return 0;
}

void shoal_pmi_server_drain(shoal_rank *r)
{
    // Bounded: a child that the rank left behind could go on writing.
    for (int i = 0; i < 64 && read_some(r); i++) {
    }
    hang_up(r);
}

bool shoal_pmi_server_inside(const shoal_rank *r)
{
    const client *c = &clients[r->rank];
    return c->inited && !c->finalized;
}
