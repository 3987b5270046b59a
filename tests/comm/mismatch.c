// SPDX-License-Identifier: BSD-3-Clause
// Ranks that do not agree on what they make get errors where somebody can notice, and nothing
// worse; what they do well afterwards on another communicator works.
// RANKS: 2 4
#include "check.h"

int main(void)
{
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL, c = MPI_COMM_NULL;
    MPI_Group world = MPI_GROUP_NULL, pair = MPI_GROUP_NULL, other = MPI_GROUP_NULL;
    int ranks[2] = {0, 1}, turned[2] = {1, 0};
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &a) == 0 && MPI_Comm_dup(MPI_COMM_WORLD, &b) == 0);
    CHECK(MPI_Comm_group(MPI_COMM_WORLD, &world) == 0);
    CHECK(MPI_Group_incl(world, 2, ranks, &pair) == 0 &&
          MPI_Group_incl(world, 2, turned, &other) == 0);
    // Both believe to lead: each gets a communicator of its own making.
    if (rank < 2)
        CHECK(MPI_Comm_create(a, rank == 0 ? pair : other, &c) == 0 && MPI_Comm_free(&c) == 0);
    else
        CHECK(MPI_Comm_create(a, pair, &c) == 0 && c == MPI_COMM_NULL);
    // The leader speaks of two, the other of more: found out.
    if (size > 2 && rank < 2) {
        int code = MPI_Comm_create_group(a, rank == 0 ? pair : world, 5, &c);
        CHECK(rank == 0 ? code == 0 : class_of(code) == MPI_ERR_GROUP);
        if (rank == 0) CHECK(MPI_Comm_free(&c) == 0);
    }
    // One duplicates while the other splits.
    if (rank < 2) {
        MPI_Comm two, made = MPI_COMM_NULL;
        CHECK(MPI_Comm_create_group(b, pair, 0, &two) == 0);
        if (rank == 0)
            CHECK(MPI_Comm_dup(two, &made) == 0 && MPI_Comm_free(&made) == 0);
        else
            CHECK(MPI_Comm_split(two, 0, 0, &made) != 0);
        CHECK(MPI_Comm_free(&two) == 0);
    }
    ring(b, 1);
    CHECK(MPI_Group_free(&world) == 0 && MPI_Group_free(&pair) == 0 && MPI_Group_free(&other) == 0);
    CHECK(MPI_Comm_free(&a) == 0 && MPI_Comm_free(&b) == 0);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
