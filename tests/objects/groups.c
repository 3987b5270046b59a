// SPDX-License-Identifier: BSD-3-Clause
// Groups through MPI, and the mistakes users make with them.
// RANKS: 1 2 4
#include <mpi.h>
#include <stdlib.h>

#include "../../src/plat/test.h"

static int class_of(int code)
{
    int class = -1;
    CHECK(MPI_Error_class(code, &class) == MPI_SUCCESS);
    return class;
}

static int size_of(MPI_Group g)
{
    int size = -1;
    CHECK(MPI_Group_size(g, &size) == 0);
    return size;
}

static int compare(MPI_Group a, MPI_Group b)
{
    int result = -1;
    CHECK(MPI_Group_compare(a, b, &result) == 0);
    return result;
}

static void drop(MPI_Group *g)
{
    CHECK(MPI_Group_free(g) == 0 && *g == MPI_GROUP_NULL);
}

static void algebra(MPI_Group world, int size, int rank)
{
    MPI_Group g, h, back;
    int *reverse = malloc((size_t)size * sizeof *reverse), got = -1;
    for (int i = 0; i < size; i++) reverse[i] = size - 1 - i;
    CHECK(MPI_Group_incl(world, size, reverse, &g) == 0 && size_of(g) == size);
    CHECK(compare(world, g) == (size == 1 ? MPI_IDENT : MPI_SIMILAR));
    CHECK(MPI_Group_rank(g, &got) == 0 && got == size - 1 - rank);
    int *there = malloc((size_t)size * sizeof *there);
    CHECK(MPI_Group_translate_ranks(world, size, reverse, g, there) == 0);
    for (int i = 0; i < size; i++) CHECK(there[i] == i);
    CHECK(MPI_Group_union(world, g, &h) == 0 && compare(h, world) == MPI_IDENT);
    drop(&h);
    CHECK(MPI_Group_intersection(g, world, &h) == 0 && compare(h, g) == MPI_IDENT);
    drop(&h);
    CHECK(MPI_Group_difference(g, world, &h) == 0 && h == MPI_GROUP_EMPTY);
    drop(&h);
    int all[1][3] = {{size - 1, 0, -1}};
    CHECK(MPI_Group_range_incl(world, 1, all, &h) == 0 && compare(h, g) == MPI_IDENT);
    drop(&h);
    CHECK(MPI_Group_range_excl(world, 1, all, &h) == 0 && size_of(h) == 0);
    drop(&h);
    CHECK(MPI_Group_excl(world, 1, &rank, &h) == 0 && size_of(h) == size - 1);
    CHECK(MPI_Group_rank(h, &got) == 0 && got == MPI_UNDEFINED);
    CHECK(MPI_Group_union(h, g, &back) == 0 && size_of(back) == size);
    CHECK(MPI_Group_translate_ranks(world, 1, &rank, h, &got) == 0 && got == MPI_UNDEFINED);
    drop(&back);
    drop(&h);
    drop(&g);
    free(there);
    free(reverse);
}

static void empty(MPI_Group world)
{
    MPI_Group g;
    int got = 0, null = MPI_PROC_NULL;
    CHECK(size_of(MPI_GROUP_EMPTY) == 0);
    CHECK(MPI_Group_rank(MPI_GROUP_EMPTY, &got) == 0 && got == MPI_UNDEFINED);
    CHECK(MPI_Group_incl(world, 0, NULL, &g) == 0 && compare(g, MPI_GROUP_EMPTY) == MPI_IDENT);
    drop(&g);
    CHECK(MPI_Group_excl(world, 0, NULL, &g) == 0 && compare(g, world) == MPI_IDENT);
    drop(&g);
    CHECK(MPI_Group_union(MPI_GROUP_EMPTY, world, &g) == 0 && compare(g, world) == MPI_IDENT);
    drop(&g);
    CHECK(MPI_Group_incl(MPI_GROUP_EMPTY, 0, NULL, &g) == 0 && g == MPI_GROUP_EMPTY);
    drop(&g);
    CHECK(MPI_Group_translate_ranks(world, 1, &null, MPI_GROUP_EMPTY, &got) == 0);
    CHECK(got == MPI_PROC_NULL);
    CHECK(MPI_Group_translate_ranks(world, 0, NULL, MPI_GROUP_EMPTY, NULL) == 0);
}

static void mistakes(MPI_Group world, int size)
{
    MPI_Group g = MPI_GROUP_NULL;
    int got = 0, twice[] = {0, 0}, zero[1][3] = {{0, 0, 0}}, wide[1][3] = {{0, size, 1}};
    CHECK(class_of(MPI_Group_size(MPI_GROUP_NULL, &got)) == MPI_ERR_GROUP);
    CHECK(class_of(MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_NULL, &got)) == MPI_ERR_GROUP);
    CHECK(class_of(MPI_Group_free(&g)) == MPI_ERR_GROUP);
    CHECK(class_of(MPI_Group_free(NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_incl(world, 1, &size, &g)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Group_incl(world, 2, twice, &g)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Group_incl(world, -1, twice, &g)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_incl(world, 1, NULL, &g)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_range_incl(world, 1, zero, &g)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Group_range_excl(world, 1, wide, &g)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Group_translate_ranks(world, 1, &size, world, &got)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Group_union(world, world, NULL)) == MPI_ERR_ARG);
    CHECK(g == MPI_GROUP_NULL);
    // A handle that was freed is dead, and what communicators have of the group is not touched.
    CHECK(MPI_Comm_group(MPI_COMM_SELF, &g) == 0);
    MPI_Group copy = g;
    drop(&g);
    CHECK(class_of(MPI_Group_free(&copy)) == MPI_ERR_GROUP);
    CHECK(MPI_Comm_size(MPI_COMM_SELF, &got) == 0 && got == 1);
    CHECK(MPI_Comm_group(MPI_COMM_SELF, &g) == 0 && size_of(g) == 1);
    drop(&g);
}

int main(void)
{
    MPI_Group world, again;
    int size = 0, rank = 0;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == 0);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &again) == 0);
    CHECK(compare(world, again) == MPI_IDENT && size_of(world) == size);
    drop(&again);
    algebra(world, size, rank);
    empty(world);
    mistakes(world, size);
    drop(&world);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
