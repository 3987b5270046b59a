// SPDX-License-Identifier: BSD-3-Clause
// Messages that nobody ever receives: when their communicator is freed they are forgotten, and do
// not count any more against what a sender may have waiting at a receiver.
// RANKS: 2 3
#include "common.h"

enum { ROUNDS = 12, EACH = 400, BYTES = 16000 }; // 77 MB in all, more than any budget

int main(int argc, char **argv)
{
    static unsigned char data[BYTES];
    begin_test(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm comm;
        CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
        for (int k = 0; k < EACH && my_rank == 0; k++)
            CHECK(MPI_Send(data, BYTES, MPI_BYTE, 1, k, comm) == MPI_SUCCESS);
        meet_all(); // behind the messages: they have arrived
        CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    }
    // What is wanted still comes.
    if (my_rank == 0) CHECK(MPI_Send(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    if (my_rank == 1)
        CHECK(MPI_Recv(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
    return end_test();
}
