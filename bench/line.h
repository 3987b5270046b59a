// SPDX-License-Identifier: BSD-3-Clause
// How long a cache line takes from one process to another that runs on another core.
//
// Hosts of virtual machines move the cores about, every second or so: then the two share a cache,
// or none, and everything small takes several times as long. So each figure is written down
// together with this time, taken just before it and just after it.
#ifndef SHOAL_BENCH_LINE_H
#define SHOAL_BENCH_LINE_H

typedef struct line line;

// The page that two processes need for it: the first makes it, the other opens what the first says
// of it. NULL if that fails.
line *line_make(char *place, int room);
line *line_open(const char *place);

// µs one way; both call it at about the same time. 0 if the other has not come within a tenth of a
// second, and from then on: maybe both have one core.
double line_time(line *, int first);

#endif
