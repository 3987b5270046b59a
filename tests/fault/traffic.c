// SPDX-License-Identifier: BSD-3-Clause
// Endless traffic of all kinds between all ranks, for kill_test.py; and with an argument that is a
// number, that many rounds, as a test of its own.
// RANKS: 2 4
// ARGS: 300
#include "../p2p/common.h"

enum { MOST = 200000 };

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    uint64_t plan = 17; // the same everywhere
    guarded out = guarded_new(MOST, 1), in = guarded_new(MOST, 0);
    fill(out.data, MOST, (uint64_t)my_rank);
    for (long round = 0; rounds <= 0 || round < rounds; round++) {
        static const int sizes[] = {8, 3000, 16384, 20000, MOST};
        int step = 1 + (int)(random_next(&plan) % (uint32_t)(world_size - 1));
        int bytes = sizes[random_next(&plan) % 5], how = (int)(random_next(&plan) % 3);
        int to = (my_rank + step) % world_size, from = (my_rank - step + world_size) % world_size;
        MPI_Request r[2];
        if (how == 0) {
            CHECK(MPI_Sendrecv(out.data, bytes, MPI_BYTE, to, 1, in.data, bytes, MPI_BYTE, from, 1,
                               MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        } else {
            CHECK(MPI_Irecv(in.data, bytes, MPI_BYTE, how == 1 ? from : MPI_ANY_SOURCE,
                            2 + (int)(round % 1000), MPI_COMM_WORLD, &r[0]) == MPI_SUCCESS);
            CHECK(MPI_Issend(out.data, bytes, MPI_BYTE, to, 2 + (int)(round % 1000), MPI_COMM_WORLD,
                             &r[1]) == MPI_SUCCESS);
            CHECK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
        }
        if (round % 16 == 0) CHECK(wrong_bytes(in.data, (size_t)bytes, (uint64_t)from) == 0);
        CHECK(guarded_intact(&in));
    }
    guarded_free(&out);
    guarded_free(&in);
    return end_test();
}
