// SPDX-License-Identifier: BSD-3-Clause
// A non-blocking call by slots: what shm_later.c, which begins and ends them, and
// shm_later_chain.c, which passes long sums on, both know of one.
#ifndef SHOAL_COLL_SHM_LATER_CALL_H
#define SHOAL_COLL_SHM_LATER_CALL_H

#include "coll/arena.h"
#include "coll/coll.h"
#include "coll/shm_blocks.h"
#include "core/op.h"
#include "core/request.h"

// A long sum on its way from rank to rank, as far as this rank is concerned.
typedef struct shoal_later_chain {
    char *room;
    uint64_t after; // the epoch that had this room before: everybody has to be through with it
    int64_t length; // bytes of the vector; 0: it is no such call
    int64_t link;   // ... of which so many go at a time
    uint32_t links; // so often,
    uint32_t added, taken; // ... of which
    int64_t from, to;      // the bytes of the sum that this rank wants
    const char *in;
    char *out;
    bool flood; // all want so much that it will not stay in the caches
} shoal_later_chain;

typedef struct shoal_later {
    shoal_comm *comm;
    const char *call;
    shoal_req *req;
    shoal_arena_mark mark;
    uint64_t epoch, call_number, history; // its own, of the call and of all before it
    enum shoal_coll_kind kind;
    int root;
    int64_t bytes;       // that this rank takes from each of the others
    int64_t at;          // where these lie in what one shows
    int64_t shown_bytes; // all that one shows
    shoal_blocks in, out;
    shoal_datatype *held[2];
    shoal_op_fn *kernel; // combines; NULL: blocks go where they belong
    int64_t unit;
    bool shows, fills;    // for the others; for itself, since the result goes where its part lies
    bool shown;           // as far as there was something
    bool compared;        // with what others have announced, before a sleep
    bool in_vain;         // what is missing will never come
    int error;            // MPI code
    int first, next, end; // ranks whose parts are taken, and the first that has not been seen
    int strange;          // one that does something else, or -1
    shoal_later_chain chain;
    struct shoal_later *after;
} shoal_later;

// Has the rank shown its slot? If it does something else there, it is `strange` from now on.
bool shoal_later_sees(shoal_later *, int rank);

#endif
