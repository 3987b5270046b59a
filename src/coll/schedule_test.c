// SPDX-License-Identifier: BSD-3-Clause
// The interpreter alone, in a world of one: order of steps, growth, waiting for messages to
// oneself, failures while building and while running, requests that are started again.
#include "coll/schedule.h"

#include <mpi.h>
#include <string.h>

#include "plat/error.h"
#include "plat/test.h"

static shoal_datatype *an_int;
static shoal_comm *self;

static shoal_schedule *new_schedule(void)
{
    shoal_schedule *s = shoal_schedule_new(self, "MPI_Barrier", -1, true);
    CHECK(s != NULL);
    return s;
}

static void nothing_to_do(void)
{
    CHECK(shoal_schedule_run(new_schedule()) == 0);
    shoal_schedule *s = new_schedule();
    shoal_schedule_wait(s);
    shoal_schedule_wait(s);
    CHECK(shoal_schedule_run(s) == 0);
}

// Each round passes a number on through a message and adds to it: more steps than fit at first.
static void rounds(void)
{
    int x = 1, came = 0, two = 2;
    shoal_schedule *s = new_schedule();
    shoal_schedule_set_op(s, shoal_op_get(MPI_SUM));
    for (int i = 0; i < 50; i++) {
        shoal_schedule_recv(s, &came, 1, an_int, 0);
        shoal_schedule_send(s, &x, 1, an_int, 0);
        shoal_schedule_wait(s);
        shoal_schedule_reduce(s, &two, &came, 1, an_int);
        shoal_schedule_copy(s, &came, 1, an_int, &x, 1, an_int);
    }
    CHECK(shoal_schedule_run(s) == 0);
    CHECK(x == 101 && came == 101);
}

// Several messages of one round match in the order of their steps.
static void order(void)
{
    int from[20], to[20] = {0};
    shoal_schedule *s = new_schedule();
    for (int i = 0; i < 20; i++) from[i] = i * i;
    for (int i = 0; i < 20; i++) shoal_schedule_send(s, &from[i], 1, an_int, 0);
    for (int i = 0; i < 20; i++) shoal_schedule_recv(s, &to[i], 1, an_int, 0);
    CHECK(shoal_schedule_run(s) == 0);
    CHECK(memcmp(from, to, sizeof from) == 0);
}

static void scratch(void)
{
    int in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0}, at[2] = {-1, 2}, ones[2] = {1, 1};
    MPI_Datatype below;
    MPI_Type_indexed(2, ones, at, MPI_INT, &below);
    MPI_Type_commit(&below);
    shoal_datatype *t = shoal_datatype_get(below);
    shoal_schedule *s = new_schedule();
    shoal_schedule_keep_type(s, t);
    MPI_Type_free(&below); // the schedule keeps it
    char *room = shoal_schedule_scratch(s, 1, t);
    shoal_schedule_copy(s, in + 1, 1, t, room, 1, t);
    shoal_schedule_copy(s, room, 1, t, out + 1, 1, t);
    CHECK(shoal_schedule_run(s) == 0);
    CHECK(out[0] == 1 && out[3] == 4 && out[1] == 0 && out[2] == 0);
}

// Without memory for it nothing of a schedule runs.
static void too_large(void)
{
    int x = 1, y = 2;
    shoal_schedule *s = new_schedule();
    shoal_schedule_copy(s, &x, 1, an_int, &y, 1, an_int);
    char *room = shoal_schedule_scratch(s, INT64_MAX / 2, an_int);
    CHECK(room != NULL);
    shoal_schedule_copy(s, room, 1, an_int, &y, 1, an_int);
    CHECK(shoal_schedule_run(s) == SHOAL_E_NO_MEM);
    CHECK(y == 2);
}

// A message that does not fit is an error; what follows still runs.
static void truncated(void)
{
    int from[2] = {7, 8}, to = 0, then = 0, class;
    shoal_schedule *s = new_schedule();
    shoal_schedule_recv(s, &to, 1, an_int, 0);
    shoal_schedule_send(s, from, 2, an_int, 0);
    shoal_schedule_wait(s);
    shoal_schedule_copy(s, &from[1], 1, an_int, &then, 1, an_int);
    MPI_Error_class(shoal_schedule_run(s), &class);
    CHECK(class == MPI_ERR_TRUNCATE && to == 7 && then == 8);
}

static void requests(void)
{
    int x = 0, one = 1;
    shoal_req *r = NULL;
    shoal_schedule *s = shoal_schedule_new(self, "MPI_Iallreduce", -1, false);
    shoal_schedule_set_op(s, shoal_op_get(MPI_SUM));
    shoal_schedule_reduce(s, &one, &x, 1, an_int);
    CHECK(shoal_schedule_request(s, true, &r) == 0);
    MPI_Request handle = shoal_object_handle(r);
    CHECK(x == 0);
    for (int i = 1; i <= 3; i++) {
        CHECK(MPI_Start(&handle) == 0 && MPI_Wait(&handle, MPI_STATUS_IGNORE) == 0);
        CHECK(x == i);
    }
    CHECK(MPI_Request_free(&handle) == 0);
    CHECK(shoal_object_live(SHOAL_KIND_REQUEST) == 0);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    an_int = shoal_datatype_get(MPI_INT);
    self = shoal_comm_get(MPI_COMM_SELF);
    nothing_to_do();
    rounds();
    order();
    scratch();
    too_large();
    truncated();
    requests();
    MPI_Finalize();
    return SHOAL_TEST_RESULT();
}
