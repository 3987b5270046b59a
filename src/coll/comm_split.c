// SPDX-License-Identifier: BSD-3-Clause
// Communicators of some of the ranks of another: split, create, create_group; and of a group alone.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/comm_make.h"
#include "core/session.h"
#include "plat/error.h"

// A place in a table of wishes, for sorting.
typedef struct claim {
    int key, rank;
} claim;

static int by_key(const void *a, const void *b)
{
    const claim *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

int shoal_wish_members(const shoal_wish *table, int n, int color, int *ranks_out)
{
    int count = 0;
    claim *claims = malloc((size_t)n * sizeof *claims);
    if (!claims) return shoal_fail(SHOAL_E_NO_MEM, "no memory to split %d ranks", n);
    for (int i = 0; i < n; i++)
        if (table[i].color == color) claims[count++] = (claim){.key = table[i].key, .rank = i};
    qsort(claims, (size_t)count, sizeof *claims, by_key);
    for (int i = 0; i < count; i++) ranks_out[i] = claims[i].rank;
    free(claims);
    return count;
}

// The communicator of `n` ranks of an intra-communicator; this process is one of them, or gets
// NULL.
static int make_of_ranks(shoal_comm *c, int n, const int ranks[], int tag, shoal_comm **out)
{
    shoal_group *group = NULL;
    int rc = shoal_group_incl(c->group, n, ranks, &group);
    if (rc) return rc;
    *out = NULL;
    if (group->rank != MPI_UNDEFINED) {
        shoal_circle circle = {
            .comm = c, .ranks = ranks, .size = n, .place = group->rank, .tag = tag};
        rc = shoal_comm_make(&circle, NULL, c, group, NULL, out);
    }
    shoal_group_drop(group);
    return rc;
}

int shoal_comm_split(shoal_comm *c, int color, int key, shoal_comm **out)
{
    if (c->inter) return shoal_intercomm_split(c, color, key, out);
    shoal_wish mine = {.color = color, .key = key};
    shoal_wish *table = malloc((size_t)c->size * sizeof *table);
    int *ranks = malloc((size_t)c->size * sizeof *ranks);
    int rc =
        table && ranks ? 0 : shoal_fail(SHOAL_E_NO_MEM, "no memory to split %d ranks", c->size);
    shoal_circle all = shoal_circle_all(c);
    int tag = shoal_agree_tag(c);
    if (rc == 0) rc = shoal_agree_allgather(&all, &mine, sizeof mine, table);
    if (rc == 0 && color == MPI_UNDEFINED)
        *out = NULL;
    else if (rc == 0) {
        int n = shoal_wish_members(table, c->size, color, ranks);
        rc = n < 0 ? n : make_of_ranks(c, n, ranks, tag, out);
    }
    free(table);
    free(ranks);
    return rc;
}

int shoal_comm_subset(const shoal_comm *c, const shoal_group *g, int *ranks_out)
{
    for (int i = 0; i < g->size; i++) {
        ranks_out[i] = shoal_group_rank_of(c->group, g->peers[i]);
        if (ranks_out[i] == MPI_UNDEFINED)
            return shoal_fail(SHOAL_E_GROUP, "rank %d of the group (of %d) is not a member of %s",
                              i, g->size, shoal_comm_label(c));
    }
    return 0;
}

static int create_intra(shoal_comm *c, shoal_group *g, bool collective, int user_tag,
                        shoal_comm **out)
{
    int tag = collective ? shoal_agree_tag(c) : shoal_agree_user_tag(user_tag);
    int *ranks = malloc((size_t)(g->size + 1) * sizeof *ranks);
    if (!ranks) return shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d ranks", g->size);
    int rc = shoal_comm_subset(c, g, ranks);
    if (rc == 0) rc = make_of_ranks(c, g->size, ranks, tag, out);
    free(ranks);
    return rc;
}

int shoal_comm_create(shoal_comm *c, shoal_group *g, shoal_comm **out)
{
    return c->inter ? shoal_intercomm_create_sub(c, g, out) : create_intra(c, g, true, 0, out);
}

int shoal_comm_create_group(shoal_comm *c, shoal_group *g, int tag, shoal_comm **out)
{
    return create_intra(c, g, false, tag, out);
}

#define FNV_PRIME 0x100000001b3u
#define FNV_START 0xcbf29ce484222325u

static uint64_t digest(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * FNV_PRIME;
    return h;
}

// No peer has this index, so no context that a leader picks looks like one made from words.
#define NOBODY ((uint64_t)0xffff << 32)

int shoal_comm_vessel(shoal_group *g, const char *words, shoal_circle *circle_out)
{
    uint64_t h = digest(FNV_START, words, strlen(words) + 1);
    h = digest(h, g->peers, (size_t)g->size * sizeof *g->peers);
    h ^= h >> 29; // FNV's low bits see little of the last bytes
    shoal_comm *c = shoal_comm_new(NOBODY | (h & 0x3fffffffu) << 2, g, NULL);
    if (!c) return SHOAL_E_NO_MEM;
    c->vessel = true;
    snprintf(c->name, sizeof c->name, "the group called \"%.60s\"", words);
    *circle_out =
        (shoal_circle){.comm = c, .size = c->size, .place = c->rank, .tag = (int)(h >> 33)};
    return 0;
}

int shoal_comm_create_from_group(shoal_group *g, const char *stringtag, shoal_comm **out)
{
    shoal_circle circle;
    *out = NULL;
    if (g->size == 0) return 0;
    int rc = shoal_comm_vessel(g, stringtag, &circle);
    if (rc) return rc;
    rc = shoal_comm_make(&circle, NULL, NULL, g, NULL, out);
    shoal_comm_drop(circle.comm);
    if (rc == 0 && g->session) {
        shoal_session_hold(g->session);
        (*out)->session = g->session;
    }
    return rc;
}
