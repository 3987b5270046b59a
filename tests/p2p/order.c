// SPDX-License-Identifier: BSD-3-Clause
// Messages of one pair arrive in the order they were sent, whatever their sizes and modes; receives
// with wildcards are matched in the order they were posted.
// RANKS: 2 3 4 8 16
#include "common.h"

#define MESSAGES  400
#define MAX_BYTES (96u << 10)
#define TAGS      3

static size_t size_of(uint64_t *seed)
{
    static const size_t classes[] = {4, 12, 60, 500, 4000, 16380, 16392, 40000, MAX_BYTES};
    return classes[random_next(seed) % (sizeof classes / sizeof classes[0])];
}

// The k-th message carries its number in front and a pattern behind.
static void compose(unsigned char *m, size_t bytes, int k)
{
    memcpy(m, &k, sizeof k);
    fill(m + sizeof k, bytes - sizeof k, (uint64_t)k);
}

// Starts all sends at once, in mixed modes; every one has its own memory.
static void send_stream(int dest)
{
    static MPI_Request requests[MESSAGES];
    static unsigned char *memory[MESSAGES];
    uint64_t seed = 42 + (uint64_t)my_rank;
    for (int k = 0; k < MESSAGES; k++) {
        size_t bytes = size_of(&seed);
        memory[k] = malloc(bytes);
        compose(memory[k], bytes, k);
        int tag = k % TAGS;
        requests[k] = MPI_REQUEST_NULL;
        int rc;
        switch (random_next(&seed) % 4) {
        case 0:
            rc = MPI_Issend(memory[k], (int)bytes, MPI_BYTE, dest, tag, MPI_COMM_WORLD,
                            &requests[k]);
            break;
        case 1:
            rc = MPI_Ibsend(memory[k], (int)bytes, MPI_BYTE, dest, tag, MPI_COMM_WORLD,
                            &requests[k]);
            break;
        default:
            rc =
                MPI_Isend(memory[k], (int)bytes, MPI_BYTE, dest, tag, MPI_COMM_WORLD, &requests[k]);
            break;
        }
        CHECK(rc == MPI_SUCCESS);
    }
    CHECK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    for (int k = 0; k < MESSAGES; k++) free(memory[k]);
}

static void check_message(const guarded *g, const MPI_Status *status, int k, uint64_t *seed)
{
    size_t bytes = size_of(seed);
    (void)random_next(seed); // the sender's choice of mode
    int number = -1;
    memcpy(&number, g->data, sizeof number);
    CHECK(number == k);
    CHECK(status->MPI_TAG == k % TAGS && bytes_of(status) == (MPI_Count)bytes);
    CHECK(wrong_bytes(g->data + 4, bytes - 4, (uint64_t)k) == 0 && guarded_intact(g));
}

// Any tag: the exact order of sending. Half of the receives are posted late.
static void receive_stream(int source)
{
    uint64_t seed = 42 + (uint64_t)source, mine = 7;
    guarded g = guarded_new(MAX_BYTES, 0);
    MPI_Status status;
    for (int k = 0; k < MESSAGES; k++) {
        uint32_t choice = random_next(&mine) % 8;
        if (choice == 0) nap_us(300);
        if (choice == 1) {
            CHECK(MPI_Probe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
            CHECK(status.MPI_TAG == k % TAGS);
        }
        int from = choice & 1 && world_size == 2 ? MPI_ANY_SOURCE : source;
        CHECK(MPI_Recv(g.data, MAX_BYTES, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &status) ==
              0);
        CHECK(status.MPI_SOURCE == source);
        check_message(&g, &status, k, &seed);
    }
    guarded_free(&g);
}

// Every message by its own tag: order within a tag is kept, tags overtake each other freely.
static void receive_by_tag(int source)
{
    static unsigned char *memory[MESSAGES];
    int next[TAGS] = {0, 1, 2};
    MPI_Status status;
    for (int tag = TAGS - 1; tag >= 0; tag--)
        for (; next[tag] < MESSAGES; next[tag] += TAGS) {
            int k = next[tag], number = -1;
            memory[k] = malloc(MAX_BYTES);
            CHECK(MPI_Recv(memory[k], MAX_BYTES, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status) ==
                  0);
            memcpy(&number, memory[k], sizeof number);
            CHECK(number == k);
            CHECK(wrong_bytes(memory[k] + 4, (size_t)bytes_of(&status) - 4, (uint64_t)k) == 0);
            free(memory[k]);
        }
}

static void streams(void)
{
    void *detached;
    MPI_Count bytes;
    CHECK(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    if (my_rank % 2 == 0 && my_rank + 1 < world_size) {
        send_stream(my_rank + 1);
        send_stream(my_rank + 1);
    } else if (my_rank % 2 == 1) {
        receive_stream(my_rank - 1);
        receive_by_tag(my_rank - 1);
    }
    CHECK(MPI_Buffer_detach_c(&detached, &bytes) == MPI_SUCCESS);
    CHECK(detached == MPI_BUFFER_AUTOMATIC);
    meet_all();
}

// Rank 1 posts (any, any), (0, any), (any, 5), (0, 5), (0, 6): messages take the oldest that fits.
static void posting_order(void)
{
    static const int tags[] = {5, 6, 5, 6, 5};
    static const int takes[] = {0, 1, 2, 4, 3}; // which receive each message must find
    MPI_Comm comm; // of its own: a receive for anything must not take other tests' messages
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS);
    if (my_rank == 0) {
        CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_MEET, comm, MPI_STATUS_IGNORE) == 0);
        for (int k = 0; k < 5; k++)
            CHECK(MPI_Send(&k, 1, MPI_INT, 1, tags[k], comm) == MPI_SUCCESS);
    } else if (my_rank == 1) {
        MPI_Request r[5];
        MPI_Status s[5];
        int got[5];
        const int sources[] = {MPI_ANY_SOURCE, 0, MPI_ANY_SOURCE, 0, 0};
        const int wanted[] = {MPI_ANY_TAG, MPI_ANY_TAG, 5, 5, 6};
        for (int k = 0; k < 5; k++)
            CHECK(MPI_Irecv(&got[k], 1, MPI_INT, sources[k], wanted[k], comm, &r[k]) == 0);
        // One way only: an answer would be taken by the receive of any tag.
        CHECK(MPI_Request_get_status(r[0], &got[0], MPI_STATUS_IGNORE) == MPI_SUCCESS && !got[0]);
        CHECK(MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_MEET, comm) == MPI_SUCCESS);
        CHECK(MPI_Waitall(5, r, s) == MPI_SUCCESS);
        for (int k = 0; k < 5; k++) {
            CHECK(got[takes[k]] == k);
            CHECK(s[takes[k]].MPI_SOURCE == 0 && s[takes[k]].MPI_TAG == tags[k]);
        }
    }
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
}

// One receiver, any source: every sender's messages in their order, all of them.
static void many_to_one(void)
{
    enum { EACH = 300 };
    if (my_rank > 0) {
        for (int k = 0; k < EACH; k++)
            CHECK(MPI_Send(&k, 1, MPI_INT, 0, 11, MPI_COMM_WORLD) == MPI_SUCCESS);
        return;
    }
    int *next = calloc((size_t)world_size, sizeof *next), got;
    MPI_Status status;
    for (int k = 0; k < EACH * (world_size - 1); k++) {
        CHECK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &status) ==
              MPI_SUCCESS);
        CHECK(status.MPI_SOURCE > 0 && got == next[status.MPI_SOURCE]++);
    }
    free(next);
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    streams();
    posting_order();
    meet_all();
    many_to_one();
    return end_test();
}
