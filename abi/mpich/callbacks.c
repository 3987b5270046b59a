// SPDX-License-Identifier: BSD-3-Clause
// Functions that take a user's callback: the engine gets one of ours, which converts and calls the
// user's. Where MPI hands the callback an extra state, ours finds there what to call; operations
// and error handlers keep the way to call them in the engine's object (core/door.h).
#include <pthread.h>
#include <stdlib.h>

#include "mpich/door.h"

typedef shoal_door_user_fn any_fn;

// Operations.

static void call_op(any_fn *user, void *in, void *inout, MPI_Count n, MPI_Datatype type)
{
    int len = (int)n;
    mpich_Datatype datatype = datatype_out(type);
    ((mpich_User_function *)user)(in, inout, &len, &datatype);
}

static void call_op_c(any_fn *user, void *in, void *inout, MPI_Count n, MPI_Datatype type)
{
    mpich_Datatype datatype = datatype_out(type);
    ((mpich_User_function_c *)user)(in, inout, &n, &datatype);
}

static int give_op(int err, MPI_Op made, shoal_door_op_fn *door, mpich_Op *op)
{
    if (err == MPI_SUCCESS && made != MPI_OP_NULL) err = engine.set_op_door(made, door);
    if (err == MPI_SUCCESS && op != NULL) *op = op_out(made);
    return error_out(err);
}

int PMPI_Op_create(mpich_User_function *user_fn, int commute, mpich_Op *op)
{
    MPI_Op made = MPI_OP_NULL;
    MPI_User_function *function = (MPI_User_function *)(any_fn *)user_fn;
    int err = engine.MPI_Op_create(function, commute, op != NULL ? &made : NULL);
    return give_op(err, made, call_op, op);
}

int PMPI_Op_create_c(mpich_User_function_c *user_fn, int commute, mpich_Op *op)
{
    MPI_Op made = MPI_OP_NULL;
    MPI_User_function_c *function = (MPI_User_function_c *)(any_fn *)user_fn;
    int err = engine.MPI_Op_create_c(function, commute, op != NULL ? &made : NULL);
    return give_op(err, made, call_op_c, op);
}

// Error handlers.

static void call_errhandler(any_fn *user, int kind, void *handle_address, int *code)
{
    int before = error_out(*code), after = before;
    if (kind == SHOAL_KIND_WIN) {
        mpich_Win win = win_out(*(MPI_Win *)handle_address);
        ((mpich_Win_errhandler_function *)user)(&win, &after);
    } else if (kind == SHOAL_KIND_FILE) {
        mpich_File file = file_out(*(MPI_File *)handle_address);
        ((mpich_File_errhandler_function *)user)(&file, &after);
    } else if (kind == SHOAL_KIND_SESSION) {
        mpich_Session session = session_out(*(MPI_Session *)handle_address);
        ((mpich_Session_errhandler_function *)user)(&session, &after);
    } else {
        mpich_Comm comm = comm_out(*(MPI_Comm *)handle_address);
        ((mpich_Comm_errhandler_function *)user)(&comm, &after);
    }
    if (after != before) *code = error_in(after);
}

static int give_errhandler(int err, MPI_Errhandler made, mpich_Errhandler *errhandler)
{
    if (err == MPI_SUCCESS && made != MPI_ERRHANDLER_NULL)
        err = engine.set_errhandler_door(made, call_errhandler);
    if (err == MPI_SUCCESS && errhandler != NULL) *errhandler = errhandler_out(made);
    return error_out(err);
}

int PMPI_Comm_create_errhandler(mpich_Comm_errhandler_function *comm_errhandler_fn,
                                mpich_Errhandler *errhandler)
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int err = engine.MPI_Comm_create_errhandler(
        (MPI_Comm_errhandler_function *)(any_fn *)comm_errhandler_fn,
        errhandler != NULL ? &made : NULL);
    return give_errhandler(err, made, errhandler);
}

int PMPI_Errhandler_create(mpich_Comm_errhandler_function *comm_errhandler_fn,
                           mpich_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(comm_errhandler_fn, errhandler);
}

int PMPI_File_create_errhandler(mpich_File_errhandler_function *file_errhandler_fn,
                                mpich_Errhandler *errhandler)
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int err = engine.MPI_File_create_errhandler(
        (MPI_File_errhandler_function *)(any_fn *)file_errhandler_fn,
        errhandler != NULL ? &made : NULL);
    return give_errhandler(err, made, errhandler);
}

int PMPI_Session_create_errhandler(mpich_Session_errhandler_function *session_errhandler_fn,
                                   mpich_Errhandler *errhandler)
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int err = engine.MPI_Session_create_errhandler(
        (MPI_Session_errhandler_function *)(any_fn *)session_errhandler_fn,
        errhandler != NULL ? &made : NULL);
    return give_errhandler(err, made, errhandler);
}

int PMPI_Win_create_errhandler(mpich_Win_errhandler_function *win_errhandler_fn,
                               mpich_Errhandler *errhandler)
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int err =
        engine.MPI_Win_create_errhandler((MPI_Win_errhandler_function *)(any_fn *)win_errhandler_fn,
                                         errhandler != NULL ? &made : NULL);
    return give_errhandler(err, made, errhandler);
}

// Attributes. The engine's extra state is one of these. They are never freed, because nothing
// tells when the last attribute of a keyval is gone; equal ones are shared instead, so that making
// the same keyval again and again costs nothing.
typedef struct attr_functions {
    any_fn *copy, *drop;
    void *extra;
    struct attr_functions *next;
} attr_functions;

static attr_functions *remember(any_fn *copy, any_fn *drop, void *extra)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static attr_functions *buckets[256];
    uintptr_t hash = (uintptr_t)copy ^ (uintptr_t)drop ^ (uintptr_t)extra >> 4;
    pthread_mutex_lock(&lock);
    attr_functions **bucket = &buckets[(hash ^ hash >> 8) & 255], *f = *bucket;
    while (f != NULL && (f->copy != copy || f->drop != drop || f->extra != extra)) f = f->next;
    if (f == NULL && (f = malloc(sizeof *f)) != NULL) {
        *f = (attr_functions){.copy = copy, .drop = drop, .extra = extra, .next = *bucket};
        *bucket = f;
    }
    pthread_mutex_unlock(&lock);
    return f;
}

static int comm_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    const attr_functions *f = extra;
    mpich_Comm_copy_attr_function *copy = (mpich_Comm_copy_attr_function *)f->copy;
    return error_in(copy(comm_out(comm), keyval_out(keyval), f->extra, in, out, flag));
}

static int comm_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    const attr_functions *f = extra;
    mpich_Comm_delete_attr_function *drop = (mpich_Comm_delete_attr_function *)f->drop;
    return error_in(drop(comm_out(comm), keyval_out(keyval), value, f->extra));
}

static int type_copy(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    const attr_functions *f = extra;
    mpich_Type_copy_attr_function *copy = (mpich_Type_copy_attr_function *)f->copy;
    return error_in(copy(datatype_out(type), keyval_out(keyval), f->extra, in, out, flag));
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *extra)
{
    const attr_functions *f = extra;
    mpich_Type_delete_attr_function *drop = (mpich_Type_delete_attr_function *)f->drop;
    return error_in(drop(datatype_out(type), keyval_out(keyval), value, f->extra));
}

static int win_copy(MPI_Win win, int keyval, void *extra, void *in, void *out, int *flag)
{
    const attr_functions *f = extra;
    mpich_Win_copy_attr_function *copy = (mpich_Win_copy_attr_function *)f->copy;
    return error_in(copy(win_out(win), keyval_out(keyval), f->extra, in, out, flag));
}

static int win_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    const attr_functions *f = extra;
    mpich_Win_delete_attr_function *drop = (mpich_Win_delete_attr_function *)f->drop;
    return error_in(drop(win_out(win), keyval_out(keyval), value, f->extra));
}

static int give_keyval(int err, int made, int *keyval)
{
    if (err == MPI_SUCCESS && keyval != NULL) *keyval = keyval_out(made);
    return error_out(err);
}

int PMPI_Comm_create_keyval(mpich_Comm_copy_attr_function *comm_copy_attr_fn,
                            mpich_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                            void *extra_state)
{
    attr_functions *f =
        remember((any_fn *)comm_copy_attr_fn, (any_fn *)comm_delete_attr_fn, extra_state);
    if (f == NULL) return MPICH_ERR_NO_MEM;
    int made = MPI_KEYVAL_INVALID;
    int err = engine.MPI_Comm_create_keyval(f->copy ? comm_copy : MPI_COMM_NULL_COPY_FN,
                                            f->drop ? comm_delete : MPI_COMM_NULL_DELETE_FN,
                                            comm_keyval != NULL ? &made : NULL, f);
    return give_keyval(err, made, comm_keyval);
}

int PMPI_Keyval_create(mpich_Copy_function *copy_fn, mpich_Delete_function *delete_fn, int *keyval,
                       void *extra_state)
{
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}

int PMPI_Type_create_keyval(mpich_Type_copy_attr_function *type_copy_attr_fn,
                            mpich_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    attr_functions *f =
        remember((any_fn *)type_copy_attr_fn, (any_fn *)type_delete_attr_fn, extra_state);
    if (f == NULL) return MPICH_ERR_NO_MEM;
    int made = MPI_KEYVAL_INVALID;
    int err = engine.MPI_Type_create_keyval(f->copy ? type_copy : MPI_TYPE_NULL_COPY_FN,
                                            f->drop ? type_delete : MPI_TYPE_NULL_DELETE_FN,
                                            type_keyval != NULL ? &made : NULL, f);
    return give_keyval(err, made, type_keyval);
}

int PMPI_Win_create_keyval(mpich_Win_copy_attr_function *win_copy_attr_fn,
                           mpich_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
                           void *extra_state)
{
    attr_functions *f =
        remember((any_fn *)win_copy_attr_fn, (any_fn *)win_delete_attr_fn, extra_state);
    if (f == NULL) return MPICH_ERR_NO_MEM;
    int made = MPI_KEYVAL_INVALID;
    int err = engine.MPI_Win_create_keyval(f->copy ? win_copy : MPI_WIN_NULL_COPY_FN,
                                           f->drop ? win_delete : MPI_WIN_NULL_DELETE_FN,
                                           win_keyval != NULL ? &made : NULL, f);
    return give_keyval(err, made, win_keyval);
}

// MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN and MPI_WIN_DUP_FN of this interface: a function that can be
// called like any other.
int MPIR_Dup_fn(mpich_Comm oldcomm, int keyval, void *extra_state, void *attribute_val_in,
                void *attribute_val_out, int *flag)
{
    (void)oldcomm;
    (void)keyval;
    (void)extra_state;
    *(void **)attribute_val_out = attribute_val_in;
    *flag = 1;
    return MPI_SUCCESS;
}

// Generalized requests. The engine calls free last, exactly once.
typedef struct grequest {
    mpich_Grequest_query_function *query;
    mpich_Grequest_free_function *free;
    mpich_Grequest_cancel_function *cancel;
    void *extra;
} grequest;

static int grequest_query(void *extra, MPI_Status *status)
{
    const grequest *g = extra;
    mpich_Status own = {0};
    status_fill(&own, status);
    int err = g->query(g->extra, &own);
    status_in(status, &own);
    return error_in(err);
}

static int grequest_free(void *extra)
{
    grequest *g = extra;
    int err = g->free != NULL ? g->free(g->extra) : MPI_SUCCESS;
    free(g);
    return error_in(err);
}

static int grequest_cancel(void *extra, int complete)
{
    const grequest *g = extra;
    return error_in(g->cancel(g->extra, complete));
}

int PMPI_Grequest_start(mpich_Grequest_query_function *query_fn,
                        mpich_Grequest_free_function *free_fn,
                        mpich_Grequest_cancel_function *cancel_fn, void *extra_state,
                        mpich_Request *request)
{
    grequest *g = malloc(sizeof *g);
    if (g == NULL) return MPICH_ERR_NO_MEM;
    *g = (grequest){.query = query_fn, .free = free_fn, .cancel = cancel_fn, .extra = extra_state};
    MPI_Request made = MPI_REQUEST_NULL;
    int err = engine.MPI_Grequest_start(query_fn ? grequest_query : NULL, grequest_free,
                                        cancel_fn ? grequest_cancel : NULL, g,
                                        request != NULL ? &made : NULL);
    if (err == MPI_SUCCESS && request != NULL) *request = request_out(made);
    if (err != MPI_SUCCESS) free(g);
    return error_out(err);
}

// Data representations live as long as the process.
typedef struct datarep_functions {
    any_fn *read, *write;
    mpich_Datarep_extent_function *extent;
    void *extra;
} datarep_functions;

static int convert(any_fn *user, void *userbuf, MPI_Datatype type, int count, void *filebuf,
                   MPI_Offset position, void *extra)
{
    mpich_Datarep_conversion_function *function = (mpich_Datarep_conversion_function *)user;
    return error_in(function(userbuf, datatype_out(type), count, filebuf, position, extra));
}

static int datarep_read(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                        MPI_Offset position, void *extra)
{
    const datarep_functions *f = extra;
    return convert(f->read, userbuf, type, count, filebuf, position, f->extra);
}

static int datarep_write(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                         MPI_Offset position, void *extra)
{
    const datarep_functions *f = extra;
    return convert(f->write, userbuf, type, count, filebuf, position, f->extra);
}

static int convert_c(any_fn *user, void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                     MPI_Offset position, void *extra)
{
    mpich_Datarep_conversion_function_c *function = (mpich_Datarep_conversion_function_c *)user;
    return error_in(function(userbuf, datatype_out(type), count, filebuf, position, extra));
}

static int datarep_read_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                          MPI_Offset position, void *extra)
{
    const datarep_functions *f = extra;
    return convert_c(f->read, userbuf, type, count, filebuf, position, f->extra);
}

static int datarep_write_c(void *userbuf, MPI_Datatype type, MPI_Count count, void *filebuf,
                           MPI_Offset position, void *extra)
{
    const datarep_functions *f = extra;
    return convert_c(f->write, userbuf, type, count, filebuf, position, f->extra);
}

static int datarep_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    const datarep_functions *f = extra;
    return error_in(f->extent(datatype_out(type), extent, f->extra));
}

static datarep_functions *new_datarep(any_fn *read, any_fn *write,
                                      mpich_Datarep_extent_function *extent, void *extra)
{
    datarep_functions *f = malloc(sizeof *f);
    if (f != NULL)
        *f = (datarep_functions){.read = read, .write = write, .extent = extent, .extra = extra};
    return f;
}

int PMPI_Register_datarep(const char *datarep,
                          mpich_Datarep_conversion_function *read_conversion_fn,
                          mpich_Datarep_conversion_function *write_conversion_fn,
                          mpich_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    datarep_functions *f = new_datarep((any_fn *)read_conversion_fn, (any_fn *)write_conversion_fn,
                                       dtype_file_extent_fn, extra_state);
    if (f == NULL) return MPICH_ERR_NO_MEM;
    int err = engine.MPI_Register_datarep(datarep, f->read ? datarep_read : NULL,
                                          f->write ? datarep_write : NULL,
                                          f->extent ? datarep_extent : NULL, f);
    if (err != MPI_SUCCESS) free(f);
    return error_out(err);
}

int PMPI_Register_datarep_c(const char *datarep,
                            mpich_Datarep_conversion_function_c *read_conversion_fn,
                            mpich_Datarep_conversion_function_c *write_conversion_fn,
                            mpich_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    datarep_functions *f = new_datarep((any_fn *)read_conversion_fn, (any_fn *)write_conversion_fn,
                                       dtype_file_extent_fn, extra_state);
    if (f == NULL) return MPICH_ERR_NO_MEM;
    int err = engine.MPI_Register_datarep_c(datarep, f->read ? datarep_read_c : NULL,
                                            f->write ? datarep_write_c : NULL,
                                            f->extent ? datarep_extent : NULL, f);
    if (err != MPI_SUCCESS) free(f);
    return error_out(err);
}

#include "mpich/weak_callbacks.h"
