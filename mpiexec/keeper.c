// SPDX-License-Identifier: BSD-3-Clause
// Keeper and mpiexec share a pipe on which mpiexec writes groups: positive to add, negative to
// drop, 0 to go home. End of file without the 0 means that mpiexec was killed.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/world.h"

static int pipe_fd = -1;
static pid_t keeper_pid;

// Holds nothing open but the pipe: an inherited descriptor would keep others waiting for its end.
static void close_all_but(int keep)
{
    struct rlimit files;
    if (dup2(keep, 0) < 0) _exit(1);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 1u, ~0u, 0) == 0) return;
#endif
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) _exit(1);
    for (rlim_t fd = 1; fd < files.rlim_cur && fd < 65536; fd++) close((int)fd);
}

// The words of the command line lie one after the other; the keeper's copy gets another text.
static void rename_self(int argc, char **argv)
{
    static const char name[] = "shoal-keeper";
    char *end = argv[argc - 1] + strlen(argv[argc - 1]);
    size_t room = (size_t)(end - argv[0]);
    memset(argv[0], 0, room);
    memcpy(argv[0], name, room < sizeof name ? room : sizeof name);
    prctl(PR_SET_NAME, name);
}

static void keep(int fd)
{
    static int32_t groups[SHOAL_MAX_RANKS];
    uint32_t count = 0;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    (void)setpgid(0, 0);
    close_all_but(fd);
    for (;;) {
        int32_t group;
        ssize_t n = read(0, &group, sizeof group);
        if (n < 0 && errno == EINTR) continue;
        if (n != (ssize_t)sizeof group) break;
        if (group == 0) _exit(0);
        if (group > 1 && count < SHOAL_MAX_RANKS) groups[count++] = group;
        for (uint32_t i = 0; i < count && group < 0; i++)
            if (groups[i] == -group) groups[i--] = groups[--count];
    }
    for (uint32_t i = 0; i < count; i++) kill(-groups[i], SIGKILL);
    _exit(0);
}

void shoal_keeper_start(int argc, char **argv)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    keeper_pid = fork();
    if (keeper_pid == 0) {
        rename_self(argc, argv);
        keep(ends[0]);
    }
    close(ends[0]);
    if (keeper_pid > 0)
        pipe_fd = ends[1];
    else
        close(ends[1]);
}

static void tell(int32_t word)
{
    if (pipe_fd < 0) return;
    ssize_t n = write(pipe_fd, &word, sizeof word);
    (void)n; // a keeper that is gone cannot keep; the kernel still kills the ranks themselves
}

void shoal_keeper_add(pid_t group)
{
    tell(group);
}

void shoal_keeper_drop(pid_t group)
{
    tell(-group);
}

void shoal_keeper_stop(void)
{
    if (pipe_fd < 0) return;
    tell(0);
    close(pipe_fd);
    pipe_fd = -1;
    while (waitpid(keeper_pid, NULL, 0) < 0 && errno == EINTR) {
    }
}
