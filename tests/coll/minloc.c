// SPDX-License-Identifier: BSD-3-Clause
// MPI_MINLOC and MPI_MAXLOC in every reduction, on pairs with and without holes, short and long:
// ranks have the smallest and the largest values in turn, and of equal ones the lower index counts.
// RANKS: 2 4
// TIMEOUT: 60
#include "coll_test.h"

enum { MOST = 20000 };
static int rank, size;

#define PAIR(name, value_type, mpi_type)                                                           \
    typedef struct {                                                                               \
        value_type value;                                                                          \
        int index;                                                                                 \
    } name;                                                                                        \
    static name name##_in[MOST], name##_out[MOST];                                                 \
    static void name##_fill(int n)                                                                 \
    {                                                                                              \
        for (int k = 0; k < n; k++) {                                                              \
            name##_in[k] =                                                                         \
                (name){.value = (value_type)((rank + k) % (size + 1) / 2), .index = rank};         \
            name##_out[k] = (name){.index = -1};                                                   \
        }                                                                                          \
    }                                                                                              \
    /* Of ranks 0 to `last`, from element `from` on. */                                            \
    static int name##_wrong(int from, int n, int last, int largest)                                \
    {                                                                                              \
        int bad = 0;                                                                               \
        for (int k = 0; k < n; k++) {                                                              \
            int best = 0, where = -1;                                                              \
            for (int r = 0; r <= last; r++) {                                                      \
                int v = (r + from + k) % (size + 1) / 2;                                           \
                if (where >= 0 && (largest ? v <= best : v >= best)) continue;                     \
                best = v;                                                                          \
                where = r;                                                                         \
            }                                                                                      \
            bad += name##_out[k].value != (value_type)best || name##_out[k].index != where;        \
        }                                                                                          \
        return bad;                                                                                \
    }                                                                                              \
    static void name##_test(MPI_Datatype type, int n, int largest)                                 \
    {                                                                                              \
        MPI_Op op = largest ? MPI_MAXLOC : MPI_MINLOC;                                             \
        int share = n / size;                                                                      \
        name##_fill(n);                                                                            \
        MPI_Allreduce(name##_in, name##_out, n, type, op, MPI_COMM_WORLD);                         \
        CHECK(name##_wrong(0, n, size - 1, largest) == 0);                                         \
        name##_fill(n);                                                                            \
        MPI_Reduce(name##_in, name##_out, n, type, op, 1, MPI_COMM_WORLD);                         \
        if (rank == 1) CHECK(name##_wrong(0, n, size - 1, largest) == 0);                          \
        name##_fill(n);                                                                            \
        MPI_Scan(name##_in, name##_out, n, type, op, MPI_COMM_WORLD);                              \
        CHECK(name##_wrong(0, n, rank, largest) == 0);                                             \
        name##_fill(n);                                                                            \
        MPI_Exscan(name##_in, name##_out, n, type, op, MPI_COMM_WORLD);                            \
        if (rank > 0) CHECK(name##_wrong(0, n, rank - 1, largest) == 0);                           \
        name##_fill(n);                                                                            \
        MPI_Reduce_scatter_block(name##_in, name##_out, share, type, op, MPI_COMM_WORLD);          \
        CHECK(name##_wrong(rank *share, share, size - 1, largest) == 0);                           \
    }                                                                                              \
    static void name##_all(void)                                                                   \
    {                                                                                              \
        static const int lengths[] = {4, 400, 8192, MOST};                                         \
        for (int i = 0; i < 8; i++) name##_test(mpi_type, lengths[i / 2], i % 2);                  \
    }

PAIR(float_int, float, MPI_FLOAT_INT)
PAIR(two_int, int, MPI_2INT)
PAIR(double_int, double, MPI_DOUBLE_INT)
PAIR(long_int, long, MPI_LONG_INT)
PAIR(short_int, short, MPI_SHORT_INT)
PAIR(long_double_int, long double, MPI_LONG_DOUBLE_INT)

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    float_int_all();
    two_int_all();
    double_int_all();
    long_int_all();
    short_int_all();
    long_double_int_all();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
