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

// Could another process, one that is no rank, wake a thread that sleeps on this word? Only if the
// word lies in memory that is shared, and that is not the world.
static bool others_can_wake(pid_t pid, unsigned long word)
{
    char path[40], line[512], flags[8];
    unsigned long from, to;
    bool can = true;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, flags) != 3 || word < from || word >= to)
            continue;
        can = flags[3] == 's' && !strstr(line, "/memfd:shoal-world");
        break;
    }
    if (f) fclose(f);
    return can;
}

// /proc/<pid>/task/<tid>/syscall: the number of the system call a thread is blocked in, and its
// arguments; "running" if it is not blocked. The text is "202 0x<word> 0x<op> 0x<value> 0x<timeout>
// ...".
static bool waits_without_limit(pid_t pid, const char *text)
{
    long number;
    unsigned long word, op, value, timeout;
    if (sscanf(text, "%ld %lx %lx %lx %lx", &number, &word, &op, &value, &timeout) != 5)
        return false;
    if (number != SYS_futex || timeout != 0) return false;
    if (!(op & FUTEX_PRIVATE_FLAG) && others_can_wake(pid, word)) return false;
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
    return waits_without_limit(pid, text);
}

// How often a thread that sleeps has been scheduled, voluntarily or not. False when it is gone, or
// is being woken: on its way to a core that the host has put to rest it stays in its system call
// for a long time.
static bool times_run(pid_t pid, const char *tid, uint64_t *out)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/task/%.16s/status", (int)pid, tid);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    int found = 0;
    *out = 0;
    while (fgets(line, sizeof line, f)) {
        unsigned long long n;
        if (strncmp(line, "State:\tS", 8) == 0) found++;
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1) {
            *out += n;
            found++;
        }
    }
    fclose(f);
    return found == 3;
}

bool shoal_proc_all_wait(pid_t pid, uint64_t *moves)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) return false;
    bool all = true;
    int seen = 0;
    for (struct dirent *e; all && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        uint64_t run = 0;
        seen++;
        all = thread_waits(pid, e->d_name) && times_run(pid, e->d_name, &run);
        *moves = *moves * 31 + strtoull(e->d_name, NULL, 10) * 1000003 + run;
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
