// SPDX-License-Identifier: BSD-3-Clause
// Three ways for stdin to reach a rank:
// - one rank, stdin is no terminal: the rank inherits it. What it does not read stays for others,
//   such as the `while read` loop around mpiexec;
// - the job is one rank and stdin is a terminal: the same, and the rank stays in the foreground;
// - else mpiexec reads and feeds pipes, each at its own speed, from one buffer.
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plat/error.h"

#define BUFFER_MAX (64u << 20) // what the slowest rank may lag behind
#define READ_BYTES (64u << 10)

typedef struct feed {
    shoal_source source; // our end of the rank's pipe; fd -1: it reads no more
    uint64_t at;         // position in the input
} feed;

static enum { NONE, INHERIT, PIPES, REOPEN } way;
static bool handed_through;
static shoal_source input;
static bool ended;
static char *buffer;
static size_t capacity;
static uint64_t base, end; // positions of the buffer's first and past its last byte
static feed *feeds;

static void on_foreground(shoal_timer *);
static shoal_timer foreground_timer = {.fire = on_foreground};

static bool takes_input(uint32_t rank)
{
    int32_t to = shoal_the_run.options.stdin_to;
    return to == SHOAL_STDIN_ALL || to == (int32_t)rank;
}

// Forgets what everybody has read; the position of the slowest is the new base.
static void forget(void)
{
    uint64_t slowest = end;
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++)
        if (feeds[i].source.fd >= 0 && feeds[i].at < slowest) slowest = feeds[i].at;
    memmove(buffer, buffer + (slowest - base), end - slowest);
    base = slowest;
}

static void stop_feed(feed *f)
{
    shoal_loop_watch(&f->source, 0);
    close(f->source.fd);
    f->source.fd = -1;
}

static void advance(feed *f)
{
    while (f->source.fd >= 0 && f->at < end) {
        ssize_t n = write(f->source.fd, buffer + (f->at - base), end - f->at);
        if (n > 0) {
            f->at += (uint64_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            shoal_loop_watch(&f->source, EPOLLOUT);
            return;
        } else if (n < 0 && errno != EINTR) {
            stop_feed(f); // the rank has closed its stdin or is gone
        }
    }
    if (f->source.fd < 0) return;
    shoal_loop_watch(&f->source, 0);
    if (ended) stop_feed(f);
}

// Whether reading a terminal now would stop us: only its foreground group may.
static bool in_background(void)
{
    return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp();
}

static void read_on(void)
{
    bool anybody = false;
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) anybody |= feeds[i].source.fd >= 0;
    bool want = anybody && !ended && end - base < BUFFER_MAX;
    if (want && in_background()) {
        want = false;
        shoal_loop_after(&foreground_timer, 500 * SHOAL_MS);
    }
    if (!want) {
        shoal_loop_watch(&input, 0);
    } else if (!shoal_loop_watch(&input, EPOLLIN)) {
        // A regular file is always ready; let the loop breathe between pieces.
        shoal_loop_after(&foreground_timer, 0);
    }
}

static void on_feed(shoal_source *source, uint32_t events)
{
    (void)events;
    advance(SHOAL_OWNER(source, feed, source));
    forget();
    read_on();
}

static bool make_room(void)
{
    size_t used = (size_t)(end - base);
    if (used + READ_BYTES <= capacity) return true;
    size_t more = capacity ? capacity * 2 : 2 * READ_BYTES;
    char *bigger = realloc(buffer, more);
    if (!bigger) return false;
    buffer = bigger;
    capacity = more;
    return true;
}

static void read_input(void)
{
    ssize_t n = make_room() ? read(STDIN_FILENO, buffer + (end - base), READ_BYTES) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0)
        ended = true; // EIO too: a terminal that is no longer ours
    else
        end += (uint64_t)n;
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) advance(&feeds[i]);
    forget();
    read_on();
}

static void on_input(shoal_source *source, uint32_t events)
{
    (void)source;
    (void)events;
    if (in_background())
        read_on();
    else
        read_input();
}

static void on_foreground(shoal_timer *t)
{
    (void)t;
    if (way != PIPES || ended) return;
    struct stat st;
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        read_input();
    else
        read_on();
}

void shoal_input_foreground(void)
{
    if (way == PIPES) read_on();
}

bool shoal_input_is_handed_through(void)
{
    return handed_through;
}

int shoal_input_open(void)
{
    const shoal_run *run = &shoal_the_run;
    struct stat st;
    bool terminal = isatty(STDIN_FILENO);
    bool file = fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode);
    int32_t to = run->options.stdin_to;
    if (to == SHOAL_STDIN_NONE) return 0;
    if (to >= 0 && (uint32_t)to >= run->nranks)
        return shoal_fail(SHOAL_E_ARG, "-stdin %d: the job has ranks 0 to %u", to, run->nranks - 1);
    bool single = to >= 0 || run->nranks == 1;
    handed_through = terminal && run->nranks == 1;
    if (handed_through || (single && !terminal))
        way = INHERIT;
    else if (file)
        way = REOPEN;
    else
        way = PIPES;
    if (way != PIPES) return 0;
    feeds = calloc(run->nranks, sizeof *feeds);
    if (!feeds) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    for (uint32_t i = 0; i < run->nranks; i++) feeds[i].source.fd = -1;
    input = (shoal_source){.fd = STDIN_FILENO, .ready = on_input};
    return 0;
}

// A file of its own for the rank, at the place where ours stands.
static int reopen(void)
{
    int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
    off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (fd >= 0 && at > 0) (void)lseek(fd, at, SEEK_SET);
    return fd;
}

static int attach_pipe(shoal_rank *r)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return shoal_fail(SHOAL_E_SYS, "cannot make a pipe for rank %u: %s", r->rank,
                          strerror(errno));
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    r->stdin_fd = ends[0];
    feeds[r->rank].source = (shoal_source){.fd = ends[1], .ready = on_feed};
    // Ranks are started before the loop runs, so nothing has been read without this one.
    read_on();
    return 0;
}

int shoal_input_attach(shoal_rank *r)
{
    if (takes_input(r->rank) && way == PIPES) return attach_pipe(r);
    if (takes_input(r->rank) && way == INHERIT)
        r->stdin_fd = STDIN_FILENO;
    else if (takes_input(r->rank) && way == REOPEN)
        r->stdin_fd = reopen();
    else
        r->stdin_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (r->stdin_fd < 0)
        return shoal_fail(SHOAL_E_SYS, "cannot open the stdin of rank %u: %s", r->rank,
                          strerror(errno));
    return 0;
}
