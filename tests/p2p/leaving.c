// SPDX-License-Identifier: BSD-3-Clause
// Messages that were handed over and that nobody waits for reach their receiver although the
// sender goes straight to MPI_Finalize: buffered ones in an attached and in the automatic buffer,
// and sends whose request was freed.
// RANKS: 2 3 4 8
#include "common.h"

enum { BIG = 500000, SMALL = 100 };

static void send_and_leave(int way)
{
    static char buffer[2 * (BIG + MPI_BSEND_OVERHEAD)];
    static unsigned char data[BIG];
    MPI_Request r;
    fill(data, BIG, (uint64_t)my_rank);
    if (way == 0) CHECK(MPI_Buffer_attach(buffer, sizeof buffer) == MPI_SUCCESS);
    if (way == 1) CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    for (int bytes = SMALL; bytes <= BIG; bytes += BIG - SMALL) {
        if (way < 2) {
            CHECK(MPI_Bsend(data, bytes, MPI_BYTE, my_rank - 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
            continue;
        }
        int rc = way == 2 ? MPI_Isend(data, bytes, MPI_BYTE, my_rank - 1, 1, MPI_COMM_WORLD, &r)
                          : MPI_Issend(data, bytes, MPI_BYTE, my_rank - 1, 1, MPI_COMM_WORLD, &r);
        CHECK(rc == MPI_SUCCESS);
        CHECK(MPI_Request_free(&r) == MPI_SUCCESS);
    }
}

static void receive_late(void)
{
    guarded g = guarded_new(BIG, 0);
    MPI_Status s;
    nap_us(200000);
    for (int bytes = SMALL; bytes <= BIG; bytes += BIG - SMALL) {
        CHECK(MPI_Recv(g.data, BIG, MPI_BYTE, my_rank + 1, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        CHECK(bytes_of(&s) == bytes);
        CHECK(wrong_bytes(g.data, (size_t)bytes, (uint64_t)(my_rank + 1)) == 0 &&
              guarded_intact(&g));
    }
    guarded_free(&g);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    if (my_rank % 2)
        send_and_leave(my_rank / 2 % 4);
    else if (my_rank + 1 < world_size)
        receive_late();
    return end_test();
}
