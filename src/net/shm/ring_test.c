// SPDX-License-Identifier: BSD-3-Clause
// The ring: a model run step by step in one thread (full, wrapping, growing, every size), and a
// producer and a consumer that run as fast as they can with random pauses, every byte checked.
// SHOAL_TEST_LONG=1 makes the run ten times as long. Meant for TSan as well: the ring uses no
// fences, only acquire and release, which TSan understands.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "net/shm/ring.h"
#include "plat/test.h"

#define RING_BYTES (64u << 10)

static uint32_t last_word; // of the header that was looked at last

static char *memory;
static shoal_ring_out out;
static shoal_ring_in in;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void open_ring(void)
{
    memset(memory, 0, RING_BYTES);
    shoal_ring_open_out(&out, memory, RING_BYTES);
    shoal_ring_open_in(&in, memory, RING_BYTES);
}

static uint32_t size_of(uint64_t *seed)
{
    uint32_t r = next_random(seed);
    if (r % 32 < 26) return r / 32 % 100;
    if (r % 32 < 31) return r / 32 % 2000;
    return r / 32 % shoal_ring_max_payload(&out);
}

// The k-th packet says so in its header and in each word of its payload.
static bool push(uint64_t k, uint32_t bytes)
{
    char *to = shoal_ring_reserve(&out, bytes);
    if (!to) return false;
    for (uint32_t i = 0; i < bytes; i++) to[i] = (char)(k * 31 + i * 7);
    shoal_header h = {.src = (uint16_t)k, .context_high = (uint16_t)(k >> 16), .id = k};
    shoal_ring_publish(&out, SHOAL_PKT_EAGER, bytes, &h);
    return true;
}

static bool good(const shoal_header *h, uint64_t k, uint32_t bytes)
{
    uint32_t word = atomic_load_explicit(&h->word, memory_order_relaxed);
    const char *data = (const char *)(h + 1);
    if (!shoal_ring_sane(&in, word) || (word & 31) != SHOAL_PKT_EAGER || word >> 5 != bytes)
        return false;
    if (h->id != k || h->src != (uint16_t)k || h->context_high != (uint16_t)(k >> 16)) return false;
    for (uint32_t i = 0; i < bytes; i++)
        if (data[i] != (char)(k * 31 + i * 7)) return false;
    return true;
}

// Pushes until full and pops until empty, in random stretches.
static void step_by_step(void)
{
    enum { N = 20000 };
    uint64_t sizes_in = 1, sizes_out = 1, stretches = 2, pushed = 0, popped = 0;
    uint32_t pending = 0, wrong = 0, full = 0;
    bool have = false;
    open_ring();
    CHECK(shoal_ring_peek(&in, &last_word) == NULL);
    while (popped < N) {
        for (uint32_t n = next_random(&stretches) % 200; n > 0 && pushed < N; n--) {
            if (!have) pending = size_of(&sizes_out);
            have = true;
            if (!push(pushed, pending)) {
                full++;
                break;
            }
            have = false;
            pushed++;
        }
        for (uint32_t n = next_random(&stretches) % 200; n > 0 && popped < pushed; n--) {
            uint32_t bytes = size_of(&sizes_in);
            shoal_header *h = shoal_ring_peek(&in, &last_word);
            wrong += !h || !good(h, popped, bytes);
            if (!h) break;
            shoal_ring_skip(&in, bytes);
            popped++;
        }
        if (wrong) break;
    }
    CHECK(wrong == 0);
    CHECK(full > 10); // it did run full
    CHECK(shoal_ring_peek(&in, &last_word) == NULL);
}

// However full it was: once the consumer has caught up, the largest packet finds room.
static void largest_fits(void)
{
    open_ring();
    uint32_t most = shoal_ring_max_payload(&out);
    uint64_t seed = 3, k = 0;
    for (int round = 0; round < 2000; round++) {
        uint64_t first = k;
        uint32_t bytes[2000];
        while (k - first < 2000) {
            bytes[k - first] = next_random(&seed) % 2000;
            if (!push(k, bytes[k - first])) break;
            k++;
        }
        for (uint64_t i = first; i < k; i++) {
            shoal_header *h = shoal_ring_peek(&in, &last_word);
            CHECK(h && good(h, i, bytes[i - first]));
            if (!h) return;
            shoal_ring_skip(&in, bytes[i - first]);
        }
        bool fits = push(k, most);
        CHECK(fits);
        if (!fits) return;
        shoal_header *h = shoal_ring_peek(&in, &last_word);
        CHECK(h && good(h, k, most));
        shoal_ring_skip(&in, most);
        k++;
    }
}

// A quiet pair touches only the first part of its ring.
static void quiet_pair_stays_small(void)
{
    open_ring();
    for (uint64_t k = 0; k < 5000; k++) {
        CHECK(push(k, 40));
        shoal_header *h = shoal_ring_peek(&in, &last_word);
        CHECK(h && good(h, k, 40));
        shoal_ring_skip(&in, 40);
    }
    CHECK(out.limit == SHOAL_RING_FIRST);
    uint32_t touched = 0;
    for (uint32_t i = SHOAL_RING_FIRST; i < RING_BYTES - sizeof(shoal_ring); i++)
        touched += out.ring->data[i] != 0;
    CHECK(touched == 0);
}

static uint64_t messages;

static void *produce(void *unused)
{
    (void)unused;
    uint64_t sizes = 11, pauses = 12;
    for (uint64_t k = 0; k < messages; k++) {
        uint32_t bytes = size_of(&sizes);
        while (!push(k, bytes)) sched_yield();
        uint32_t pause = next_random(&pauses) % 1000;
        if (pause == 0) sched_yield();
        for (uint32_t i = 0; pause > 900 && i < pause; i++) shoal_relax();
    }
    return NULL;
}

static void at_full_speed(void)
{
    uint64_t sizes = 11, pauses = 13, wrong = 0;
    pthread_t t;
    open_ring();
    CHECK(pthread_create(&t, NULL, produce, NULL) == 0);
    for (uint64_t k = 0; k < messages; k++) {
        uint32_t bytes = size_of(&sizes);
        shoal_header *h;
        while (!(h = shoal_ring_peek(&in, &last_word))) sched_yield();
        wrong += !good(h, k, bytes);
        shoal_ring_skip(&in, bytes);
        if (next_random(&pauses) % 2000 == 0) sched_yield();
    }
    CHECK(pthread_join(t, NULL) == 0);
    CHECK(wrong == 0);
}

int main(void)
{
    messages = getenv("SHOAL_TEST_LONG") ? 10000000 : 1000000;
    memory = aligned_alloc(SHOAL_APART, RING_BYTES);
    CHECK(memory != NULL);
    step_by_step();
    largest_fits();
    quiet_pair_stays_small();
    at_full_speed();
    free(memory);
    return SHOAL_TEST_RESULT();
}
