// SPDX-License-Identifier: BSD-3-Clause
// Callbacks of attributes and generalized requests take a lock which another thread holds while it
// calls MPI, as callbacks in Python take the interpreter's: neither may wait for the other.
//
// RANKS: 1 2
// TIMEOUT: 60
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "../../src/plat/test.h"

#define ROUNDS 300

static pthread_mutex_t interpreter = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int called, wrong;
static _Atomic int ended;

static int take_turn(void)
{
    pthread_mutex_lock(&interpreter);
    sched_yield(); // time for the other to come in between
    int rank = -1, ok = MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank >= 0;
    pthread_mutex_unlock(&interpreter);
    called++;
    return ok ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int pass_on(void *in, void *out, int *flag)
{
    *(void **)out = in;
    *flag = 1;
    return take_turn();
}

static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    return pass_on(in, out, flag);
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return take_turn();
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    return pass_on(in, out, flag);
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    return take_turn();
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    return take_turn();
}

static int release(void *extra)
{
    (void)extra;
    return take_turn();
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return take_turn();
}

static void attributes(int comm_key, int type_key)
{
    MPI_Comm comm, again;
    MPI_Datatype type, same;
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &comm) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, comm_key, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_attr(comm, comm_key, NULL) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(comm, &again) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&again) == MPI_SUCCESS);
    CHECK(MPI_Comm_delete_attr(comm, comm_key) == MPI_SUCCESS);
    CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
    CHECK(MPI_Type_contiguous(2, MPI_INT, &type) == MPI_SUCCESS);
    CHECK(MPI_Type_set_attr(type, type_key, NULL) == MPI_SUCCESS);
    CHECK(MPI_Type_dup(type, &same) == MPI_SUCCESS);
    CHECK(MPI_Type_free(&same) == MPI_SUCCESS);
    CHECK(MPI_Type_free(&type) == MPI_SUCCESS);
}

static void requests(void)
{
    MPI_Request r;
    MPI_Status status;
    int count = 0;
    CHECK(MPI_Grequest_start(query, release, cancel, NULL, &r) == MPI_SUCCESS);
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS);
    CHECK(MPI_Grequest_complete(r) == MPI_SUCCESS);
    CHECK(MPI_Wait(&r, &status) == MPI_SUCCESS);
    CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS && count == 3);
}

static void *hold_and_ask(void *none)
{
    while (!ended) wrong += take_turn() != MPI_SUCCESS;
    return none;
}

// Two threads set one attribute: each value but the last is deleted, and the last is the only one.
static void *set_shared(void *key)
{
    for (int i = 0; i < ROUNDS; i++)
        wrong += MPI_Comm_set_attr(MPI_COMM_SELF, *(int *)key, key) != 0;
    return NULL;
}

static void shared(int key)
{
    pthread_t other;
    int before = called, flag = 0;
    void *value = NULL;
    CHECK(pthread_create(&other, NULL, set_shared, &key) == 0);
    set_shared(&key);
    pthread_join(other, NULL);
    CHECK(called - before == 2 * ROUNDS - 1);
    CHECK(MPI_Comm_delete_attr(MPI_COMM_SELF, key) == MPI_SUCCESS);
    CHECK(MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &flag) == MPI_SUCCESS && !flag);
}

// One thread replaces an attribute while another copies it: what is copied has not been deleted.
static _Atomic int alive[4 * ROUNDS], made;

static _Atomic int *new_value(void)
{
    _Atomic int *v = &alive[made++];
    *v = 1;
    return v;
}

static int copy_value(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    int rc = take_turn();
    wrong += *(_Atomic int *)in != 1;
    *(void **)out = new_value();
    *flag = 1;
    return rc;
}

static int delete_value(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    wrong += atomic_fetch_sub((_Atomic int *)value, 1) != 1;
    return take_turn();
}

typedef struct replacing {
    MPI_Datatype type;
    int key;
} replacing;

static void *replace(void *what)
{
    replacing *r = what;
    for (int i = 0; i < ROUNDS; i++) wrong += MPI_Type_set_attr(r->type, r->key, new_value()) != 0;
    return NULL;
}

static void copied_and_replaced(void)
{
    pthread_t other;
    replacing r;
    MPI_Datatype copy;
    MPI_Type_contiguous(2, MPI_INT, &r.type);
    MPI_Type_create_keyval(copy_value, delete_value, &r.key, NULL);
    CHECK(pthread_create(&other, NULL, replace, &r) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        wrong += MPI_Type_dup(r.type, &copy) != 0;
        wrong += MPI_Type_free(&copy) != 0;
    }
    pthread_join(other, NULL);
    CHECK(MPI_Type_free(&r.type) == MPI_SUCCESS);
    MPI_Type_free_keyval(&r.key);
    int left = 0;
    for (int i = 0; i < made; i++) left += alive[i];
    CHECK(left == 0);
}

int main(int argc, char **argv)
{
    int level = 0, comm_key = 0, type_key = 0;
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    CHECK(level == MPI_THREAD_MULTIPLE);
    MPI_Comm_create_keyval(copy_comm, delete_comm, &comm_key, NULL);
    MPI_Type_create_keyval(copy_type, delete_type, &type_key, NULL);
    shared(comm_key);
    copied_and_replaced();
    CHECK(pthread_create(&other, NULL, hold_and_ask, NULL) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        attributes(comm_key, type_key);
        requests();
    }
    ended = 1;
    pthread_join(other, NULL);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Type_free_keyval(&type_key);
    MPI_Finalize();
    CHECK(wrong == 0);
    return SHOAL_TEST_RESULT();
}
