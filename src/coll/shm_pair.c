// SPDX-License-Identifier: BSD-3-Clause
// See shm_pair.h.
#include "coll/shm_pair.h"

#include <stdlib.h>
#include <string.h>

#include "coll/shm_blocks.h"
#include "coll/shm_straight.h"
#include "coll/shm_sync.h"
#include "net/shm/shm.h"

#define FETCHED    (64 << 10) // that is fetched at a time: it stays in a near cache
#define BLOCK      4096       // that is combined at a time: it stays in the nearest
#define ASIDE_MOST (1 << 20) // kept aside until the other has read what it replaces: memory is dear

bool shoal_pair_serves(const shoal_comm *c, int64_t length, int64_t most)
{
    return c->size == 2 && !c->arena->crowded && shoal_shm_quick_kernel() &&
           shoal_is_long_block(length) && length <= most;
}

static bool in_place(const shoal_pair *p)
{
    return p->bytes > 0 && p->out >= p->in && p->out <= p->in + p->from;
}

// The result, of which the other's operand lies at `other`: aside, or where the result goes.
static void combine(const shoal_pair *p, int64_t at, char *other, int64_t bytes)
{
    const char *own = p->in + p->from + at;
    char *out = p->out + at;
    if (p->into_others) {
        p->kernel(own, other, bytes / p->unit);
        if (other != out) shoal_copy(out, other, (size_t)bytes);
        return;
    }
    int64_t most = BLOCK / p->unit * p->unit;
    for (int64_t done = 0; done < bytes; done += most) {
        int64_t part = bytes - done < most ? bytes - done : most;
        if (out != own) shoal_move(out + done, own + done, (size_t)part);
        p->kernel(other + done, out + done, part / p->unit);
    }
}

// Fetches all, and combines it at once unless the result goes where the other may still read.
static bool fetch(const shoal_pair *p, uint64_t there, char *aside)
{
    uint32_t peer = p->comm->peers[1 - p->comm->rank];
    int64_t most = FETCHED / p->unit * p->unit;
    if (in_place(p)) return shoal_cma_read(peer, aside, there, (uint64_t)p->bytes);
    for (int64_t at = 0; at < p->bytes; at += most) {
        int64_t part = p->bytes - at < most ? p->bytes - at : most;
        char *other = p->into_others ? p->out + at : aside;
        if (!shoal_cma_read(peer, other, there + (uint64_t)at, (uint64_t)part)) return false;
        combine(p, at, other, part);
    }
    return true;
}

int shoal_pair_run(const shoal_pair *p, bool *done)
{
    shoal_comm *c = p->comm;
    bool kept = in_place(p), needs = kept || (p->bytes > 0 && !p->into_others);
    bool can = shoal_straight_wanted(c->arena, p->kind, p->length) &&
               shoal_cma_works(c->peers[1 - c->rank]) && (!kept || p->bytes <= ASIDE_MOST);
    char *aside = can && needs ? malloc((size_t)(kept ? p->bytes : FETCHED)) : NULL;
    if (needs && !aside) can = false;
    shoal_room words;
    uint64_t least;
    int rc = shoal_word_say(c, p->mark, can ? (uint64_t)(uintptr_t)p->in : 0, &words, &least);
    if (rc == 0) shoal_straight_went(c->arena, least > 0);
    if (rc == 0 && least > 0) {
        uint64_t there = shoal_word_of(&words, 1 - c->rank) + (uint64_t)p->from;
        bool good = fetch(p, there, aside);
        // Nobody may change its vector before the other has read it.
        rc = shoal_word_say(c, p->mark, good, &words, &least);
        *done = rc == 0 && least == 1;
        if (*done && kept) combine(p, 0, aside, p->bytes);
    }
    free(aside);
    return rc;
}
