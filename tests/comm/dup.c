// SPDX-License-Identifier: BSD-3-Clause
// Duplicating communicators: what goes along and what does not, non-blocking duplicates in any
// number, and callbacks that refuse.
// RANKS: 1 2 3 4 8
#include <string.h>

#include "check.h"

static int copies, deletes;

static int copy_fn(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_fn(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int refuse_fn(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_KEYVAL;
}

static void simple(MPI_Comm base)
{
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1, inter = 1;
    CHECK(MPI_Comm_dup(base, &a) == 0 && MPI_Comm_dup(a, &b) == 0);
    CHECK(compare(a, a) == MPI_IDENT && compare(a, b) == MPI_CONGRUENT);
    CHECK(compare(base, b) == MPI_CONGRUENT);
    CHECK(MPI_Comm_get_errhandler(b, &handler) == 0 && handler == MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_get_name(b, name, &length) == 0 && length == 0 && name[0] == 0);
    CHECK(MPI_Comm_set_name(b, "mine") == 0 && MPI_Comm_get_name(b, name, &length) == 0);
    CHECK(length == 4 && strcmp(name, "mine") == 0);
    CHECK(MPI_Comm_test_inter(b, &inter) == 0 && !inter);
    // The same source, tag and size on three communicators: they do not mix.
    int rank = rank_of(base), out[3] = {1, 2, 3}, in[3] = {0, 0, 0};
    MPI_Request r[3];
    CHECK(MPI_Irecv(&in[2], 1, MPI_INT, rank, 0, b, &r[2]) == 0);
    CHECK(MPI_Irecv(&in[0], 1, MPI_INT, rank, 0, base, &r[0]) == 0);
    CHECK(MPI_Irecv(&in[1], 1, MPI_INT, rank, 0, a, &r[1]) == 0);
    CHECK(MPI_Send(&out[0], 1, MPI_INT, rank, 0, base) == 0);
    CHECK(MPI_Send(&out[1], 1, MPI_INT, rank, 0, a) == 0);
    CHECK(MPI_Send(&out[2], 1, MPI_INT, rank, 0, b) == 0);
    CHECK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE) == 0);
    CHECK(in[0] == 1 && in[1] == 2 && in[2] == 3);
    ring(a, 11);
    ring(b, 12);
    CHECK(MPI_Comm_free(&a) == 0 && a == MPI_COMM_NULL);
    ring(b, 13);
    CHECK(MPI_Comm_free(&b) == 0);
}

static void attributes(MPI_Comm base)
{
    MPI_Comm a, b, refused = MPI_COMM_NULL;
    MPI_Request request;
    int key, bad_key, flag = 0;
    char *value = NULL;
    static char cells[4];
    CHECK(MPI_Comm_create_keyval(copy_fn, delete_fn, &key, NULL) == 0);
    CHECK(MPI_Comm_create_keyval(refuse_fn, delete_fn, &bad_key, NULL) == 0);
    copies = deletes = 0;
    CHECK(MPI_Comm_dup(base, &a) == 0);
    CHECK(MPI_Comm_set_attr(a, key, cells) == 0);
    CHECK(MPI_Comm_idup(a, &b, &request) == 0 && copies == 1);
    // What changes after the call does not go along.
    CHECK(MPI_Comm_set_attr(a, key, cells + 3) == 0 && deletes == 1);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    CHECK(MPI_Comm_get_attr(b, key, &value, &flag) == 0 && flag && value == cells + 1);
    CHECK(MPI_Comm_free(&b) == 0 && deletes == 2);
    CHECK(MPI_Comm_dup(a, &b) == 0 && copies == 2);
    CHECK(MPI_Comm_free(&b) == 0 && deletes == 3);
    // One rank's callback fails: that rank gets the error, the others their communicator.
    bool fails = rank_of(a) == 0;
    if (fails) CHECK(MPI_Comm_set_attr(a, bad_key, cells) == 0);
    int code = MPI_Comm_dup(a, &refused);
    CHECK(fails ? class_of(code) == MPI_ERR_KEYVAL && refused == MPI_COMM_NULL : code == 0);
    if (!fails) CHECK(MPI_Comm_free(&refused) == 0);
    request = MPI_REQUEST_NULL;
    code = MPI_Comm_idup(a, &refused, &request);
    CHECK(fails ? class_of(code) == MPI_ERR_KEYVAL : code == 0);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    if (!fails) CHECK(MPI_Comm_free(&refused) == 0);
    ring(a, 3);
    CHECK(MPI_Comm_free(&a) == 0);
    CHECK(MPI_Comm_free_keyval(&key) == 0 && MPI_Comm_free_keyval(&bad_key) == 0);
}

// Rank 0 starts last, and the others can do other things meanwhile; completed in reverse order.
static void several(MPI_Comm base)
{
    enum { MANY = 20 };
    MPI_Comm comms[MANY], copy = MPI_COMM_NULL;
    MPI_Request requests[MANY];
    int rank = rank_of(base), size = size_of(base), done = 1, token = 0;
    CHECK(MPI_Comm_dup(base, &copy) == 0);
    if (rank == 0)
        for (int i = 1; i < size; i++)
            CHECK(MPI_Recv(&token, 1, MPI_INT, i, 1, base, MPI_STATUS_IGNORE) == 0);
    for (int i = 0; i < MANY; i++) CHECK(MPI_Comm_idup(copy, &comms[i], &requests[i]) == 0);
    if (rank != 0 && size > 1) {
        CHECK(MPI_Test(&requests[MANY - 1], &done, MPI_STATUS_IGNORE) == 0 && !done);
        CHECK(MPI_Send(&token, 1, MPI_INT, 0, 1, base) == 0);
    }
    // The parent may be freed while its duplicates are under way.
    CHECK(MPI_Comm_free(&copy) == 0);
    for (int i = MANY - 1; i >= 0; i--) CHECK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE) == 0);
    for (int i = 0; i < MANY; i++) ring(comms[i], 100 + i);
    for (int i = 0; i < MANY; i++) CHECK(compare(comms[i], base) == MPI_CONGRUENT);
    for (int i = 0; i < MANY; i++) CHECK(MPI_Comm_free(&comms[i]) == 0);
}

static bool hint_is(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[32] = "";
    int flag = 0, room = (int)sizeof value;
    CHECK(MPI_Comm_get_info(comm, &info) == 0 && info != MPI_INFO_NULL);
    CHECK(MPI_Info_get_string(info, key, &room, value, &flag) == 0);
    CHECK(MPI_Info_free(&info) == 0);
    return expected ? flag && strcmp(value, expected) == 0 : !flag;
}

static void hints(MPI_Comm base)
{
    MPI_Comm a, b;
    MPI_Info info;
    MPI_Request request;
    CHECK(MPI_Info_create(&info) == 0);
    CHECK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true") == 0);
    CHECK(MPI_Info_set(info, "mpi_assert_exact_length", "maybe") == 0);
    CHECK(MPI_Info_set(info, "no_such_hint", "1") == 0);
    CHECK(MPI_Comm_dup_with_info(base, info, &a) == 0);
    CHECK(hint_is(a, "mpi_assert_no_any_tag", "true"));
    CHECK(hint_is(a, "mpi_assert_exact_length", "false"));
    CHECK(hint_is(a, "mpi_assert_allow_overtaking", "false"));
    CHECK(hint_is(a, "no_such_hint", NULL));
    CHECK(MPI_Comm_dup(a, &b) == 0 && hint_is(b, "mpi_assert_no_any_tag", "false"));
    CHECK(MPI_Comm_set_info(b, info) == 0 && hint_is(b, "mpi_assert_no_any_tag", "true"));
    CHECK(MPI_Comm_free(&b) == 0);
    CHECK(MPI_Comm_idup_with_info(base, info, &b, &request) == 0);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    CHECK(hint_is(b, "mpi_assert_no_any_tag", "true"));
    CHECK(MPI_Info_free(&info) == 0 && MPI_Comm_free(&a) == 0 && MPI_Comm_free(&b) == 0);
}

static void mistakes(MPI_Comm base)
{
    MPI_Comm a = MPI_COMM_NULL, gone, world = MPI_COMM_WORLD;
    MPI_Request request;
    CHECK(class_of(MPI_Comm_dup(MPI_COMM_NULL, &a)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_dup(base, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_get_name(MPI_COMM_NULL, NULL, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_idup(base, &a, NULL)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Comm_dup_with_info(base, (MPI_Info)(void *)12345, &a)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Comm_set_info(base, MPI_INFO_NULL)) == MPI_ERR_INFO);
    CHECK(class_of(MPI_Comm_free(&world)) == MPI_ERR_COMM && world == MPI_COMM_WORLD);
    CHECK(class_of(MPI_Comm_free(&a)) == MPI_ERR_COMM);
    CHECK(MPI_Comm_dup(base, &a) == 0);
    gone = a;
    CHECK(MPI_Comm_free(&a) == 0);
    CHECK(class_of(MPI_Comm_dup(gone, &a)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Comm_free(&gone)) == MPI_ERR_COMM);
    CHECK(MPI_Comm_get_parent(&a) == 0 && a == MPI_COMM_NULL);
    CHECK(MPI_Comm_idup(MPI_COMM_SELF, &a, &request) == 0 &&
          MPI_Wait(&request, MPI_STATUS_IGNORE) == 0);
    CHECK(compare(a, MPI_COMM_SELF) == MPI_CONGRUENT && MPI_Comm_disconnect(&a) == 0 &&
          a == MPI_COMM_NULL);
}

// Freed with operations under way: they end well. Disconnecting waits for them.
static void pending(MPI_Comm base)
{
    MPI_Comm a;
    MPI_Request send, recv;
    int rank = rank_of(base), size = size_of(base), got = -1;
    CHECK(MPI_Comm_dup(base, &a) == 0);
    CHECK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, a, &recv) == 0);
    CHECK(MPI_Issend(&rank, 1, MPI_INT, (rank + 1) % size, 7, a, &send) == 0);
    CHECK(MPI_Comm_free(&a) == 0);
    CHECK(MPI_Wait(&recv, MPI_STATUS_IGNORE) == 0 && got == (rank + size - 1) % size);
    CHECK(MPI_Wait(&send, MPI_STATUS_IGNORE) == 0);
    got = -1;
    CHECK(MPI_Comm_dup(base, &a) == 0);
    CHECK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 7, a, &recv) == 0);
    CHECK(MPI_Issend(&rank, 1, MPI_INT, (rank + 1) % size, 7, a, &send) == 0);
    CHECK(MPI_Comm_disconnect(&a) == 0 && a == MPI_COMM_NULL);
    int done = 0;
    CHECK(got == (rank + size - 1) % size);
    CHECK(MPI_Request_get_status(send, &done, MPI_STATUS_IGNORE) == 0 && done);
    CHECK(MPI_Wait(&recv, MPI_STATUS_IGNORE) == 0 && MPI_Wait(&send, MPI_STATUS_IGNORE) == 0);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    simple(MPI_COMM_WORLD);
    simple(MPI_COMM_SELF);
    attributes(MPI_COMM_WORLD);
    several(MPI_COMM_WORLD);
    hints(MPI_COMM_WORLD);
    mistakes(MPI_COMM_WORLD);
    pending(MPI_COMM_WORLD);
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
