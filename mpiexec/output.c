// SPDX-License-Identifier: BSD-3-Clause
// Streams, sinks, and whose turn it is; output.h has the picture.
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "input.h"
#include "plat/error.h"
#include "say.h"
#include "sink.h"

#define READ_BYTES  (64u << 10) // one read, and how much finished output may wait in a stream
#define LINE_BYTES  (1u << 20)  // the longest line that is held back as a whole
#define QUIET_NS    (100 * SHOAL_MS)
#define GIVE_WAY_NS (1000 * SHOAL_MS)

static shoal_sink *out_sink, *err_sink;
static shoal_stream messages;
static shoal_stream *all_streams; // every rank's, linked by `next_all`
static bool opened;

static void finish_tick(shoal_timer *);
static shoal_timer finish_timer = {.fire = finish_tick};
static int64_t finish_until_ns;

static void settle(shoal_stream *s);

static bool reserve(shoal_stream *s, size_t more)
{
    if (s->start > 0 && s->end + more > s->capacity) {
        memmove(s->data, s->data + s->start, s->end - s->start);
        s->end -= s->start;
        s->lines = s->lines > s->start ? s->lines - s->start : 0;
        s->start = 0;
    }
    if (s->end + more <= s->capacity) return true;
    size_t capacity = s->capacity ? s->capacity : 4096;
    while (capacity < s->end + more) capacity *= 2;
    char *data = realloc(s->data, capacity);
    if (!data) return false;
    s->data = data;
    s->capacity = capacity;
    return true;
}

static void append(shoal_stream *s, const char *bytes, size_t n)
{
    if (!reserve(s, n)) {
        shoal_say("out of memory; output of rank %u is lost", s->rank ? s->rank->rank : 0);
        return;
    }
    memcpy(s->data + s->end, bytes, n);
    s->end += n;
}

static size_t make_prefix(const shoal_stream *s, char *buf, size_t room)
{
    const shoal_options *o = &shoal_the_run.options;
    int n = 0;
    if (o->timestamp) {
        time_t now = time(NULL);
        struct tm tm;
        localtime_r(&now, &tm);
        n = (int)strftime(buf, room, "%H:%M:%S ", &tm);
    }
    if (o->label) n += snprintf(buf + n, room - (size_t)n, "[%u] ", s->rank->rank);
    return (size_t)n;
}

// Adds what was read to the stream, with the label in front of each line.
static void take_in(shoal_stream *s, const char *bytes, size_t n)
{
    if (!s->labelled) {
        append(s, bytes, n);
    } else {
        char prefix[64];
        size_t prefix_length = make_prefix(s, prefix, sizeof prefix);
        for (size_t at = 0; at < n;) {
            const char *newline = memchr(bytes + at, '\n', n - at);
            size_t length = newline ? (size_t)(newline - bytes) + 1 - at : n - at;
            if (!s->inside_line) append(s, prefix, prefix_length);
            append(s, bytes + at, length);
            s->inside_line = !newline;
            at += length;
        }
    }
    const char *last =
        s->end > s->start ? memrchr(s->data + s->start, '\n', s->end - s->start) : NULL;
    if (last) s->lines = (size_t)(last - s->data) + 1;
}

static bool may_read(const shoal_stream *s)
{
    size_t held = s->end - s->start;
    if (s->eof) return false;
    if (s->sink->broken) return true;
    return held < READ_BYTES || (s->lines <= s->start && held < LINE_BYTES && !s->spill);
}

static void end_of_stream(shoal_stream *s)
{
    shoal_loop_watch(&s->source, 0);
    if (s->source.fd >= 0) close(s->source.fd);
    s->source.fd = -1;
    s->eof = true;
    shoal_sink_offer(s->sink, s);
    shoal_sink_release(s->sink, s);
}

static void on_readable(shoal_source *source, uint32_t events)
{
    (void)events;
    static char scratch[READ_BYTES];
    shoal_stream *s = SHOAL_OWNER(source, shoal_stream, source);
    ssize_t n = read(source->fd, scratch, sizeof scratch);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        end_of_stream(s);
    } else {
        s->last_ns = shoal_now_ns();
        if (!s->sink->broken) take_in(s, scratch, (size_t)n);
    }
    settle(s);
}

// After any change of a stream: gives what can be given, and reads on or stops reading.
static void settle(shoal_stream *s)
{
    if (s->lines <= s->start && s->end - s->start >= LINE_BYTES) s->spill = true;
    shoal_sink_offer(s->sink, s);
    shoal_sink_pump(s->sink);
    if (s->source.fd >= 0) shoal_loop_watch(&s->source, may_read(s) ? EPOLLIN : 0);
    // The beginning of a line may be a prompt; somebody has to look again when it stays quiet.
    if (s->prompts && s->end > s->start && !s->sink->tick.set)
        shoal_loop_after(&s->sink->tick, QUIET_NS);
}

// Called by the sink when it has taken bytes from a stream that had stopped reading.
static void on_room(shoal_stream *s)
{
    if (s->source.fd >= 0) shoal_loop_watch(&s->source, may_read(s) ? EPOLLIN : 0);
    if (s->start == s->end && s->capacity > READ_BYTES) {
        free(s->data);
        s->data = NULL;
        s->capacity = s->start = s->end = s->lines = 0;
    }
}

// Nobody must wait for ever behind the unfinished line of a rank that is quiet: it may itself be
// waiting for them. On a terminal that is a prompt, and other ranks' lines may cut it short.
static void on_tick(shoal_timer *timer)
{
    shoal_sink *sink = SHOAL_OWNER(timer, shoal_sink, tick);
    int64_t now = shoal_now_ns();
    bool again = false;
    for (shoal_stream *s = all_streams; s; s = s->next_all) {
        if (s->sink != sink || !s->prompts || s->end == s->start || s->eof) continue;
        if (now - s->last_ns >= QUIET_NS && !sink->current) {
            s->spill = true;
            shoal_sink_offer(sink, s);
        } else {
            again = true;
        }
    }
    shoal_stream *current = sink->current;
    if (current && current->spill && sink->head) {
        bool stuck = sink->terminal || shoal_sink_has_full_stream(sink, all_streams, READ_BYTES);
        if (stuck && now - current->last_ns >= GIVE_WAY_NS) shoal_sink_give_way(sink);
        again = true;
    }
    shoal_sink_pump(sink);
    if (again) shoal_loop_after(timer, QUIET_NS);
}

int shoal_output_open(void)
{
    out_sink = shoal_sink_standard(STDOUT_FILENO, on_room, on_tick);
    err_sink = shoal_sink_standard(STDERR_FILENO, on_room, on_tick);
    if (!out_sink || !err_sink) return SHOAL_E_NO_MEM;
    messages.sink = err_sink;
    messages.source.fd = -1;
    opened = true;
    return 0;
}

// A terminal of the rank's own, because C and Python show their lines at once only to terminals.
// It passes bytes on as they are. ends[0] is ours, ends[1] the rank's; false if there is none.
static bool open_terminal(int ends[2])
{
    struct termios mode;
    struct winsize size;
    int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours < 0) return false;
    char name[64];
    int theirs = -1;
    if (grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname_r(ours, name, sizeof name) == 0)
        theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (theirs < 0 || tcgetattr(theirs, &mode) != 0) {
        close(ours);
        if (theirs >= 0) close(theirs);
        return false;
    }
    cfmakeraw(&mode);
    (void)tcsetattr(theirs, TCSANOW, &mode);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) (void)ioctl(theirs, TIOCSWINSZ, &size);
    ends[0] = ours;
    ends[1] = theirs;
    return true;
}

static int open_stream(shoal_rank *r, shoal_sink *sink, bool is_err, int *write_fd_out)
{
    int ends[2];
    bool terminal = sink->terminal && !is_err && open_terminal(ends);
    if (!terminal && pipe2(ends, O_CLOEXEC) != 0)
        return shoal_fail(SHOAL_E_SYS, "cannot make a pipe for rank %u: %s", r->rank,
                          strerror(errno));
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    shoal_stream *s = calloc(1, sizeof *s);
    if (!s) return shoal_fail(SHOAL_E_NO_MEM, "out of memory");
    const shoal_options *o = &shoal_the_run.options;
    s->source = (shoal_source){.fd = ends[0], .ready = on_readable};
    s->rank = r;
    s->sink = sink;
    s->labelled = o->label || o->timestamp;
    s->prompts = sink->terminal && (int32_t)r->rank == o->stdin_to;
    s->next_all = all_streams;
    all_streams = s;
    shoal_loop_watch(&s->source, EPOLLIN);
    *write_fd_out = ends[1];
    return 0;
}

// The sink for a rank's stdout (or stderr): the file that a pattern names, else mpiexec's own.
static shoal_sink *sink_for(const shoal_rank *r, bool is_err)
{
    const shoal_options *o = &shoal_the_run.options;
    const char *pattern = is_err ? o->errfile : o->outfile;
    if (pattern) return shoal_sink_file(pattern, r, on_room, on_tick);
    if (o->output_dir) return shoal_sink_in_dir(o->output_dir, r, is_err, on_room, on_tick);
    return is_err ? err_sink : out_sink;
}

// Connects one output of a rank. A single rank that has the terminal's input has its output too,
// as if it had been started without mpiexec.
static int attach(shoal_rank *r, bool is_err, int *fd_out)
{
    shoal_sink *sink = sink_for(r, is_err);
    const shoal_options *o = &shoal_the_run.options;
    if (!sink) return SHOAL_E_SYS;
    if (sink->terminal && shoal_input_is_handed_through() && !o->label && !o->timestamp) {
        *fd_out = is_err ? STDERR_FILENO : STDOUT_FILENO;
        return 0;
    }
    return open_stream(r, sink, is_err, fd_out);
}

int shoal_output_attach(shoal_rank *r)
{
    int rc = attach(r, false, &r->stdout_fd);
    if (rc) return rc;
    if (shoal_the_run.options.merge_stderr) {
        r->stderr_fd = fcntl(r->stdout_fd, F_DUPFD_CLOEXEC, 3);
        return r->stderr_fd < 0 ? shoal_fail(SHOAL_E_SYS, "dup: %s", strerror(errno)) : 0;
    }
    return attach(r, true, &r->stderr_fd);
}

void shoal_output_message(const char *line, size_t length)
{
    if (!opened) {
        ssize_t n = write(STDERR_FILENO, line, length);
        (void)n;
        return;
    }
    if (err_sink->broken) return;
    append(&messages, line, length);
    messages.lines = messages.end;
    shoal_sink_offer(err_sink, &messages);
    shoal_sink_pump(err_sink);
}

// A pipe that is still open now is held by a process that a rank left behind. It is given up when
// it has been quiet for a moment, and in any case after a second.
static void finish_tick(shoal_timer *timer)
{
    int64_t now = shoal_now_ns();
    bool waiting = false;
    for (shoal_stream *s = all_streams; s; s = s->next_all) {
        if (s->eof) continue;
        bool blocked = !s->source.interest; // the sink is slow; the stream is not quiet
        bool quiet = now - s->last_ns >= QUIET_NS;
        if (!blocked && (quiet || now >= finish_until_ns))
            end_of_stream(s);
        else
            waiting = true;
        shoal_sink_pump(s->sink);
    }
    if (waiting) shoal_loop_after(timer, QUIET_NS / 4);
}

void shoal_output_finish(void)
{
    if (finish_until_ns) return;
    int64_t now = shoal_now_ns();
    finish_until_ns = now + 1000 * SHOAL_MS;
    for (shoal_stream *s = all_streams; s; s = s->next_all) s->last_ns = now;
    shoal_loop_after(&finish_timer, QUIET_NS);
}

bool shoal_output_done(void)
{
    for (shoal_stream *s = all_streams; s; s = s->next_all)
        if (!s->eof || (s->end > s->start && !s->sink->broken)) return false;
    return messages.end == messages.start || messages.sink->broken;
}
