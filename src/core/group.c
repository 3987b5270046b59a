// SPDX-License-Identifier: BSD-3-Clause
// Groups: arrays of peers, and the inverse (peer -> rank) which is made when it is first asked
// for. With it every operation on two groups is linear in their sizes.
#include "core/group.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/session.h"
#include "plat/error.h"

// Up to this size a search is as fast as a table.
#define SMALL 8

uint32_t shoal_self_peer;

// The one empty group; never freed, whatever its references.
static shoal_group empty = {.handle = MPI_GROUP_EMPTY, .rank = MPI_UNDEFINED, .identity = true};

int shoal_group_init(void)
{
    shoal_object_register(SHOAL_KIND_GROUP, sizeof(shoal_group));
    return 0;
}

shoal_group *shoal_group_get(MPI_Group handle)
{
    if (handle == MPI_GROUP_EMPTY) return &empty;
    shoal_group *g = shoal_object_get(SHOAL_KIND_GROUP, handle);
    return g && g->handles > 0 ? g : NULL;
}

// A group over an array that it takes over.
static shoal_group *adopt(int size, uint32_t *peers)
{
    if (size == 0) {
        free(peers);
        shoal_group_hold(&empty);
        return &empty;
    }
    shoal_group_init();
    shoal_group *g = shoal_object_new(SHOAL_KIND_GROUP);
    if (!g) {
        free(peers);
        return NULL;
    }
    g->handle = shoal_object_handle(g);
    g->size = size;
    g->peers = peers;
    g->identity = true;
    g->rank = MPI_UNDEFINED;
    for (int i = 0; i < size; i++) {
        if (peers[i] != (uint32_t)i) g->identity = false;
        if (peers[i] == shoal_self_peer) g->rank = i;
    }
    return g;
}

static uint32_t *peer_array(int n)
{
    uint32_t *peers = malloc((size_t)(n > 0 ? n : 1) * sizeof *peers);
    if (!peers) shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d processes", n);
    return peers;
}

shoal_group *shoal_group_new(int size, const uint32_t *peers)
{
    uint32_t *copy = peer_array(size);
    if (!copy) return NULL;
    if (size > 0) memcpy(copy, peers, (size_t)size * sizeof *copy);
    return adopt(size, copy);
}

void shoal_group_set_session(shoal_group *g, struct shoal_session *s)
{
    if (g == &empty || !s) return;
    assert(!g->session);
    shoal_session_hold(s);
    g->session = s;
}

void shoal_group_drop(shoal_group *g)
{
    if (!g || g == &empty) return;
    assert(g->object.refs > 0);
    if (--g->object.refs > 0) return;
    if (g->session) shoal_session_drop(g->session);
    free(g->peers);
    free(g->ranks);
    shoal_object_free(g);
}

MPI_Group shoal_group_give(shoal_group *g)
{
    g->handles++;
    return g->handle;
}

void shoal_group_take_back(shoal_group *g)
{
    if (g == &empty) return;
    assert(g->handles > 0);
    g->handles--;
    shoal_group_drop(g);
}

// Makes the inverse; false when memory is short (a search still finds everything).
static bool make_inverse(shoal_group *g)
{
    uint32_t low = g->peers[0], high = g->peers[0];
    for (int i = 1; i < g->size; i++) {
        if (g->peers[i] < low) low = g->peers[i];
        if (g->peers[i] > high) high = g->peers[i];
    }
    size_t span = (size_t)(high - low) + 1;
    int *ranks = malloc(span * sizeof *ranks);
    if (!ranks) return false;
    for (size_t i = 0; i < span; i++) ranks[i] = -1;
    for (int i = 0; i < g->size; i++) ranks[g->peers[i] - low] = i;
    g->low = low;
    g->span = (uint32_t)span;
    g->ranks = ranks;
    return true;
}

int shoal_group_rank_of(const shoal_group *g, uint32_t peer)
{
    if (g->identity) return peer < (uint32_t)g->size ? (int)peer : MPI_UNDEFINED;
    // The inverse is a cache: making it changes nothing that a caller can see.
    if (g->size > SMALL && (g->ranks || make_inverse((shoal_group *)(uintptr_t)g))) {
        if (peer < g->low || peer - g->low >= g->span) return MPI_UNDEFINED;
        int rank = g->ranks[peer - g->low];
        return rank < 0 ? MPI_UNDEFINED : rank;
    }
    for (int i = 0; i < g->size; i++)
        if (g->peers[i] == peer) return i;
    return MPI_UNDEFINED;
}

int shoal_group_compare(const shoal_group *a, const shoal_group *b)
{
    if (a == b) return MPI_IDENT;
    if (a->size != b->size) return MPI_UNEQUAL;
    if (memcmp(a->peers, b->peers, (size_t)a->size * sizeof *a->peers) == 0) return MPI_IDENT;
    // Members are distinct: if all of a are in b, then all of b are in a.
    for (int i = 0; i < a->size; i++)
        if (shoal_group_rank_of(b, a->peers[i]) == MPI_UNDEFINED) return MPI_UNEQUAL;
    return MPI_SIMILAR;
}

// Finishes an operation: the array becomes a group that remembers a parent's session.
static int finish(int size, uint32_t *peers, const shoal_group *a, const shoal_group *b,
                  shoal_group **out)
{
    shoal_group *g = adopt(size, peers);
    if (!g) return SHOAL_E_NO_MEM;
    shoal_group_set_session(g, a->session || !b ? a->session : b->session);
    *out = g;
    return 0;
}

// Marks of which ranks have been named; every operation by ranks works on one.
static int marks_for(const shoal_group *g, unsigned char **out)
{
    *out = calloc((size_t)g->size + 1, 1);
    if (*out) return 0;
    return shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d processes", g->size);
}

static int mark(const shoal_group *g, unsigned char *marks, int rank, int place)
{
    if (rank < 0 || rank >= g->size)
        return shoal_fail(SHOAL_E_RANK, "ranks[%d]=%d is outside the group, which has %d ranks",
                          place, rank, g->size);
    if (marks[rank]) return shoal_fail(SHOAL_E_RANK, "ranks[%d]=%d is named twice", place, rank);
    marks[rank] = 1;
    return 0;
}

// The members that are not marked, in their order.
static int unmarked(const shoal_group *g, const unsigned char *marks, shoal_group **out)
{
    uint32_t *peers = peer_array(g->size);
    if (!peers) return SHOAL_E_NO_MEM;
    int n = 0;
    for (int i = 0; i < g->size; i++)
        if (!marks[i]) peers[n++] = g->peers[i];
    return finish(n, peers, g, NULL, out);
}

int shoal_group_incl(const shoal_group *g, int n, const int ranks[], shoal_group **out)
{
    unsigned char *marks;
    int rc = marks_for(g, &marks);
    for (int i = 0; rc == 0 && i < n; i++) rc = mark(g, marks, ranks[i], i);
    free(marks);
    if (rc != 0) return rc;
    uint32_t *peers = peer_array(n);
    if (!peers) return SHOAL_E_NO_MEM;
    for (int i = 0; i < n; i++) peers[i] = g->peers[ranks[i]];
    return finish(n, peers, g, NULL, out);
}

int shoal_group_excl(const shoal_group *g, int n, const int ranks[], shoal_group **out)
{
    unsigned char *marks;
    int rc = marks_for(g, &marks);
    for (int i = 0; rc == 0 && i < n; i++) rc = mark(g, marks, ranks[i], i);
    if (rc == 0) rc = unmarked(g, marks, out);
    free(marks);
    return rc;
}

// Writes the ranks of the ranges (first, last, stride) one after the other into `ranks`, which
// has room for the whole group; since no rank may come twice, that is enough.
static int expand(const shoal_group *g, unsigned char *marks, int n, int ranges[][3], int *ranks,
                  int *count_out)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        int first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
        if (stride == 0)
            return shoal_fail(SHOAL_E_ARG, "ranges[%d]=(%d,%d,0) has a stride of zero", i, first,
                              last);
        // Counted in 64 bits: a user's stride may run over the end of an int.
        for (int64_t r = first; stride > 0 ? r <= last : r >= last; r += stride) {
            if (r < 0 || r >= g->size)
                return shoal_fail(SHOAL_E_RANK,
                                  "ranges[%d]=(%d,%d,%d) names rank %lld, the group has %d ranks",
                                  i, first, last, stride, (long long)r, g->size);
            if (marks[r])
                return shoal_fail(SHOAL_E_RANK, "ranges[%d]=(%d,%d,%d) names rank %lld again", i,
                                  first, last, stride, (long long)r);
            marks[r] = 1;
            ranks[count++] = (int)r;
        }
    }
    *count_out = count;
    return 0;
}

static int by_ranges(const shoal_group *g, int n, int ranges[][3], bool keep, shoal_group **out)
{
    unsigned char *marks;
    int rc = marks_for(g, &marks);
    if (rc != 0) return rc;
    int count = 0;
    int *ranks = malloc(((size_t)g->size + 1) * sizeof *ranks);
    if (ranks)
        rc = expand(g, marks, n, ranges, ranks, &count);
    else
        rc = shoal_fail(SHOAL_E_NO_MEM, "no memory for a group of %d processes", g->size);
    if (rc == 0) rc = keep ? shoal_group_incl(g, count, ranks, out) : unmarked(g, marks, out);
    free(ranks);
    free(marks);
    return rc;
}

int shoal_group_range_incl(const shoal_group *g, int n, int ranges[][3], shoal_group **out)
{
    return by_ranges(g, n, ranges, true, out);
}

int shoal_group_range_excl(const shoal_group *g, int n, int ranges[][3], shoal_group **out)
{
    return by_ranges(g, n, ranges, false, out);
}

// Appends those of `from` that are (or are not) members of `other`.
static int append(uint32_t *peers, int n, const shoal_group *from, const shoal_group *other,
                  bool members)
{
    for (int i = 0; i < from->size; i++) {
        bool member = shoal_group_rank_of(other, from->peers[i]) != MPI_UNDEFINED;
        if (member == members) peers[n++] = from->peers[i];
    }
    return n;
}

int shoal_group_union(const shoal_group *a, const shoal_group *b, shoal_group **out)
{
    uint32_t *peers = peer_array(a->size + b->size);
    if (!peers) return SHOAL_E_NO_MEM;
    if (a->size > 0) memcpy(peers, a->peers, (size_t)a->size * sizeof *peers);
    int n = append(peers, a->size, b, a, false);
    return finish(n, peers, a, b, out);
}

int shoal_group_intersection(const shoal_group *a, const shoal_group *b, shoal_group **out)
{
    uint32_t *peers = peer_array(a->size);
    if (!peers) return SHOAL_E_NO_MEM;
    return finish(append(peers, 0, a, b, true), peers, a, b, out);
}

int shoal_group_difference(const shoal_group *a, const shoal_group *b, shoal_group **out)
{
    uint32_t *peers = peer_array(a->size);
    if (!peers) return SHOAL_E_NO_MEM;
    return finish(append(peers, 0, a, b, false), peers, a, b, out);
}
