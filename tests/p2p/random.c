// SPDX-License-Identifier: BSD-3-Clause
// Random traffic against a plan that every rank works out for itself: who sends how much to whom,
// under which tag, in which mode, and how it is received: posted before or after, taken by Mprobe,
// too short at times, waited for in every way. SHOAL_TEST_SEED picks another plan,
// SHOAL_TEST_LONG=1 makes it fifty times as long.
// RANKS: 1 2 3 4 8
// TIMEOUT: 120
#include "common.h"

enum { MESSAGES = 160, TAGS = 3, MOST = 300000 };
enum kind { PLAIN, SYNCHRONOUS, BUFFERED, PERSISTENT, KINDS };

typedef struct message {
    int from, to, tag;
    int bytes, room; // room < bytes: the receive is too short
    enum kind kind;
    int shared, by_probe;
} message;

// One operation of this rank, under way or done.
typedef struct op {
    const message *m;
    int number, is_send, finished;
    guarded data;
    MPI_Request request;
} op;

static message plan[MESSAGES];
static op ops[2 * MESSAGES];
static int op_count;

static int random_bytes(uint64_t *seed)
{
    uint32_t bits = random_next(seed) % 19;
    uint32_t bytes = random_next(seed) & ((1u << bits) - 1);
    return bytes > MOST ? MOST : (int)bytes;
}

static void make_plan(uint64_t seed)
{
    for (int k = 0; k < MESSAGES; k++) {
        message *m = &plan[k];
        m->from = (int)(random_next(&seed) % (uint32_t)world_size);
        m->to = (int)(random_next(&seed) % (uint32_t)world_size);
        m->tag = (int)(random_next(&seed) % TAGS);
        m->bytes = random_bytes(&seed);
        m->kind = (enum kind)(random_next(&seed) % KINDS);
        m->shared = random_next(&seed) % 4 == 0;
        m->by_probe = random_next(&seed) % 4 == 0;
        m->room = m->bytes + (int)(random_next(&seed) % 100);
        if (random_next(&seed) % 8 == 0 && m->bytes > 0)
            m->room = (int)(random_next(&seed) % (uint32_t)m->bytes);
    }
}

static void start_send(int k)
{
    const message *m = &plan[k];
    op *o = &ops[op_count++];
    *o = (op){.m = m, .number = k, .is_send = 1, .data = guarded_new((size_t)m->bytes, m->shared)};
    fill(o->data.data, o->data.bytes, (uint64_t)k);
    void *p = o->data.data;
    switch (m->kind) {
    case PLAIN:
        CHECK(MPI_Isend(p, m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &o->request) == 0);
        break;
    case SYNCHRONOUS:
        CHECK(MPI_Issend(p, m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &o->request) == 0);
        break;
    case BUFFERED:
        CHECK(MPI_Ibsend(p, m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &o->request) == 0);
        break;
    default:
        CHECK(MPI_Send_init(p, m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, &o->request) ==
              0);
        CHECK(MPI_Start(&o->request) == MPI_SUCCESS);
    }
}

static void start_receive(int k)
{
    const message *m = &plan[k];
    op *o = &ops[op_count++];
    *o = (op){.m = m, .number = k, .data = guarded_new((size_t)m->room, m->shared)};
    CHECK(MPI_Irecv(o->data.data, m->room, MPI_BYTE, m->from, m->tag, MPI_COMM_WORLD,
                    &o->request) == 0);
}

static void check_received(const op *o, const MPI_Status *s, int error)
{
    const message *m = o->m;
    size_t got = (size_t)(m->bytes < m->room ? m->bytes : m->room);
    CHECK(class_of(error) == (m->bytes > m->room ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    CHECK(s->MPI_SOURCE == m->from && s->MPI_TAG == m->tag);
    CHECK(wrong_bytes(o->data.data, got, (uint64_t)o->number) == 0 && guarded_intact(&o->data));
    CHECK(other_than(o->data.data + got, o->data.bytes - got, UNTOUCHED) == 0);
}

static void finish(op *o, const MPI_Status *s, int error)
{
    if (!o->is_send)
        check_received(o, s, error);
    else
        CHECK(error == MPI_SUCCESS);
    CHECK(!o->finished++);
    if (o->request != MPI_REQUEST_NULL) CHECK(MPI_Request_free(&o->request) == MPI_SUCCESS);
    guarded_free(&o->data);
}

// Only a message that is alone under its sender and tag can be probed without disturbing the order
// in which posted receives match; it is taken when everything else is posted.
static int alone(int k)
{
    for (int j = 0; j < MESSAGES; j++)
        if (j != k && plan[j].to == my_rank && plan[j].from == plan[k].from &&
            plan[j].tag == plan[k].tag)
            return 0;
    return 1;
}

static void take_by_probe(int k)
{
    const message *m = &plan[k];
    MPI_Message handle;
    MPI_Status s;
    op o = {.m = m,
            .number = k,
            .data = guarded_new((size_t)m->room, m->shared),
            .request = MPI_REQUEST_NULL};
    CHECK(MPI_Mprobe(m->from, m->tag, MPI_COMM_WORLD, &handle, &s) == MPI_SUCCESS);
    CHECK(bytes_of(&s) == m->bytes);
    int error = MPI_Mrecv(o.data.data, m->room, MPI_BYTE, &handle, &s);
    finish(&o, &s, error);
}

// Ends everything under way, by ways that the dice choose.
static void finish_all(uint64_t *seed)
{
    static MPI_Request r[2 * MESSAGES];
    static MPI_Status s[2 * MESSAGES];
    static int indices[2 * MESSAGES];
    int left = op_count, count, index, flag;
    for (int k = 0; k < op_count; k++) r[k] = ops[k].request;
    while (left > 0) {
        count = 0;
        int rc;
        switch (random_next(seed) % 4) {
        case 0:
            rc = MPI_Waitany(op_count, r, &index, &s[0]);
            s[0].MPI_ERROR = rc;
            indices[0] = index;
            count = 1;
            break;
        case 1:
            rc = MPI_Testany(op_count, r, &index, &flag, &s[0]);
            s[0].MPI_ERROR = rc;
            indices[0] = index;
            count = flag;
            break;
        case 2: rc = MPI_Waitsome(op_count, r, &count, indices, s); break;
        default: rc = MPI_Testsome(op_count, r, &count, indices, s);
        }
        CHECK(count >= 0 && count <= left);
        for (int i = 0; i < count; i++) {
            op *o = &ops[indices[i]];
            o->request = r[indices[i]];
            finish(o, &s[i], s[i].MPI_ERROR);
            r[indices[i]] = MPI_REQUEST_NULL;
        }
        left -= count;
    }
}

static void epoch(uint64_t number, uint64_t seed)
{
    uint64_t mine = seed * 977 + (uint64_t)my_rank * 31 + number;
    int late[MESSAGES], late_count = 0;
    make_plan(seed + number * 7919);
    op_count = 0;
    for (int k = 0; k < MESSAGES; k++) {
        const message *m = &plan[k];
        if (random_next(&mine) % 64 == 0) nap_us((long)(random_next(&mine) % 300));
        if (m->from == my_rank) start_send(k);
        if (m->to != my_rank) continue;
        if (m->by_probe && alone(k))
            late[late_count++] = k;
        else
            start_receive(k);
    }
    for (int i = 0; i < late_count; i++) take_by_probe(late[i]);
    finish_all(&mine);
    CHECK(MPI_Buffer_flush() == MPI_SUCCESS);
    meet_all();
}

int main(int argc, char **argv)
{
    begin_test(&argc, &argv);
    const char *text = getenv("SHOAL_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : 1;
    uint64_t epochs = getenv("SHOAL_TEST_LONG") ? 500 : 10;
    void *memory;
    int bytes;
    CHECK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0) == MPI_SUCCESS);
    for (uint64_t k = 0; k < epochs; k++) epoch(k, seed);
    CHECK(MPI_Buffer_detach(&memory, &bytes) == MPI_SUCCESS);
    return end_test();
}
