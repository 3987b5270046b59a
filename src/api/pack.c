// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack, in this machine's own representation and in external32.
#include <string.h>

#include "api/api.h"
#include "core/external32.h"

// The room between *position and the end of a packed buffer.
static int arg_position(const MPI_Count *position, MPI_Count size, const char *argument)
{
    int rc = shoal_arg_pointer(position, "position");
    if (rc == 0 && size < 0) {
        rc = shoal_fail(SHOAL_E_ARG, "%s is %lld", argument, (long long)size);
    }
    if (rc == 0 && (*position < 0 || *position > size)) {
        rc = shoal_fail(SHOAL_E_ARG, "position is %lld, %s is %lld", (long long)*position, argument,
                        (long long)size);
    }
    return rc;
}

static int arg_room(MPI_Count position, MPI_Count size, int64_t bytes, bool packing)
{
    if (bytes <= size - position) return 0;
    return shoal_fail(SHOAL_E_TRUNCATE,
                      "%lld bytes are to be %s at position %lld, the buffer has "
                      "%lld",
                      (long long)bytes, packing ? "packed" : "unpacked", (long long)position,
                      (long long)size);
}

// Both directions, after the checks that they share.
typedef struct packing {
    void *typed;
    MPI_Count count;
    MPI_Datatype handle;
    char *packed;
    MPI_Count size, *position;
    bool out, external;
} packing;

static int move(const packing *p, shoal_datatype *t, int64_t bytes)
{
    char *at = p->packed + *p->position;
    if (p->external && p->out) return shoal_external32_pack(p->typed, p->count, t, at);
    if (p->external) return shoal_external32_unpack(at, p->typed, p->count, t);
    shoal_cursor c;
    shoal_cursor_init(&c, t, p->count, p->typed);
    if (p->out)
        shoal_cursor_pack(&c, at, bytes);
    else
        shoal_cursor_unpack(&c, at, bytes);
    return 0;
}

static int pack(const packing *p)
{
    shoal_datatype *t = NULL;
    int64_t bytes = 0;
    int rc = shoal_arg_count(p->count, p->out ? "incount" : "outcount");
    if (rc == 0) rc = shoal_arg_committed(p->handle, &t);
    if (rc == 0) rc = shoal_arg_buffer(p->typed, p->count, t, p->out ? "inbuf" : "outbuf");
    if (rc == 0) rc = arg_position(p->position, p->size, p->out ? "outsize" : "insize");
    if (rc == 0 && !p->external) rc = shoal_datatype_bytes(t, p->count, &bytes);
    if (rc == 0 && p->external) rc = shoal_external32_bytes(t, p->count, &bytes);
    if (rc == 0) rc = arg_room(*p->position, p->size, bytes, p->out);
    if (rc == 0 && bytes > 0) rc = shoal_arg_pointer(p->packed, p->out ? "outbuf" : "inbuf");
    if (rc == 0 && bytes > 0) rc = move(p, t, bytes);
    if (rc == 0) *p->position += bytes;
    return rc;
}

int PMPI_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
                MPI_Count outsize, MPI_Count *position, MPI_Comm comm)
{
    shoal_comm *c = NULL;
    packing p = {.typed = (void *)(uintptr_t)inbuf,
                 .count = incount,
                 .handle = datatype,
                 .packed = outbuf,
                 .size = outsize,
                 .position = position,
                 .out = true};
    int rc = shoal_enter("MPI_Pack");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = pack(&p);
    return shoal_leave_comm(rc, c);
}

int PMPI_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
                  MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    shoal_comm *c = NULL;
    packing p = {.typed = outbuf,
                 .count = outcount,
                 .handle = datatype,
                 .packed = (char *)(uintptr_t)inbuf,
                 .size = insize,
                 .position = position};
    int rc = shoal_enter("MPI_Unpack");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = pack(&p);
    return shoal_leave_comm(rc, c);
}

int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    shoal_comm *c = NULL;
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Pack_size");
    if (rc == 0) rc = shoal_arg_comm(comm, &c);
    if (rc == 0) rc = shoal_arg_count(incount, "incount");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) rc = shoal_datatype_bytes(t, incount, size);
    return shoal_leave_comm(rc, c);
}

static int arg_datarep(const char *datarep)
{
    int rc = shoal_arg_pointer(datarep, "datarep");
    if (rc == 0 && strcmp(datarep, "external32") != 0) {
        rc = shoal_fail(SHOAL_E_ARG,
                        "the data representation is \"%.64s\"; only \"external32\" "
                        "can be packed",
                        datarep);
    }
    return rc;
}

int PMPI_Pack_external_c(const char *datarep, const void *inbuf, MPI_Count incount,
                         MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
                         MPI_Count *position)
{
    packing p = {.typed = (void *)(uintptr_t)inbuf,
                 .count = incount,
                 .handle = datatype,
                 .packed = outbuf,
                 .size = outsize,
                 .position = position,
                 .out = true,
                 .external = true};
    int rc = shoal_enter("MPI_Pack_external");
    if (rc == 0) rc = arg_datarep(datarep);
    if (rc == 0) rc = pack(&p);
    return shoal_leave(rc);
}

int PMPI_Unpack_external_c(const char datarep[], const void *inbuf, MPI_Count insize,
                           MPI_Count *position, void *outbuf, MPI_Count outcount,
                           MPI_Datatype datatype)
{
    packing p = {.typed = outbuf,
                 .count = outcount,
                 .handle = datatype,
                 .packed = (char *)(uintptr_t)inbuf,
                 .size = insize,
                 .position = position,
                 .external = true};
    int rc = shoal_enter("MPI_Unpack_external");
    if (rc == 0) rc = arg_datarep(datarep);
    if (rc == 0) rc = pack(&p);
    return shoal_leave(rc);
}

int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount, MPI_Datatype datatype,
                              MPI_Count *size)
{
    shoal_datatype *t = NULL;
    int rc = shoal_enter("MPI_Pack_external_size");
    if (rc == 0) rc = arg_datarep(datarep);
    if (rc == 0) rc = shoal_arg_count(incount, "incount");
    if (rc == 0) rc = shoal_arg_type(datatype, &t);
    if (rc == 0) rc = shoal_arg_pointer(size, "size");
    if (rc == 0) rc = shoal_external32_bytes(t, incount, size);
    return shoal_leave(rc);
}

#include "weak_pack.h"
