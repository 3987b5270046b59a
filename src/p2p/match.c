// SPDX-License-Identifier: BSD-3-Clause
// The index behind matching: a hash table of keys, each with a list of links in order of arrival.
//
//     bins[hash] -> key(context, source, tag) -> key ...
//                     first <-> link <-> link        one for each receive or message
//
// A key whose list runs empty stays in its bin, because programs use the same tags again and again;
// when there are many more empty keys than used ones they are swept out.
#include "p2p/match.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
#define SWEEP_FROM 16384u
#define KEYS_MADE  64u    // at a time
#define SMALL      64u    // messages up to this size ...
#define SMALL_KEPT 16384u // ... leave so many entries behind for later ones

uint64_t shoal_match_kept;
uint32_t shoal_match_open;

static match_index posted, unexpected;
static uint64_t post_order;
static uint32_t posted_as[4];             // receives by form of their key, as numbered by form_of()
static shoal_unexpected *oldest, *newest; // of all that are kept
static unsigned forms = 1;                // bit i: unexpected messages hang under keys of form i
static unsigned asked;                    // ... and have been asked for since the last were gone
static shoal_unexpected *spare;           // entries with room for SMALL bytes
static uint32_t spares;
static key *spare_keys;

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

// Keys come in blocks that are never given back before the end; a block's first key is its link.
static key *key_blocks;

static key *key_new(void)
{
    if (!spare_keys) {
        key *block = need(calloc(KEYS_MADE, sizeof *block));
        block->next = key_blocks;
        key_blocks = block;
        for (uint32_t i = 1; i < KEYS_MADE; i++) {
            block[i].next = spare_keys;
            spare_keys = &block[i];
        }
    }
    key *k = spare_keys;
    spare_keys = k->next;
    return k;
}

static void key_free(key *k)
{
    k->next = spare_keys;
    spare_keys = k;
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
                key_free(k);
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
    k = key_new();
    key **bin = &x->bins[hash(context, src, tag) & (x->bin_count - 1)];
    *k = (key){.next = *bin, .context = context, .src = src, .tag = tag};
    *bin = k;
    x->keys++;
    x->empty++;
    x->recent = k;
    return k;
}

static inline void append(match_index *x, shoal_match_link *l, uint64_t context, int src, int tag)
{
    key *k = find_or_make(x, context, src, tag);
    shoal_match_link *last = k->last;
    l->key = k;
    l->next = NULL;
    l->prev = last;
    k->last = l;
    if (last) {
        last->next = l;
        return;
    }
    k->first = l;
    x->empty--;
}

static inline void unlink_from(match_index *x, shoal_match_link *l)
{
    key *k = l->key;
    shoal_match_link *prev = l->prev, *next = l->next;
    if (prev)
        prev->next = next;
    else
        k->first = next;
    if (next)
        next->prev = prev;
    else
        k->last = prev;
    if (k->first) return;
    x->empty++;
    if (__builtin_expect(x->empty >= SWEEP_FROM, 0) && x->empty > x->keys / 4 * 3)
        rebuild(x, x->bin_count);
}

static void index_fini(match_index *x)
{
    free(x->bins);
    *x = (match_index){0};
}

void shoal_match_init(void)
{
    index_init(&posted);
    index_init(&unexpected);
}

// The four forms of keys: (src, tag), (src, any), (any, tag), (any, any).
static inline unsigned form_of(int src, int tag)
{
    return (src == MPI_ANY_SOURCE ? 2u : 0u) + (tag == MPI_ANY_TAG ? 1u : 0u);
}

void shoal_match_post(shoal_req *r)
{
    r->order = ++post_order;
    append(&posted, &r->link, r->context, r->rank, r->tag);
    posted_as[form_of(r->rank, r->tag)]++;
    shoal_match_open++;
}

void shoal_match_unpost(shoal_req *r)
{
    unlink_from(&posted, &r->link);
    posted_as[form_of(r->rank, r->tag)]--;
    shoal_match_open--;
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

// Some of the posted receives have wildcards.
static __attribute__((noinline)) shoal_req *arrived_for_any(uint64_t context, int src, int tag)
{
    shoal_req *r = NULL;
    if (posted_as[0]) r = older(r, context, src, tag);
    if (posted_as[1]) r = older(r, context, src, MPI_ANY_TAG);
    if (posted_as[2]) r = older(r, context, MPI_ANY_SOURCE, tag);
    if (posted_as[3]) r = older(r, context, MPI_ANY_SOURCE, MPI_ANY_TAG);
    if (r) shoal_match_unpost(r);
    return r;
}

shoal_req *shoal_match_arrived(uint64_t context, int src, int tag)
{
    if (shoal_match_open != posted_as[0]) return arrived_for_any(context, src, tag);
    if (shoal_match_open == 0) return NULL;
    key *k = find(&posted, context, src, tag);
    if (!k || !k->first) return NULL;
    shoal_req *r = req_of(k->first);
    unlink_from(&posted, &r->link);
    posted_as[0]--;
    shoal_match_open--;
    return r;
}

shoal_unexpected *shoal_unexpected_new(uint32_t payload)
{
    shoal_unexpected *u = spare;
    uint32_t room = payload < SMALL ? SMALL : payload;
    if (u && payload <= SMALL) {
        spare = u->next;
        spares--;
    } else {
        u = need(malloc(sizeof *u + room));
    }
    memset(&u->context, 0, sizeof *u - offsetof(shoal_unexpected, context));
    u->room = room;
    u->data = (char *)(u + 1);
    return u;
}

static bool has_own_block(const shoal_unexpected *u)
{
    return u->data != (const char *)(u + 1);
}

void shoal_unexpected_grow(shoal_unexpected *u, uint32_t payload)
{
    if (has_own_block(u)) free(u->data);
    u->data = payload <= u->room ? (char *)(u + 1) : need(malloc(payload));
}

uint32_t shoal_net_owed;
static shoal_unexpected *owed_first, *owed_last;

void shoal_owed_add(shoal_unexpected *u)
{
    u->owed = true;
    u->since = shoal_now_ns();
    u->owed_before = owed_last;
    u->owed_after = NULL;
    if (owed_last)
        owed_last->owed_after = u;
    else
        owed_first = u;
    owed_last = u;
    shoal_net_owed++;
}

void shoal_owed_drop(shoal_unexpected *u)
{
    if (!u->owed) return;
    u->owed = false;
    if (u->owed_before)
        u->owed_before->owed_after = u->owed_after;
    else
        owed_first = u->owed_after;
    if (u->owed_after)
        u->owed_after->owed_before = u->owed_before;
    else
        owed_last = u->owed_before;
    shoal_net_owed--;
}

shoal_unexpected *shoal_owed_oldest(void)
{
    return owed_first;
}

void shoal_unexpected_free(shoal_unexpected *u)
{
    shoal_owed_drop(u);
    if (has_own_block(u)) free(u->data);
    if (u->room != SMALL || spares == SMALL_KEPT) {
        free(u);
        return;
    }
    u->next = spare;
    spare = u;
    spares++;
}

static void hang(shoal_unexpected *u, unsigned form)
{
    append(&unexpected, &u->links[form], u->context, form & 2 ? MPI_ANY_SOURCE : u->src,
           form & 1 ? MPI_ANY_TAG : u->tag);
}

void shoal_match_keep(shoal_unexpected *u)
{
    u->next = NULL;
    u->prev = newest;
    if (newest)
        newest->next = u;
    else
        oldest = u;
    newest = u;
    hang(u, 0);
    for (unsigned form = 1; forms >> form; form++)
        if (forms >> form & 1) hang(u, form);
    shoal_match_kept++;
}

static __attribute__((noinline)) void begin_form(unsigned form)
{
    forms |= 1u << form;
    for (shoal_unexpected *u = oldest; u; u = u->next) hang(u, form);
}

shoal_unexpected *shoal_match_find(uint64_t context, int src, int tag)
{
    if (shoal_match_kept == 0) return NULL;
    unsigned form = form_of(src, tag);
    asked |= 1u << form;
    if (__builtin_expect(!(forms >> form & 1), 0)) begin_form(form);
    key *k = find(&unexpected, context, src, tag);
    // The links stand at the beginning of the entry.
    return k && k->first ? (shoal_unexpected *)(void *)(k->first - form) : NULL;
}

void shoal_match_remove(shoal_unexpected *u)
{
    for (unsigned form = 0; forms >> form; form++)
        if (forms >> form & 1) unlink_from(&unexpected, &u->links[form]);
    if (u->prev)
        u->prev->next = u->next;
    else
        oldest = u->next;
    if (u->next)
        u->next->prev = u->prev;
    else
        newest = u->prev;
    if (--shoal_match_kept > 0) return;
    forms &= asked | 1;
    asked = 0;
}

shoal_unexpected *shoal_match_find_id(uint32_t peer, uint64_t id)
{
    for (shoal_unexpected *u = oldest; u; u = u->next)
        if (u->peer == peer && u->id == id && u->kind != SHOAL_PKT_EAGER) return u;
    return NULL;
}

void shoal_match_purge(uint64_t context, void (*gone)(const shoal_unexpected *))
{
    for (shoal_unexpected *u = oldest, *next; u; u = next) {
        next = u->next;
        if (u->context != context) continue;
        shoal_match_remove(u);
        gone(u);
        shoal_unexpected_free(u);
    }
}

void shoal_match_fini(void)
{
    // Messages that were never received are the sender's and the user's affair; their memory is
    // ours.
    for (shoal_unexpected *u = oldest, *next; u; u = next) {
        next = u->next;
        shoal_owed_drop(u);
        if (has_own_block(u)) free(u->data);
        free(u);
    }
    for (shoal_unexpected *u = spare, *next; u; u = next) {
        next = u->next;
        free(u);
    }
    for (key *block = key_blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    oldest = newest = spare = NULL;
    key_blocks = spare_keys = NULL;
    spares = 0;
    forms = 1;
    asked = 0;
    index_fini(&posted);
    index_fini(&unexpected);
    memset(posted_as, 0, sizeof posted_as);
    shoal_match_open = 0;
    post_order = shoal_match_kept = 0;
}
