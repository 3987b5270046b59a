// SPDX-License-Identifier: BSD-3-Clause
// Keyvals and attributes of communicators, datatypes and windows, the attributes that
// communicators have from the start, and the first names of it all (MPI_Keyval_create,
// MPI_Attr_put, ...).
#include <limits.h>

#include "api/api.h"
#include "job/job.h"

// What leaving should report: the code that a callback returned, where it is one.
static int told(int rc, int user_error)
{
    return rc != 0 && user_error > 0 ? user_error : rc;
}

static int create_keyval(const char *call, enum shoal_attr_owner owner, shoal_attr_copy_fn *copy,
                         shoal_attr_delete_fn *drop, void *extra, int *keyval)
{
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(keyval, "keyval");
    if (rc == 0) rc = shoal_keyval_create(owner, copy, drop, extra, keyval);
    return shoal_leave(rc);
}

static int free_keyval(const char *call, enum shoal_attr_owner owner, int *keyval)
{
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_pointer(keyval, "keyval");
    if (rc == 0) rc = shoal_keyval_free(owner, *keyval);
    if (rc == 0) *keyval = MPI_KEYVAL_INVALID;
    return shoal_leave(rc);
}

// Reads an attribute that is stored in a list.
static int get_stored(const shoal_attrs *list, enum shoal_attr_owner owner, int keyval,
                      void *attribute_val, int *flag)
{
    void *value = NULL;
    bool found = false;
    int rc = shoal_attr_get(list, owner, keyval, &value, &found);
    if (rc != 0) return rc;
    *flag = found;
    if (found) *(void **)attribute_val = value;
    return 0;
}

static int arg_result(const void *attribute_val, const int *flag)
{
    int rc = shoal_arg_pointer(attribute_val, "attribute_val");
    return rc == 0 ? shoal_arg_pointer(flag, "flag") : rc;
}

// The attributes that every communicator has: the address of an int, or NULL for other keyvals.
static int *predefined_attribute(int keyval)
{
    static int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE;
    // One machine, one monotonic clock.
    static int wtime_is_global = 1;
    static int appnum, universe;
    switch (keyval) {
    case MPI_TAG_UB: return &tag_ub;
    case MPI_HOST: return &host;
    case MPI_IO: return &io;
    case MPI_WTIME_IS_GLOBAL: return &wtime_is_global;
    case MPI_LASTUSEDCODE: return shoal_errcode_last_used();
    case MPI_APPNUM: appnum = shoal_the_job.appnum; return &appnum;
    case MPI_UNIVERSE_SIZE:
        universe = (int)shoal_the_job.world.header->cores;
        if (universe < shoal_the_job.size) universe = shoal_the_job.size;
        return &universe;
    default: return NULL;
    }
}

static int comm_get(const char *call, MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    shoal_comm *c = NULL;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = arg_result(attribute_val, flag);
    if (rc == 0) {
        int *predefined = predefined_attribute(keyval);
        if (predefined) {
            *(void **)attribute_val = predefined;
            *flag = 1;
        } else {
            rc = get_stored(&c->attrs, SHOAL_ATTR_COMM, keyval, attribute_val, flag);
        }
    }
    return shoal_leave_comm(rc, c);
}

static int comm_set(const char *call, MPI_Comm comm, int keyval, void *attribute_val)
{
    shoal_comm *c = NULL;
    int user_error = 0;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0)
        rc = shoal_attr_set(&c->attrs, SHOAL_ATTR_COMM, comm, keyval, attribute_val, &user_error);
    return shoal_leave_comm(told(rc, user_error), c);
}

static int comm_delete(const char *call, MPI_Comm comm, int keyval)
{
    shoal_comm *c = NULL;
    int user_error = 0;
    int rc = shoal_enter(call);
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_attr_delete(&c->attrs, SHOAL_ATTR_COMM, comm, keyval, &user_error);
    return shoal_leave_comm(told(rc, user_error), c);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                            void *extra_state)
{
    return create_keyval("MPI_Comm_create_keyval", SHOAL_ATTR_COMM,
                         (shoal_attr_copy_fn *)comm_copy_attr_fn,
                         (shoal_attr_delete_fn *)comm_delete_attr_fn, extra_state, comm_keyval);
}

int PMPI_Comm_free_keyval(int *comm_keyval)
{
    return free_keyval("MPI_Comm_free_keyval", SHOAL_ATTR_COMM, comm_keyval);
}

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    return comm_set("MPI_Comm_set_attr", comm, comm_keyval, attribute_val);
}

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag)
{
    return comm_get("MPI_Comm_get_attr", comm, comm_keyval, attribute_val, flag);
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval)
{
    return comm_delete("MPI_Comm_delete_attr", comm, comm_keyval);
}

int PMPI_Keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                       void *extra_state)
{
    return create_keyval("MPI_Keyval_create", SHOAL_ATTR_COMM, (shoal_attr_copy_fn *)copy_fn,
                         (shoal_attr_delete_fn *)delete_fn, extra_state, keyval);
}

int PMPI_Keyval_free(int *keyval)
{
    return free_keyval("MPI_Keyval_free", SHOAL_ATTR_COMM, keyval);
}

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    return comm_set("MPI_Attr_put", comm, keyval, attribute_val);
}

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return comm_get("MPI_Attr_get", comm, keyval, attribute_val, flag);
}

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return comm_delete("MPI_Attr_delete", comm, keyval);
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    return create_keyval("MPI_Type_create_keyval", SHOAL_ATTR_TYPE,
                         (shoal_attr_copy_fn *)type_copy_attr_fn,
                         (shoal_attr_delete_fn *)type_delete_attr_fn, extra_state, type_keyval);
}

int PMPI_Type_free_keyval(int *type_keyval)
{
    return free_keyval("MPI_Type_free_keyval", SHOAL_ATTR_TYPE, type_keyval);
}

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    shoal_datatype *t = NULL;
    int user_error = 0;
    int rc = shoal_enter("MPI_Type_set_attr");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0)
        rc = shoal_attr_set(&t->attrs, SHOAL_ATTR_TYPE, datatype, type_keyval, attribute_val,
                            &user_error);
    return shoal_leave(told(rc, user_error));
}

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Type_get_attr");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = arg_result(attribute_val, flag);
    if (rc == 0) rc = get_stored(&t->attrs, SHOAL_ATTR_TYPE, type_keyval, attribute_val, flag);
    return shoal_leave(rc);
}

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    shoal_datatype *t = NULL;
    int user_error = 0;
    int rc = shoal_enter("MPI_Type_delete_attr");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0)
        rc = shoal_attr_delete(&t->attrs, SHOAL_ATTR_TYPE, datatype, type_keyval, &user_error);
    return shoal_leave(told(rc, user_error));
}

// The list of a window, as the layer that has windows tells it.
static int arg_win(MPI_Win win, shoal_attrs **out)
{
    const shoal_attr_win_ops *ops = shoal_attr_win();
    *out = ops ? ops->list(win) : NULL;
    if (*out) return 0;
    return shoal_fail(-MPI_ERR_WIN, "the window (%p) is null or names nothing that is alive",
                      (void *)win);
}

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
                           MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    return create_keyval("MPI_Win_create_keyval", SHOAL_ATTR_WIN,
                         (shoal_attr_copy_fn *)win_copy_attr_fn,
                         (shoal_attr_delete_fn *)win_delete_attr_fn, extra_state, win_keyval);
}

int PMPI_Win_free_keyval(int *win_keyval)
{
    return free_keyval("MPI_Win_free_keyval", SHOAL_ATTR_WIN, win_keyval);
}

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
    shoal_attrs *list = NULL;
    int user_error = 0;
    int rc = shoal_enter("MPI_Win_set_attr");
    if (rc == 0) rc = arg_win(win, &list);
    if (rc == 0)
        rc = shoal_attr_set(list, SHOAL_ATTR_WIN, win, win_keyval, attribute_val, &user_error);
    return shoal_leave(told(rc, user_error));
}

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    shoal_attrs *list = NULL;
    int rc = shoal_enter("MPI_Win_get_attr");
    if (rc == 0) rc = arg_win(win, &list);
    if (rc == 0) rc = arg_result(attribute_val, flag);
    if (rc == 0) {
        if (shoal_attr_win()->predefined(win, win_keyval, attribute_val))
            *flag = 1;
        else
            rc = get_stored(list, SHOAL_ATTR_WIN, win_keyval, attribute_val, flag);
    }
    return shoal_leave(rc);
}

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
    shoal_attrs *list = NULL;
    int user_error = 0;
    int rc = shoal_enter("MPI_Win_delete_attr");
    if (rc == 0) rc = arg_win(win, &list);
    if (rc == 0) rc = shoal_attr_delete(list, SHOAL_ATTR_WIN, win, win_keyval, &user_error);
    return shoal_leave(told(rc, user_error));
}

#include "weak_attr.h"
