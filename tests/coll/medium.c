// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls of blocks of some ten KiB, of lengths around those up to which all blocks of so many
// ranks have room at once, in place on some ranks, on all, or on none.
//
// RANKS: 2 3 8 12 20
// TIMEOUT: 120
#include "coll_test.h"

#include <stdbool.h>

static const int lengths[] = {8192,  16384, 17000,  20000,  26176,  26177,  32767, 47616,
                              47617, 58254, 112256, 112257, 131071, 131072, 131073};
enum { LENGTHS = sizeof lengths / sizeof lengths[0], MOST = 131073 };
enum { NOWHERE, SOMEWHERE, EVERYWHERE, PLACES };

static int rank, size;

static char byte_of(int round, int from, int to, int at)
{
    return (char)(round * 31 + from * 7 + to * 13 + at % 251);
}

static void exchange(int round, int bytes, bool in_place, char *in, char *out)
{
    char *mine = in_place ? out : in;
    for (int to = 0; to < size; to++)
        for (int k = 0; k < bytes; k++) mine[to * bytes + k] = byte_of(round, rank, to, k);
    MPI_Alltoall(in_place ? MPI_IN_PLACE : in, bytes, MPI_CHAR, out, bytes, MPI_CHAR,
                 MPI_COMM_WORLD);
    int wrong = 0;
    for (int from = 0; from < size; from++)
        for (int k = 0; k < bytes; k++)
            wrong += out[from * bytes + k] != byte_of(round, from, rank, k);
    CHECK(wrong == 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *in = malloc((size_t)size * MOST), *out = malloc((size_t)size * MOST);
    if (!in || !out) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < LENGTHS; i++)
        for (int where = 0; where < PLACES; where++) {
            bool here = where == EVERYWHERE || (where == SOMEWHERE && rank % 2 == 0);
            exchange(i * PLACES + where, lengths[i], here, in, out);
        }
    free(in);
    free(out);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
