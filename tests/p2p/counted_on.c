// SPDX-License-Identifier: BSD-3-Clause
// RANKS: 2 4
// Programs that count on messages of up to 64 KiB being buffered, as MPI does not promise but many
// do: all ranks send first and receive then. Whichever way such messages go (ways_test.py), nobody
// may wait for ever, and a receiver that computes gets them in order.
#include "common.h"

#define MOST   (64 << 10)
#define ROUNDS 40

static int to, from; // neighbours

// To the next rank, then from the one before; `many` messages before the first receive.
static void send_first(int bytes, int many, unsigned char *out, unsigned char *in)
{
    size_t wrong = 0;
    for (int k = 0; k < ROUNDS; k++) {
        for (int m = 0; m < many; m++) {
            fill(out, (size_t)bytes, (uint64_t)(my_rank + k + m));
            MPI_Send(out, bytes, MPI_BYTE, to, m, MPI_COMM_WORLD);
        }
        // Those of higher tags first: the others have to be kept.
        for (int m = many - 1; m >= 0; m--) {
            MPI_Recv(in, bytes, MPI_BYTE, from, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += wrong_bytes(in, (size_t)bytes, (uint64_t)(from + k + m));
        }
    }
    CHECK(wrong == 0);
}

// What came before its receive can be probed for, and is as long as it was sent.
static void probe_kept(int bytes, unsigned char *out, unsigned char *in)
{
    int count;
    MPI_Message message;
    MPI_Status status;
    fill(out, (size_t)bytes, (uint64_t)my_rank);
    MPI_Send(out, bytes, MPI_BYTE, to, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == bytes && status.MPI_SOURCE == from);
    MPI_Mrecv(in, MOST, MPI_BYTE, &message, &status);
    CHECK(wrong_bytes(in, (size_t)bytes, (uint64_t)from) == 0);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {4096, 12287, 12288, 20001, 49152, MOST};
    begin_test(&argc, &argv);
    unsigned char *out = malloc(MOST), *in = malloc(MOST);
    to = (my_rank + 1) % world_size;
    from = (my_rank + world_size - 1) % world_size;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        send_first(lengths[i], 1, out, in);
        send_first(lengths[i], 5, out, in);
        probe_kept(lengths[i], out, in);
    }
    free(out);
    free(in);
    return end_test();
}
