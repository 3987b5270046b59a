// SPDX-License-Identifier: BSD-3-Clause
// A random sequence of makings out of communicators that were made before, ranks sleeping here and
// there, several duplicates under way at once. All ranks draw the same numbers; each plays its
// part.
// RANKS: 2 4 8
// TIMEOUT: 120
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define POOL   12
#define ROUNDS 400

typedef struct entry {
    bool used;     // on some rank
    MPI_Comm comm; // MPI_COMM_NULL on ranks that are not in it
    MPI_Request request;
} entry;

static entry pool[POOL];
static uint64_t state = 12345;

// The same sequence on every rank.
static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static bool is_inter(MPI_Comm c)
{
    int flag = 0;
    CHECK(MPI_Comm_test_inter(c, &flag) == 0);
    return flag;
}

static void settle(entry *e)
{
    CHECK(MPI_Wait(&e->request, MPI_STATUS_IGNORE) == 0);
}

static void use(entry *e, int token)
{
    settle(e);
    if (e->comm == MPI_COMM_NULL) return;
    if (is_inter(e->comm))
        cross(e->comm, token);
    else
        ring(e->comm, token);
}

static MPI_Group every_second(MPI_Comm c)
{
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    CHECK(MPI_Comm_group(c, &all) == 0);
    int range[1][3] = {{0, size_of(c) - 1, 2}};
    CHECK(MPI_Group_range_incl(all, 1, range, &some) == 0 && MPI_Group_free(&all) == 0);
    return some;
}

// The two halves of an intra-communicator face each other.
static MPI_Comm face(MPI_Comm c)
{
    MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    int rank = rank_of(c), size = size_of(c), middle = size / 2;
    if (size < 2) return MPI_COMM_NULL;
    CHECK(MPI_Comm_split(c, rank < middle, 0, &half) == 0);
    CHECK(MPI_Intercomm_create(half, 0, c, rank < middle ? middle : 0, 3, &inter) == 0);
    CHECK(MPI_Comm_free(&half) == 0);
    return inter;
}

static void make(MPI_Comm from, int way, int mix, entry *to)
{
    MPI_Group g = MPI_GROUP_NULL;
    int rank = rank_of(from), dims[2] = {0, 0}, periods[2] = {1, 0};
    bool inter = is_inter(from);
    switch (way) {
    case 0: CHECK(MPI_Comm_dup(from, &to->comm) == 0); break;
    case 1:
    case 2: CHECK(MPI_Comm_idup(from, &to->comm, &to->request) == 0); break;
    case 3:
        CHECK(MPI_Comm_split(from, (rank * 7 + mix) % 3, (rank * mix) % 5, &to->comm) == 0);
        break;
    case 4:
        g = every_second(from);
        CHECK(MPI_Comm_create(from, g, &to->comm) == 0 && MPI_Group_free(&g) == 0);
        break;
    case 5:
        if (inter)
            CHECK(MPI_Intercomm_merge(from, mix % 2, &to->comm) == 0);
        else
            to->comm = face(from);
        break;
    default:
        if (inter) break;
        CHECK(MPI_Dims_create(size_of(from), 2, dims) == 0);
        CHECK(MPI_Cart_create(from, 2, dims, periods, 0, &to->comm) == 0);
    }
}

int main(void)
{
    MPI_Init(NULL, NULL);
    srand((unsigned)getpid());
    for (int i = 0; i < POOL; i++)
        pool[i] = (entry){.comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};
    for (int round = 0; round < ROUNDS; round++) {
        int from = draw(POOL), to = draw(POOL), way = draw(7), mix = draw(1000);
        entry *e = &pool[to];
        if (rand() % 50 == 0) usleep(1000);
        if (e->used) {
            use(e, round);
            if (e->comm != MPI_COMM_NULL) CHECK(MPI_Comm_free(&e->comm) == 0);
            *e = (entry){.comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};
            continue;
        }
        settle(&pool[from]);
        MPI_Comm parent = pool[from].used ? pool[from].comm : MPI_COMM_WORLD;
        e->used = true;
        if (parent != MPI_COMM_NULL) make(parent, way, mix, e);
        if (mix % 3 == 0) use(e, round);
    }
    for (int i = 0; i < POOL; i++) {
        use(&pool[i], i);
        if (pool[i].comm != MPI_COMM_NULL) CHECK(MPI_Comm_free(&pool[i].comm) == 0);
    }
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
