// SPDX-License-Identifier: BSD-3-Clause
// See handover.h. The socket has no name in any file system, and only processes of the same user
// are served.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "job/handover.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "job/job.h"
#include "plat/error.h"

#define KEY         "shoal-world"
#define PATIENCE_MS 30000

static socklen_t address_of(const char *name, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path + 1, sizeof out->sun_path - 1, "%.100s", name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(out->sun_path + 1));
}

static int send_fd(int to, int fd)
{
    char byte = 's';
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(to, &m, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int receive_fd(int from)
{
    char byte;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1) return -1;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) return -1;
    int fd;
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

static bool same_user(int fd)
{
    struct ucred who;
    socklen_t length = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) == 0 && who.uid == geteuid();
}

static int serve_all(int listener, int fd, int count)
{
    for (int served = 0; served < count;) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        int ready = poll(&p, 1, PATIENCE_MS);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0)
            return shoal_fail(
                SHOAL_E_OTHER,
                "%d of %d ranks did not come for the job's shared memory; are they on another "
                "host? Several hosts are not supported yet",
                count - served, count);
        int c = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (c < 0) continue;
        if (same_user(c) && send_fd(c, fd) == 0) served++;
        close(c);
    }
    return 0;
}

int shoal_handover_serve(int fd, int count)
{
    char name[64];
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(name, sizeof name, "shoal-%d-%lx%lx", (int)getpid(), (long)now.tv_sec, now.tv_nsec);
    struct sockaddr_un address;
    socklen_t length = address_of(name, &address);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = 0;
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 ||
        listen(listener, count + 1) != 0)
        rc = shoal_fail(SHOAL_E_SYS, "cannot listen for the other ranks: %s", strerror(errno));
    if (rc == 0) rc = shoal_pmi_put(KEY, name);
    if (rc == 0) rc = shoal_pmi_barrier();
    if (rc == 0) rc = serve_all(listener, fd, count);
    if (listener >= 0) close(listener);
    return rc;
}

int shoal_handover_fetch(int *fd_out)
{
    char name[SHOAL_PMI_VALUE];
    int rc = shoal_pmi_barrier();
    if (rc == 0) rc = shoal_pmi_get(KEY, name);
    if (rc) return rc;
    struct sockaddr_un address;
    socklen_t length = address_of(name, &address);
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&address, length) != 0 || !same_user(s))
        rc = shoal_fail(SHOAL_E_SYS,
                        "cannot reach rank 0 for the job's shared memory: %s; is it on "
                        "another host? Several hosts are not supported yet",
                        strerror(errno));
    if (rc == 0 && (*fd_out = receive_fd(s)) < 0)
        rc = shoal_fail(SHOAL_E_SYS, "rank 0 did not hand over the job's shared memory");
    if (s >= 0) close(s);
    return rc;
}
