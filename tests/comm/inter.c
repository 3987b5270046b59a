// SPDX-License-Identifier: BSD-3-Clause
// Inter-communicators: making them in every way, messages between the groups, duplicates, splits,
// subsets, merging.
// RANKS: 2 3 4 8
#include <string.h>

#include "check.h"

static int rank, size, half;
static bool low;

// The two halves of the world; the leaders are the last of the low half and the first of the high
// one.
static MPI_Comm halves(MPI_Comm *intra)
{
    MPI_Comm inter = MPI_COMM_NULL;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, !low, 0, intra) == 0);
    // What only a leader reads may be nonsense elsewhere.
    bool leader = rank == half - 1 || rank == half;
    CHECK(MPI_Intercomm_create(*intra, low ? half - 1 : 0, leader ? MPI_COMM_WORLD : MPI_COMM_NULL,
                               leader ? (low ? half : half - 1) : -77, 42, &inter) == 0);
    return inter;
}

static void looks_right(MPI_Comm inter)
{
    MPI_Group local = MPI_GROUP_NULL, remote = MPI_GROUP_NULL, both = MPI_GROUP_NULL;
    int flag = 0, n = 0;
    CHECK(MPI_Comm_test_inter(inter, &flag) == 0 && flag);
    CHECK(size_of(inter) == (low ? half : size - half) &&
          rank_of(inter) == (low ? rank : rank - half));
    CHECK(MPI_Comm_remote_size(inter, &n) == 0 && n == (low ? size - half : half));
    CHECK(MPI_Comm_group(inter, &local) == 0 && MPI_Comm_remote_group(inter, &remote) == 0);
    CHECK(MPI_Group_size(remote, &flag) == 0 && flag == n);
    CHECK(MPI_Group_union(local, remote, &both) == 0 && MPI_Group_size(both, &n) == 0 && n == size);
    CHECK(MPI_Group_free(&local) == 0 && MPI_Group_free(&remote) == 0 &&
          MPI_Group_free(&both) == 0);
}

static void duplicates(MPI_Comm inter)
{
    enum { MANY = 5 };
    MPI_Comm a, many[MANY];
    MPI_Request requests[MANY];
    CHECK(MPI_Comm_dup(inter, &a) == 0 && compare(inter, a) == MPI_CONGRUENT);
    looks_right(a);
    cross(a, 1);
    for (int i = 0; i < MANY; i++) CHECK(MPI_Comm_idup(a, &many[i], &requests[i]) == 0);
    CHECK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) == 0);
    for (int i = 0; i < MANY; i++) cross(many[i], 10 + i);
    for (int i = 0; i < MANY; i++) CHECK(MPI_Comm_free(&many[i]) == 0);
    CHECK(MPI_Comm_disconnect(&a) == 0);
}

static void parts(MPI_Comm inter)
{
    MPI_Comm c = MPI_COMM_SELF;
    int mine = rank_of(inter), n = 0;
    CHECK(MPI_Comm_split(inter, 42, -mine, &c) == 0);
    CHECK(rank_of(c) == size_of(inter) - 1 - mine && size_of(c) == size_of(inter));
    cross(c, 7);
    CHECK(MPI_Comm_free(&c) == 0);
    // Colors that one side does not have give nothing.
    CHECK(MPI_Comm_split(inter, mine, 0, &c) == 0);
    if (c != MPI_COMM_NULL) {
        CHECK(size_of(c) == 1 && MPI_Comm_remote_size(c, &n) == 0 && n == 1);
        cross(c, mine);
        CHECK(MPI_Comm_free(&c) == 0);
    } else {
        CHECK(mine >= (size_of(inter) == half ? size - half : half));
    }
    CHECK(MPI_Comm_split(inter, low ? 1 : MPI_UNDEFINED, 0, &c) == 0 && c == MPI_COMM_NULL);
    CHECK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c) == 0);
    cross(c, 8);
    CHECK(MPI_Comm_free(&c) == 0);
    // The first of each group.
    MPI_Group g = MPI_GROUP_NULL, first = MPI_GROUP_NULL;
    int zero = 0;
    CHECK(MPI_Comm_group(inter, &g) == 0 && MPI_Group_incl(g, 1, &zero, &first) == 0);
    CHECK(MPI_Comm_create(inter, first, &c) == 0 && (c == MPI_COMM_NULL) == (mine != 0));
    if (c != MPI_COMM_NULL) {
        cross(c, 9);
        CHECK(MPI_Comm_free(&c) == 0);
    }
    CHECK(MPI_Comm_create(inter, low ? g : MPI_GROUP_EMPTY, &c) == 0 && c == MPI_COMM_NULL);
    CHECK(MPI_Group_free(&g) == 0 && MPI_Group_free(&first) == 0);
}

static void merged(MPI_Comm inter)
{
    MPI_Comm c;
    CHECK(MPI_Intercomm_merge(inter, !low, &c) == 0);
    CHECK(compare(c, MPI_COMM_WORLD) == MPI_CONGRUENT);
    ring(c, 1);
    CHECK(MPI_Comm_free(&c) == 0);
    CHECK(MPI_Intercomm_merge(inter, low, &c) == 0);
    CHECK(size_of(c) == size && rank_of(c) == (low ? rank + size - half : rank - half));
    ring(c, 2);
    CHECK(MPI_Comm_free(&c) == 0);
    CHECK(MPI_Intercomm_merge(inter, 1, &c) == 0 && size_of(c) == size);
    ring(c, 3);
    CHECK(MPI_Comm_free(&c) == 0);
}

static void from_groups(void)
{
    MPI_Group world, g[2];
    MPI_Comm inter;
    int ranges[2][1][3] = {{{0, half - 1, 1}}, {{half, size - 1, 1}}};
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == 0);
    for (int i = 0; i < 2; i++) CHECK(MPI_Group_range_incl(world, 1, ranges[i], &g[i]) == 0);
    for (int i = 0; i < 3; i++) {
        int high_leader = size - half - 1;
        CHECK(MPI_Intercomm_create_from_groups(g[!low], low ? 0 : high_leader, g[low],
                                               low ? high_leader : 0, "words", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &inter) == 0);
        looks_right(inter);
        cross(inter, i);
        CHECK(MPI_Comm_free(&inter) == 0);
    }
    CHECK(class_of(MPI_Intercomm_create_from_groups(g[!low], 99, g[low], 0, "words", MPI_INFO_NULL,
                                                    MPI_ERRORS_RETURN, &inter)) == MPI_ERR_RANK);
    for (int i = 0; i < 2; i++) CHECK(MPI_Group_free(&g[i]) == 0);
    CHECK(MPI_Group_free(&world) == 0);
}

static void mistakes(MPI_Comm inter, MPI_Comm intra)
{
    MPI_Comm c;
    MPI_Group g;
    int n;
    CHECK(class_of(MPI_Comm_remote_size(intra, &n)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_remote_group(intra, &g)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_merge(intra, 0, &c)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &c)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Intercomm_create(intra, 99, MPI_COMM_WORLD, 0, 0, &c)) == MPI_ERR_RANK);
    // A leader's mistake is told to all of its group.
    CHECK(class_of(MPI_Intercomm_create(intra, 0, MPI_COMM_WORLD, 99, 0, &c)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Intercomm_create(intra, 0, MPI_COMM_NULL, 0, 0, &c)) == MPI_ERR_COMM);
    CHECK(compare(inter, intra) == MPI_UNEQUAL);
}

int main(void)
{
    MPI_Comm intra, inter;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    rank = rank_of(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    half = size / 2;
    low = rank < half;
    for (int i = 0; i < 3; i++) {
        inter = halves(&intra);
        looks_right(inter);
        cross(inter, 100);
        duplicates(inter);
        parts(inter);
        merged(inter);
        from_groups();
        mistakes(inter, intra);
        CHECK(MPI_Comm_free(&intra) == 0);
        cross(inter, 200);
        CHECK(MPI_Comm_free(&inter) == 0);
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
