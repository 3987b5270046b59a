// SPDX-License-Identifier: BSD-3-Clause
// Sinks: opening them, and whose turn it is to write.
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plat/error.h"
#include "say.h"

#define SAFE_WRITE 4096 // a pipe that polls as writable takes this much without blocking

static shoal_sink *sinks;

static void on_writable(shoal_source *source, uint32_t events)
{
    (void)events;
    shoal_sink *sink = SHOAL_OWNER(source, shoal_sink, source);
    shoal_loop_watch(source, 0);
    sink->blocked = false;
    shoal_sink_pump(sink);
}

static shoal_sink *new_sink(int fd, shoal_room_fn on_room, shoal_tick_fn on_tick)
{
    shoal_sink *sink = calloc(1, sizeof *sink);
    if (!sink) {
        shoal_fail(SHOAL_E_NO_MEM, "out of memory");
        return NULL;
    }
    sink->source = (shoal_source){.fd = fd, .ready = on_writable};
    sink->tick.fire = on_tick;
    sink->on_room = on_room;
    sink->next = sinks;
    sinks = sink;
    return sink;
}

// A descriptor of the same file that does not block. O_NONBLOCK on the one we were given would
// change it for everybody who shares it, the user's shell included, so the file is opened again.
static int unblocked(int fd, bool *blocking)
{
    char path[32];
    struct stat st;
    *blocking = false;
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK) return fd;
    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode)) return fd;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (again >= 0) return again;
    *blocking = true;
    return fd;
}

static bool same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

shoal_sink *shoal_sink_standard(int fd, shoal_room_fn on_room, shoal_tick_fn on_tick)
{
    for (shoal_sink *s = sinks; s; s = s->next)
        if (same_file(fd, s->source.fd)) return s;
    bool blocking;
    int own = unblocked(fd, &blocking);
    shoal_sink *sink = new_sink(own, on_room, on_tick);
    if (!sink) return NULL;
    sink->terminal = isatty(fd);
    sink->blocking = blocking;
    return sink;
}

// Writes the name that a pattern stands for; false if it does not fit.
static bool expand(const char *pattern, const shoal_rank *r, char *name, size_t room)
{
    size_t used = 0;
    for (const char *p = pattern; *p; p++) {
        char piece[300] = {*p, 0};
        if (*p == '%' && p[1]) {
            char host[256] = "localhost";
            switch (*++p) {
            case 'r': snprintf(piece, sizeof piece, "%u", r->rank); break;
            case 'g':
                snprintf(piece, sizeof piece, "%d",
                         (int)(r->section - shoal_the_run.options.sections));
                break;
            case 'p': snprintf(piece, sizeof piece, "%d", (int)getpid()); break;
            case 'h':
                (void)gethostname(host, sizeof host - 1);
                snprintf(piece, sizeof piece, "%s", host);
                break;
            case '%': break;
            default: snprintf(piece, sizeof piece, "%%%c", *p);
            }
        }
        size_t length = strlen(piece);
        if (used + length >= room) return false;
        memcpy(name + used, piece, length + 1);
        used += length;
    }
    return used > 0;
}

shoal_sink *shoal_sink_file(const char *pattern, const shoal_rank *r, shoal_room_fn on_room,
                            shoal_tick_fn on_tick)
{
    char name[4096];
    if (!expand(pattern, r, name, sizeof name)) {
        shoal_fail(SHOAL_E_ARG, "'%.100s' does not make a file name for rank %u", pattern, r->rank);
        return NULL;
    }
    for (shoal_sink *s = sinks; s; s = s->next)
        if (s->name && strcmp(s->name, name) == 0) return s;
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        shoal_fail(SHOAL_E_SYS, "cannot write '%.300s' for rank %u: %s", name, r->rank,
                   strerror(errno));
        return NULL;
    }
    shoal_sink *sink = new_sink(fd, on_room, on_tick);
    if (sink) sink->name = strdup(name);
    return sink;
}

shoal_sink *shoal_sink_in_dir(const char *dir, const shoal_rank *r, bool is_err,
                              shoal_room_fn on_room, shoal_tick_fn on_tick)
{
    char name[4096];
    int width = snprintf(NULL, 0, "%u", shoal_the_run.nranks - 1);
    int n = snprintf(name, sizeof name, "%s/1/rank.%0*u/%s", dir, width, r->rank,
                     is_err ? "stderr" : "stdout");
    if (n < 0 || (size_t)n >= sizeof name) {
        shoal_fail(SHOAL_E_ARG, "'%.100s...' is too long for a directory name", dir);
        return NULL;
    }
    for (char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        (void)mkdir(name, 0777); // what is there already is fine; open() below tells the rest
        *slash = '/';
    }
    // A per cent sign in the directory's name means itself.
    char pattern[8192];
    size_t used = 0;
    for (const char *p = name; *p; p++) {
        if (*p == '%') pattern[used++] = '%';
        pattern[used++] = *p;
    }
    pattern[used] = 0;
    return shoal_sink_file(pattern, r, on_room, on_tick);
}

static size_t sendable(const shoal_stream *s)
{
    if (s->lines > s->start) return s->lines - s->start;
    return s->eof || s->spill ? s->end - s->start : 0;
}

void shoal_sink_offer(shoal_sink *sink, shoal_stream *s)
{
    if (s->queued || s == sink->current || sendable(s) == 0) return;
    s->queued = true;
    s->next = NULL;
    if (sink->tail)
        sink->tail->next = s;
    else
        sink->head = s;
    sink->tail = s;
    // Somebody waits behind an unfinished line: look after it.
    if (sink->current && !sink->tick.set) shoal_loop_after(&sink->tick, 100 * SHOAL_MS);
}

static shoal_stream *take_next(shoal_sink *sink)
{
    shoal_stream *s = sink->head;
    if (!s) return NULL;
    sink->head = s->next;
    if (!sink->head) sink->tail = NULL;
    s->queued = false;
    return s;
}

static void break_sink(shoal_sink *sink, int error)
{
    sink->broken = true;
    sink->current = NULL;
    if (error == EPIPE) {
        // As a shell's user expects of `... | head`: no word about it.
        shoal_run_end(SHOAL_EXIT_PIPE);
        return;
    }
    shoal_say("cannot write %s: %s", sink->name ? sink->name : "the ranks' output",
              strerror(error));
    shoal_run_end(1);
}

// Writes without blocking; -1 when the sink can take nothing now or never again.
static ssize_t write_some(shoal_sink *sink, const char *bytes, size_t n)
{
    if (sink->blocking) {
        struct pollfd p = {.fd = sink->source.fd, .events = POLLOUT};
        if (n > SAFE_WRITE) n = SAFE_WRITE;
        if (poll(&p, 1, 0) == 0) {
            sink->blocked = shoal_loop_watch(&sink->source, EPOLLOUT);
            return -1;
        }
    }
    for (;;) {
        ssize_t done = write(sink->source.fd, bytes, n);
        if (done > 0) return done;
        if (done < 0 && errno == EINTR) continue;
        if (done < 0 && errno == EAGAIN) {
            sink->blocked = shoal_loop_watch(&sink->source, EPOLLOUT);
            return -1;
        }
        break_sink(sink, done < 0 ? errno : EIO);
        return -1;
    }
}

// Gives the stream's bytes to a sink that drops them.
static void drop(shoal_stream *s)
{
    s->start = s->lines = s->end = 0;
    s->spill = false;
}

// Writes once from `s`. False if the sink can take no more now.
static bool write_from(shoal_sink *sink, shoal_stream *s)
{
    if (sink->dangling && sink->dangling != s) {
        if (write_some(sink, "\n", 1) < 0) {
            shoal_sink_offer(sink, s);
            return false;
        }
        sink->dangling = NULL;
    }
    ssize_t n = write_some(sink, s->data + s->start, sendable(s));
    if (n < 0) {
        shoal_sink_offer(sink, s);
        return false;
    }
    sink->dangling = NULL;
    s->start += (size_t)n;
    bool at_line_end = s->data[s->start - 1] == '\n';
    if (at_line_end) s->spill = false;
    sink->current = at_line_end ? NULL : s;
    if (s->start == s->end) s->start = s->end = s->lines = 0;
    shoal_sink_release(sink, s);
    if (!sink->current) shoal_sink_offer(sink, s);
    sink->on_room(s);
    return true;
}

void shoal_sink_pump(shoal_sink *sink)
{
    while (!sink->blocked) {
        shoal_stream *s = sink->current ? sink->current : take_next(sink);
        if (!s) return;
        if (sink->broken) {
            drop(s);
            sink->current = NULL;
            sink->on_room(s);
            continue;
        }
        if (sendable(s) == 0) {
            if (s == sink->current) return; // its line goes on when it brings more
            continue;
        }
        if (!write_from(sink, s) && !sink->broken) return;
    }
}

void shoal_sink_release(shoal_sink *sink, shoal_stream *s)
{
    if (sink->current != s || !s->eof || s->start != s->end) return;
    sink->current = NULL;
    sink->dangling = s;
}

void shoal_sink_give_way(shoal_sink *sink)
{
    shoal_stream *s = sink->current;
    if (!s || sendable(s) > 0) return;
    s->spill = false;
    sink->dangling = s;
    sink->current = NULL;
}

bool shoal_sink_has_full_stream(const shoal_sink *sink, const shoal_stream *all, size_t limit)
{
    for (const shoal_stream *s = all; s; s = s->next_all)
        if (s->sink == sink && s != sink->current && s->end - s->start >= limit) return true;
    return false;
}
