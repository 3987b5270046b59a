// SPDX-License-Identifier: BSD-3-Clause
// MPI_Mprobe and MPI_Mrecv as a program of Python objects uses them: message by message, taken as
// soon as it comes, from a named rank and from any; more bytes in all than may lie unmatched; into
// buffers too short, and buffers with gaps.
// RANKS: 2 3 8
#include "common.h"

enum { PAIRS = 3000, FLOOD = 6000, FLOOD_BYTES = 15000, TAG = 4 };

static MPI_Comm talk; // apart from the messages by which ranks meet

static int receive(int source, int tag, void *buf, int room, MPI_Status *status)
{
    MPI_Message m;
    MPI_Status probed;
    CHECK(MPI_Mprobe(source, tag, talk, &m, &probed) == MPI_SUCCESS);
    CHECK(bytes_of(&probed) <= room);
    CHECK(MPI_Mrecv(buf, room, MPI_BYTE, &m, status) == MPI_SUCCESS && m == MPI_MESSAGE_NULL);
    CHECK(probed.MPI_SOURCE == status->MPI_SOURCE && probed.MPI_TAG == status->MPI_TAG);
    CHECK(bytes_of(&probed) == bytes_of(status));
    return status->MPI_SOURCE;
}

// Rank 0 talks to each of the others in turn; sizes from 0 bytes to beyond what travels at once.
static void conversation(int wild)
{
    static unsigned char out[40000], in[40000];
    MPI_Status s;
    for (int k = 0; k < PAIRS; k++) {
        int partner = 1 + k % (world_size - 1);
        size_t bytes = (size_t)(k % 100 == 99 ? 40000 : k * 7 % 300);
        if (my_rank == 0) {
            fill(out, bytes, (size_t)k);
            CHECK(MPI_Send(out, (int)bytes, MPI_BYTE, partner, TAG + k % 2, talk) == MPI_SUCCESS);
            int from = receive(wild ? MPI_ANY_SOURCE : partner, wild ? MPI_ANY_TAG : TAG + k % 2,
                               in, sizeof in, &s);
            CHECK(from == partner && s.MPI_TAG == TAG + k % 2);
            CHECK(bytes_of(&s) == (MPI_Count)bytes && wrong_bytes(in, bytes, (size_t)k) == 0);
        } else if (my_rank == partner) {
            receive(wild ? MPI_ANY_SOURCE : 0, wild ? MPI_ANY_TAG : TAG + k % 2, in, sizeof in, &s);
            CHECK(MPI_Send(in, (int)bytes_of(&s), MPI_BYTE, 0, s.MPI_TAG, talk) == MPI_SUCCESS);
        }
    }
}

// Every other rank sends as much as it can: 90 MB each, far beyond what may lie unmatched.
static void flood(int any)
{
    static unsigned char data[FLOOD_BYTES];
    int each = FLOOD / (world_size - 1), next[64] = {0};
    MPI_Status s;
    if (my_rank > 0)
        for (int k = 0; k < each; k++) {
            fill(data, sizeof data, (size_t)k);
            CHECK(MPI_Send(data, FLOOD_BYTES, MPI_BYTE, 0, k, talk) == MPI_SUCCESS);
        }
    for (int k = 0; my_rank == 0 && k < each * (world_size - 1); k++) {
        int source = any ? MPI_ANY_SOURCE : 1 + k / each;
        int from = receive(source, MPI_ANY_TAG, data, sizeof data, &s);
        CHECK(s.MPI_TAG == next[from]++); // in the order of sending
        CHECK(wrong_bytes(data, sizeof data, (size_t)s.MPI_TAG) == 0);
    }
}

// A buffer too short is an error of the receive, and the message is gone; one with gaps is filled.
static void odd_buffers(void)
{
    int numbers[6] = {1, 2, 3, 4, 5, 6}, got[12];
    MPI_Message m;
    MPI_Status s;
    MPI_Datatype every_other;
    MPI_Type_vector(6, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    if (my_rank == 1)
        for (int k = 0; k < 2; k++) CHECK(MPI_Send(numbers, 6, MPI_INT, 0, k, talk) == MPI_SUCCESS);
    if (my_rank == 0) {
        for (int i = 0; i < 12; i++) got[i] = -1;
        MPI_Comm_set_errhandler(talk, MPI_ERRORS_RETURN);
        CHECK(MPI_Mprobe(1, 0, talk, &m, &s) == MPI_SUCCESS);
        int rc = MPI_Mrecv(got, 4, MPI_INT, &m, &s), class = 0;
        MPI_Error_class(rc, &class);
        CHECK(class == MPI_ERR_TRUNCATE && m == MPI_MESSAGE_NULL && got[3] == 4 && got[4] == -1);
        MPI_Comm_set_errhandler(talk, MPI_ERRORS_ARE_FATAL);
        CHECK(MPI_Mprobe(1, 1, talk, &m, &s) == MPI_SUCCESS);
        CHECK(MPI_Mrecv(got, 1, every_other, &m, &s) == MPI_SUCCESS);
        for (int i = 0; i < 6; i++) CHECK(got[2 * i] == i + 1);
    }
    MPI_Type_free(&every_other);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &talk) == MPI_SUCCESS);
    conversation(0);
    meet_all();
    conversation(1);
    meet_all();
    flood(0);
    meet_all();
    flood(1);
    meet_all();
    odd_buffers();
    CHECK(MPI_Comm_free(&talk) == MPI_SUCCESS);
    return end_test();
}
