// SPDX-License-Identifier: BSD-3-Clause
// Reductions in every form: predefined operations, a commutative user's operation, and one that
// does not commute (products of 2x2 matrices), on plain and on derived datatypes, in place and not;
// compared with the serial computation in the order of ranks. Sums of floating-point numbers must
// have the same bits on every rank and in every repetition. SHOAL_COLL chooses the algorithm
// (algorithms_test.py).
//
// RANKS: 1 2 3 4 7 8
#include "coll_test.h"

static int rank, size, round_;

// An operation with all that is needed to compute its result serially.
typedef struct operation {
    MPI_Op op;
    int which; // shape of the datatype it works on
    void (*serial)(int *left_and_result, const int *right, int64_t ints);
} operation;

static void serial_sum(int *x, const int *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] += y[i];
}

static void serial_max(int *x, const int *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] = x[i] > y[i] ? x[i] : y[i];
}

#define PRIME 10007

static void multiply(const int *a, const int *b, int *out)
{
    int c[4] = {(a[0] * b[0] + a[1] * b[2]) % PRIME, (a[0] * b[1] + a[1] * b[3]) % PRIME,
                (a[2] * b[0] + a[3] * b[2]) % PRIME, (a[2] * b[1] + a[3] * b[3]) % PRIME};
    memcpy(out, c, sizeof c);
}

static void serial_matrix(int *x, const int *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += 4) multiply(x + i, y + i, x + i);
}

// A user's function finds the ints of an element through the shape of the datatype it is given.
static const shape *shape_of(MPI_Datatype t)
{
    for (int i = 0; i < SHAPES; i++)
        if (shapes[i].type == t) return &shapes[i];
    CHECK(0 && "the user's function got a datatype that the call did not have");
    return &shapes[INT];
}

static void take_out(const int *buf, const shape *s, int64_t count, int *out)
{
    for (int64_t k = 0; k < count * s->n; k++) out[k] = buf[k / s->n * s->extent + s->at[k % s->n]];
}

static void put_back(int *buf, const shape *s, int64_t count, const int *in)
{
    for (int64_t k = 0; k < count * s->n; k++) buf[k / s->n * s->extent + s->at[k % s->n]] = in[k];
}

static void apply(const void *in, void *inout, int64_t count, MPI_Datatype t,
                  void (*serial)(int *, const int *, int64_t))
{
    const shape *s = shape_of(t);
    size_t bytes = (size_t)(count * s->n) * sizeof(int);
    int *x = malloc(bytes + 1), *y = malloc(bytes + 1);
    take_out(in, s, count, x);
    take_out(inout, s, count, y);
    serial(x, y, count * s->n);
    put_back(inout, s, count, x);
    free(x);
    free(y);
}

static void user_sum(void *in, void *inout, int *len, MPI_Datatype *t)
{
    apply(in, inout, *len, *t, serial_sum);
}

static void user_matrix(void *in, void *inout, MPI_Count *len, MPI_Datatype *t)
{
    apply(in, inout, *len, *t, serial_matrix);
}

static operation operations[6];
#define OPERATIONS (int)(sizeof operations / sizeof operations[0])

static void operations_make(void)
{
    MPI_Op sum, matrix;
    MPI_Op_create(user_sum, 1, &sum);
    MPI_Op_create_c(user_matrix, 0, &matrix);
    operations[0] = (operation){MPI_SUM, INT, serial_sum};
    operations[1] = (operation){MPI_MAX, INT, serial_max};
    operations[2] = (operation){sum, PADDED, serial_sum};
    operations[3] = (operation){sum, BELOW, serial_sum};
    operations[4] = (operation){matrix, QUAD, serial_matrix};
    operations[5] = (operation){matrix, QUAD_APART, serial_matrix};
}

// The ints of ranks first..last combined, of a vector of `ints` ints.
static int *expected(const operation *o, int first, int last, int64_t ints)
{
    int *sum = malloc((size_t)ints * sizeof(int) + 1),
        *one = malloc((size_t)ints * sizeof(int) + 1);
    for (int r = first; r <= last; r++) {
        for (int64_t k = 0; k < ints; k++) one[k] = value(round_, r, k);
        if (r == first)
            memcpy(sum, one, (size_t)ints * sizeof(int));
        else
            o->serial(sum, one, ints);
    }
    free(one);
    return sum;
}

static void check_result(const buffer *b, const int *want, int64_t from, int64_t ints)
{
    int64_t bad = 0;
    for (int64_t k = 0; k < ints; k++) bad += *datum(b, k) != want[from + k];
    CHECK(bad == 0);
    check_guards(b);
}

static void reduce(int form, const operation *o, int64_t count, int root, int in_place)
{
    buffer s = buffer_new(o->which, count), r = buffer_new(o->which, count);
    int here = in_place && rank == root;
    buffer_fill(here ? &r : &s, round_, rank, 0);
    int *want = expected(o, 0, size - 1, data_count(&s));
    DO(form, here || in_place ? 1 : 2, Reduce, reduce, here ? MPI_IN_PLACE : s.at, r.at, (int)count,
       s.s->type, o->op, root, MPI_COMM_WORLD);
    if (rank == root)
        check_result(&r, want, 0, data_count(&r));
    else
        check_untouched(&r, 0, data_count(&r));
    if (!here) check_data(&s, 0, data_count(&s), round_, rank, 0);
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

static void allreduce(int form, const operation *o, int64_t count, int in_place)
{
    buffer s = buffer_new(o->which, count), r = buffer_new(o->which, count);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    int *want = expected(o, 0, size - 1, data_count(&s));
    DO(form, in_place ? 1 : 2, Allreduce, allreduce, in_place ? MPI_IN_PLACE : s.at, r.at,
       (int)count, s.s->type, o->op, MPI_COMM_WORLD);
    check_result(&r, want, 0, data_count(&r));
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

static void scan(int form, const operation *o, int64_t count, int in_place)
{
    buffer s = buffer_new(o->which, count), r = buffer_new(o->which, count);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    int *want = expected(o, 0, rank, data_count(&s));
    DO(form, in_place ? 1 : 2, Scan, scan, in_place ? MPI_IN_PLACE : s.at, r.at, (int)count,
       s.s->type, o->op, MPI_COMM_WORLD);
    check_result(&r, want, 0, data_count(&r));
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

static void exscan(int form, const operation *o, int64_t count, int in_place)
{
    buffer s = buffer_new(o->which, count), r = buffer_new(o->which, count);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    DO(form, in_place ? 1 : 2, Exscan, exscan, in_place ? MPI_IN_PLACE : s.at, r.at, (int)count,
       s.s->type, o->op, MPI_COMM_WORLD);
    int *want = expected(o, 0, rank ? rank - 1 : 0, data_count(&s));
    if (rank > 0)
        check_result(&r, want, 0, data_count(&r));
    else if (!in_place)
        check_untouched(&r, 0, data_count(&r));
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

static void reduce_scatter(int form, const operation *o, int64_t count, int in_place)
{
    int counts[64];
    int64_t all = 0, before = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i % 4 == 2 ? 0 : (int)(count + i % 3 * (count > 0));
        if (i < rank) before += counts[i];
        all += counts[i];
    }
    buffer s = buffer_new(o->which, all), r = buffer_new(o->which, in_place ? all : counts[rank]);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    int n = s.s->n, *want = expected(o, 0, size - 1, all * n);
    DO(form, in_place ? 1 : 2, Reduce_scatter, reduce_scatter, in_place ? MPI_IN_PLACE : s.at, r.at,
       counts, s.s->type, o->op, MPI_COMM_WORLD);
    check_result(&r, want, before * n, (int64_t)counts[rank] * n);
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

static void reduce_scatter_block(int form, const operation *o, int64_t count, int in_place)
{
    buffer s = buffer_new(o->which, count * size),
           r = buffer_new(o->which, in_place ? count * size : count);
    buffer_fill(in_place ? &r : &s, round_, rank, 0);
    int n = s.s->n, *want = expected(o, 0, size - 1, count * size * n);
    DO(form, in_place ? 1 : 2, Reduce_scatter_block, reduce_scatter_block,
       in_place ? MPI_IN_PLACE : s.at, r.at, (int)count, s.s->type, o->op, MPI_COMM_WORLD);
    check_result(&r, want, rank * count * n, count * n);
    free(want);
    buffer_free(&s);
    buffer_free(&r);
}

// Sums whose result depends on the order of adding: all ranks and all repetitions of a form must
// give the bits that rank 0 got the first time.
static void same_bits(int form, int count)
{
    size_t bytes = (size_t)count * sizeof(double);
    double *in = malloc(bytes), *out = malloc(bytes), *first = malloc(bytes);
    for (int i = 0; i < count; i++) in[i] = (value(1, rank, i) - 48) * (i % 2 ? 1e17 : 1e-3) / 7;
    for (int repeat = 0; repeat < 3; repeat++) {
        DO(form, 1, Allreduce, allreduce, in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (repeat == 0) memcpy(first, out, bytes);
        MPI_Bcast(first, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        CHECK(memcmp(first, out, bytes) == 0);
    }
    free(in);
    free(out);
    free(first);
}

int main(int argc, char **argv)
{
    static const int64_t counts[] = {0, 1, 6, 500, 9001};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shapes_make();
    operations_make();
    for (int form = 0; form < FORMS; form++) {
        for (int k = 0; k < OPERATIONS; k++) {
            for (int c = 0; c < 5; c++) {
                const operation *o = &operations[k];
                int64_t n = counts[c];
                int in_place = (k + c + form) % 2, root = (k * 5 + c + form) % size;
                if (n > 1000 && k % 3 != form) continue; // large ones once: they take the time
                round_++;
                reduce(form, o, n, root, in_place);
                allreduce(form, o, n, in_place);
                scan(form, o, n, in_place);
                exscan(form, o, n, in_place);
                reduce_scatter(form, o, n, in_place);
                reduce_scatter_block(form, o, n, in_place);
            }
        }
    }
    for (int form = 0; form < FORMS; form++) {
        same_bits(form, 3);
        same_bits(form, 2000);
        same_bits(form, 50000);
    }
    MPI_Op_free(&operations[2].op);
    MPI_Op_free(&operations[4].op);
    shapes_free();
    int failed = world_result();
    MPI_Finalize();
    return failed;
}
