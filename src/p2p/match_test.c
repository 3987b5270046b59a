// SPDX-License-Identifier: BSD-3-Clause
// Matching against a model that searches lists: random receives (with and without wildcards),
// messages, cancelled receives and probes; the same partner must be found every time. And the cost:
// a hundred thousand entries must not make one operation slower.
#include <stdlib.h>
#include <string.h>

#include "net/net.h"
#include "p2p/match.h"
#include "plat/test.h"

enum { MODEL = 4000, CONTEXTS = 3, SOURCES = 4, TAGS = 5 };

typedef struct entry {
    uint64_t context;
    int src, tag;
    bool live;
    shoal_req *req;        // a posted receive
    shoal_unexpected *msg; // an unexpected message
} entry;

static entry posted_model[MODEL], kept_model[MODEL];
static int posted_count, kept_count;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static bool fits(const entry *receive, const entry *message)
{
    return receive->context == message->context &&
           (receive->src == MPI_ANY_SOURCE || receive->src == message->src) &&
           (receive->tag == MPI_ANY_TAG || receive->tag == message->tag);
}

// A message arrives: the model's oldest posted receive, or NULL.
static entry *model_receive(const entry *message)
{
    for (int i = 0; i < posted_count; i++)
        if (posted_model[i].live && fits(&posted_model[i], message)) return &posted_model[i];
    return NULL;
}

static entry *model_message(const entry *receive)
{
    for (int i = 0; i < kept_count; i++)
        if (kept_model[i].live && fits(receive, &kept_model[i])) return &kept_model[i];
    return NULL;
}

static shoal_req *new_request(const entry *e)
{
    shoal_req *r = aligned_alloc(alignof(shoal_req), sizeof *r);
    memset(r, 0, sizeof *r);
    r->context = e->context;
    r->rank = e->src;
    r->tag = e->tag;
    return r;
}

static void receive(entry e)
{
    entry *m = model_message(&e);
    shoal_unexpected *u = shoal_match_find(e.context, e.src, e.tag);
    CHECK(u == (m ? m->msg : NULL));
    if (u) {
        shoal_match_remove(u);
        shoal_unexpected_free(u);
        m->live = false;
    } else if (posted_count < MODEL) {
        e.req = new_request(&e);
        e.live = true;
        shoal_match_post(e.req);
        posted_model[posted_count++] = e;
    }
}

static void arrive(entry e)
{
    entry *p = model_receive(&e);
    shoal_req *r = shoal_match_arrived(e.context, e.src, e.tag);
    CHECK(r == (p ? p->req : NULL));
    if (r) {
        p->live = false;
        free(r);
    } else if (kept_count < MODEL) {
        e.msg = shoal_unexpected_new(8);
        e.msg->context = e.context;
        e.msg->src = e.src;
        e.msg->tag = e.tag;
        e.live = true;
        shoal_match_keep(e.msg);
        kept_model[kept_count++] = e;
    }
}

static void cancel(uint64_t *seed)
{
    if (posted_count == 0) return;
    entry *p = &posted_model[next_random(seed) % (uint32_t)posted_count];
    if (!p->live) return;
    shoal_match_unpost(p->req);
    free(p->req);
    p->live = false;
}

static uint64_t live_messages(void)
{
    uint64_t n = 0;
    for (int i = 0; i < kept_count; i++) n += kept_model[i].live;
    return n;
}

static void forget(const shoal_unexpected *u)
{
    CHECK(u->context == 1);
}

// With `wild` one receive in so many has a wildcard for its source, and one for its tag.
static void against_model(uint64_t seed, uint32_t wild)
{
    posted_count = kept_count = 0;
    shoal_match_init();
    for (int step = 0; step < 6000; step++) {
        entry e = {.context = next_random(&seed) % CONTEXTS,
                   .src = (int)(next_random(&seed) % SOURCES),
                   .tag = (int)(next_random(&seed) % TAGS)};
        uint32_t what = next_random(&seed) % 20;
        if (what < 9) {
            arrive(e);
            continue;
        }
        if (next_random(&seed) % wild == 0) e.src = MPI_ANY_SOURCE;
        if (next_random(&seed) % wild == 0) e.tag = MPI_ANY_TAG;
        if (what < 18)
            receive(e);
        else
            cancel(&seed);
    }
    CHECK(shoal_match_kept == live_messages());
    shoal_match_purge(1, forget);
    for (int i = 0; i < kept_count; i++)
        if (kept_model[i].context == 1) kept_model[i].live = false;
    CHECK(shoal_match_kept == live_messages());
    CHECK(shoal_match_find(1, MPI_ANY_SOURCE, MPI_ANY_TAG) == NULL);
    for (int i = 0; i < posted_count; i++)
        if (posted_model[i].live) {
            shoal_match_unpost(posted_model[i].req);
            free(posted_model[i].req);
        }
    shoal_match_fini();
}

// The messages run out again and again, so that keys with wildcards come into use and go out of it.
static void come_and_go(uint64_t seed)
{
    shoal_match_init();
    for (int round = 0; round < 300; round++) {
        posted_count = kept_count = 0;
        int n = 1 + (int)(next_random(&seed) % 9);
        for (int i = 0; i < n; i++)
            arrive((entry){.src = (int)(next_random(&seed) % SOURCES),
                           .tag = (int)(next_random(&seed) % TAGS)});
        while (live_messages() > 0) {
            entry e = {.src = (int)(next_random(&seed) % SOURCES),
                       .tag = (int)(next_random(&seed) % TAGS)};
            uint32_t form = next_random(&seed) % 16;
            if (round % 3 == 0 && form & 1) e.src = MPI_ANY_SOURCE;
            if (round % 5 == 0 && form & 2) e.tag = MPI_ANY_TAG;
            if (model_message(&e)) receive(e);
        }
        CHECK(shoal_match_kept == 0);
    }
    shoal_match_fini();
}

static void find_by_sender(void)
{
    shoal_match_init();
    for (int k = 0; k < 100; k++) {
        shoal_unexpected *u = shoal_unexpected_new(0);
        u->kind = k % 2 ? SHOAL_PKT_RTS : SHOAL_PKT_EAGER_SYNC;
        u->peer = (uint32_t)(k % 3);
        u->id = (uint64_t)(1000 + k);
        u->tag = k;
        shoal_match_keep(u);
    }
    shoal_unexpected *u = shoal_match_find_id(1, 1040);
    CHECK(u && u->tag == 40);
    CHECK(shoal_match_find_id(2, 1040) == NULL && shoal_match_find_id(1, 5) == NULL);
    shoal_match_fini();
}

// A search would need a hundred thousand million steps here: the test's time limit would end it.
static void not_searched(int n)
{
    shoal_match_init();
    for (int k = 0; k < n; k++) {
        shoal_unexpected *u = shoal_unexpected_new(8);
        u->tag = k;
        shoal_match_keep(u);
    }
    for (int k = n - 1; k >= 0; k--) {
        shoal_unexpected *u = shoal_match_find(0, k % 2 ? MPI_ANY_SOURCE : 0, k);
        CHECK(u && u->tag == k);
        if (!u) break;
        shoal_match_remove(u);
        shoal_unexpected_free(u);
    }
    CHECK(shoal_match_kept == 0);
    shoal_match_fini();
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) against_model(seed, 4);
    for (uint64_t seed = 21; seed <= 30; seed++) against_model(seed, 200);
    for (uint64_t seed = 31; seed <= 40; seed++) come_and_go(seed);
    find_by_sender();
    not_searched(400000);
    return SHOAL_TEST_RESULT();
}
