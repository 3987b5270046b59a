// SPDX-License-Identifier: BSD-3-Clause
// The index behind matching: a hash table of keys, each with a list of links in order of arrival.
//
//     bins[hash] -> key(context, source, tag) -> key ...
//                     first <-> link <-> link        one for each receive or message
//
// A key whose list runs empty stays in its bin, because programs use the same tags again and again;
// when there are more empty keys than used ones they are swept out.
#include "p2p/match.h"

#include <stddef.h>
#include <stdlib.h>

#include "net/net.h"
#include "plat/error.h"

typedef struct shoal_match_key {
    struct shoal_match_key *next; // in the bin
    uint64_t context;
    int32_t src, tag;
    shoal_match_link *first, *last;
} key;

typedef struct match_index {
    key **bins;
    uint32_t bin_count; // a power of two
    uint32_t keys, empty;
    key *recent; // the key found last: most programs use one over and over
} match_index;

#define FIRST_BINS 256u
#define SWEEP_FROM 1024u

static match_index posted, unexpected;
static uint64_t post_order;
static uint32_t wild_tag, wild_source, wild_both; // posted receives with wildcards
static uint32_t exact;                            // ... and without
static uint64_t unexpected_count;

static uint32_t hash(uint64_t context, int src, int tag)
{
    uint64_t h = context * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)src * 0xc2b2ae3d27d4eb4fu +
                 (uint64_t)(uint32_t)tag * 0x165667b19e3779f9u;
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static void *need(void *memory)
{
    // Matching cannot fail half way: a message would be lost. Out of memory ends the rank.
    if (!memory) shoal_panic("no memory left to match messages");
    return memory;
}

static void index_init(match_index *x)
{
    *x = (match_index){.bin_count = FIRST_BINS};
    x->bins = need(calloc(FIRST_BINS, sizeof *x->bins));
}

static bool is_key(const key *k, uint64_t context, int src, int tag)
{
    return k->tag == tag && k->src == src && k->context == context;
}

static key *find_in_bin(match_index *x, uint64_t context, int src, int tag)
{
    key *k = x->bins[hash(context, src, tag) & (x->bin_count - 1)];
    while (k && !is_key(k, context, src, tag)) k = k->next;
    if (k) x->recent = k;
    return k;
}

static inline key *find(match_index *x, uint64_t context, int src, int tag)
{
    key *k = x->recent;
    return k && is_key(k, context, src, tag) ? k : find_in_bin(x, context, src, tag);
}

// Puts every key into a new table; empty ones are dropped.
static void rebuild(match_index *x, uint32_t bin_count)
{
    key **bins = need(calloc(bin_count, sizeof *bins));
    for (uint32_t i = 0; i < x->bin_count; i++) {
        for (key *k = x->bins[i], *next; k; k = next) {
            next = k->next;
            if (!k->first) {
                x->keys--;
                free(k);
                continue;
            }
            key **bin = &bins[hash(k->context, k->src, k->tag) & (bin_count - 1)];
            k->next = *bin;
            *bin = k;
        }
    }
    free(x->bins);
    x->bins = bins;
    x->bin_count = bin_count;
    x->empty = 0;
    x->recent = NULL;
}

static key *find_or_make(match_index *x, uint64_t context, int src, int tag)
{
    key *k = find(x, context, src, tag);
    if (k) return k;
    if (x->keys >= x->bin_count) {
        uint32_t used = x->keys - x->empty;
        rebuild(x, used > x->bin_count / 2 ? x->bin_count * 2 : x->bin_count);
    }
    k = need(malloc(sizeof *k));
    key **bin = &x->bins[hash(context, src, tag) & (x->bin_count - 1)];
    *k = (key){.next = *bin, .context = context, .src = src, .tag = tag};
    *bin = k;
    x->keys++;
    x->empty++;
    return k;
}

static void append(match_index *x, shoal_match_link *l, uint64_t context, int src, int tag)
{
    key *k = find_or_make(x, context, src, tag);
    l->key = k;
    l->next = NULL;
    l->prev = k->last;
    if (k->last) {
        k->last->next = l;
    } else {
        k->first = l;
        x->empty--;
    }
    k->last = l;
}

static void unlink_from(match_index *x, shoal_match_link *l)
{
    key *k = l->key;
    if (l->prev)
        l->prev->next = l->next;
    else
        k->first = l->next;
    if (l->next)
        l->next->prev = l->prev;
    else
        k->last = l->prev;
    if (k->first) return;
    x->empty++;
    if (x->empty >= SWEEP_FROM && x->empty > x->keys / 2) rebuild(x, x->bin_count);
}

static void index_fini(match_index *x)
{
    for (uint32_t i = 0; i < x->bin_count; i++)
        for (key *k = x->bins[i], *next; k; k = next) {
            next = k->next;
            free(k);
        }
    free(x->bins);
    *x = (match_index){0};
}

void shoal_match_init(void)
{
    index_init(&posted);
    index_init(&unexpected);
}

static uint32_t *wild_counter(int src, int tag)
{
    if (src == MPI_ANY_SOURCE) return tag == MPI_ANY_TAG ? &wild_both : &wild_source;
    return tag == MPI_ANY_TAG ? &wild_tag : &exact;
}

void shoal_match_post(shoal_req *r)
{
    r->order = ++post_order;
    append(&posted, &r->link, r->context, r->rank, r->tag);
    ++*wild_counter(r->rank, r->tag);
}

void shoal_match_unpost(shoal_req *r)
{
    unlink_from(&posted, &r->link);
    --*wild_counter(r->rank, r->tag);
}

static shoal_req *req_of(shoal_match_link *l)
{
    return (shoal_req *)(void *)((char *)l - offsetof(shoal_req, link));
}

// The older of `best` and the first receive posted under the key.
static shoal_req *older(shoal_req *best, uint64_t context, int src, int tag)
{
    key *k = find(&posted, context, src, tag);
    if (!k || !k->first) return best;
    shoal_req *r = req_of(k->first);
    return !best || r->order < best->order ? r : best;
}

shoal_req *shoal_match_arrived(uint64_t context, int src, int tag)
{
    shoal_req *r = NULL;
    if (exact) r = older(r, context, src, tag);
    if (__builtin_expect(!(wild_tag | wild_source | wild_both), 1)) {
        if (!r) return NULL;
        unlink_from(&posted, &r->link);
        exact--;
        return r;
    }
    if (wild_tag) r = older(r, context, src, MPI_ANY_TAG);
    if (wild_source) r = older(r, context, MPI_ANY_SOURCE, tag);
    if (wild_both) r = older(r, context, MPI_ANY_SOURCE, MPI_ANY_TAG);
    if (r) shoal_match_unpost(r);
    return r;
}

shoal_unexpected *shoal_unexpected_new(uint32_t payload)
{
    shoal_unexpected *u = need(malloc(sizeof *u + payload));
    memset(u, 0, sizeof *u);
    u->data = (char *)(u + 1);
    return u;
}

void shoal_unexpected_free(shoal_unexpected *u)
{
    free(u);
}

void shoal_match_keep(shoal_unexpected *u)
{
    append(&unexpected, &u->links[0], u->context, u->src, u->tag);
    append(&unexpected, &u->links[1], u->context, u->src, MPI_ANY_TAG);
    append(&unexpected, &u->links[2], u->context, MPI_ANY_SOURCE, u->tag);
    append(&unexpected, &u->links[3], u->context, MPI_ANY_SOURCE, MPI_ANY_TAG);
    unexpected_count++;
}

// Which of the four links of a message hangs under keys of this form.
static int link_number(int src, int tag)
{
    return (src == MPI_ANY_SOURCE ? 2 : 0) + (tag == MPI_ANY_TAG ? 1 : 0);
}

static shoal_unexpected *unexpected_of(shoal_match_link *l, int number)
{
    return (shoal_unexpected *)(void *)(l - number);
}

shoal_unexpected *shoal_match_find(uint64_t context, int src, int tag)
{
    if (unexpected_count == 0) return NULL;
    key *k = find(&unexpected, context, src, tag);
    return k && k->first ? unexpected_of(k->first, link_number(src, tag)) : NULL;
}

void shoal_match_remove(shoal_unexpected *u)
{
    for (int i = 0; i < 4; i++) unlink_from(&unexpected, &u->links[i]);
    unexpected_count--;
}

shoal_unexpected *shoal_match_find_id(uint32_t peer, uint64_t id)
{
    for (uint32_t i = 0; i < unexpected.bin_count; i++)
        for (key *k = unexpected.bins[i]; k; k = k->next) {
            if (k->src != MPI_ANY_SOURCE || k->tag != MPI_ANY_TAG) continue;
            for (shoal_match_link *l = k->first; l; l = l->next) {
                shoal_unexpected *u = unexpected_of(l, 3);
                if (u->peer == peer && u->id == id && u->kind != SHOAL_PKT_EAGER) return u;
            }
        }
    return NULL;
}

void shoal_match_purge(uint64_t context, void (*gone)(const shoal_unexpected *))
{
    shoal_unexpected *u;
    while ((u = shoal_match_find(context, MPI_ANY_SOURCE, MPI_ANY_TAG))) {
        shoal_match_remove(u);
        gone(u);
        shoal_unexpected_free(u);
    }
}

bool shoal_match_posted(void)
{
    return (exact | wild_tag | wild_source | wild_both) != 0;
}

bool shoal_match_idle(void)
{
    return !shoal_match_posted() && unexpected_count == 0;
}

uint64_t shoal_match_unexpected_count(void)
{
    return unexpected_count;
}

void shoal_match_fini(void)
{
    // Messages that were never received are the sender's and the user's affair; their memory is
    // ours.
    for (uint32_t i = 0; i < unexpected.bin_count && unexpected_count > 0; i++)
        for (key *k = unexpected.bins[i]; k; k = k->next)
            while (k->src == MPI_ANY_SOURCE && k->tag == MPI_ANY_TAG && k->first) {
                shoal_unexpected *u = unexpected_of(k->first, 3);
                k->first = k->first->next;
                unexpected_count--;
                shoal_unexpected_free(u);
            }
    index_fini(&posted);
    index_fini(&unexpected);
    wild_tag = wild_source = wild_both = exact = 0;
    post_order = unexpected_count = 0;
}
