// SPDX-License-Identifier: BSD-3-Clause
// mpiexec: understands the command line, makes the world, starts the ranks, and then does nothing
// but answer to events until the last one is gone and its last line is written.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bind.h"
#include "input.h"
#include "keeper.h"
#include "output.h"
#include "plat/error.h"
#include "pmi_server.h"
#include "run.h"
#include "say.h"
#include "signals.h"
#include "spawn.h"
#include "watch.h"

#define FILES_PER_RANK 8
#define FILES_MORE     64

// A descriptor that was closed when we started would come back as something else.
static void open_standard_files(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

// As a rank of an outer job we were given its descriptors; our ranks are none of its business.
static void keep_outer_job_to_ourselves(void)
{
    const char *world = getenv(SHOAL_WORLD_ENV), *pmi = getenv("PMI_FD");
    int fds[3] = {-1, -1, pmi ? atoi(pmi) : -1};
    if (world) (void)sscanf(world, "%d,%d", &fds[0], &fds[1]);
    for (int i = 0; i < 3; i++)
        if (fds[i] > 2) (void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
}

static void raise_file_limit(uint32_t nranks)
{
    struct rlimit files;
    rlim_t need = (rlim_t)nranks * FILES_PER_RANK + FILES_MORE;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= need) return;
    files.rlim_cur = files.rlim_max < need ? files.rlim_max : need;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int make_world(shoal_run *run)
{
    run->world_fd = shoal_world_create(run->nranks, &run->world);
    if (run->world_fd < 0) return run->world_fd;
    shoal_world_header *h = run->world.header;
    uint32_t bound = shoal_bind_processors();
    if (bound > 0 && bound < h->cores) {
        // Ranks must not take cores into account that they are kept away from.
        h->cores = bound;
        if (run->nranks > bound) h->fenced = 1;
    }
    run->notify_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (run->notify_fd < 0) return shoal_fail(SHOAL_E_SYS, "eventfd: %s", strerror(errno));
    return 0;
}

static int make_ranks(shoal_run *run)
{
    run->ranks = calloc(run->nranks, sizeof *run->ranks);
    if (!run->ranks) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    const shoal_section *section = run->options.sections;
    for (uint32_t i = 0; i < run->nranks; i++) {
        while (i >= section->first + section->nranks) section++;
        run->ranks[i] = (shoal_rank){.rank = i,
                                     .section = section,
                                     .exit.fd = -1,
                                     .inner.fd = -1,
                                     .pmi.fd = -1,
                                     .stdin_fd = -1,
                                     .stdout_fd = -1,
                                     .stderr_fd = -1,
                                     .pmi_fd = -1};
    }
    return 0;
}

static int prepare(shoal_run *run)
{
    int rc;
    if ((rc = shoal_loop_open()) || (rc = make_ranks(run)) || (rc = shoal_signals_open()))
        return rc;
    if ((rc = shoal_output_open()) || (rc = shoal_input_open())) return rc;
    run->own_groups = !shoal_input_is_handed_through();
    if ((rc = make_world(run)) || (rc = shoal_pmi_server_open())) return rc;
    return shoal_watch_open();
}

static int start_rank(shoal_rank *r)
{
    if (shoal_input_attach(r) || shoal_output_attach(r) || shoal_pmi_server_attach(r)) {
        shoal_say("%s", shoal_fail_text());
        return 1;
    }
    int failure = shoal_spawn_rank(r);
    if (r->pid > 0) shoal_run_adopt(r);
    if (failure) return failure;
    shoal_say_verbose("rank %u is process %d: %s", r->rank, (int)r->pid, r->section->argv[0]);
    return 0;
}

static void start_all(shoal_run *run)
{
    for (uint32_t i = 0; i < run->nranks && !run->ending; i++) {
        int failure = start_rank(&run->ranks[i]);
        if (!failure) {
            // Many ranks take a while; the first may need us, or ctrl-C may have been pressed.
            if (i % 32 == 31) shoal_loop_poll();
            continue;
        }
        run->cause_told = true;
        shoal_run_end(failure);
    }
}

static void on_timeout(shoal_timer *t)
{
    (void)t;
    if (shoal_the_run.ending) return;
    shoal_say("the job has run for %g s, the limit that --timeout sets; it is ended",
              shoal_the_run.options.timeout);
    shoal_the_run.cause_told = true;
    shoal_run_end(SHOAL_EXIT_TIMEOUT);
}

static void print_exit_codes(const shoal_run *run)
{
    for (uint32_t i = 0; i < run->nranks; i++) {
        const shoal_rank *r = &run->ranks[i];
        if (!r->gone)
            shoal_say("rank %u was not started", i);
        else if (r->signal)
            shoal_say("rank %u: signal %d (%s)", i, r->signal, strsignal(r->signal));
        else
            shoal_say("rank %u: status %d", i, r->code);
    }
}

int main(int argc, char **argv)
{
    shoal_run *run = &shoal_the_run;
    static shoal_timer timeout = {.fire = on_timeout};
    open_standard_files();
    keep_outer_job_to_ourselves();
    shoal_spawn_remember();
    shoal_options_parse(argc, argv, &run->options);
    run->nranks = run->options.nranks;
    run->world_fd = run->notify_fd = -1;
    shoal_bind_plan();
    shoal_keeper_start(argc, argv);
    raise_file_limit(run->nranks);
    if (prepare(run)) {
        fprintf(stderr, "mpiexec: %s\n", shoal_fail_text());
        shoal_keeper_stop();
        return 1;
    }
    run->started_ns = shoal_now_ns();
    if (run->options.timeout > 0) shoal_loop_after(&timeout, (int64_t)(run->options.timeout * 1e9));
    start_all(run);
    while (!shoal_run_over()) shoal_loop_step();
    shoal_loop_cancel(&timeout);
    if (run->options.print_exit_codes) print_exit_codes(run);
    shoal_output_finish();
    while (!shoal_output_done()) shoal_loop_step();
    shoal_run_clean_up();
    shoal_keeper_stop();
    return run->status;
}
