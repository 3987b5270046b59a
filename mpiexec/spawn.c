// SPDX-License-Identifier: BSD-3-Clause
// Starting a rank fast: the child shares mpiexec's memory (as after vfork) until it calls exec, so
// nothing is copied, and it tells what went wrong simply by writing it down. For that reason the
// child calls only functions that change nothing of mpiexec's: no malloc, no stdio, no handlers.
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bind.h"
#include "env.h"
#include "plat/error.h"
#include "say.h"

#define STACK_BYTES (64u << 10)

typedef struct plan {
    const shoal_rank *rank;
    char *const *candidates; // the paths to try, in order; NULL ends
    char **argv;             // argv[-1] is free, for a shell
    char **envp;
    pid_t parent;
    const cpu_set_t *cpus;
    // Written by the child.
    int error;
    const char *failed; // the call that failed: "chdir" or "exec"
    uint32_t used;      // index of the candidate
} plan;

static sigset_t old_mask;
static const int ignored[] = {SIGPIPE, SIGTTIN, SIGTTOU}; // by mpiexec, not by the ranks
static struct sigaction old_actions[3];
static struct rlimit old_files;

static const shoal_section *searched_for; // the section that `candidates` is for
static char **candidates;
static char **argv_room; // argv of `searched_for` with a place before it

void shoal_spawn_remember(void)
{
    sigprocmask(SIG_BLOCK, NULL, &old_mask);
    for (int i = 0; i < 3; i++) sigaction(ignored[i], NULL, &old_actions[i]);
    getrlimit(RLIMIT_NOFILE, &old_files);
}

// Gives the child `fd` as descriptor `as`; the copy survives exec.
static int hand_over(int fd, int as)
{
    return fd == as ? fcntl(fd, F_SETFD, 0) : dup2(fd, as);
}

static int fail(plan *p, const char *call)
{
    p->error = errno;
    p->failed = call;
    return 127;
}

static int child_exec(plan *p)
{
    int saved = ENOENT;
    for (uint32_t i = 0; p->candidates[i]; i++) {
        p->used = i;
        execve(p->candidates[i], p->argv, p->envp);
        if (errno == ENOEXEC) {
            // A script without an interpreter line: a shell reads it, as execvp(3) has it.
            char *first = p->argv[0];
            p->argv[-1] = (char *)"/bin/sh";
            p->argv[0] = p->candidates[i];
            execve("/bin/sh", p->argv - 1, p->envp);
            p->argv[0] = first;
        }
        // A file that may not be run counts only if none can be.
        if (errno == EACCES)
            saved = EACCES;
        else if (errno != ENOENT && errno != ENOTDIR)
            return fail(p, "exec");
    }
    errno = saved;
    return fail(p, "exec");
}

static int child_main(void *arg)
{
    plan *p = arg;
    const shoal_rank *r = p->rank;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != p->parent) _exit(127); // mpiexec died before the line above
    if (shoal_the_run.own_groups) setpgid(0, 0);
    for (int i = 0; i < 3; i++) sigaction(ignored[i], &old_actions[i], NULL);
    setrlimit(RLIMIT_NOFILE, &old_files);
    if (p->cpus) (void)sched_setaffinity(0, CPU_SETSIZE / 8, p->cpus);
    if (hand_over(r->stdin_fd, 0) < 0 || hand_over(r->stdout_fd, 1) < 0 ||
        hand_over(r->stderr_fd, 2) < 0 || hand_over(r->pmi_fd, r->pmi_fd) < 0 ||
        hand_over(shoal_the_run.world_fd, shoal_the_run.world_fd) < 0 ||
        hand_over(shoal_the_run.notify_fd, shoal_the_run.notify_fd) < 0)
        return fail(p, "dup2");
    if (r->section->wdir && chdir(r->section->wdir) != 0) return fail(p, "chdir");
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
    return child_exec(p);
}

static void forget_candidates(void)
{
    // A program with a slash is listed as it stands in the section's own words.
    for (char **c = candidates; c && *c; c++)
        if (*c != searched_for->argv[0]) free(*c);
    free(candidates);
    free(argv_room);
    candidates = argv_room = NULL;
}

// Lists the paths under which the program of a section may be: itself if it has a slash, else
// those of -path and then those of the rank's PATH.
static int list_candidates(const shoal_section *section, char *const *envp)
{
    const char *program = section->argv[0], *dirs[2] = {section->path, NULL};
    size_t count = 0, room = 2;
    forget_candidates();
    dirs[1] = shoal_env_get(envp, "PATH");
    if (!dirs[1]) dirs[1] = getenv("PATH");
    if (!dirs[1]) dirs[1] = "/usr/local/bin:/usr/bin:/bin";
    for (int i = 0; i < 2; i++)
        for (const char *c = dirs[i]; c && *c; c++) room += *c == ':';
    char **list = calloc(room + 2, sizeof *list);
    if (!list) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    if (strchr(program, '/')) list[count++] = section->argv[0];
    for (int i = 0; i < 2 && !strchr(program, '/'); i++) {
        for (const char *c = dirs[i]; c; c = *c ? c + 1 : NULL) {
            int n = (int)strcspn(c, ":");
            char path[PATH_MAX];
            int length = snprintf(path, sizeof path, "%.*s%s%s", n, c, n ? "/" : "", program);
            if (length > 0 && length < PATH_MAX) list[count++] = strdup(path);
            c += n;
            if (!*c) break;
        }
    }
    candidates = list;
    size_t argc = 0;
    while (section->argv[argc]) argc++;
    argv_room = calloc(argc + 2, sizeof *argv_room);
    if (!argv_room) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    memcpy(argv_room + 1, section->argv, argc * sizeof *argv_room);
    searched_for = section;
    return 0;
}

// What to try instead of a program that could not be run; empty if nothing comes to mind.
static void advise(const char *program, int error, char *advice, size_t room)
{
    struct stat st;
    bool plain = strchr(program, '/') == NULL, there = stat(program, &st) == 0;
    size_t length = strlen(program);
    bool python = length > 3 && strcmp(program + length - 3, ".py") == 0;
    bool script = there && S_ISREG(st.st_mode) && python && access(program, X_OK) != 0;
    advice[0] = 0;
    if (script)
        snprintf(advice, room, "it is not executable: try `python %s`, or chmod +x", program);
    else if (plain && there && S_ISREG(st.st_mode))
        snprintf(advice, room, "it is in this directory, which PATH does not name: try ./%s",
                 program);
    else if (!plain && error == EACCES && there && S_ISDIR(st.st_mode))
        snprintf(advice, room, "'%s' is a directory", program);
    else if (!plain && error == EACCES)
        snprintf(advice, room, "it is not executable: chmod +x makes it so");
    else if (!plain && error == ENOENT && there)
        snprintf(advice, room, "the file is there, but the interpreter it names is not");
    else if (plain && error == ENOENT && strcmp(program, "python") == 0)
        snprintf(advice, room,
                 "no directory of PATH has it: try python3, or activate your "
                 "environment");
    else if (plain && error == ENOENT && strspn(program, "0123456789") == length)
        snprintf(advice, room, "for %s ranks: mpiexec -n %s ./program", program, program);
    else if (plain && error == ENOENT)
        snprintf(advice, room, "no directory of PATH has it; is the name right?");
}

// Says what went wrong and how to go on; returns the exit status.
static int explain(const shoal_rank *r, const plan *p)
{
    const char *program = r->section->argv[0];
    if (strcmp(p->failed, "chdir") == 0) {
        shoal_say("cannot change to directory '%s' for rank %u: %s", r->section->wdir, r->rank,
                  strerror(p->error));
        return SHOAL_EXIT_NO_EXEC;
    }
    shoal_say("cannot run '%s': %s", program, strerror(p->error));
    char advice[PATH_MAX + 100];
    advise(program, p->error, advice, sizeof advice);
    if (advice[0]) shoal_say_warning("%s", advice);
    return p->error == ENOENT || p->error == ENOTDIR ? SHOAL_EXIT_NO_FILE : SHOAL_EXIT_NO_EXEC;
}

static void close_given(shoal_rank *r)
{
    int *mine[] = {&r->stdin_fd, &r->stdout_fd, &r->stderr_fd, &r->pmi_fd};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        if (*mine[i] > 2) close(*mine[i]);
        *mine[i] = -1;
    }
}

int shoal_spawn_rank(shoal_rank *r)
{
    static char *stack;
    if (!stack) {
        stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (stack == MAP_FAILED) {
            shoal_say("cannot start rank %u: %s", r->rank, strerror(errno));
            return 1;
        }
    }
    plan p = {
        .rank = r, .envp = shoal_env_of(r), .parent = getpid(), .cpus = shoal_bind_of(r->rank)};
    if (!p.envp || (searched_for != r->section && list_candidates(r->section, p.envp))) {
        shoal_say("cannot start rank %u: %s", r->rank, shoal_fail_text());
        return 1;
    }
    p.candidates = candidates;
    p.argv = argv_room + 1;
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD, pidfd = -1;
    pid_t pid = clone(child_main, stack + STACK_BYTES, flags | CLONE_PIDFD, &p, &pidfd);
    if (pid < 0 && errno == EINVAL) { // a kernel without pidfds
        pidfd = -1;
        pid = clone(child_main, stack + STACK_BYTES, flags, &p);
    }
    int error = errno;
    close_given(r);
    if (pid < 0) {
        shoal_say("cannot start rank %u: %s", r->rank, strerror(error));
        return 1;
    }
    r->exit.fd = pidfd;
    r->pid = pid;
    if (!p.failed) return 0;
    return explain(r, &p);
}
