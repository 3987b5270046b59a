// SPDX-License-Identifier: BSD-3-Clause
// Sinks: where output goes. output.c fills streams, a sink empties them, one line at a time.
#ifndef SHOAL_MPIEXEC_SINK_H
#define SHOAL_MPIEXEC_SINK_H

#include <stdbool.h>
#include <stddef.h>

#include "run.h"

typedef struct shoal_sink shoal_sink;

// data[start, end) waits to be written; data[start, lines) are whole lines.
typedef struct shoal_stream {
    shoal_source source; // our end of the rank's pipe
    shoal_rank *rank;
    shoal_sink *sink;
    char *data;
    size_t capacity, start, lines, end;
    bool eof;
    bool spill;       // the unfinished line may go: too long to hold, or a prompt
    bool labelled;    // each line gets a prefix ...
    bool inside_line; // ... unless it has begun
    bool prompts;     // may ask the user something: reads stdin, writes to a terminal
    bool queued;
    int64_t last_ns; // when it last brought something
    struct shoal_stream *next, *next_all;
} shoal_stream;

typedef void (*shoal_room_fn)(shoal_stream *);
typedef void (*shoal_tick_fn)(shoal_timer *);

struct shoal_sink {
    shoal_source source;
    bool terminal;
    bool blocking;             // no way to write without blocking but in small pieces after a poll
    bool blocked;              // waits until it can be written to
    bool broken;               // nobody reads it any more: what comes is dropped
    shoal_stream *current;     // whose line is unfinished
    shoal_stream *dangling;    // ended within a line: a newline goes before anybody else's bytes
    shoal_stream *head, *tail; // those with something to give
    shoal_room_fn on_room;
    shoal_timer tick;
    const char *name; // of a file, so that ranks with the same file share the sink
    struct shoal_sink *next;
};

// The sink for mpiexec's own stdout or stderr; one and the same if both are the same file.
shoal_sink *shoal_sink_standard(int fd, shoal_room_fn, shoal_tick_fn);

// The sink for the file that `pattern` names for this rank (%r rank, %g section, %p mpiexec's pid,
// %h host), made and emptied when first used. NULL after shoal_fail().
shoal_sink *shoal_sink_file(const char *pattern, const shoal_rank *, shoal_room_fn, shoal_tick_fn);

// The same for <dir>/1/rank.<r>/stdout, with the directories.
shoal_sink *shoal_sink_in_dir(const char *dir, const shoal_rank *, bool is_err, shoal_room_fn,
                              shoal_tick_fn);

// Puts a stream in line if it has something to give.
void shoal_sink_offer(shoal_sink *, shoal_stream *);

// Writes what can be written without blocking.
void shoal_sink_pump(shoal_sink *);

// A stream has ended: its unfinished line no longer keeps others waiting.
void shoal_sink_release(shoal_sink *, shoal_stream *);

// Ends the current unfinished line for the sake of the others.
void shoal_sink_give_way(shoal_sink *);

// True if a stream of this sink has stopped reading because `limit` bytes wait in it.
bool shoal_sink_has_full_stream(const shoal_sink *, const shoal_stream *all, size_t limit);

#endif
