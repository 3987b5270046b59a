// SPDX-License-Identifier: BSD-3-Clause
// Probing, and taking messages apart from receiving them; for messages of all kinds, from others
// and from oneself.
// RANKS: 1 2 3 8
#include "common.h"

static const size_t sizes[] = {0, 5, 1000, 16384, 16385, 300000};
#define SIZES (sizeof sizes / sizeof sizes[0])

enum { PROBE, IPROBE, MPROBE, IMPROBE, WAYS };

// Looks until something is there.
static void look(int way, int source, int tag, MPI_Message *m, MPI_Status *status)
{
    int flag = 0;
    *m = MPI_MESSAGE_NULL;
    switch (way) {
    case PROBE: CHECK(MPI_Probe(source, tag, MPI_COMM_WORLD, status) == MPI_SUCCESS); break;
    case MPROBE: CHECK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, m, status) == MPI_SUCCESS); break;
    case IPROBE:
        while (!flag) CHECK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, status) == MPI_SUCCESS);
        break;
    default:
        while (!flag)
            CHECK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &flag, m, status) == MPI_SUCCESS);
    }
}

static void take(int way, int immediate, guarded *g, int source, int tag, MPI_Message *m,
                 MPI_Status *s)
{
    int n = (int)g->bytes;
    MPI_Request r;
    if (way < MPROBE) {
        CHECK(MPI_Recv(g->data, n, MPI_BYTE, source, tag, MPI_COMM_WORLD, s) == MPI_SUCCESS);
        return;
    }
    CHECK(*m != MPI_MESSAGE_NULL && *m != MPI_MESSAGE_NO_PROC);
    if (immediate) {
        CHECK(MPI_Imrecv(g->data, n, MPI_BYTE, m, &r) == MPI_SUCCESS);
        CHECK(MPI_Wait(&r, s) == MPI_SUCCESS && r == MPI_REQUEST_NULL);
    } else {
        CHECK(MPI_Mrecv(g->data, n, MPI_BYTE, m, s) == MPI_SUCCESS);
    }
    CHECK(*m == MPI_MESSAGE_NULL);
}

// Receives one message of each size by every way, with and without wildcards.
static void receive_all(int source)
{
    for (size_t k = 0; k < SIZES; k++)
        for (int choice = 0; choice < WAYS * 4; choice++) {
            MPI_Status probed = {.MPI_ERROR = 77}, received;
            MPI_Message m;
            int way = choice % WAYS, wild = choice / WAYS & 1;
            look(way, wild ? MPI_ANY_SOURCE : source, wild ? MPI_ANY_TAG : (int)k, &m, &probed);
            CHECK(probed.MPI_SOURCE == source && probed.MPI_TAG == (int)k);
            CHECK(bytes_of(&probed) == (MPI_Count)sizes[k] && !was_cancelled(&probed));
            CHECK(probed.MPI_ERROR == 77); // only calls that return several statuses set it
            guarded g = guarded_new((size_t)bytes_of(&probed), 0);
            take(way, choice / WAYS / 2, &g, source, (int)k, &m, &received);
            CHECK(received.MPI_SOURCE == source && received.MPI_TAG == (int)k);
            CHECK(bytes_of(&received) == (MPI_Count)sizes[k]);
            CHECK(wrong_bytes(g.data, g.bytes, k) == 0 && guarded_intact(&g));
            guarded_free(&g);
        }
}

static void send_all(int dest, MPI_Request *requests, unsigned char *memory[SIZES])
{
    int n = 0;
    for (size_t k = 0; k < SIZES; k++) {
        memory[k] = malloc(sizes[k] + 1);
        fill(memory[k], sizes[k], k);
        for (int choice = 0; choice < WAYS * 4; choice++, n++) {
            int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
                choice % 3 == 0 ? MPI_Issend : MPI_Isend;
            CHECK(send(memory[k], (int)sizes[k], MPI_BYTE, dest, (int)k, MPI_COMM_WORLD,
                       &requests[n]) == MPI_SUCCESS);
        }
    }
}

static void by_every_way(void)
{
    static MPI_Request requests[SIZES * WAYS * 4];
    unsigned char *memory[SIZES] = {NULL};
    int sends = my_rank % 2 == 0, peer = my_rank ^ 1;
    if (world_size == 1) peer = 0;
    if (peer >= world_size) return;
    if (sends) send_all(peer, requests, memory);
    if (!sends || world_size == 1) receive_all(world_size == 1 ? 0 : peer);
    if (sends) CHECK(MPI_Waitall((int)(SIZES * WAYS * 4), requests, MPI_STATUSES_IGNORE) == 0);
    for (size_t k = 0; k < SIZES; k++) free(memory[k]);
}

// A message that has been taken is invisible to others, and the next one is next.
static void taken_is_taken(void)
{
    int values[3] = {10, 11, 12}, got = -1, flag = -1;
    MPI_Message first, second, none;
    MPI_Request r[3];
    MPI_Status s;
    for (int k = 0; k < 3; k++)
        CHECK(MPI_Isend(&values[k], 1, MPI_INT, my_rank, 50, MPI_COMM_WORLD, &r[k]) == MPI_SUCCESS);
    CHECK(MPI_Mprobe(my_rank, 50, MPI_COMM_WORLD, &first, &s) == MPI_SUCCESS);
    CHECK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &second, &s) == MPI_SUCCESS);
    CHECK(MPI_Recv(&got, 1, MPI_INT, my_rank, 50, MPI_COMM_WORLD, &s) == MPI_SUCCESS && got == 12);
    CHECK(MPI_Iprobe(my_rank, 50, MPI_COMM_WORLD, &flag, &s) == MPI_SUCCESS && !flag);
    CHECK(MPI_Improbe(my_rank, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &none, &s) == MPI_SUCCESS);
    CHECK(!flag && none == MPI_MESSAGE_NULL);
    CHECK(MPI_Mrecv(&got, 1, MPI_INT, &second, &s) == MPI_SUCCESS && got == 11);
    CHECK(MPI_Mrecv(&got, 1, MPI_INT, &first, &s) == MPI_SUCCESS && got == 10);
    CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
}

static void no_process(void)
{
    MPI_Status s;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Request r;
    int flag = 0, value = 5;
    CHECK(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && bytes_of(&s) == 0);
    CHECK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &s) == MPI_SUCCESS && flag);
    CHECK(MPI_Improbe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &m, &s) == MPI_SUCCESS && flag);
    CHECK(m == MPI_MESSAGE_NO_PROC && s.MPI_SOURCE == MPI_PROC_NULL);
    CHECK(MPI_Mrecv(&value, 1, MPI_INT, &m, &s) == MPI_SUCCESS && m == MPI_MESSAGE_NULL);
    CHECK(s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == MPI_ANY_TAG && bytes_of(&s) == 0 &&
          value == 5);
    CHECK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(MPI_Imrecv(&value, 1, MPI_INT, &m, &r) == MPI_SUCCESS && m == MPI_MESSAGE_NULL);
    CHECK(MPI_Wait(&r, &s) == MPI_SUCCESS && s.MPI_SOURCE == MPI_PROC_NULL);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    by_every_way();
    taken_is_taken();
    no_process();
    return end_test();
}
