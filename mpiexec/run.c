// SPDX-License-Identifier: BSD-3-Clause
// The life of the job: noticing that ranks end, what that means, and bringing down the rest.
//
// A process group must not be signalled after its leader has been reaped, because the number may
// then belong to somebody else. While the job runs in order an ended rank is reaped at once and
// what it left behind is its own business; while the job is being ended it stays a zombie until
// its group has been killed.
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper.h"
#include "pmi_server.h"
#include "proc.h"
#include "say.h"
#include "watch.h"

#define TERM_TO_KILL_NS (100 * SHOAL_MS)
#define UNFINISHED_NS   (50 * SHOAL_MS)   // all ranks may be leaving without MPI_Finalize
#define INTERRUPTED_NS  (1000 * SHOAL_MS) // what a ctrl-C leaves the ranks to clean up
#define WRAPPER_NS      (200 * SHOAL_MS)  // for a wrapper to pass on how its program ended

shoal_run shoal_the_run;

static void on_kill_time(shoal_timer *);
static void on_end_time(shoal_timer *);
static void on_unfinished(shoal_timer *);
static shoal_timer kill_timer = {.fire = on_kill_time};
static shoal_timer end_timer = {.fire = on_end_time}; // ends the job with the status it has
static shoal_timer unfinished_timer = {.fire = on_unfinished};
static shoal_rank *unfinished;
static void on_wrapper(shoal_timer *);
static shoal_timer wrapper_timer = {.fire = on_wrapper};
static shoal_rank *widowed; // a rank whose wrapper is still there, but not the program in it

static void send_signal(shoal_rank *r, int signal)
{
    if (r->pid <= 0 || r->reaped) return;
    bool grouped = shoal_the_run.own_groups && kill(-r->pid, signal) == 0;
    // A rank that has moved to another group is still our child.
    if (!r->gone && (!grouped || signal == SIGKILL)) kill(r->pid, signal);
#ifdef SYS_pidfd_send_signal
    if (r->inner.fd >= 0 && !(grouped && getpgid(r->inner_pid) == r->pid))
        syscall(SYS_pidfd_send_signal, r->inner.fd, signal, NULL, 0);
#endif
}

void shoal_run_signal(int signal)
{
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++)
        send_signal(&shoal_the_run.ranks[i], signal);
}

void shoal_run_kill(void)
{
    shoal_run_find_inner();
    shoal_run_signal(SIGKILL);
}

static void on_kill_time(shoal_timer *t)
{
    (void)t;
    shoal_run_kill();
}

void shoal_run_end(int status)
{
    shoal_run *run = &shoal_the_run;
    if (run->ending) return;
    run->ending = true;
    if (status) run->status = status;
    if (run->world.header) atomic_store(&run->world.header->state, SHOAL_JOB_ENDING);
    shoal_loop_cancel(&end_timer);
    shoal_loop_cancel(&unfinished_timer);
    if (!run->alive) return;
    shoal_run_find_inner();
    shoal_run_signal(SIGTERM);
    shoal_run_signal(SIGCONT); // a stopped process takes its SIGTERM only when it goes on
    shoal_loop_after(&kill_timer, TERM_TO_KILL_NS);
}

static void on_end_time(shoal_timer *t)
{
    (void)t;
    shoal_run_end(shoal_the_run.status);
}

void shoal_run_abort(shoal_rank *r, int code, const char *message)
{
    shoal_run *run = &shoal_the_run;
    r->aborted = true;
    if (run->ending) return;
    // A shell sees eight bits of it; what is not zero must not become so.
    int status = code & 0xff;
    if (code != 0 && status == 0) status = 1;
    // An error that nobody handled ends the job the same way; the rank has told the whole of it.
    if (message && strncmp(message, "MPI_ERR_", 8) == 0)
        shoal_say("rank %u met an error that is fatal (%.*s); the job is ended with status %d",
                  r->rank, (int)strcspn(message, ": "), message, status);
    else
        shoal_say("rank %u called MPI_Abort(comm, %d)", r->rank, code);
    run->cause_told = true;
    run->status = status;
    shoal_run_end(status);
}

bool shoal_run_inside_mpi(const shoal_rank *r)
{
    const shoal_berth *b = shoal_world_berth(&shoal_the_run.world, r->rank);
    return atomic_load(&b->life) == SHOAL_LIFE_INIT || shoal_pmi_server_inside(r);
}

// Tells how a rank ended, in the one line that users look for.
static void tell_end(const shoal_rank *r)
{
    char where[200] = "";
    if (r->signal) {
        shoal_watch_where(r->rank, where, sizeof where);
        shoal_say("rank %u (pid %d) was killed by signal %d (%s)%s%s", r->rank, (int)r->pid,
                  r->signal, strsignal(r->signal), where[0] ? " in " : "", where);
    } else {
        shoal_say("rank %u (pid %d) exited with status %d%s", r->rank, (int)r->pid, r->code,
                  r->unfinished ? " without calling MPI_Finalize" : "");
    }
}

static void on_unfinished(shoal_timer *t)
{
    (void)t;
    shoal_run *run = &shoal_the_run;
    if (!run->alive || run->ending) return;
    tell_end(unfinished);
    run->cause_told = true;
    shoal_run_end(1);
}

// A rank ended with a failure: the first in time gives the job's status and takes it down.
static void on_failure(shoal_rank *r)
{
    shoal_run *run = &shoal_the_run;
    // Whoever pressed ctrl-C knows why ranks end now.
    bool expected = run->ending || (run->last_signal && r->signal == run->last_signal);
    if (!run->status && !run->ending) run->status = r->signal ? 128 + r->signal : r->code;
    if (!expected && !run->cause_told && !r->aborted) {
        tell_end(r);
        run->cause_told = !run->options.keep_going;
    } else if (run->options.verbose) {
        tell_end(r);
    }
    run->interrupted = run->last_signal != 0;
    if (run->options.keep_going || run->ending) return;
    if (!run->last_signal || !run->alive)
        shoal_run_end(run->status);
    else if (!end_timer.set)
        shoal_loop_after(&end_timer, INTERRUPTED_NS);
}

static void reap(shoal_rank *r)
{
    if (r->reaped) return;
    shoal_keeper_drop(r->pid);
    while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    r->reaped = true;
}

// Learns how the process ended without reaping it; false if it is still there.
static bool learn_end(shoal_rank *r)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        r->code = 1; // not our child any more: somebody else reaped it
        r->reaped = true;
        return true;
    }
    if (info.si_pid == 0) return false;
    if (info.si_code == CLD_EXITED)
        r->code = info.si_status;
    else
        r->signal = info.si_status;
    return true;
}

void shoal_run_on_exit(shoal_rank *r)
{
    shoal_run *run = &shoal_the_run;
    if (r->gone || r->pid <= 0 || !learn_end(r)) return;
    r->gone = true;
    run->alive--;
    if (r->exit.fd >= 0) {
        shoal_loop_watch(&r->exit, 0);
        close(r->exit.fd);
        r->exit.fd = -1;
    }
    shoal_pmi_server_drain(r);
    r->unfinished = shoal_run_inside_mpi(r);
    bool failed = r->signal || r->code;
    if (failed) on_failure(r);
    shoal_watch_gone(r->rank);
    shoal_pmi_server_gone();
    if (!failed && r->unfinished && run->alive && !run->ending && !run->options.keep_going) {
        unfinished = r;
        shoal_loop_after(&unfinished_timer, UNFINISHED_NS);
    }
    if (!run->ending)
        reap(r);
    else if (!run->own_groups || r->inner.fd < 0)
        send_signal(r, SIGKILL);
}

static void on_pidfd(shoal_source *source, uint32_t events)
{
    (void)events;
    shoal_run_on_exit(SHOAL_OWNER(source, shoal_rank, exit));
}

void shoal_run_adopt(shoal_rank *r)
{
    shoal_the_run.alive++;
    if (shoal_the_run.own_groups) shoal_keeper_add(r->pid);
    if (r->exit.fd < 0) return; // SIGCHLD tells
    r->exit.ready = on_pidfd;
    shoal_loop_watch(&r->exit, EPOLLIN);
}

bool shoal_run_over(void)
{
    return shoal_the_run.alive == 0;
}

void shoal_run_clean_up(void)
{
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) {
        shoal_rank *r = &shoal_the_run.ranks[i];
        if (r->pid <= 0 || r->reaped) continue;
        send_signal(r, SIGKILL);
        reap(r);
    }
}

static void on_wrapper(shoal_timer *t)
{
    (void)t;
    shoal_run *run = &shoal_the_run;
    if (widowed->gone || run->ending || run->options.keep_going) return;
    shoal_say("rank %u: process %d has ended without calling MPI_Finalize, and what started it "
              "(pid %d) goes on",
              widowed->rank, (int)widowed->inner_pid, (int)widowed->pid);
    run->cause_told = true;
    shoal_run_end(1);
}

static void lose_inner(shoal_rank *r, pid_t pid)
{
    r->inner_pid = pid;
    if (r->gone || wrapper_timer.set || !shoal_run_inside_mpi(r)) return;
    widowed = r;
    shoal_loop_after(&wrapper_timer, WRAPPER_NS);
}

static void on_inner_end(shoal_source *source, uint32_t events)
{
    (void)events;
    shoal_rank *r = SHOAL_OWNER(source, shoal_rank, inner);
    shoal_loop_watch(source, 0);
    close(source->fd);
    source->fd = -1;
    lose_inner(r, r->inner_pid);
}

// Watches the process `pid` in the place of a rank's own; it is signalled with it, too.
static void take_inner(shoal_rank *r, pid_t pid)
{
    r->inner_pid = pid;
#ifdef SYS_pidfd_open
    if (r->inner.fd >= 0) return;
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) return;
    r->inner = (shoal_source){.fd = fd, .ready = on_inner_end};
    shoal_loop_watch(&r->inner, EPOLLIN);
#endif
}

void shoal_run_find_inner(void)
{
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) {
        shoal_rank *r = &shoal_the_run.ranks[i];
        if (r->gone || r->pid <= 0) continue;
        pid_t pid = atomic_load(&shoal_world_berth(&shoal_the_run.world, i)->pid);
        if (pid <= 1 || pid == r->pid || pid == r->inner_pid) continue;
        if (shoal_proc_is_descendant(pid, r->pid)) take_inner(r, pid);
        // It came and went between two looks.
        else if (shoal_proc_has_vanished(pid, r->pid))
            lose_inner(r, pid);
    }
}
