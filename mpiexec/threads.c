// SPDX-License-Identifier: BSD-3-Clause
// /proc/<pid>/task/<tid>/syscall: the number of the system call a thread is blocked in, and its
// arguments; "running" if it is not blocked.
#include "threads.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// The text is "202 0x<word> 0x<op> 0x<value> 0x<timeout> ...".
static bool waits_without_limit(const char *text)
{
    long number;
    unsigned long word, op, value, timeout;
    if (sscanf(text, "%ld %lx %lx %lx %lx", &number, &word, &op, &value, &timeout) != 5) return false;
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

bool shoal_threads_all_wait(pid_t pid)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir) return false;
    bool all = true;
    uint32_t seen = 0;
    for (struct dirent *e; all && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.') continue;
        seen++;
        all = thread_waits(pid, e->d_name);
    }
    closedir(dir);
    return all && seen > 0;
}
