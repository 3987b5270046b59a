// SPDX-License-Identifier: BSD-3-Clause
// Counts above 2^31: a message of 2.2 GB, sent as bytes and received as blocks of 1 MiB, and
// what a status says about it. Needs about 5 GB; says so and passes where they are not there.
// RANKS: 2
// TIMEOUT: 120
#include "common.h"

#define BLOCK  ((MPI_Count)1 << 20)
#define BLOCKS 2100
#define BYTES  ((size_t)BLOCKS << 20)

static int memory_is_there(void)
{
    long long kib = 0;
    char line[128];
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1) break;
    if (f) fclose(f);
    return kib > 8ll << 20;
}

// One byte in each page and all at the end: a check of every byte would take longer than the send.
static void mark(unsigned char *data, uint64_t seed)
{
    for (size_t i = 0; i < BYTES; i += 4096) data[i] = pattern(seed, i / 4096);
    fill(data + BYTES - 4096, 4096, seed);
}

static size_t wrong_marks(const unsigned char *data, uint64_t seed)
{
    size_t wrong = 0;
    for (size_t i = 0; i < BYTES - 4096; i += 4096) wrong += data[i] != pattern(seed, i / 4096);
    return wrong + wrong_bytes(data + BYTES - 4096, 4096, seed);
}

static void check_status(const MPI_Status *s, MPI_Count bytes)
{
    int count = 0;
    MPI_Count large = -1;
    CHECK(MPI_Get_count_c(s, MPI_BYTE, &large) == MPI_SUCCESS && large == bytes);
    // A count that an int cannot hold is undefined, not wrong.
    CHECK(MPI_Get_count(s, MPI_BYTE, &count) == MPI_SUCCESS && count == MPI_UNDEFINED);
    CHECK(MPI_Get_count(s, MPI_INT, &count) == MPI_SUCCESS && count == (int)(bytes / 4));
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    int there[2] = {memory_is_there(), 0};
    CHECK(MPI_Sendrecv(&there[0], 1, MPI_INT, 1 - my_rank, 0, &there[1], 1, MPI_INT, 1 - my_rank, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    if (!there[0] || !there[1]) {
        printf("not enough memory for large counts: nothing tested\n");
        return end_test();
    }
    MPI_Datatype block;
    CHECK(MPI_Type_contiguous((int)BLOCK, MPI_BYTE, &block) == 0 && MPI_Type_commit(&block) == 0);
    guarded g = guarded_new(BYTES, 0);
    MPI_Status s;
    int count = 0;
    if (my_rank == 0) {
        mark(g.data, 1);
        CHECK(MPI_Send_c(g.data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Probe(0, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        check_status(&s, (MPI_Count)BYTES);
        CHECK(MPI_Recv(g.data, BLOCKS, block, 0, 1, MPI_COMM_WORLD, &s) == MPI_SUCCESS);
        check_status(&s, (MPI_Count)BYTES);
        CHECK(MPI_Get_count(&s, block, &count) == MPI_SUCCESS && count == BLOCKS);
        CHECK(wrong_marks(g.data, 1) == 0 && guarded_intact(&g));
    }
    guarded_free(&g);
    CHECK(MPI_Type_free(&block) == MPI_SUCCESS);
    return end_test();
}
