// SPDX-License-Identifier: BSD-3-Clause
// RANKS: 2 4
// Programs that count on messages of up to 64 KiB being buffered, as MPI does not promise but many
// do: all ranks send first and receive then. Whichever way such messages go (ways_test.py), nobody
// may wait for ever, and a receiver that computes gets them in order.
#include "common.h"

#define MOST   (64 << 10)
#define ROUNDS 15

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

// A message that a probe has claimed is still waited for by its sender, who will send what this
// rank asks for first.
static void claim_and_ask(int bytes, unsigned char *out, unsigned char *in)
{
    MPI_Message message;
    int word = my_rank;
    if (my_rank % 2 == 0 && my_rank + 1 < world_size) {
        fill(out, (size_t)bytes, 3);
        MPI_Send(out, bytes, MPI_BYTE, my_rank + 1, 6, MPI_COMM_WORLD);
        MPI_Send(&word, 1, MPI_INT, my_rank + 1, 7, MPI_COMM_WORLD);
    } else if (my_rank % 2 == 1) {
        MPI_Mprobe(my_rank - 1, 6, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(&word, 1, MPI_INT, my_rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        CHECK(word == my_rank - 1 && wrong_bytes(in, (size_t)bytes, 3) == 0);
    }
}

// Nobody will ever receive it: its communicator is gone there.
static void leave_behind(int bytes, unsigned char *out)
{
    MPI_Comm other;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &other) == 0);
    if (my_rank == 0) MPI_Send(out, bytes, MPI_BYTE, 1, 8, other);
    MPI_Comm_free(&other);
}

// One rank sends while the other only looks for something else, now and then.
static void look_elsewhere(int bytes, unsigned char *out, unsigned char *in)
{
    int found = 0;
    if (my_rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
        MPI_Send(out, 1, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
    } else if (my_rank == 1) {
        while (!found) {
            MPI_Iprobe(0, 10, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
            usleep(50);
        }
        MPI_Recv(in, 1, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(other_than(in, (size_t)bytes, 42) == 0);
    }
}

static void check_all(int bytes, unsigned char *out, unsigned char *in)
{
    send_first(bytes, 1, out, in);
    send_first(bytes, 5, out, in);
    probe_kept(bytes, out, in);
    claim_and_ask(bytes, out, in);
    leave_behind(bytes, out);
    memset(out, 42, (size_t)bytes);
    look_elsewhere(bytes, out, in);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {4096, 12287, 12288, 20001, 49152, MOST};
    begin_test(&argc, &argv);
    unsigned char *out = malloc(MOST), *in = malloc(MOST), *shared;
    MPI_Alloc_mem(MOST, MPI_INFO_NULL, &shared);
    to = (my_rank + 1) % world_size;
    from = (my_rank + world_size - 1) % world_size;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_all(lengths[i], out, in);
        check_all(lengths[i], shared, in); // which others can read where it lies
    }
    MPI_Free_mem(shared);
    free(out);
    free(in);
    return end_test();
}
