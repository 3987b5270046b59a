// SPDX-License-Identifier: BSD-3-Clause
// What the groups of collective points share: buffers, checks, and how kinds and sizes are run.
#ifndef BENCH_POINTS_COLL_H
#define BENCH_POINTS_COLL_H

#include "bench.h"

typedef struct coll_kind {
    const char *name;
    void (*body)(bench *, const bench_point *, long n);
    void (*prepare)(bench *, const bench_point *);
    bool (*check)(bench *, const bench_point *);
    bool blocks; // np blocks to a buffer
} coll_kind;

// All kinds of one size, then all of the next.
void bench_kinds(bench *, const coll_kind *, int n, const size_t *sizes, int count);

// One vector of `size` bytes, or np blocks of them. Of floats: every rank gives rank + 1
// everywhere.
void byte_buffers(bench *, const bench_point *);
void block_buffers(bench *, const bench_point *);
void vector_buffers(bench *, const bench_point *);
void block_vectors(bench *, const bench_point *);

// After one call, whose root was rank 0.
bool check_sum(bench *, const bench_point *);
bool check_root_sum(bench *, const bench_point *);
bool check_scan(bench *, const bench_point *);
bool check_bcast(bench *, const bench_point *);
bool check_blocks(bench *, const bench_point *); // block r must have come from rank r
bool check_root_blocks(bench *, const bench_point *);
bool check_scatter(bench *, const bench_point *);

#endif
