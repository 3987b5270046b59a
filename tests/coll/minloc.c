// SPDX-License-Identifier: BSD-3-Clause
// MPI_MINLOC and MPI_MAXLOC in every reduction, on pairs with and without holes, short and long:
// ranks have the smallest and the largest values in turn, and of equal ones the lower index counts.
// RANKS: 2 4
// TIMEOUT: 60
#include "coll_test.h"

enum { MOST = 20000 };
static int rank, size;
static _Alignas(long double) char in[MOST * 32], out[MOST * 32];

typedef struct kind {
    MPI_Datatype type;
    void (*set)(void *pairs, int k, int v, int where);
    int (*is)(const void *pairs, int k, int v, int where);
} kind;

#define ACCESS(name, value_type)                                                                   \
    typedef struct {                                                                               \
        value_type v;                                                                              \
        int where;                                                                                 \
    } name;                                                                                        \
    static void set_##name(void *pairs, int k, int v, int where)                                   \
    {                                                                                              \
        ((name *)pairs)[k] = (name){.v = (value_type)v, .where = where};                           \
    }                                                                                              \
    static int is_##name(const void *pairs, int k, int v, int where)                               \
    {                                                                                              \
        const name *p = (const name *)pairs + k;                                                   \
        return p->v == (value_type)v && p->where == where;                                         \
    }

ACCESS(of_float, float)
ACCESS(of_int, int)
ACCESS(of_double, double)
ACCESS(of_long, long)
ACCESS(of_short, short)
ACCESS(of_long_double, long double)

static int number(int r, int k)
{
    return (r + k) % (size + 1) / 2;
}

static void fill(const kind *t, int n)
{
    for (int k = 0; k < n; k++) {
        t->set(in, k, number(rank, k), rank);
        t->set(out, k, 0, -1);
    }
}

// The result of ranks 0 to `last`, whose first element is number `from`.
static void check(const kind *t, int from, int n, int last, int largest)
{
    int bad = 0;
    for (int k = 0; k < n; k++) {
        int best = 0;
        for (int r = 1; r <= last; r++) {
            int v = number(r, from + k), than = number(best, from + k);
            if (largest ? v > than : v < than) best = r;
        }
        bad += !t->is(out, k, number(best, from + k), best);
    }
    CHECK(bad == 0);
}

static void reductions(const kind *t, int n, int largest)
{
    MPI_Op op = largest ? MPI_MAXLOC : MPI_MINLOC;
    int share = n / size;
    fill(t, n);
    MPI_Allreduce(in, out, n, t->type, op, MPI_COMM_WORLD);
    check(t, 0, n, size - 1, largest);
    fill(t, n);
    MPI_Reduce(in, out, n, t->type, op, 1, MPI_COMM_WORLD);
    if (rank == 1) check(t, 0, n, size - 1, largest);
    fill(t, n);
    MPI_Scan(in, out, n, t->type, op, MPI_COMM_WORLD);
    check(t, 0, n, rank, largest);
    fill(t, n);
    MPI_Exscan(in, out, n, t->type, op, MPI_COMM_WORLD);
    if (rank > 0) check(t, 0, n, rank - 1, largest);
    fill(t, n);
    MPI_Reduce_scatter_block(in, out, share, t->type, op, MPI_COMM_WORLD);
    check(t, rank * share, share, size - 1, largest);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {4, 400, 8192, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const kind kinds[] = {{MPI_FLOAT_INT, set_of_float, is_of_float},
                          {MPI_2INT, set_of_int, is_of_int},
                          {MPI_DOUBLE_INT, set_of_double, is_of_double},
                          {MPI_LONG_INT, set_of_long, is_of_long},
                          {MPI_SHORT_INT, set_of_short, is_of_short},
                          {MPI_LONG_DOUBLE_INT, set_of_long_double, is_of_long_double}};
    for (int t = 0; t < 6; t++)
        for (int i = 0; i < 8; i++) reductions(&kinds[t], lengths[i / 2], i % 2);
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
