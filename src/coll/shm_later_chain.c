// SPDX-License-Identifier: BSD-3-Clause
// See shm_later_chain.h.
#include "coll/shm_later_chain.h"

#include "coll/shm_sync.h"
#include "net/shm/shm.h"

#define PLACES     8u          // for links, in the room of a sum
#define LINK_MOST  (128 << 10) // bytes,
#define LINK_LEAST (8 << 10)   // ... and in how many links a short vector goes
#define LINKS      4
#define CORES_MOST PLACES // each needs a link to work on
#define BLOCK      4096   // bytes that are set aside at a time

// What a rank says of the links, in its slot: the data lies elsewhere.
typedef struct progress {
    _Atomic uint32_t added, taken;
} progress;
static_assert(sizeof(progress) <= SHOAL_SLOT_PAYLOAD, "it lies beside the flag");

static progress *progress_of(const shoal_later *x, int rank)
{
    return (progress *)(void *)shoal_later_slot(x->comm->arena, rank, x->epoch)->payload;
}

static int64_t room_of_links(const shoal_arena *a)
{
    return (int64_t)a->n * a->later_data;
}

static char *place_of(const shoal_later *x, uint32_t k)
{
    return x->chain.room + k % PLACES * (room_of_links(x->comm->arena) / PLACES);
}

bool shoal_later_chain_plan(shoal_later *x, int64_t bytes)
{
    const shoal_arena *a = x->comm->arena;
    shoal_later_chain *h = &x->chain;
    if (!a->crowded || a->cores > CORES_MOST) return false;
    int64_t link = bytes / LINKS, most = room_of_links(a) / PLACES;
    if (most > LINK_MOST) most = LINK_MOST;
    if (link < LINK_LEAST) link = LINK_LEAST;
    if (link > most) link = most;
    link = link / SHOAL_LINE * SHOAL_LINE / x->unit * x->unit;
    if (link == 0) return false;
    h->length = bytes;
    h->link = link;
    h->links = (uint32_t)((bytes + link - 1) / link);
    return true;
}

bool shoal_later_chain_waits(const shoal_later *x)
{
    const shoal_later_chain *h = &x->chain;
    return x->comm->rank > 0 || h->links > PLACES || h->from < h->to;
}

void shoal_later_chain_take_room(shoal_later *x)
{
    shoal_arena *a = x->comm->arena;
    uint64_t *at = &a->later_chain_at[a->later_chains % SHOAL_LATER_CHAINS];
    x->chain.room = shoal_later_chain_room(a, a->later_chains++);
    x->chain.after = *at;
    *at = x->epoch;
}

void shoal_later_chain_begin(const shoal_later *x)
{
    progress *mine = progress_of(x, x->comm->rank);
    atomic_store_explicit(&mine->added, 0, memory_order_relaxed);
    atomic_store_explicit(&mine->taken, 0, memory_order_relaxed);
}

static bool is_prefix(const shoal_later *x)
{
    return x->kind == SHOAL_COLL_SCAN || x->kind == SHOAL_COLL_EXSCAN;
}

// How many links a rank has added to, or taken the sum of, as it has said; 0 if it has not come.
static uint32_t said_of(shoal_later *x, int rank, bool taken)
{
    if (!shoal_later_sees(x, rank)) return 0;
    const progress *theirs = progress_of(x, rank);
    // Pairs with the release in say().
    return atomic_load_explicit(taken ? &theirs->taken : &theirs->added, memory_order_acquire);
}

static int rank_above(const shoal_later *x)
{
    return x->comm->rank + 1 < x->comm->size ? x->comm->rank + 1 : -1;
}

// A rank whose progress keeps this one from beginning its next link, or -1. Its place is free when
// all have taken what was there before; of a prefix nobody does that later.
static int before_add(shoal_later *x)
{
    int me = x->comm->rank, last = x->comm->size - 1;
    uint32_t k = x->chain.added;
    if (me > 0) return said_of(x, me - 1, false) > k ? -1 : me - 1;
    if (k < PLACES) return -1;
    if (is_prefix(x)) return said_of(x, last, false) > k - PLACES ? -1 : last;
    if (x->chain.taken <= k - PLACES) return last;
    for (int r = 1; r <= last; r++)
        if (said_of(x, r, true) <= k - PLACES) return r;
    return -1;
}

static bool can_add(shoal_later *x)
{
    return x->chain.added < x->chain.links && before_add(x) < 0;
}

// Which bytes of link k this rank wants: how many, and where they begin in the vector.
static int64_t wanted_of(const shoal_later *x, uint32_t k, int64_t *from_out)
{
    const shoal_later_chain *h = &x->chain;
    int64_t at = k * h->link, end = at + h->link;
    *from_out = at > h->from ? at : h->from;
    if (end > h->to) end = h->to;
    return end - *from_out;
}

// What nobody wants of a link is taken as soon as the own vector has been added.
static bool can_take(shoal_later *x)
{
    int64_t from;
    if (x->chain.taken == x->chain.added) return false;
    return wanted_of(x, x->chain.taken, &from) <= 0 ||
           said_of(x, x->comm->size - 1, false) > x->chain.taken;
}

static void say(_Atomic uint32_t *word, uint32_t links)
{
    // Pairs with the acquire in said_of(): the link has been written, or read.
    atomic_store_explicit(word, links, memory_order_release);
}

// The result is what the rank below has left; then the own vector is added, which may lie where the
// result goes.
static void take_and_add(const shoal_later *x, char *sum, const char *in, char *out, int64_t bytes)
{
    char aside[BLOCK] __attribute__((aligned(64)));
    int64_t most = BLOCK / x->unit * x->unit;
    for (int64_t at = 0; at < bytes; at += most) {
        int64_t part = bytes - at < most ? bytes - at : most;
        shoal_copy(aside, in + at, (size_t)part);
        shoal_copy(out + at, sum + at, (size_t)part);
        if (rank_above(x) >= 0) x->kernel(aside, sum + at, part / x->unit);
    }
}

static void add(shoal_later *x)
{
    shoal_later_chain *h = &x->chain;
    int me = x->comm->rank;
    int64_t at = h->added * h->link, left = h->length - at, bytes = left < h->link ? left : h->link;
    char *sum = place_of(x, h->added);
    if (me == 0)
        shoal_copy(sum, h->in + at, (size_t)bytes);
    else if (x->kind == SHOAL_COLL_EXSCAN)
        take_and_add(x, sum, h->in + at, h->out + at, bytes);
    else
        x->kernel(h->in + at, sum, bytes / x->unit);
    if (x->kind == SHOAL_COLL_SCAN && (me > 0 || h->in != h->out))
        shoal_copy(h->out + at, sum, (size_t)bytes);
    say(&progress_of(x, me)->added, ++h->added);
    if (rank_above(x) >= 0)
        shoal_arena_wake_rank(x->comm->arena, rank_above(x));
    else
        shoal_arena_wake_waiting(x->comm->arena);
}

static void take(shoal_later *x)
{
    shoal_later_chain *h = &x->chain;
    int64_t from, bytes = wanted_of(x, h->taken, &from);
    const char *sum = place_of(x, h->taken) + (from - h->taken * h->link);
    if (bytes > 0) shoal_arena_take(h->out + (from - h->from), sum, bytes, h->flood);
    say(&progress_of(x, x->comm->rank)->taken, ++h->taken);
    // The first rank waits for places.
    if (!is_prefix(x) && h->taken + PLACES <= h->links) shoal_arena_wake_rank(x->comm->arena, 0);
}

static bool is_over(const shoal_later *x)
{
    return x->strange >= 0 ||
           (x->chain.added == x->chain.links && x->chain.taken == x->chain.links);
}

bool shoal_later_chain_move(shoal_later *x)
{
    while (!is_over(x)) {
        if (can_take(x))
            take(x);
        else if (can_add(x))
            add(x);
        else
            break;
    }
    if (is_over(x) && x->chain.flood) shoal_settle_copies();
    return is_over(x);
}

bool shoal_later_chain_can_move(shoal_later *x)
{
    return is_over(x) || can_take(x) || can_add(x) || x->strange >= 0;
}

int shoal_later_chain_missing(shoal_later *x)
{
    int rank = x->chain.added < x->chain.links ? before_add(x) : -1;
    return rank >= 0 ? rank : x->comm->size - 1;
}
