// SPDX-License-Identifier: BSD-3-Clause
// The depot: a model of it (random sizes, taken in random order by several peers, no two living
// parcels overlap, every byte checked), what happens when the oldest parcel is not taken, what is
// believed of what a peer has written; and two threads that send and receive long packets as fast
// as they can, near and far, announced early or when they are whole. SHOAL_TEST_LONG=1 makes the
// stress ten times as long. Meant for TSan as well.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/shm/shm.h"
#include "plat/test.h"

#define PEERS       3u
#define DEPOT_BYTES (512u << 10)

static shoal_world world;
static uint64_t seed = 1;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static bool open_world(uint32_t ranks, uint32_t rank)
{
    int fd = shoal_world_create(ranks, &world);
    CHECK(fd >= 0);
    if (fd < 0) return false;
    close(fd);
    world.header->ferry_bytes = 0; // here all goes by the depot
    world.rank = (int)rank;
    bool opened = shoal_shm_init(&world) == 0;
    CHECK(opened);
    return opened;
}

static void close_world(void)
{
    shoal_shm_fini();
    shoal_world_detach(&world);
}

static shoal_depot *depot(void)
{
    return &shoal_the_shm.depot;
}

static void set_taken(const shoal_away *a)
{
    atomic_store_explicit(shoal_parcel_taken(depot()->memory, a->number), a->number,
                          memory_order_release);
}

// ---- The model: what lives in the depot, and what it holds.

typedef struct living {
    shoal_away away;
    uint32_t peer;
    unsigned char *data; // of the parcel
} living;

static living alive[SHOAL_PARCELS];
static uint32_t alive_count;

static uint32_t size_of(uint64_t *state)
{
    uint32_t r = next_random(state), kind = r % 16;
    r /= 16;
    if (kind < 8) return SHOAL_AWAY_MIN + r % 200;
    if (kind < 12) return SHOAL_AWAY_MIN + r % SHOAL_CHUNK;
    if (kind < 14) return (1 + r % 8) * SHOAL_CHUNK + r / 8 % 3 - 1;
    return SHOAL_AWAY_MIN + r % (64u << 10);
}

// Bytes that look like the numbers of parcels to come: nothing of it may be mistaken for a word of
// the receiver's.
static void fill_parcel(living *l)
{
    for (uint32_t i = 0; i < l->away.length; i++) {
        uint32_t word = l->away.number + 1 + i / 4 % 600;
        l->data[shoal_chunk_at(i)] = (unsigned char)(word >> 8 * (i % 4));
    }
}

static bool parcel_right(const living *l)
{
    for (uint32_t i = 0; i < l->away.length; i++) {
        uint32_t word = l->away.number + 1 + i / 4 % 600;
        if (l->data[shoal_chunk_at(i)] != (unsigned char)(word >> 8 * (i % 4))) return false;
    }
    return true;
}

static bool overlaps(const shoal_away *a, const shoal_away *b)
{
    return a->offset < b->offset + shoal_parcel_room(b->length) &&
           b->offset < a->offset + shoal_parcel_room(a->length);
}

static bool put(uint32_t peer, uint32_t bytes)
{
    living *l = &alive[alive_count];
    shoal_parcel *p = shoal_depot_take(depot(), peer, bytes, &l->away);
    if (!p) return false;
    CHECK(l->away.length == bytes && l->away.whole == 1);
    CHECK(shoal_away_sane(&l->away, depot()->bytes));
    CHECK((char *)p == (char *)depot()->memory + l->away.offset);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < alive_count; i++) wrong += overlaps(&l->away, &alive[i].away);
    CHECK(wrong == 0);
    l->peer = peer;
    l->data = (unsigned char *)p->data;
    fill_parcel(l);
    alive_count++;
    return true;
}

static void take_out(uint32_t i)
{
    CHECK(parcel_right(&alive[i]));
    set_taken(&alive[i].away);
    alive[i] = alive[--alive_count];
}

static void take_all(void)
{
    while (alive_count > 0) take_out(alive_count - 1);
}

static uint32_t alive_of(uint32_t peer)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < alive_count; i++) n += alive[i].peer == peer;
    return n;
}

// Where numbers run over, and everywhere else.
static void start_at(uint32_t number)
{
    depot()->first = depot()->last = number;
    for (uint32_t k = number - SHOAL_PARCELS; k != number; k++)
        atomic_store(shoal_parcel_taken(depot()->memory, k), k);
}

// The peers have given their cores away, as they do when crowded.
static void set_crowded(bool crowded)
{
    for (uint32_t i = 0; i < PEERS; i++)
        atomic_store(&shoal_the_shm.peers[i].berth->off_core, crowded);
    atomic_store(&world.header->awake, crowded ? (int32_t)world.header->cores + 1 : 1);
}

static void model(uint32_t first_number, bool crowded)
{
    uint32_t full = 0, put_in = 0;
    if (!open_world(PEERS + 1, PEERS)) return;
    set_crowded(crowded);
    depot()->bytes = DEPOT_BYTES;
    if (first_number) start_at(first_number);
    for (int round = 0; round < 3000; round++) {
        for (uint32_t n = next_random(&seed) % 12; n > 0; n--) {
            uint32_t peer = next_random(&seed) % PEERS, bytes = size_of(&seed);
            bool fits = shoal_depot_fits(depot(), peer, bytes);
            bool took = put(peer, bytes);
            CHECK(took == fits);
            full += !took;
            put_in += took;
            // As last seen: it may have taken more, never less.
            CHECK(shoal_the_shm.peers[peer].parcels >= alive_of(peer));
            if (!took) CHECK(shoal_the_shm.peers[peer].parcels == alive_of(peer));
        }
        // Mostly the older ones, in any order.
        for (uint32_t n = next_random(&seed) % 12; n > 0 && alive_count > 0; n--) {
            uint32_t i = next_random(&seed) % alive_count;
            take_out(i % (1 + i / 2));
        }
        if (shoal_test_failures) break;
    }
    CHECK(full > 100 && put_in > 5000);
    take_all();
    for (uint32_t p = 0; p < PEERS; p++) CHECK(shoal_depot_fits(depot(), p, 64u << 10));
    close_world();
}

// A place that is just large enough is taken, one that is a little too small is not: at the start,
// where the depot wraps around, and behind what was put there then.
static void just_fits(uint32_t bytes)
{
    if (!open_world(PEERS + 1, PEERS)) return;
    depot()->bytes = DEPOT_BYTES;
    uint32_t most = bytes; // for which the same room will do
    while (shoal_parcel_room(most + 1) == shoal_parcel_room(bytes)) most++;
    CHECK(put(0, bytes) && put(0, bytes));
    while (put(1, SHOAL_AWAY_MIN)) continue;
    for (uint32_t i = 0; i < 2; i++) {
        take_out(i); // the first that was put in, then the second
        CHECK(!put(2, most + 1) && put(2, most));
    }
    take_all();
    CHECK(shoal_depot_fits(depot(), 0, 64u << 10));
    close_world();
}

// More parcels than the list of them holds, in a depot that has room for more.
static void many_small(void)
{
    if (!open_world(PEERS + 1, PEERS)) return;
    uint32_t n = 0;
    while (n <= SHOAL_PARCELS && put(0, SHOAL_AWAY_MIN)) n++;
    CHECK(n > 100 && n <= SHOAL_PARCELS && shoal_the_shm.peers[0].parcels == n);
    CHECK(!shoal_depot_fits(depot(), 0, SHOAL_AWAY_MIN) && !shoal_depot_moved(depot(), 0));
    take_out(0); // the oldest
    CHECK(shoal_depot_moved(depot(), 0) && !shoal_depot_moved(depot(), 1));
    CHECK(put(1, SHOAL_AWAY_MIN));
    take_all();
    close_world();
}

// The beginning of the depot is used again and again for a peer that has no core, and more of it
// only if that is not taken.
static void beginning_only(void)
{
    if (!open_world(PEERS + 1, PEERS)) return;
    const uint32_t room = shoal_parcel_room(4096), near = SHOAL_DEPOT_NEAR / (PEERS + 1);
    atomic_store(&shoal_the_shm.peers[0].berth->off_core, 1);
    for (int round = 0; round < 1000; round++) {
        CHECK(put(0, 4096) && alive[0].away.offset + room <= near);
        take_all();
    }
    uint32_t furthest = 0, n = 0;
    for (; n < near / room + 1; n++) {
        CHECK(put(0, 4096));
        if (alive[n].away.offset > furthest) furthest = alive[n].away.offset;
    }
    CHECK(furthest + room > near);
    take_all();
    atomic_store(&shoal_the_shm.peers[0].berth->off_core, 0);
    furthest = 0;
    for (int round = 0; round < 1000; round++) {
        CHECK(put(0, 4096));
        if (alive[0].away.offset > furthest) furthest = alive[0].away.offset;
        take_all();
    }
    CHECK(furthest > depot()->bytes - 4 * 4096);
    close_world();
}

// A peer without a core gets a turn's worth while ranks outnumber cores, and more when it has taken
// some of it; what the others get does not depend on that.
static void turn_by_turn(void)
{
    if (!open_world(PEERS + 1, PEERS)) return;
    const uint32_t bytes = 64u << 10, turn = SHOAL_DEPOT_TURN / shoal_parcel_room(bytes);
    set_crowded(true);
    for (uint32_t n = 0; n < turn; n++) CHECK(put(0, bytes));
    CHECK(!put(0, bytes) && !shoal_depot_fits(depot(), 0, bytes));
    CHECK(shoal_shm_takes_long(0, bytes)); // in its time
    CHECK(put(1, bytes) && put(1, bytes));
    take_out(turn / 2); // not the oldest
    CHECK(shoal_depot_moved(depot(), 0));
    CHECK(put(0, bytes) && !put(0, bytes));
    atomic_store(&shoal_the_shm.peers[0].berth->off_core, 0);
    CHECK(put(0, bytes));
    take_all();
    set_crowded(false);
    atomic_store(&shoal_the_shm.peers[0].berth->off_core, 1);
    for (uint32_t n = 0; n <= turn; n++) CHECK(put(0, bytes));
    take_all();
    // What is longer than a turn goes alone.
    set_crowded(true);
    CHECK(put(0, SHOAL_DEPOT_TURN) && !put(0, SHOAL_DEPOT_TURN));
    take_all();
    close_world();
}

// ---- The oldest parcel is peer 0's, which does not take it.

static const shoal_header no_header;

static bool send_short(uint32_t peer, uint32_t bytes)
{
    char *to = shoal_shm_reserve(peer, bytes);
    if (!to) return false;
    memset(to, 7, bytes);
    shoal_shm_publish(peer, SHOAL_PKT_EAGER, bytes, &no_header);
    return true;
}

// The last parcel that was made.
static shoal_away newest(void)
{
    return (shoal_away){.number = depot()->last - 1};
}

static void fill_up(uint32_t peer, uint32_t bytes)
{
    int sent = 0;
    while (sent < 1000 && depot()->last - depot()->first < SHOAL_PARCELS &&
           shoal_depot_fits(depot(), peer, bytes) && send_short(peer, bytes))
        sent++;
    CHECK(sent > 3 && sent < 1000);
}

static void oldest_not_taken(void)
{
    if (!open_world(PEERS + 1, PEERS)) return;
    const uint32_t sure = shoal_shm_sure_payload(1), too_long = sure + 1;
    shoal_peer *p = &shoal_the_shm.peers[1];
    CHECK(send_short(0, sure));
    fill_up(1, sure);
    // Full, and some of it is peer 1's: it will tell us when it takes it.
    CHECK(!send_short(1, sure) && !p->retry && p->parcels > 0);
    CHECK(shoal_shm_takes_long(1, too_long));
    shoal_shm_queue_peer(1);
    CHECK(!shoal_shm_pending());
    shoal_away last = newest();
    set_taken(&last);
    CHECK(shoal_shm_pending()); // it has taken one of them ...
    uint32_t before = p->parcels;
    CHECK(!send_short(1, sure) && p->parcels == before - 1);
    CHECK(!shoal_shm_pending()); // ... of which we know now, and it did not help
    // Peer 2 has nothing of ours: nobody would tell us, so it is the ring.
    uint32_t ring_before = shoal_the_shm.peers[2].out.tail;
    CHECK(send_short(2, sure) && shoal_the_shm.peers[2].out.tail > ring_before + sure);
    CHECK(!shoal_shm_takes_long(2, too_long));
    // Peer 1 takes the rest between the question and the sending: there is no room and will be
    // none, which is no reason to sleep.
    CHECK(shoal_shm_takes_long(1, too_long));
    for (uint32_t k = depot()->first + 1; k != depot()->last; k++)
        set_taken(&(shoal_away){.number = k});
    CHECK(!send_short(1, too_long) && p->parcels == 0 && p->retry);
    CHECK(shoal_shm_pending());
    CHECK(!shoal_shm_takes_long(1, too_long) && send_short(1, sure));
    CHECK(!p->retry);
    // Peer 0 has taken it: the depot is the way again.
    set_taken(&(shoal_away){.number = depot()->first});
    CHECK(shoal_shm_takes_long(1, too_long) && send_short(1, too_long) && p->parcels == 1);
    close_world();
}

// ---- What a peer wrote.

static void only_sane(void)
{
    const uint64_t bytes = DEPOT_BYTES;
    const uint32_t front = sizeof(shoal_depot_memory);
    CHECK(shoal_away_sane(&(shoal_away){.offset = front, .length = 70000}, bytes));
    CHECK(shoal_away_sane(&(shoal_away){.offset = front, .length = SHOAL_AWAY_MIN}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = 0, .length = 4096}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = front - SHOAL_APART, .length = 4096}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = front + 1, .length = 4096}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = front, .length = 0}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = front, .length = DEPOT_BYTES}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = front, .length = UINT32_MAX}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = UINT32_MAX - 127, .length = 4096}, bytes));
    uint32_t last = DEPOT_BYTES - shoal_parcel_room(4096);
    CHECK(shoal_away_sane(&(shoal_away){.offset = last, .length = 4096}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = last, .length = 4097 + SHOAL_APART}, bytes));
    CHECK(!shoal_away_sane(&(shoal_away){.offset = last + SHOAL_APART, .length = 4096}, bytes));
}

// Waits for what a sender that died half way did not write. Does not come back.
static void wait_for_the_dead(enum shoal_job_state state)
{
    if (!freopen("/dev/null", "w", stderr) || !open_world(2, 0)) _exit(2);
    shoal_parcel *parcel = (void *)((char *)depot()->memory + sizeof(shoal_depot_memory));
    shoal_packet p = {.peer = 1, .length = 3 * SHOAL_CHUNK, .parcel = parcel, .data = parcel->data};
    uint32_t bytes = 0;
    atomic_store(&world.header->state, state);
    atomic_store(&parcel->filled, SHOAL_CHUNK);
    atomic_store(&shoal_the_shm.peers[1].berth->life, SHOAL_LIFE_DEAD);
    if (shoal_packet_part(&p, 100, &bytes) != parcel->data + 100 || bytes != SHOAL_CHUNK - 100)
        _exit(3);
    alarm(1);
    shoal_packet_part(&p, SHOAL_CHUNK, &bytes);
    _exit(4);
}

static void sender_dies(void)
{
    for (int ending = 0; ending < 2; ending++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) wait_for_the_dead(ending ? SHOAL_JOB_ENDING : SHOAL_JOB_RUNNING);
        // While the job is being ended it waits for its own end.
        CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == (ending ? SIGALRM : SIGABRT));
    }
}

// ---- Two threads. Both sides of a pair live in one process: the rank sends to itself, through a
// ring and a depot as anybody else's.

typedef struct stress {
    uint64_t messages;
    int32_t distance; // above 0: written past the caches
    int early;        // 0 never, 1 always, 2 now and then
    uint32_t wrong;
} stress;

#define FRONT 64u

static uint32_t stress_size(uint64_t *state)
{
    uint32_t r = next_random(state), kind = r % 8;
    r /= 8;
    if (kind < 2) return r % 200;
    if (kind < 4) return (kind < 3 ? SHOAL_AWAY_MIN : SHOAL_AWAY) - 2 + r % 5;
    if (kind < 5) return SHOAL_CHUNK - 1 + r % 3;
    if (kind < 6) return SHOAL_CHUNK + 1 + r % 20000;
    return FRONT + SHOAL_CHUNK + r % (56u << 10);
}

static inline char byte_of(uint64_t k, uint32_t i)
{
    return (char)(k * 31 + i * 7 + (i >> 8) * 13);
}

typedef struct stress_source {
    uint64_t k;
    uint32_t at;
    char bytes[SHOAL_CHUNK];
} stress_source;

static void stress_fill(void *what, uint32_t peer, char *to, uint32_t bytes)
{
    stress_source *s = what;
    for (uint32_t i = 0; i < bytes; i++) s->bytes[i] = byte_of(s->k, s->at + i);
    shoal_shm_fill(peer, to, s->bytes, bytes);
    s->at += bytes;
}

static bool stress_send(uint64_t k, uint32_t bytes, bool early)
{
    static stress_source s;
    shoal_header h = {.id = k};
    s.k = k;
    s.at = 0;
    if (bytes > SHOAL_CHUNK) {
        char front[FRONT];
        for (uint32_t i = 0; i < FRONT; i++) front[i] = byte_of(k, i);
        uint32_t n = k % 2 ? FRONT : 0;
        s.at = n;
        shoal_long l = {.front = front,
                        .front_bytes = n,
                        .bytes = bytes - n,
                        .fill = stress_fill,
                        .source = &s,
                        .early = early,
                        .gaps = k % 3 != 0,
                        .step = k % 3 ? SHOAL_CHUNK : 2 * SHOAL_CHUNK};
        return shoal_shm_send_long(0, SHOAL_PKT_EAGER, &h, &l);
    }
    char *to = shoal_shm_reserve(0, bytes);
    if (!to) return false;
    stress_fill(&s, 0, to, bytes);
    shoal_shm_publish(0, SHOAL_PKT_EAGER, bytes, &h);
    return true;
}

static void *stress_sender(void *what)
{
    stress *s = what;
    uint64_t sizes = 21, pauses = 22;
    for (uint64_t k = 0; k < s->messages; k++) {
        uint32_t bytes = stress_size(&sizes), pause = next_random(&pauses) % 1000;
        bool early = s->early == 1 || (s->early == 2 && pause % 2);
        shoal_the_shm.peers[0].distance = s->distance;
        while (!stress_send(k, bytes, early)) sched_yield();
        if (pause < 5) sched_yield();
    }
    return NULL;
}

// Copies all of it, or a part, or nothing (a truncated receive), and lets go of it.
static bool stress_check(const shoal_packet *p, uint64_t k, uint32_t bytes, uint64_t *choices)
{
    static char got[SHOAL_CHUNK * 10];
    uint32_t from = 0, n = bytes, choice = next_random(choices);
    if (choice % 8 == 0 && bytes > 0) {
        from = choice / 8 % bytes;
        n = choice / 8 / 7 % (bytes - from + 1);
    }
    if (p->length != bytes || p->id != k || p->kind != SHOAL_PKT_EAGER) return false;
    if (n > 0) shoal_packet_copy(p, from, got, n);
    for (uint32_t i = 0; i < n; i++)
        if (got[i] != byte_of(k, from + i)) return false;
    return true;
}

static void at_full_speed(int32_t distance, int early)
{
    uint64_t sizes = 21, choices = 23;
    uint64_t few = 3000;
    stress s = {.messages = getenv("SHOAL_TEST_LONG") ? few * 10 : few,
                .distance = distance,
                .early = early};
    pthread_t t;
    if (!open_world(1, 0)) return;
    CHECK(pthread_create(&t, NULL, stress_sender, &s) == 0);
    for (uint64_t k = 0; k < s.messages; k++) {
        uint32_t bytes = stress_size(&sizes);
        shoal_packet p;
        while (!shoal_shm_peek(0, &p)) sched_yield();
        s.wrong += !stress_check(&p, k, bytes, &choices);
        shoal_shm_step(&p);
        if (next_random(&choices) % 200 == 0) sched_yield();
    }
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(s.wrong == 0);
    close_world();
}

int main(void)
{
    only_sane();
    model(0, false);
    model(UINT32_MAX - 1000, true);
    for (uint32_t bytes = 3000; bytes < 60000; bytes += 1999) just_fits(bytes);
    many_small();
    beginning_only();
    turn_by_turn();
    oldest_not_taken();
    sender_dies();
    for (int early = 0; early <= 2; early++) {
        at_full_speed(-4, early);
        at_full_speed(4, early);
    }
    return SHOAL_TEST_RESULT();
}
