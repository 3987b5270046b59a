// SPDX-License-Identifier: BSD-3-Clause
// The algorithms. Each appends its steps to a schedule, for the ranks of the schedule's current
// communicator; which one is used when is said in select.c alone. After an algorithm has been
// appended its results are in place only after a shoal_schedule_wait().
//
// Reductions combine in the order of ranks, lower op higher, unless said otherwise; so they serve
// operations that do not commute, and every rank that computes a value gets the same bits.
#ifndef SHOAL_COLL_ALGORITHMS_H
#define SHOAL_COLL_ALGORITHMS_H

#include "coll/coll.h"
#include "coll/schedule.h"

// barrier.c
void shoal_barrier_dissemination(shoal_schedule *);

// bcast.c
void shoal_bcast_binomial(shoal_schedule *, void *buf, int64_t count, shoal_datatype *, int root);
void shoal_bcast_scatter_allgather(shoal_schedule *, void *buf, int64_t count, shoal_datatype *,
                                   int root);

// gather.c; with or without v. Binomial: all blocks have the same size.
void shoal_gather_linear(shoal_schedule *, const shoal_coll_args *);
void shoal_gather_binomial(shoal_schedule *, const shoal_coll_args *);
void shoal_scatter_linear(shoal_schedule *, const shoal_coll_args *);
void shoal_scatter_binomial(shoal_schedule *, const shoal_coll_args *);

// allgather.c; with or without v. Doubling, Bruck: all blocks have the same size. Doubling: for a
// power of two of ranks.
void shoal_allgather_own(shoal_schedule *, const shoal_coll_args *); // this rank's block into place
void shoal_allgather_direct(shoal_schedule *, const shoal_coll_args *);
void shoal_allgather_doubling(shoal_schedule *, const shoal_coll_args *);
void shoal_allgather_ring(shoal_schedule *, const shoal_coll_args *);
void shoal_allgather_bruck(shoal_schedule *, const shoal_coll_args *);

// alltoall.c; with or without v, w. Bruck: all blocks have the same size. `window`: how many
// partners at once.
void shoal_alltoall_pairwise(shoal_schedule *, const shoal_coll_args *, int window);
void shoal_alltoall_bruck(shoal_schedule *, const shoal_coll_args *);

// A vector cut into one piece for each rank; for reductions.
typedef struct shoal_pieces {
    int64_t total;           // elements in all
    int64_t even;            // elements of each piece but the last ones, if counts is NULL
    const MPI_Count *counts; // elements of each piece
} shoal_pieces;
shoal_pieces shoal_pieces_even(int64_t total, int ranks);
// Elements of piece i, and how many lie before it.
int64_t shoal_piece(const shoal_pieces *, int i, int64_t *before_out);

// reduce.c; `in` is never MPI_IN_PLACE and may be the same as `out`. Only the root's `out` is
// written.
void shoal_reduce_binomial(shoal_schedule *, const void *in, void *out, int64_t count,
                           shoal_datatype *, int root, bool commutes);
void shoal_reduce_scatter_gather(shoal_schedule *, const void *in, void *out, int64_t count,
                                 shoal_datatype *, int root, bool commutes);

// reduce_scatter.c: piece i of the combined vectors into `out` of rank i. `out` may overlap `in`.
// Windowed: for operations that commute; the order of ranks starts at the rank that computes.
void shoal_reduce_scatter_ordered(shoal_schedule *, const void *in, void *out, const shoal_pieces *,
                                  shoal_datatype *);
void shoal_reduce_scatter_windowed(shoal_schedule *, const void *in, void *out,
                                   const shoal_pieces *, shoal_datatype *, int window);

// allreduce.c; `in` may be the same as `out`.
void shoal_allreduce_doubling(shoal_schedule *, const void *in, void *out, int64_t count,
                              shoal_datatype *);
void shoal_allreduce_scatter_allgather(shoal_schedule *, const void *in, void *out, int64_t count,
                                       shoal_datatype *, bool commutes, int window);

// halving.c: for a power of two of ranks, and operations that commute; `in` may be the same as
// `out`. In blocks of so many elements.
void shoal_allreduce_halving(shoal_schedule *, const void *in, void *out, int64_t count,
                             shoal_datatype *, int64_t block);

// scan.c; `in` may be the same as `out`.
void shoal_scan_doubling(shoal_schedule *, const void *in, void *out, int64_t count,
                         shoal_datatype *, bool exclusive);
// In pieces of so many elements. `commutes` saves a copy; the order of ranks is kept by grouping.
void shoal_scan_chain(shoal_schedule *, const void *in, void *out, int64_t count, shoal_datatype *,
                      bool exclusive, bool commutes, int64_t piece);

// inter.c: collectives between the two groups of an inter-communicator.
void shoal_inter_build(shoal_schedule *, const shoal_coll_args *);

// neighbor.c
void shoal_neighbor_allgather(shoal_schedule *, const shoal_coll_args *);
void shoal_neighbor_alltoall(shoal_schedule *, const shoal_coll_args *);

#endif
