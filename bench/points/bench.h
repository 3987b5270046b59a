// SPDX-License-Identifier: BSD-3-Clause
// One point of the comparison, and what the files of points share.
//
// The same source is compiled for every library, so only MPI of the common subset is used here.
// Ranks agree on the number of iterations by plain messages from rank 0 before the clock starts;
// nothing but the body is timed. Every figure is a time, so lower is always better.
#ifndef BENCH_POINTS_BENCH_H
#define BENCH_POINTS_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "../line.h"

#define BENCH_MAX_BYTES ((size_t)16 << 20)
#define BENCH_WINDOW    64

enum { TAG_DATA = 1, TAG_ACK = 2, TAG_CONTROL = 3, TAG_SYNC = 4, TAG_RELEASE = 5 };

typedef struct bench {
    int rank, np;
    double budget; // seconds of timed work for a point, all batches together
    double start, limit;
    const char **only; // name patterns; NULL: everything
    int only_count;
    char *send, *recv; // bench_buffers() makes them
    size_t room;       // bytes in each
    line *line;        // of two ranks alone
    // Every second scan runs over the ranks in reverse: the first rank of a scan waits for nobody,
    // and would otherwise never wait at all.
    MPI_Comm reversed;
} bench;

typedef struct bench_point {
    char name[48];
    size_t size;
    // Ranks 0 .. ranks-1 take part, the others stay blocked in MPI_Recv. 0: all take part.
    int ranks;
    double scale; // a body(1) counts as so many operations
    void (*body)(bench *, const struct bench_point *, long n);
    // Called on every taking-part rank after the first body(1); false: the library was wrong.
    bool (*check)(bench *, const struct bench_point *);
    void (*prepare)(bench *, const struct bench_point *);
    MPI_Datatype type; // of the datatype points
} bench_point;

double bench_now(void);

// Makes sure that both buffers have at least `bytes`, touched and filled: send[i] depends on i and
// on the rank, recv is zero.
void bench_buffers(bench *, size_t bytes);

// Runs a point and prints its line on rank 0: "name <tab> value <tab> unit <tab> iterations", and
// of two ranks alone how long a cache line took before and after it.
void bench_run(bench *, const bench_point *);

// Whether the user asked for this name.
bool bench_wanted(const bench *, const char *name);

// Prints a line for a figure that was measured in another way.
void bench_report(const bench *, const char *name, double value, const char *unit, long n);

// Whether there is time for another point; rank 0 decides and tells the others.
bool bench_in_time(bench *);

// The groups of points; `sizes` has `count` message sizes, ascending.
void bench_p2p(bench *, const size_t *sizes, int count);
void bench_crowd(bench *, const size_t *sizes, int count);
void bench_quiet(bench *, const size_t *sizes, int count);
void bench_coll(bench *, const size_t *sizes, int count);
void bench_uneven(bench *, const size_t *sizes, int count);
void bench_nonblocking(bench *, const size_t *sizes, int count);
void bench_types(bench *);
void bench_threads(bench *, const size_t *sizes, int count);
void bench_memory(bench *);
void bench_idle(bench *);

#endif
