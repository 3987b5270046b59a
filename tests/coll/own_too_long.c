// SPDX-License-Identifier: BSD-3-Clause
// The root of a gather or scatter whose own block is longer than its place gets an error that tells
// both lengths, and the others get their data; whichever way the blocks go. So does a rank in an
// allgatherv of short blocks, and who has only started a call.
// RANKS: 1 2 4
#include "coll_test.h"

#include <unistd.h>

static int rank, size;

static void check_code(int code)
{
    int class = -1, length = 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    CHECK(rank != 0 ? code == 0 : class == MPI_ERR_TRUNCATE && strstr(text, "sends itself"));
}

static void check_length(int bytes)
{
    size_t all = (size_t)bytes * (size_t)size;
    char *whole = malloc(all), *block = malloc((size_t)bytes + 4);
    int more = rank == 0 ? 4 : 0;
    memset(block, rank + 1, (size_t)bytes + 4);
    memset(whole, 0, all);
    check_code(
        MPI_Gather(block, bytes + more, MPI_BYTE, whole, bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
    for (int i = 0; i < size && rank == 0; i++)
        CHECK(whole[i * bytes] == i + 1 && whole[(i + 1) * bytes - 1] == i + 1);
    for (int i = 0; i < size; i++) memset(whole + i * bytes, i + 1, (size_t)bytes);
    memset(block, 0, (size_t)bytes);
    check_code(
        MPI_Scatter(whole, bytes, MPI_BYTE, block, bytes - more, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(block[0] == rank + 1 && block[bytes - more - 1] == rank + 1);
    free(whole);
    free(block);
}

// The same started, with somebody late, so that others sleep meanwhile; and once more with so many
// calls open before it that the root cannot show its blocks at once.
static void check_started(int before)
{
    MPI_Request open[32], r[2];
    int mine[2] = {rank + 1, rank + 1}, all[8] = {0}, row[8], part = 0, more = rank == 0;
    for (int i = 0; i < 8; i++) row[i] = i + 1;
    if (rank == size - 1) usleep(20000);
    for (int i = 0; i < before; i++) MPI_Ibarrier(MPI_COMM_WORLD, &open[i]);
    MPI_Igather(mine, 1 + more, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Iscatter(row, 1, MPI_INT, &part, 1 - more, MPI_INT, 0, MPI_COMM_WORLD, &r[1]);
    check_code(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    check_code(MPI_Wait(&r[1], MPI_STATUS_IGNORE));
    for (int i = 1; i < size && rank == 0; i++) CHECK(all[i] == i + 1);
    CHECK(rank == 0 || part == rank + 1);
    MPI_Waitall(before, open, MPI_STATUSES_IGNORE);
}

static void check_allgatherv(int bytes)
{
    char *whole = calloc((size_t)bytes * (size_t)size, 2), *block = malloc((size_t)bytes + 4);
    int counts[8], places[8];
    for (int i = 0; i < size; i++) counts[i] = bytes - i;
    for (int i = 0; i < size; i++) places[i] = 2 * bytes * i;
    memset(block, rank + 1, (size_t)bytes + 4);
    check_code(MPI_Allgatherv(block, counts[rank] + (rank == 0 ? 4 : 0), MPI_BYTE, whole, counts,
                              places, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) {
        const char *b = whole + places[i];
        CHECK(b[0] == i + 1 && b[counts[i] - 1] == i + 1 && b[counts[i]] == 0);
    }
    free(whole);
    free(block);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check_length(100);
    check_length(3000);
    check_length(300000);
    check_started(0);
    check_started(20);
    check_allgatherv(100);
    check_allgatherv(3000);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
