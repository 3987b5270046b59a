// SPDX-License-Identifier: BSD-3-Clause
// Communicators without MPI_Init: each session's own, one session after the other, ranks being
// ahead of each other at the seams.
// RANKS: 1 2 3 4 8
#include <unistd.h>

#include "check.h"

static void one_session(int round)
{
    MPI_Session session;
    MPI_Group world, self;
    MPI_Comm comm, own, inter = MPI_COMM_NULL;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == 0);
    CHECK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world) == 0);
    CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &self) == 0);
    CHECK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == 0);
    CHECK(MPI_Comm_create_from_group(self, "me", MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) == 0);
    CHECK(size_of(own) == 1);
    ring(comm, round);
    if (size_of(comm) > 1) {
        MPI_Group first, others;
        int zero = 0, leads = rank_of(comm) == 0;
        CHECK(MPI_Group_incl(world, 1, &zero, &first) == 0 &&
              MPI_Group_excl(world, 1, &zero, &others) == 0);
        CHECK(MPI_Intercomm_create_from_groups(leads ? first : others, 0, leads ? others : first, 0,
                                               "pair", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                               &inter) == 0);
        cross(inter, round);
        CHECK(MPI_Group_free(&first) == 0 && MPI_Group_free(&others) == 0 &&
              MPI_Comm_free(&inter) == 0);
    }
    if (rank_of(comm) == round % 3) usleep(2000);
    CHECK(MPI_Group_free(&world) == 0 && MPI_Group_free(&self) == 0);
    CHECK(MPI_Comm_free(&own) == 0 && MPI_Comm_disconnect(&comm) == 0);
    CHECK(MPI_Session_finalize(&session) == 0);
}

int main(void)
{
    for (int round = 0; round < 50; round++) one_session(round);
    return SHOAL_TEST_RESULT();
}
