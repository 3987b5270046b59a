// SPDX-License-Identifier: BSD-3-Clause
// Reading /proc: what threads are blocked in, who is whose parent.
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// /proc/<pid>/task/<tid>/syscall: the number of the system call a thread is blocked in, and its
// arguments; "running" if it is not blocked. The text is "202 0x<word> 0x<op> 0x<value> 0x<timeout>
// ...".
static bool waits_without_limit(const char *text)
{
    long number;
    unsigned long word, op, value, timeout;
    if (sscanf(text, "%ld %lx %lx %lx %lx", &number, &word, &op, &value, &timeout) != 5)
        return false;
    if (number != SYS_futex || timeout != 0) return false;
    unsigned long command = op & (unsigned long)FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
}

static bool thread_waits(pid_t pid, const char *tid)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/task/%.16s/syscall", (int)pid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    return waits_without_limit(text);
}

bool shoal_proc_all_wait(pid_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) return false;
    bool all = true;
    int seen = 0;
    for (struct dirent *e; all && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        seen++;
        all = thread_waits(pid, e->d_name);
    }
    closedir(dir);
    return all && seen > 0;
}

static pid_t parent_of(pid_t pid)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return -1;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    // The name in parentheses may hold anything, spaces and parentheses included.
    char *after = strrchr(text, ')');
    int parent = -1;
    if (!after || sscanf(after + 1, " %*c %d", &parent) != 1) return -1;
    return parent;
}

bool shoal_proc_is_descendant(pid_t pid, pid_t of)
{
    for (int steps = 0; pid > 1 && steps < 32; steps++) {
        if (pid == of) return true;
        pid = parent_of(pid);
    }
    return false;
}

static bool same_namespace(pid_t pid)
{
    char path[40], theirs[64], ours[64];
    snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
    ssize_t n = readlink(path, theirs, sizeof theirs);
    ssize_t m = readlink("/proc/self/ns/pid", ours, sizeof ours);
    return n > 0 && n == m && memcmp(theirs, ours, (size_t)n) == 0;
}

bool shoal_proc_has_vanished(pid_t pid, pid_t of)
{
    if (kill(pid, 0) == 0 || errno != ESRCH) return false;
    DIR *dir = opendir("/proc");
    if (!dir) return false;
    bool same = true;
    for (struct dirent *e; same && (e = readdir(dir)) != NULL;) {
        int other = atoi(e->d_name);
        if (other > 1 && shoal_proc_is_descendant(other, of)) same = same_namespace(other);
    }
    closedir(dir);
    return same;
}
