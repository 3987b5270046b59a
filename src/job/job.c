// SPDX-License-Identifier: BSD-3-Clause
// Finding the job: through our mpiexec, through a foreign launcher's PMI, or alone.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "job/job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job/handover.h"
#include "plat/error.h"

shoal_job shoal_the_job = {.size = 1, .pmi_fd = -1};

static void close_on_exec(int fd)
{
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0) (void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
}

// The launcher's socket, if it is still there: a program that a rank runs inherits the variable,
// not the socket.
static int inherited_pmi(void)
{
    const char *text = getenv("PMI_FD");
    int fd = text && *text ? atoi(text) : -1;
    int type;
    socklen_t length = sizeof type;
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0) return -1;
    close_on_exec(fd);
    return fd;
}

// A rank must not outlive mpiexec, not even behind a shell that mpiexec started and that was killed
// with it: the kernel sends the signal when mpiexec's end of the socket closes. Nothing else ever
// arrives there, since a rank of ours asks the launcher nothing.
static void die_with_launcher(int fd)
{
    (void)fcntl(fd, F_SETSIG, SIGKILL);
    (void)fcntl(fd, F_SETOWN, getpid());
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0) (void)fcntl(fd, F_SETFL, flags | O_ASYNC);
    // mpiexec may have gone before the kernel knew whom to tell.
    struct pollfd p = {.fd = fd, .events = POLLIN};
    if (poll(&p, 1, 0) > 0 && p.revents & POLLHUP) _exit(128 + SIGKILL);
}

// A berth has one owner. A second process that was started with the same environment is not this
// rank.
static bool take_berth(shoal_job *j)
{
    shoal_berth *b = shoal_world_berth(&j->world, (uint32_t)j->rank);
    int32_t nobody = 0;
    return atomic_compare_exchange_strong(&b->pid, &nobody, (int32_t)getpid());
}

// Not `joined` if this process is none of mpiexec's ranks, but was started by one, which has left
// it the environment.
static int join_mpiexec(shoal_job *j, bool *joined)
{
    const char *text = getenv(SHOAL_WORLD_ENV);
    int fd, notify, rank;
    *joined = false;
    if (!text || sscanf(text, "%d,%d,%d", &fd, &notify, &rank) != 3 || rank < 0) return 0;
    j->rank = rank;
    int rc = shoal_world_attach(fd, rank, &j->world);
    if (rc) return rc == SHOAL_E_ARG ? 0 : rc;
    if (!take_berth(j)) {
        shoal_world_detach(&j->world);
        return 0;
    }
    close(fd);
    close_on_exec(notify);
    j->world.notify_fd = notify;
    j->size = (int)j->world.nranks;
    j->pmi_fd = inherited_pmi();
    if (j->pmi_fd >= 0) die_with_launcher(j->pmi_fd);
    j->launched = true;
    *joined = true;
    return 0;
}

// A launcher of another make: rank 0 makes the world, the others get it from rank 0.
static int join_pmi(shoal_job *j, int fd)
{
    int world_fd = -1;
    int rc = shoal_pmi_open(fd, &j->rank, &j->size);
    if (rc) return rc;
    if (j->rank == 0) {
        world_fd = shoal_world_create((uint32_t)j->size, &j->world);
        if (world_fd < 0) return world_fd;
        rc = shoal_handover_serve(world_fd, j->size - 1);
        j->world.rank = 0;
    } else {
        rc = shoal_handover_fetch(&world_fd);
        if (rc == 0) rc = shoal_world_attach(world_fd, j->rank, &j->world);
    }
    if (world_fd >= 0) close(world_fd);
    if (rc == 0 && !take_berth(j)) rc = shoal_fail(SHOAL_E_OTHER, "rank %d exists twice", j->rank);
    j->pmi_fd = fd;
    return rc;
}

static int join_alone(shoal_job *j)
{
    int fd = shoal_world_create(1, &j->world);
    if (fd < 0) return fd;
    close(fd);
    j->world.rank = 0;
    j->rank = 0;
    j->size = 1;
    return take_berth(j) ? 0 : shoal_fail(SHOAL_E_INTERN, "a new world has somebody in it");
}

int shoal_job_join(void)
{
    shoal_job *j = &shoal_the_job;
    *j = (shoal_job){.size = 1, .pmi_fd = -1};
    const char *appnum = getenv("SHOAL_APPNUM");
    if (appnum) j->appnum = atoi(appnum);
    bool joined;
    int rc = join_mpiexec(j, &joined);
    if (rc || joined) return rc;
    const char *ours = getenv(SHOAL_WORLD_ENV);
    int fd = ours ? -1 : inherited_pmi();
    return fd >= 0 ? join_pmi(j, fd) : join_alone(j);
}

void shoal_job_leave(void)
{
    shoal_job *j = &shoal_the_job;
    if (!j->launched && j->pmi_fd >= 0) shoal_pmi_close();
    shoal_world_detach(&j->world);
}

void shoal_job_abort(int exit_code, const char *message)
{
    shoal_job *j = &shoal_the_job;
    int status = exit_code & 0xff ? exit_code & 0xff : exit_code != 0;
    if (j->pmi_fd >= 0) {
        // Ours reads to the end; others may drop what they have not read when they hear of an end.
        if (!j->launched) shoal_await_reader(STDERR_FILENO);
        if (!j->launched) shoal_await_reader(STDOUT_FILENO);
        shoal_pmi_abort(j->pmi_fd, exit_code, message);
        // The launcher ends us together with the others; were it not to, we end by ourselves.
        if (j->size > 1) usleep(200000);
    }
    _exit(status);
}
