// SPDX-License-Identifier: BSD-3-Clause
// Ferries: two sides that send in any order agree about where each ferry is, and none is ever in
// two places; what is believed of what a peer has written; and two processes that send each other
// payloads as fast as they can, announced early or when they are whole, and do not always read all.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/shm/shm.h"
#include "plat/test.h"

#define ROOM 4096u

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

// ---- The order of two sides. A ferry that has left is under way until the other side reads it.

static void order(void)
{
    static char memory[2][ROOM];
    shoal_ferries side[2];
    shoal_away way[2][2]; // to side s
    uint32_t under_way[2] = {0, 0}, none = 0, both = 0;
    uint64_t seed = 5;
    for (int s = 0; s < 2; s++) shoal_ferries_open(&side[s], memory[s], memory[1 - s], ROOM);
    for (int step = 0; step < 10000; step++) {
        uint32_t me = next_random(&seed) % 2, peer = 1 - me;
        if (next_random(&seed) % 2 && under_way[me] > 0) {
            shoal_away *a = &way[me][0];
            shoal_parcel *p = shoal_ferry_find(&side[me], a);
            CHECK(p == (void *)memory[a->ferry - 1] || p == (void *)memory[2 - a->ferry]);
            shoal_ferry_keep(&side[me], a->ferry, a->length);
            CHECK(!shoal_ferry_find(&side[me], a)); // it is here: nobody can send it
            way[me][0] = way[me][1];
            under_way[me]--;
        } else if (under_way[peer] < 2) {
            shoal_away *a = &way[peer][under_way[peer]];
            shoal_parcel *p = shoal_ferry_take(&side[me], ROOM / 2, a);
            CHECK(!p || shoal_ferry_find(&side[peer], a) == p);
            under_way[peer] += p != NULL;
            none += !p;
        }
        both += side[me].here == 2;
        CHECK(side[0].here + side[1].here + under_way[0] + under_way[1] == 2);
    }
    CHECK(none > 100 && both > 100);
}

// Which ferry leaves: the one that was used for less, if that will do.
static void which(void)
{
    static char memory[2][ROOM];
    shoal_ferries f;
    shoal_away away;
    shoal_ferries_open(&f, memory[0], memory[1], ROOM);
    CHECK(shoal_ferry_take(&f, 1000, &away) == (void *)memory[0]);
    CHECK(!shoal_ferry_take(&f, 1000, &away));
    shoal_ferry_keep(&f, 2, 2000);
    shoal_ferry_keep(&f, 1, 1000);
    CHECK(shoal_ferry_take(&f, 1000, &away) && away.ferry == 1);
    CHECK(shoal_ferry_take(&f, 2000, &away) && away.ferry == 2);
    shoal_ferry_keep(&f, 2, 2000);
    shoal_ferry_keep(&f, 1, 2000);
    CHECK(shoal_ferry_take(&f, 2000, &away) && away.ferry == 2); // it was here first
}

// What is longer than what was read in it does not go by ferry, unless it is the second in a row.
static void too_long(void)
{
    static char memory[2][ROOM];
    shoal_ferries f;
    shoal_away away;
    shoal_ferries_open(&f, memory[0], memory[1], ROOM);
    CHECK(shoal_ferry_take(&f, 2000, &away) != NULL);
    shoal_ferry_keep(&f, 1, 3000);
    CHECK(shoal_ferry_take(&f, 3500, &away) != NULL); // nobody has used so much of it yet
    for (int i = 0; i < 10; i++) {
        shoal_ferry_keep(&f, 1, 1000);
        shoal_ferry_see(&f, 1000); // as the message that it was
        CHECK(!shoal_ferry_take(&f, 3500, &away));
        CHECK(shoal_ferry_take(&f, 1100, &away) != NULL);
    }
    shoal_ferry_keep(&f, 1, 1000);
    shoal_ferry_see(&f, 1000);
    CHECK(!shoal_ferry_take(&f, 3400, &away) && !shoal_ferry_take(&f, 3500, &away));
    CHECK(shoal_ferry_take(&f, 3300, &away) != NULL);
}

static void only_sane(void)
{
    static char memory[2][ROOM];
    shoal_ferries f, none = {.room = 0};
    shoal_away away;
    shoal_ferries_open(&f, memory[0], memory[1], ROOM);
    CHECK(shoal_ferry_find(&f, &(shoal_away){.length = ROOM / 2, .ferry = 2}) != NULL);
    CHECK(!shoal_ferry_find(&f, &(shoal_away){.length = ROOM / 2, .ferry = 1}));
    CHECK(!shoal_ferry_find(&f, &(shoal_away){.length = ROOM / 2, .ferry = 3}));
    CHECK(!shoal_ferry_find(&f, &(shoal_away){.length = SHOAL_AWAY_MIN - 1, .ferry = 2}));
    CHECK(!shoal_ferry_find(&f, &(shoal_away){.length = ROOM, .ferry = 2}));
    CHECK(!shoal_ferry_find(&none, &(shoal_away){.length = SHOAL_AWAY_MIN, .ferry = 1}));
    CHECK(!shoal_ferry_take(&f, ROOM, &away) && !shoal_ferry_take(&none, 1000, &away));
}

// ---- Two processes. Both know what each sends in a round: up to three messages.

#define MOST (200u << 10)

static uint32_t size_of(uint64_t *state)
{
    uint32_t r = next_random(state), kind = r % 8;
    r /= 8;
    if (kind < 2) return r % 2000;
    if (kind < 4) return SHOAL_CHUNK - 1 + r % 3;
    return r % (kind < 7 ? 64u << 10 : MOST);
}

static char byte_of(uint32_t rank, uint32_t k, uint32_t i)
{
    return (char)(rank * 5 + k * 31 + i * 7 + (i >> 8) * 13);
}

typedef struct source {
    uint32_t k, at;
} source;

static void fill(void *what, uint32_t peer, char *to, uint32_t bytes)
{
    static char made[SHOAL_CHUNK];
    source *s = what;
    // One that is announced early, and of which the reader does not want all, comes slowly.
    if (s->k % 12 == 3 && s->at > 0) usleep(20);
    for (uint32_t i = 0; i < bytes; i++) made[i] = byte_of(1 - peer, s->k, s->at + i);
    shoal_shm_fill(peer, to, made, bytes);
    s->at += bytes;
}

static bool send_one(uint32_t peer, uint32_t k, uint32_t bytes)
{
    shoal_header h = {.id = k};
    source s = {.k = k};
    if (bytes > SHOAL_CHUNK) {
        shoal_long l = {.bytes = bytes,
                        .fill = fill,
                        .source = &s,
                        .early = k % 4 != 0,
                        .gaps = true,
                        .step = SHOAL_CHUNK};
        return shoal_shm_send_long(peer, SHOAL_PKT_EAGER, &h, &l);
    }
    char *to = shoal_shm_reserve(peer, bytes);
    if (!to) return false;
    fill(&s, peer, to, bytes);
    shoal_shm_publish(peer, SHOAL_PKT_EAGER, bytes, &h);
    return true;
}

// Reads all of it, or only the first part, as a receive with a small buffer does.
static bool right(const shoal_packet *p, uint32_t k, uint32_t bytes)
{
    static char got[MOST];
    uint32_t n = k % 3 == 0 ? bytes / 5 : bytes;
    if (p->length != bytes || p->id != k) return false;
    if (n > 0) shoal_packet_copy(p, 0, got, n);
    for (uint32_t i = 0; i < n; i++)
        if (got[i] != byte_of(p->peer, k, i)) return false;
    return true;
}

static uint32_t come_and_go(int fd, uint32_t rank)
{
    shoal_world w; // a child has none of its parent's
    uint32_t peer = 1 - rank, wrong = 0, k[2] = {0, 0}, by_ferry = 0, by_depot = 0;
    uint64_t plan[2] = {31, 32};
    shoal_packet p;
    if (shoal_world_attach(fd, (int)rank, &w) || shoal_shm_init(&w)) return 1;
    for (int round = 0; round < 3000; round++) {
        for (uint32_t n = next_random(&plan[rank]) % 3; n > 0; n--, k[rank]++) {
            uint32_t bytes = size_of(&plan[rank]);
            while (!send_one(peer, k[rank], bytes)) sched_yield();
        }
        for (uint32_t n = next_random(&plan[peer]) % 3; n > 0; n--, k[peer]++) {
            while (!shoal_shm_peek(peer, &p)) sched_yield();
            by_ferry += p.ferry != 0;
            by_depot += p.parcel && !p.ferry;
            wrong += !right(&p, k[peer], size_of(&plan[peer]));
            shoal_shm_step(&p);
        }
    }
    wrong += by_ferry < 500 || by_depot < 100;
    shoal_shm_fini();
    shoal_world_detach(&w);
    return wrong;
}

static void two_processes(void)
{
    shoal_world w;
    int fd = shoal_world_create(2, &w), status = 0;
    CHECK(fd >= 0);
    if (fd < 0) return;
    if (w.header->ferry_bytes > 0) { // else the two have but one core
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) _exit(come_and_go(fd, 1) > 0);
        CHECK(come_and_go(fd, 0) == 0);
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    shoal_world_detach(&w);
    close(fd);
}

int main(void)
{
    order();
    which();
    too_long();
    only_sane();
    two_processes();
    return SHOAL_TEST_RESULT();
}
