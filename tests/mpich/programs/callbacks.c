// SPDX-License-Identifier: BSD-3-Clause
// Callbacks through the MPICH ABI: each must see the handles and codes of this interface.
#include "check.h"

static MPI_Datatype seen_type;
static MPI_Comm seen_comm;
static int calls, seen_class, seen_keyval;

// Writes numbers one behind the other: a pair is a power of ten and a number of so many digits.
// The order matters, where the parentheses are does not.
static void append(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    for (int i = 0; i < 2 * *len; i += 2) {
        b[i + 1] += a[i + 1] * b[i];
        b[i] *= a[i];
    }
    seen_type = *type;
    calls++;
}

static void add_ints(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    for (MPI_Count i = 0; i < *len; i++) b[i] += a[i];
    seen_type = *type;
    calls++;
}

static void operations(void)
{
    MPI_Op op, large;
    MPI_Datatype pair;
    int commutes = -1;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(append, 0, &op));
    OK(MPI_Op_create_c(add_ints, 1, &large));
    CHECK(op != MPI_OP_NULL && op != large && MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    OK(MPI_Op_commutative(op, &commutes));
    CHECK(commutes == 0);
    int a[4] = {10, 2, 10, 4}, b[4] = {10, 6, 100, 18};
    OK(MPI_Reduce_local(a, b, 2, pair, op));
    CHECK(calls == 1 && seen_type == pair && b[0] == 100 && b[1] == 26 && b[3] == 418);
    OK(MPI_Reduce_local(a, b, 4, MPI_INT, large));
    CHECK(calls == 2 && seen_type == MPI_INT && b[0] == 110);
    int digit[2] = {10, my_rank + 1}, number[2] = {0, 0}, want = 0;
    for (int i = 0; i < my_size; i++) want = 10 * want + i + 1;
    OK(MPI_Allreduce(digit, number, 1, pair, op, MPI_COMM_WORLD));
    CHECK(number[1] == want);
    OK(MPI_Allreduce(MPI_IN_PLACE, digit, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    CHECK(digit[0] == 10 && digit[1] == my_size);
    struct {
        double value;
        int rank;
    } mine = {1.5 * my_rank, my_rank}, best;
    OK(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(best.rank == my_size - 1);
    FAILS(MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_OP);
    FAILS(MPI_Reduce_local(a, b, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&large));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Type_free(&pair));
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    seen_comm = *comm;
    MPI_Error_class(*code, &seen_class);
    calls++;
}

static void error_handlers(void)
{
    MPI_Errhandler handler, got;
    MPI_Comm dup;
    int x = 0;
    OK(MPI_Comm_create_errhandler(on_error, &handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, handler));
    OK(MPI_Comm_get_errhandler(dup, &got));
    CHECK(got == handler);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    calls = 0;
    FAILS(MPI_Send(&x, 1, MPI_INT, my_size + 5, 0, dup), MPI_ERR_RANK);
    CHECK(calls == 1 && seen_comm == dup && seen_class == MPI_ERR_RANK);
    OK(MPI_Comm_call_errhandler(dup, MPI_ERR_TOPOLOGY));
    CHECK(calls == 2 && seen_class == MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_Comm_free(&dup));
    CHECK(dup == MPI_COMM_NULL);
}

static int copies(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    seen_comm = comm;
    seen_keyval = keyval;
    *(void **)out = (char *)in + 1;
    *flag = *(int *)extra;
    calls++;
    return MPI_SUCCESS;
}

static int deletes(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)value;
    (void)extra;
    seen_comm = comm;
    seen_keyval = keyval;
    calls += 100;
    return MPI_SUCCESS;
}

// Refuses the first time.
static int refuses(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    int *refused = extra;
    return (*refused)++ ? MPI_SUCCESS : MPI_ERR_ARG;
}

static void attributes(void)
{
    int keyval, dup_keyval, null_keyval, refusing, wanted = 1, flag = 0, refused = 0;
    void *value = NULL;
    MPI_Comm dup;
    OK(MPI_Comm_create_keyval(copies, deletes, &keyval, &wanted));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_keyval, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_keyval, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuses, &refusing, &refused));
    CHECK(keyval != MPI_KEYVAL_INVALID && keyval != dup_keyval);
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void *)64));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, dup_keyval, (void *)65));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, null_keyval, (void *)66));
    calls = 0;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    CHECK(calls == 1 && seen_comm == MPI_COMM_SELF && seen_keyval == keyval);
    OK(MPI_Comm_get_attr(dup, keyval, &value, &flag));
    CHECK(flag && value == (void *)65);
    OK(MPI_Comm_get_attr(dup, dup_keyval, &value, &flag));
    CHECK(flag && value == (void *)65);
    OK(MPI_Comm_get_attr(dup, null_keyval, &value, &flag));
    CHECK(!flag);
    MPI_Comm handle = dup;
    OK(MPI_Comm_free(&dup));
    CHECK(calls == 101 && seen_comm == handle && seen_keyval == keyval);
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, refusing, NULL));
    FAILS(MPI_Comm_delete_attr(MPI_COMM_SELF, refusing), MPI_ERR_ARG);
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, refusing));
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, dup_keyval));
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, null_keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK(keyval == MPI_KEYVAL_INVALID);
    FAILS(MPI_Comm_get_attr(MPI_COMM_SELF, 12345, &value, &flag), MPI_ERR_KEYVAL);
    int *number;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag));
    CHECK(flag && *number >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &number, &flag));
    CHECK(!flag || *number == MPI_ANY_SOURCE || *number == my_rank);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &number, &flag));
    CHECK(!flag || *number == MPI_PROC_NULL);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &number, &flag));
    CHECK(flag && *number >= MPI_ERR_LASTCODE);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag));
    CHECK(flag);
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_TAG = 99;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    *(int *)extra = -1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    calls += complete ? 1 : 1000;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state = 12, count = 0, flag = 1;
    MPI_Request request, copy;
    MPI_Status s;
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    copy = request;
    OK(MPI_Test(&request, &flag, &s));
    CHECK(!flag);
    calls = 0;
    OK(MPI_Cancel(&request));
    CHECK(calls == 1000);
    OK(MPI_Grequest_complete(copy));
    OK(MPI_Wait(&request, &s));
    OK(MPI_Get_count(&s, MPI_INT, &count));
    CHECK(count == 12 && s.MPI_SOURCE == MPI_PROC_NULL && s.MPI_TAG == 99 && state == -1);
}

static void codes(void)
{
    int class = 0, code = 0, back = 0, length = 0, flag = 0, *last;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    CHECK(class > MPI_ERR_LASTCODE && code > class);
    OK(MPI_Add_error_string(code, "out of cheese"));
    OK(MPI_Error_class(code, &back));
    CHECK(back == class);
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "out of cheese") == 0);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last == code);
    for (int c = MPI_SUCCESS; c <= MPI_ERR_RMA_FLAVOR; c++) {
        if (c == 54) continue; // no such class
        OK(MPI_Error_class(c, &back));
        OK(MPI_Error_string(c, text, &length));
        CHECK(back == c && length > 0);
    }
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
    CHECK(strstr(text, "TRUNCATE") != NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    operations();
    error_handlers();
    attributes();
    generalized();
    codes();
    return finish();
}
