// SPDX-License-Identifier: BSD-3-Clause
// Communicators of some ranks: split by color and key, by hardware, create, create_group (which the
// others do not take part in), and from a group alone.
// RANKS: 1 2 3 4 8
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank, size;

static void colors(void)
{
    MPI_Comm c = MPI_COMM_SELF;
    int members = rank % 2 == 0 ? (size + 1) / 2 : size / 2;
    // Equal keys keep the old order.
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 7, &c) == 0);
    CHECK(size_of(c) == members && rank_of(c) == rank / 2);
    ring(c, rank % 2);
    CHECK(MPI_Comm_free(&c) == 0);
    // Falling keys turn it round; INT_MIN and INT_MAX are keys like others.
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c) == 0);
    CHECK(size_of(c) == size && rank_of(c) == size - 1 - rank);
    CHECK(compare(c, MPI_COMM_WORLD) == (size > 1 ? MPI_SIMILAR : MPI_CONGRUENT));
    ring(c, 1);
    CHECK(MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, 2147483647, rank == 0 ? 2147483647 : -2147483647 - 1,
                         &c) == 0);
    CHECK(rank_of(c) == (rank == 0 ? size - 1 : rank - 1));
    CHECK(MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &c) == 0);
    if (rank == 0)
        CHECK(c == MPI_COMM_NULL);
    else
        CHECK(size_of(c) == size - 1 && rank_of(c) == rank - 1 && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &c) == 0);
    CHECK(size_of(c) == 1 && compare(c, MPI_COMM_SELF) == MPI_CONGRUENT && MPI_Comm_free(&c) == 0);
    CHECK(class_of(MPI_Comm_split(MPI_COMM_WORLD, -5, 0, &c)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL)) == MPI_ERR_ARG);
}

static void types(void)
{
    MPI_Comm c = MPI_COMM_SELF;
    MPI_Info info;
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &c) == 0);
    CHECK(size_of(c) == size && rank_of(c) == size - 1 - rank && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c) == 0 &&
          c == MPI_COMM_NULL);
    int wish = rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED;
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, wish, 0, MPI_INFO_NULL, &c) == 0);
    CHECK((c == MPI_COMM_NULL) == (rank == 0));
    if (c != MPI_COMM_NULL) CHECK(size_of(c) == size - 1 && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &c) == 0);
    CHECK(c == MPI_COMM_NULL);
    CHECK(MPI_Info_create(&info) == 0);
    CHECK(MPI_Info_set(info, "mpi_hw_resource_type", "no such thing") == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &c) == 0 &&
          c == MPI_COMM_NULL);
    CHECK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory") == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &c) == 0);
    CHECK(size_of(c) == size && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c) == 0);
    CHECK(size_of(c) == size && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Info_delete(info, "mpi_hw_resource_type") == 0);
    CHECK(MPI_Info_set(info, "mpi_pset_name", "mpi://SELF") == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c) == 0);
    CHECK(size_of(c) == 1 && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD") == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &c) == 0);
    CHECK(size_of(c) == size && MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, info, &c) == 0);
    if (c != MPI_COMM_NULL) {
        char value[64];
        int room = (int)sizeof value, flag = 0;
        CHECK(MPI_Info_get_string(info, "mpi_hw_resource_type", &room, value, &flag) == 0 && flag);
        CHECK(size_of(c) < size && MPI_Comm_free(&c) == 0);
    }
    CHECK(MPI_Info_free(&info) == 0);
    CHECK(class_of(MPI_Comm_split_type(MPI_COMM_WORLD, 7, 0, MPI_INFO_NULL, &c)) == MPI_ERR_ARG);
}

// The group of every second rank, from the last to the first.
static MPI_Group every_second(int from)
{
    MPI_Group world, g;
    int range[1][3] = {{from + (size - 1 - from) / 2 * 2, from, -2}};
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == 0);
    CHECK(MPI_Group_range_incl(world, from < size ? 1 : 0, range, &g) == 0);
    CHECK(MPI_Group_free(&world) == 0);
    return g;
}

static void create(void)
{
    MPI_Comm c;
    // Two groups in one call.
    MPI_Group g = every_second(rank % 2);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, g, &c) == 0);
    CHECK(size_of(c) == (size + 1 - rank % 2) / 2);
    ring(c, rank % 2);
    MPI_Group back;
    int same = -1;
    CHECK(MPI_Comm_group(c, &back) == 0 && MPI_Group_compare(g, back, &same) == 0 &&
          same == MPI_IDENT);
    CHECK(MPI_Group_free(&back) == 0 && MPI_Group_free(&g) == 0 && MPI_Comm_free(&c) == 0);
    // One group, the others get nothing.
    g = every_second(0);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, g, &c) == 0 && (c == MPI_COMM_NULL) == (rank % 2 == 1));
    if (c != MPI_COMM_NULL) CHECK(MPI_Comm_free(&c) == 0);
    CHECK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &c) == 0 && c == MPI_COMM_NULL);
    // A group that is not of the communicator.
    if (size > 1)
        CHECK(class_of(MPI_Comm_create(MPI_COMM_SELF, g, &c)) == MPI_ERR_GROUP || size == 2);
    CHECK(class_of(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &c)) == MPI_ERR_GROUP);
    // Only the members call; several at once on one parent would be as good.
    if (rank % 2 == 0)
        for (int tag = 0; tag < 3; tag++) {
            CHECK(MPI_Comm_create_group(MPI_COMM_WORLD, g, tag == 2 ? 2147483647 : tag, &c) == 0);
            ring(c, tag);
            CHECK(MPI_Comm_free(&c) == 0);
        }
    CHECK(class_of(MPI_Comm_create_group(MPI_COMM_WORLD, g, -1, &c)) == MPI_ERR_TAG);
    CHECK(MPI_Group_free(&g) == 0);
}

static int called;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    called++;
}

static void from_group(void)
{
    MPI_Comm c = MPI_COMM_SELF;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL, got = MPI_ERRHANDLER_NULL;
    MPI_Info info = MPI_INFO_NULL;
    CHECK(MPI_Comm_create_errhandler(on_error, &handler) == 0 && MPI_Info_create(&info) == 0);
    CHECK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true") == 0);
    MPI_Group g = every_second(rank % 2);
    for (int i = 0; i < 5; i++) {
        CHECK(MPI_Comm_create_from_group(g, "test://some/words", info, handler, &c) == 0);
        ring(c, i);
        CHECK(MPI_Comm_get_errhandler(c, &got) == 0 && got == handler &&
              MPI_Errhandler_free(&got) == 0);
        CHECK(MPI_Comm_free(&c) == 0);
    }
    CHECK(MPI_Group_free(&g) == 0);
    called = 0;
    CHECK(class_of(MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", info, handler, &c)) ==
          MPI_ERR_GROUP);
    CHECK(called == 1);
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, handler, &c) == 0);
    CHECK(c == MPI_COMM_NULL && called == 1);
    CHECK(MPI_Errhandler_free(&handler) == 0 && MPI_Info_free(&info) == 0);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    rank = rank_of(MPI_COMM_WORLD);
    size = size_of(MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        colors();
        types();
        create();
        from_group();
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
