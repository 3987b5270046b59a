// SPDX-License-Identifier: BSD-3-Clause
// The bell: two processes send to each other and fall asleep, and no wake-up may be lost.
//
// streams  messages of random sizes with random pauses, through the engine's own waiting, with the
//          kernel's futex; the ring runs full and empty. SHOAL_TEST_LONG=1: 10^7 messages.
// duels    the moment that matters, a million times: one side looks at `asleep` just as the other
//          falls asleep. The sleep is a spin on the bell here, so that a round takes less than a
//          microsecond; a bell that does not ring although a message lies there is a lost wake-up.
//
// Both ways of keeping the two sides from missing each other are tried: senders that fence, and
// sleepers that make senders pass a barrier. bell_mutant_test.c takes the fence and the barrier
// away and must see wake-ups lost, which shows that the duels can fail.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "plat/plat.h"
#include "plat/test.h"

#ifndef TEST_GRACE_NS
#define TEST_GRACE_NS 5000000000 // longer than any process is kept off a core
#endif

static bool duelling;
static void duel_wait(_Atomic uint32_t *word, uint32_t value);

static void test_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    if (duelling)
        duel_wait(word, value);
    else
        shoal_futex_wait(word, value, timeout_ns);
}

// The transport and the waiting under test, compiled in so that the sleep can be watched.
#define shoal_futex_wait(word, value, ns) test_futex_wait(word, value, ns)
#include "net/shm/shm.c"
#include "progress/wait.c"
#undef shoal_futex_wait

typedef struct shared {
    _Atomic uint32_t lost;
    _Atomic uint64_t rounds;
    _Atomic uint32_t stop;
    _Atomic uint32_t wrong;
} shared;

static shared *both;
static shoal_world world;
static uint64_t taken;                // packets received
static uint64_t expect_seed, my_seed; // of the sizes

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void duel_wait(_Atomic uint32_t *word, uint32_t value)
{
    int64_t began = 0;
    for (uint32_t spins = 1; atomic_load_explicit(word, memory_order_acquire) == value; spins++) {
        shoal_relax();
        if (spins % 1024 != 0) continue;
        sched_yield();
        if (atomic_load(&both->stop)) return;
        int64_t now = shoal_now_ns();
        if (!shoal_shm_pending())
            began = 0;
        else if (began == 0)
            began = now;
        else if (now - began > TEST_GRACE_NS) {
            atomic_fetch_add(&both->lost, 1);
            atomic_store(&both->stop, 1);
            return;
        }
    }
}

static uint32_t size_of(uint64_t *seed)
{
    uint32_t r = next_random(seed);
    return r % 16 < 14 ? r / 16 % 120 : r / 16 % 12000;
}

static void take(uint64_t id, const char *data, uint32_t length)
{
    if (!duelling) {
        uint32_t bytes = size_of(&expect_seed);
        bool right = length == bytes && id == taken;
        for (uint32_t i = 0; right && i < bytes; i += 61) right = data[i] == (char)(taken + i);
        if (!right) atomic_fetch_add(&both->wrong, 1);
    }
    taken++;
}

void shoal_net_deliver(const shoal_packet *p)
{
    take(p->id, p->data, p->length);
}

void shoal_net_deliver_small(uint32_t peer, const shoal_header *h, uint32_t length)
{
    (void)peer;
    take(h->id, (const char *)(h + 1), length);
}

// The packet that waits for room, if `queue_first` is set.
static uint64_t waiting_number;
static uint32_t waiting_bytes;

static bool push(uint32_t peer, uint64_t number, uint32_t bytes)
{
    char *to = shoal_shm_reserve(peer, bytes);
    if (!to) return false;
    for (uint32_t i = 0; i < bytes; i += 61) to[i] = (char)(number + i);
    shoal_header h = {.id = number};
    shoal_shm_publish(peer, SHOAL_PKT_EAGER, bytes, &h);
    return true;
}

uint32_t shoal_net_owed;

int shoal_net_settle(int64_t before)
{
    (void)before;
    return 0;
}

int shoal_net_flush(uint32_t peer)
{
    if (!shoal_the_shm.peers[peer].queue_first) return 0;
    if (!push(peer, waiting_number, waiting_bytes)) return 0;
    shoal_the_shm.peers[peer].queue_first = NULL;
    return 1;
}

static bool queue_empty(void *peer)
{
    return ((shoal_peer *)peer)->queue_first == NULL;
}

static bool enough_taken(void *count)
{
    return taken >= *(uint64_t *)count;
}

static void describe(void *what, shoal_wait_note *note)
{
    (void)what;
    note->call = "test";
}

static void send_one(uint32_t peer, uint64_t number, uint32_t bytes)
{
    if (push(peer, number, bytes)) return;
    shoal_peer *p = &shoal_the_shm.peers[peer];
    waiting_number = number;
    waiting_bytes = bytes;
    p->queue_first = (struct shoal_waiting *)(void *)p; // only whether it is set counts here
    shoal_shm_queue_peer(peer);
    shoal_progress_wait(queue_empty, p, describe, -1);
}

static void random_pause(uint64_t *seed)
{
    uint32_t r = next_random(seed) % 4096;
    if (r == 0) {
        struct timespec ts = {0, next_random(seed) % 200000};
        nanosleep(&ts, NULL);
    } else if (r < 64) {
        sched_yield();
    }
}

// One sends, the other receives; every 1000 messages the receiver answers.
static void stream(uint32_t rank, uint64_t messages)
{
    uint64_t pauses = rank + 7, answers = 0;
    my_seed = expect_seed = 99;
    taken = 0;
    for (uint64_t k = 0; k < messages; k++) {
        random_pause(&pauses);
        if (rank == 0) {
            send_one(1, k, size_of(&my_seed));
            if (k % 1000 == 999) {
                answers++;
                expect_seed = 5;
                shoal_progress_wait(enough_taken, &answers, describe, 1);
            }
        } else {
            uint64_t want = k + 1;
            shoal_progress_wait(enough_taken, &want, describe, 0);
            uint64_t five = 5;
            if (k % 1000 == 999) send_one(0, answers++, size_of(&five));
        }
    }
}

// Falls asleep as soon as nothing is there, without the spinning that comes first in earnest.
static void duel(uint32_t rank, double seconds)
{
    uint64_t pauses = rank + 3, rounds = 0;
    int64_t until = shoal_now_ns() + (int64_t)(seconds * 1e9);
    taken = 0;
    duelling = true;
    while (!atomic_load_explicit(&both->stop, memory_order_relaxed)) {
        if (rank == 1 || rounds > 0) {
            uint64_t want = rank == 1 ? rounds + 1 : rounds;
            while (!enough_taken(&want) &&
                   !atomic_load_explicit(&both->stop, memory_order_relaxed)) {
                shoal_progress_poll();
                if (!enough_taken(&want)) sleep_once(enough_taken, &want, describe);
            }
        }
        for (uint32_t n = next_random(&pauses) % 64; n > 0; n--) __asm__ volatile("" ::: "memory");
        push(1 - rank, rounds, 8);
        if (++rounds % 256 == 0 && rank == 0 && shoal_now_ns() > until)
            atomic_store(&both->stop, 1);
    }
    if (rank == 0) atomic_store(&both->rounds, rounds);
    duelling = false;
}

// Runs `as` in two processes that share a world.
static void in_two_processes(bool fenced, uint64_t messages, double seconds)
{
    memset(both, 0, sizeof *both);
    int fd = shoal_world_create(2, &world);
    CHECK(fd >= 0);
    if (fd < 0) return;
    world.header->fenced = fenced;
    pid_t child = fork();
    uint32_t rank = child == 0 ? 1 : 0;
    if (child == 0) {
        alarm(getenv("SHOAL_TEST_LONG") ? 610 : 120);
        if (shoal_world_attach(fd, 1, &world) != 0) _exit(3);
    }
    world.rank = (int)rank;
    if (shoal_shm_init(&world) != 0) _exit(4);
    if (messages)
        stream(rank, messages);
    else
        duel(rank, seconds);
    if (child == 0) _exit(0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    shoal_shm_fini();
    shoal_world_detach(&world);
    close(fd);
}

static void begin(void)
{
    both = mmap(NULL, sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(both != MAP_FAILED);
}

#ifndef TEST_MUTANT
int main(void)
{
    uint64_t messages = getenv("SHOAL_TEST_LONG") ? 10000000 : 500000;
    double seconds = getenv("SHOAL_TEST_LONG") ? 20 : 1.5;
    alarm(getenv("SHOAL_TEST_LONG") ? 600 : 110);
    begin();
    for (int fenced = 0; fenced < 2; fenced++) {
        in_two_processes(fenced, messages, 0);
        CHECK(atomic_load(&both->wrong) == 0);
        in_two_processes(fenced, 0, seconds);
        CHECK(atomic_load(&both->lost) == 0 && atomic_load(&both->rounds) > 1000);
        printf("%s: %llu rounds of the duel\n", fenced ? "fences" : "barriers",
               (unsigned long long)atomic_load(&both->rounds));
    }
    return SHOAL_TEST_RESULT();
}
#endif
