// SPDX-License-Identifier: BSD-3-Clause
// Groups against definitions written out plainly: membership by search, order by construction.
#include <stdlib.h>
#include <string.h>

#include "core/group.h"
#include "plat/error.h"
#include "plat/test.h"

#define UNIVERSE 300

static int naive_rank(const shoal_group *g, uint32_t peer)
{
    for (int i = 0; i < g->size; i++)
        if (g->peers[i] == peer) return i;
    return MPI_UNDEFINED;
}

// A group of random distinct peers in random order.
static shoal_group *random_group(void)
{
    uint32_t all[UNIVERSE];
    for (uint32_t i = 0; i < UNIVERSE; i++) all[i] = i;
    for (int i = UNIVERSE - 1; i > 0; i--) {
        int j = rand() % (i + 1);
        uint32_t t = all[i];
        all[i] = all[j];
        all[j] = t;
    }
    return shoal_group_new(rand() % 4 == 0 ? rand() % 12 : rand() % UNIVERSE, all);
}

static void check_set(const shoal_group *got, const shoal_group *a, const shoal_group *b,
                      char operation)
{
    int n = 0;
    for (int i = 0; i < a->size; i++) {
        bool in_b = naive_rank(b, a->peers[i]) != MPI_UNDEFINED;
        if (operation == '&' && !in_b) continue;
        if (operation == '-' && in_b) continue;
        CHECK(n < got->size && got->peers[n] == a->peers[i]);
        n++;
    }
    for (int i = 0; operation == '|' && i < b->size; i++) {
        if (naive_rank(a, b->peers[i]) != MPI_UNDEFINED) continue;
        CHECK(n < got->size && got->peers[n] == b->peers[i]);
        n++;
    }
    CHECK(n == got->size);
    CHECK(got->rank == naive_rank(got, shoal_self_peer));
    CHECK((got->size == 0) == (got->handle == MPI_GROUP_EMPTY));
}

static void sets(void)
{
    shoal_group *g = NULL;
    for (int round = 0; round < 200; round++) {
        shoal_group *a = random_group(), *b = random_group();
        CHECK(shoal_group_union(a, b, &g) == 0);
        check_set(g, a, b, '|');
        shoal_group_drop(g);
        CHECK(shoal_group_intersection(a, b, &g) == 0);
        check_set(g, a, b, '&');
        shoal_group_drop(g);
        CHECK(shoal_group_difference(a, b, &g) == 0);
        check_set(g, a, b, '-');
        shoal_group_drop(g);
        for (uint32_t p = 0; p < UNIVERSE + 5; p++)
            CHECK(shoal_group_rank_of(a, p) == naive_rank(a, p));
        shoal_group_drop(a);
        shoal_group_drop(b);
    }
}

static void by_ranks(void)
{
    const uint32_t peers[] = {10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
    shoal_group *g = shoal_group_new(10, peers), *h = NULL;
    CHECK(shoal_group_incl(g, 3, (int[]){9, 0, 4}, &h) == 0);
    CHECK(h->size == 3 && h->peers[0] == 19 && h->peers[1] == 10 && h->peers[2] == 14);
    shoal_group_drop(h);
    CHECK(shoal_group_incl(g, 2, (int[]){1, 1}, &h) == SHOAL_E_RANK);
    CHECK(shoal_group_incl(g, 1, (int[]){10}, &h) == SHOAL_E_RANK);
    CHECK(strstr(shoal_fail_text(), "10") != NULL);
    CHECK(shoal_group_incl(g, 1, (int[]){-1}, &h) == SHOAL_E_RANK);
    CHECK(shoal_group_excl(g, 8, (int[]){9, 8, 7, 6, 5, 4, 3, 2}, &h) == 0);
    CHECK(h->size == 2 && h->peers[0] == 10 && h->peers[1] == 11);
    shoal_group_drop(h);
    int ranges[][3] = {{8, 2, -3}, {0, 1, 1}};
    CHECK(shoal_group_range_incl(g, 2, ranges, &h) == 0);
    CHECK(h->size == 5 && h->peers[0] == 18 && h->peers[1] == 15 && h->peers[2] == 12 &&
          h->peers[3] == 10 && h->peers[4] == 11);
    shoal_group_drop(h);
    CHECK(shoal_group_range_excl(g, 2, ranges, &h) == 0);
    CHECK(h->size == 5 && h->peers[0] == 13 && h->peers[4] == 19);
    shoal_group_drop(h);
    CHECK(shoal_group_range_incl(g, 1, (int[][3]){{0, 9, 0}}, &h) == SHOAL_E_ARG);
    CHECK(shoal_group_range_incl(g, 1, (int[][3]){{0, 10, 1}}, &h) == SHOAL_E_RANK);
    int huge[][3] = {{0, 2147483647, 2147483647}};
    CHECK(shoal_group_range_incl(g, 1, huge, &h) == SHOAL_E_RANK);
    CHECK(shoal_group_range_incl(g, 2, (int[][3]){{0, 3, 1}, {3, 4, 1}}, &h) == SHOAL_E_RANK);
    // Backward with a forward stride names nobody.
    CHECK(shoal_group_range_incl(g, 1, (int[][3]){{5, 2, 1}}, &h) == 0);
    CHECK(h->handle == MPI_GROUP_EMPTY);
    shoal_group_drop(g);
}

static void comparing(void)
{
    const uint32_t a[] = {0, 1, 2}, b[] = {2, 1, 0}, c[] = {0, 1, 3};
    shoal_group *g = shoal_group_new(3, a), *h = shoal_group_new(3, b), *i = shoal_group_new(3, c);
    shoal_group *same = shoal_group_new(3, a), *empty = shoal_group_new(0, NULL);
    CHECK(shoal_group_compare(g, same) == MPI_IDENT && shoal_group_compare(g, h) == MPI_SIMILAR);
    CHECK(shoal_group_compare(g, i) == MPI_UNEQUAL && shoal_group_compare(g, empty) == MPI_UNEQUAL);
    CHECK(shoal_group_compare(empty, shoal_group_get(MPI_GROUP_EMPTY)) == MPI_IDENT);
    shoal_group_drop(empty);
    shoal_group_drop(same);
    shoal_group_drop(i);
    shoal_group_drop(h);
    shoal_group_drop(g);
}

static void handles(void)
{
    const uint32_t a[] = {5, 4};
    shoal_group *g = shoal_group_new(2, a);
    CHECK(shoal_group_get(g->handle) == NULL); // not given to the user yet
    shoal_group_hold(g);
    MPI_Group h = shoal_group_give(g);
    CHECK(shoal_group_get(h) == g);
    shoal_group_take_back(g);
    CHECK(shoal_group_get(h) == NULL && g->object.refs == 1);
    shoal_group_drop(g);
    CHECK(shoal_group_get(MPI_GROUP_NULL) == NULL && shoal_group_get(h) == NULL);
    CHECK(shoal_object_live(SHOAL_KIND_GROUP) == 0);
}

int main(void)
{
    shoal_self_peer = 7;
    srand(4711);
    sets();
    by_ranks();
    comparing();
    handles();
    return SHOAL_TEST_RESULT();
}
