// SPDX-License-Identifier: BSD-3-Clause
// Gatherv and scatterv of blocks that differ from rank to rank, from nothing to more than travels
// at once, with every root, in place and not; while nothing else is under way, and while a receive
// of the user's is. The blocking and the non-blocking form of one call after the other do not mix.
// RANKS: 1 2 3 4 8
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, MOST = 100000, MAX_RANKS = 16 };

static int rank, size, failures;
static const int lengths[] = {72, 0, 5, 1000, 96, 20000, 300, MOST};

static int length_of(int r, int round)
{
    return lengths[(r * 3 + round) % (int)(sizeof lengths / sizeof *lengths)];
}

static void check(int good, const char *what, int round)
{
    if (good) return;
    failures++;
    fprintf(stderr, "rank %d, round %d: %s\n", rank, round, what);
}

static int is_filled(const unsigned char *p, int n, int value)
{
    for (int i = 0; i < n; i++)
        if (p[i] != (unsigned char)value) return 0;
    return 1;
}

static int counts[MAX_RANKS], displs[MAX_RANKS];
static unsigned char *all, *mine;

static int lay_out(int round)
{
    int at = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = length_of(r, round);
        displs[r] = at;
        at += counts[r] + 3; // a gap that must stay as it is
    }
    return at;
}

static void gather(int round, int root, int nonblocking)
{
    int n = counts[rank], in_place = rank == root && round % 3 == 0;
    MPI_Request request = MPI_REQUEST_NULL;
    memset(mine, 1 + rank + round, (size_t)n);
    if (rank == root) memset(all, 255, (size_t)(displs[size - 1] + counts[size - 1] + 3));
    if (in_place) memset(all + displs[rank], 1 + rank + round, (size_t)n);
    const void *from = in_place ? MPI_IN_PLACE : mine;
    if (nonblocking) {
        MPI_Igatherv(from, n, MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD,
                     &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Gatherv(from, n, MPI_BYTE, all, counts, displs, MPI_BYTE, root, MPI_COMM_WORLD);
    }
    for (int r = 0; rank == root && r < size; r++) {
        check(is_filled(all + displs[r], counts[r], 1 + r + round), "a block was not gathered",
              round);
        check(is_filled(all + displs[r] + counts[r], 3, 255), "written behind a block", round);
    }
}

static void scatter(int round, int root)
{
    int n = counts[rank], in_place = rank == root && round % 3 == 0;
    memset(mine, 0, (size_t)n + 1);
    for (int r = 0; rank == root && r < size; r++)
        memset(all + displs[r], 7 + r + round, (size_t)counts[r]);
    MPI_Scatterv(all, counts, displs, MPI_BYTE, in_place ? MPI_IN_PLACE : mine, n, MPI_BYTE, root,
                 MPI_COMM_WORLD);
    check(in_place || is_filled(mine, n, 7 + rank + round), "a block was not scattered", round);
    check(mine[n] == 0, "written behind the block", round);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = malloc((size_t)(MOST + 3) * MAX_RANKS);
    mine = malloc(MOST + 1);
    if (!all || !mine || size > MAX_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int busy = 0; busy < 2; busy++) {
        int token = -1, sent = rank;
        MPI_Request request = MPI_REQUEST_NULL;
        if (busy)
            MPI_Irecv(&token, 1, MPI_INT, (rank + size - 1) % size, 9, MPI_COMM_WORLD, &request);
        for (int round = 0; round < ROUNDS; round++) {
            lay_out(round);
            gather(round, round % size, round % 7 == 6);
            scatter(round, (round + 1) % size);
        }
        if (busy) MPI_Send(&sent, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(!busy || token == (rank + size - 1) % size, "a message of the user's", ROUNDS);
    }
    free(all);
    free(mine);
    MPI_Finalize();
    return failures != 0;
}
