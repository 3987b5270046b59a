// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments to every message, probe and request call: the right error class, a text with the
// call and the value, through MPI_ERRORS_RETURN and through a handler of the user's; nothing
// happens otherwise, and right calls still work afterwards.
// RANKS: 1 2
#include "../p2p/common.h"

static int calls_of_handler;
static MPI_Comm comm_of_handler;

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls_of_handler++;
    comm_of_handler = *comm;
}

static int handled; // is the user's handler set?

// `rc` must have this class, and a text with both words in it. Errors without a communicator go to
// MPI_COMM_SELF's handler.
static void expect(int rc, int class, const char *call, const char *value, int line)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;
    MPI_Error_string(rc, text, &len);
    int good = class_of(rc) == class && strstr(text, call) && strstr(text, value) &&
               calls_of_handler == handled;
    if (!good)
        fprintf(stderr, "line %d: class %d instead of %d, handler called %d times, text: %s\n",
                line, class_of(rc), class, calls_of_handler, text);
    CHECK(good);
    calls_of_handler = 0;
}

#define EXPECT(rc, class, call, value) expect(rc, class, call, value, __LINE__)
#define W                              MPI_COMM_WORLD

static int b[4];
static MPI_Request r;
static MPI_Status s;
static MPI_Datatype uncommitted;
static MPI_Comm gone;

typedef int isend_fn(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

// What all calls with (buf, count, type, dest, tag, comm, request) must find.
static void send_request(isend_fn *f, const char *call)
{
    char size[16];
    snprintf(size, sizeof size, "%d", world_size);
    MPI_Request before = r = MPI_REQUEST_NULL;
    EXPECT(f(b, -1, MPI_INT, 0, 0, W, &r), MPI_ERR_COUNT, call, "-1");
    EXPECT(f(b, 1, MPI_DATATYPE_NULL, 0, 0, W, &r), MPI_ERR_TYPE, call, "null");
    EXPECT(f(b, 1, uncommitted, 0, 0, W, &r), MPI_ERR_TYPE, call, "MPI_Type_commit");
    EXPECT(f(b, 1, MPI_INT, world_size, 0, W, &r), MPI_ERR_RANK, call, size);
    EXPECT(f(b, 1, MPI_INT, -77, 0, W, &r), MPI_ERR_RANK, call, "-77");
    EXPECT(f(b, 1, MPI_INT, MPI_ANY_SOURCE, 0, W, &r), MPI_ERR_RANK, call, "MPI_ANY_SOURCE");
    EXPECT(f(b, 1, MPI_INT, 0, -5, W, &r), MPI_ERR_TAG, call, "-5");
    EXPECT(f(b, 1, MPI_INT, 0, MPI_ANY_TAG, W, &r), MPI_ERR_TAG, call, "tag");
    EXPECT(f(b, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r), MPI_ERR_COMM, call, "null");
    EXPECT(f(b, 1, MPI_INT, 0, 0, gone, &r), MPI_ERR_COMM, call, "freed");
    EXPECT(f(b, 1, MPI_INT, 0, 0, (MPI_Comm)0, &r), MPI_ERR_COMM, call, "zero");
    EXPECT(f(NULL, 3, MPI_INT, 0, 0, W, &r), MPI_ERR_BUFFER, call, "3");
    EXPECT(f(MPI_IN_PLACE, 3, MPI_INT, 0, 0, W, &r), MPI_ERR_BUFFER, call, "MPI_IN_PLACE");
    EXPECT(f(b, 1, MPI_INT, 0, 0, W, NULL), MPI_ERR_ARG, call, "request");
    // So many bytes that their number does not fit.
    int rc = f(b, INT64_MAX / 4, MPI_DOUBLE, 0, 0, W, &r);
    CHECK(rc != MPI_SUCCESS);
    calls_of_handler = 0;
    CHECK(r == before);
}

// The blocking calls have the same checks, seen without a request.
static void send_blocking(int (*f)(const void *, int, MPI_Datatype, int, int, MPI_Comm),
                          const char *call)
{
    EXPECT(f(b, -2, MPI_INT, 0, 0, W), MPI_ERR_COUNT, call, "-2");
    EXPECT(f(b, 1, MPI_DATATYPE_NULL, 0, 0, W), MPI_ERR_TYPE, call, "null");
    EXPECT(f(b, 1, MPI_INT, 4711, 0, W), MPI_ERR_RANK, call, "4711");
    EXPECT(f(b, 1, MPI_INT, 0, -5, W), MPI_ERR_TAG, call, "-5");
    EXPECT(f(b, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM, call, "null");
    EXPECT(f(NULL, 1, MPI_INT, 0, 0, W), MPI_ERR_BUFFER, call, "buf");
    EXPECT(f(MPI_IN_PLACE, 1, MPI_INT, 0, 0, W), MPI_ERR_BUFFER, call, "MPI_IN_PLACE");
}

static void sends(void)
{
    static const struct {
        isend_fn *f;
        const char *name;
    } all[] = {{MPI_Isend_c, "MPI_Isend"},           {MPI_Issend_c, "MPI_Issend"},
               {MPI_Irsend_c, "MPI_Irsend"},         {MPI_Ibsend_c, "MPI_Ibsend"},
               {MPI_Send_init_c, "MPI_Send_init"},   {MPI_Ssend_init_c, "MPI_Ssend_init"},
               {MPI_Rsend_init_c, "MPI_Rsend_init"}, {MPI_Bsend_init_c, "MPI_Bsend_init"}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) send_request(all[k].f, all[k].name);
    send_blocking(MPI_Send, "MPI_Send");
    send_blocking(MPI_Ssend, "MPI_Ssend");
    send_blocking(MPI_Rsend, "MPI_Rsend");
    send_blocking(MPI_Bsend, "MPI_Bsend");
}

static void receives(void)
{
    EXPECT(MPI_Recv(b, -1, MPI_INT, 0, 0, W, &s), MPI_ERR_COUNT, "MPI_Recv", "-1");
    EXPECT(MPI_Recv(b, 1, uncommitted, 0, 0, W, &s), MPI_ERR_TYPE, "MPI_Recv", "commit");
    EXPECT(MPI_Recv(b, 1, MPI_INT, world_size, 0, W, &s), MPI_ERR_RANK, "MPI_Recv", "source");
    EXPECT(MPI_Recv(b, 1, MPI_INT, -9, 0, W, &s), MPI_ERR_RANK, "MPI_Recv", "-9");
    EXPECT(MPI_Recv(b, 1, MPI_INT, 0, -9, W, &s), MPI_ERR_TAG, "MPI_Recv", "-9");
    EXPECT(MPI_Recv(NULL, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_BUFFER, "MPI_Recv", "null");
    EXPECT(MPI_Recv(MPI_IN_PLACE, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_BUFFER, "MPI_Recv",
           "MPI_IN_PLACE");
    EXPECT(MPI_Recv(b, 1, MPI_INT, 0, 0, gone, &s), MPI_ERR_COMM, "MPI_Recv", "freed");
    r = MPI_REQUEST_NULL;
    EXPECT(MPI_Irecv(b, -1, MPI_INT, 0, 0, W, &r), MPI_ERR_COUNT, "MPI_Irecv", "-1");
    EXPECT(MPI_Irecv(b, 1, MPI_INT, 99, 0, W, &r), MPI_ERR_RANK, "MPI_Irecv", "99");
    EXPECT(MPI_Irecv(b, 1, MPI_INT, 0, -9, W, &r), MPI_ERR_TAG, "MPI_Irecv", "-9");
    EXPECT(MPI_Irecv(b, 1, MPI_INT, 0, 0, W, NULL), MPI_ERR_ARG, "MPI_Irecv", "request");
    EXPECT(MPI_Recv_init(b, 1, MPI_DATATYPE_NULL, 0, 0, W, &r), MPI_ERR_TYPE, "MPI_Recv_init",
           "null");
    EXPECT(MPI_Recv_init(b, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &r), MPI_ERR_COMM, "MPI_Recv_init",
           "null");
    CHECK(r == MPI_REQUEST_NULL);
}

static void pairs(void)
{
    const char *call = "MPI_Sendrecv";
    EXPECT(MPI_Sendrecv(b, -1, MPI_INT, 0, 0, b + 1, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_COUNT, call,
           "-1");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, b + 1, -2, MPI_INT, 0, 0, W, &s), MPI_ERR_COUNT, call,
           "-2");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 88, 0, b + 1, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_RANK, call,
           "88");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, b + 1, 1, MPI_INT, 89, 0, W, &s), MPI_ERR_RANK, call,
           "89");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, -3, b + 1, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_TAG, call,
           "-3");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, b + 1, 1, MPI_INT, 0, -4, W, &s), MPI_ERR_TAG, call,
           "-4");
    EXPECT(MPI_Sendrecv(b, 1, uncommitted, 0, 0, b + 1, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_TYPE,
           call, "comm");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, NULL, 1, MPI_INT, 0, 0, W, &s), MPI_ERR_BUFFER, call,
           "null");
    EXPECT(MPI_Sendrecv(b, 1, MPI_INT, 0, 0, b, 1, MPI_INT, 0, 0, gone, &s), MPI_ERR_COMM, call,
           "freed");
    call = "MPI_Sendrecv_replace";
    EXPECT(MPI_Sendrecv_replace(b, -1, MPI_INT, 0, 0, 0, 0, W, &s), MPI_ERR_COUNT, call, "-1");
    EXPECT(MPI_Sendrecv_replace(b, 1, MPI_INT, 0, 0, 77, 0, W, &s), MPI_ERR_RANK, call, "77");
    call = "MPI_Isendrecv";
    EXPECT(MPI_Isendrecv(b, 1, MPI_INT, 0, 0, b + 1, 1, MPI_INT, 0, 0, W, NULL), MPI_ERR_ARG, call,
           "request");
    EXPECT(MPI_Isendrecv(b, 1, MPI_INT, 66, 0, b + 1, 1, MPI_INT, 0, 0, W, &r), MPI_ERR_RANK, call,
           "66");
    call = "MPI_Isendrecv_replace";
    EXPECT(MPI_Isendrecv_replace(b, 1, MPI_INT, 66, 0, 0, 0, W, &r), MPI_ERR_RANK, call, "66");
    EXPECT(MPI_Isendrecv_replace(b, 1, MPI_INT, 0, 0, 0, 0, W, NULL), MPI_ERR_ARG, call, "request");
}

static void probes(void)
{
    MPI_Message m = MPI_MESSAGE_NULL;
    int flag;
    EXPECT(MPI_Probe(55, 0, W, &s), MPI_ERR_RANK, "MPI_Probe", "55");
    EXPECT(MPI_Probe(0, -6, W, &s), MPI_ERR_TAG, "MPI_Probe", "-6");
    EXPECT(MPI_Probe(0, 0, MPI_COMM_NULL, &s), MPI_ERR_COMM, "MPI_Probe", "null");
    EXPECT(MPI_Iprobe(55, 0, W, &flag, &s), MPI_ERR_RANK, "MPI_Iprobe", "55");
    EXPECT(MPI_Iprobe(0, 0, W, NULL, &s), MPI_ERR_ARG, "MPI_Iprobe", "flag");
    EXPECT(MPI_Mprobe(55, 0, W, &m, &s), MPI_ERR_RANK, "MPI_Mprobe", "55");
    EXPECT(MPI_Mprobe(0, 0, W, NULL, &s), MPI_ERR_ARG, "MPI_Mprobe", "message");
    EXPECT(MPI_Improbe(0, -6, W, &flag, &m, &s), MPI_ERR_TAG, "MPI_Improbe", "-6");
    EXPECT(MPI_Improbe(0, 0, W, NULL, &m, &s), MPI_ERR_ARG, "MPI_Improbe", "flag");
    EXPECT(MPI_Mrecv(b, 1, MPI_INT, &m, &s), MPI_ERR_REQUEST, "MPI_Mrecv", "null");
    EXPECT(MPI_Mrecv(b, 1, MPI_INT, NULL, &s), MPI_ERR_ARG, "MPI_Mrecv", "message");
    EXPECT(MPI_Imrecv(b, 1, MPI_INT, &m, &r), MPI_ERR_REQUEST, "MPI_Imrecv", "null");
    // A message that was taken survives wrong calls, and is used up by the right one.
    b[0] = 8;
    CHECK(MPI_Send(b, 1, MPI_INT, my_rank, 1, W) == MPI_SUCCESS);
    CHECK(MPI_Mprobe(my_rank, 1, W, &m, &s) == MPI_SUCCESS);
    MPI_Message copy = m;
    EXPECT(MPI_Mrecv(b, -1, MPI_INT, &m, &s), MPI_ERR_COUNT, "MPI_Mrecv", "-1");
    EXPECT(MPI_Mrecv(b, 1, MPI_DATATYPE_NULL, &m, &s), MPI_ERR_TYPE, "MPI_Mrecv", "null");
    EXPECT(MPI_Mrecv(NULL, 1, MPI_INT, &m, &s), MPI_ERR_BUFFER, "MPI_Mrecv", "null");
    EXPECT(MPI_Imrecv(b, 1, MPI_INT, &m, NULL), MPI_ERR_ARG, "MPI_Imrecv", "request");
    CHECK(MPI_Mrecv(b + 1, 1, MPI_INT, &m, &s) == MPI_SUCCESS && b[1] == 8);
    EXPECT(MPI_Mrecv(b, 1, MPI_INT, &copy, &s), MPI_ERR_REQUEST, "MPI_Mrecv", "before");
}

static void requests(void)
{
    int flag, index, count, indices[2];
    MPI_Request null = MPI_REQUEST_NULL, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, dead;
    CHECK(MPI_Irecv(b, 1, MPI_INT, my_rank, 3, W, &dead) == MPI_SUCCESS);
    MPI_Request done = dead;
    CHECK(MPI_Cancel(&dead) == MPI_SUCCESS && MPI_Wait(&dead, &s) == MPI_SUCCESS);
    two[1] = dead = done;
    EXPECT(MPI_Wait(&dead, &s), MPI_ERR_REQUEST, "MPI_Wait", "alive");
    EXPECT(MPI_Wait(NULL, &s), MPI_ERR_ARG, "MPI_Wait", "request");
    EXPECT(MPI_Test(&dead, &flag, &s), MPI_ERR_REQUEST, "MPI_Test", "alive");
    EXPECT(MPI_Test(&null, NULL, &s), MPI_ERR_ARG, "MPI_Test", "flag");
    EXPECT(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST, "MPI_Waitall", "[1]");
    EXPECT(MPI_Waitall(-1, two, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Waitall", "-1");
    EXPECT(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Waitall",
           "array_of_requests");
    EXPECT(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST, "MPI_Testall", "[1]");
    EXPECT(MPI_Testall(2, two, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Testall", "flag");
    EXPECT(MPI_Waitany(2, two, &index, &s), MPI_ERR_REQUEST, "MPI_Waitany", "[1]");
    EXPECT(MPI_Waitany(2, two, NULL, &s), MPI_ERR_ARG, "MPI_Waitany", "index");
    EXPECT(MPI_Testany(-3, two, &index, &flag, &s), MPI_ERR_ARG, "MPI_Testany", "-3");
    EXPECT(MPI_Testany(2, two, &index, NULL, &s), MPI_ERR_ARG, "MPI_Testany", "flag");
    EXPECT(MPI_Waitsome(2, two, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST,
           "MPI_Waitsome", "[1]");
    EXPECT(MPI_Waitsome(2, two, NULL, indices, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Waitsome",
           "outcount");
    EXPECT(MPI_Waitsome(2, two, &count, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Waitsome",
           "indices");
    EXPECT(MPI_Testsome(-1, two, &count, indices, MPI_STATUSES_IGNORE), MPI_ERR_ARG, "MPI_Testsome",
           "-1");
    EXPECT(MPI_Request_get_status(dead, &flag, &s), MPI_ERR_REQUEST, "MPI_Request_get_status",
           "alive");
    EXPECT(MPI_Request_get_status(null, NULL, &s), MPI_ERR_ARG, "MPI_Request_get_status", "flag");
    EXPECT(MPI_Request_get_status_all(2, two, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST,
           "status_all", "[1]");
    EXPECT(MPI_Request_get_status_any(2, two, &index, &flag, &s), MPI_ERR_REQUEST, "status_any",
           "[1]");
    EXPECT(MPI_Request_get_status_some(2, two, &count, NULL, MPI_STATUSES_IGNORE), MPI_ERR_ARG,
           "some", "indices");
    EXPECT(MPI_Start(&null), MPI_ERR_REQUEST, "MPI_Start", "null");
    EXPECT(MPI_Start(&dead), MPI_ERR_REQUEST, "MPI_Start", "alive");
    EXPECT(MPI_Startall(2, two), MPI_ERR_REQUEST, "MPI_Startall", "null");
    EXPECT(MPI_Startall(-4, two), MPI_ERR_ARG, "MPI_Startall", "-4");
    EXPECT(MPI_Cancel(&null), MPI_ERR_REQUEST, "MPI_Cancel", "null");
    EXPECT(MPI_Cancel(&dead), MPI_ERR_REQUEST, "MPI_Cancel", "alive");
    EXPECT(MPI_Request_free(&null), MPI_ERR_REQUEST, "MPI_Request_free", "null");
    EXPECT(MPI_Request_free(&dead), MPI_ERR_REQUEST, "MPI_Request_free", "alive");
    EXPECT(MPI_Grequest_complete(null), MPI_ERR_REQUEST, "MPI_Grequest_complete", "null");
    // Starting what is not persistent.
    CHECK(MPI_Irecv(b, 1, MPI_INT, my_rank, 3, W, &r) == MPI_SUCCESS);
    EXPECT(MPI_Start(&r), MPI_ERR_REQUEST, "MPI_Start", "persistent");
    CHECK(MPI_Cancel(&r) == MPI_SUCCESS && MPI_Wait(&r, &s) == MPI_SUCCESS);
}

static void buffers(void)
{
    static char memory[100];
    void *address;
    int size;
    EXPECT(MPI_Buffer_attach(memory, -1), MPI_ERR_ARG, "MPI_Buffer_attach", "-1");
    EXPECT(MPI_Buffer_attach(NULL, 10), MPI_ERR_BUFFER, "MPI_Buffer_attach", "10");
    EXPECT(MPI_Buffer_detach(NULL, &size), MPI_ERR_ARG, "MPI_Buffer_detach", "buffer_addr");
    EXPECT(MPI_Buffer_detach(&address, NULL), MPI_ERR_ARG, "MPI_Buffer_detach", "size");
    EXPECT(MPI_Buffer_iflush(NULL), MPI_ERR_ARG, "MPI_Buffer_iflush", "request");
    EXPECT(MPI_Comm_attach_buffer(gone, memory, 10), MPI_ERR_COMM, "MPI_Comm_attach_buffer",
           "freed");
    EXPECT(MPI_Comm_detach_buffer(gone, &address, &size), MPI_ERR_COMM, "MPI_Comm_detach_buffer",
           "freed");
    EXPECT(MPI_Session_attach_buffer(MPI_SESSION_NULL, memory, 10), MPI_ERR_SESSION, "MPI_Session",
           "null");
    EXPECT(MPI_Bsend(b, 1, MPI_INT, my_rank, 0, W), MPI_ERR_BUFFER, "MPI_Bsend",
           "MPI_Buffer_attach");
    void *base = &memory;
    EXPECT(MPI_Alloc_mem(-1, MPI_INFO_NULL, &base), MPI_ERR_ARG, "MPI_Alloc_mem", "-1");
    EXPECT(MPI_Alloc_mem(1, MPI_INFO_NULL, NULL), MPI_ERR_ARG, "MPI_Alloc_mem", "baseptr");
    EXPECT(MPI_Free_mem(memory), MPI_ERR_BASE, "MPI_Free_mem", "MPI_Alloc_mem");
}

static void all(void)
{
    sends();
    receives();
    pairs();
    probes();
    requests();
    buffers();
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine;
    begin_test(&argc, &argv);
    CHECK(MPI_Type_contiguous(2, MPI_INT, &uncommitted) == MPI_SUCCESS);
    CHECK(MPI_Comm_dup(W, &gone) == MPI_SUCCESS);
    MPI_Comm copy = gone;
    CHECK(MPI_Comm_free(&copy) == MPI_SUCCESS && copy == MPI_COMM_NULL);
    all();
    CHECK(MPI_Comm_create_errhandler(handler, &mine) == MPI_SUCCESS);
    CHECK(MPI_Comm_set_errhandler(W, mine) == 0 &&
          MPI_Comm_set_errhandler(MPI_COMM_SELF, mine) == 0);
    handled = 1;
    all();
    CHECK(comm_of_handler == W || comm_of_handler == MPI_COMM_SELF);
    CHECK(MPI_Errhandler_free(&mine) == MPI_SUCCESS && MPI_Type_free(&uncommitted) == MPI_SUCCESS);
    b[0] = 31;
    CHECK(MPI_Sendrecv(b, 1, MPI_INT, my_rank, 0, b + 1, 1, MPI_INT, my_rank, 0, W, &s) == 0 &&
          b[1] == 31);
    return end_test();
}
