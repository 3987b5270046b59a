// SPDX-License-Identifier: BSD-3-Clause
// Who moves what in a meeting: two threads claim parts of a message, one from the front and one
// from the back, until they meet; every byte must be claimed once. And a word that is another
// meeting's, or that cannot be, gives nothing. And who leads when two ranks get the same lengths
// from each other.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/meet.c"
#include "plat/test.h"

enum { ROUNDS = 3000, MOST_UNITS = 300 };

static _Atomic uint64_t word;
static _Atomic int ready;
static unsigned char claims[MOST_UNITS * UNIT];
static int64_t total;
static uint64_t number;

// Claims until nothing is left; returns how many bytes.
static int64_t claim_all(bool at_front, uint64_t most)
{
    part p;
    int64_t bytes = 0;
    while (claim(&word, number, most, at_front, total, &p)) {
        for (int64_t i = p.from; i < p.to; i++) claims[i]++;
        bytes += p.to - p.from;
    }
    return bytes;
}

static void *from_the_back(void *bytes_out)
{
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < 2) shoal_relax();
    *(int64_t *)bytes_out = claim_all(false, 3);
    return NULL;
}

static void test_they_meet(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        int64_t theirs = 0;
        pthread_t other;
        total = 1 + (int64_t)round * 401 % (MOST_UNITS * UNIT - 1);
        number = (uint64_t)round % 0xffff + 1;
        memset(claims, 0, (size_t)total);
        atomic_store(&word, word_of(number, 0, units_of(total)));
        atomic_store(&ready, 0);
        CHECK(pthread_create(&other, NULL, from_the_back, &theirs) == 0);
        atomic_fetch_add(&ready, 1);
        while (atomic_load(&ready) < 2) shoal_relax();
        int64_t ours = claim_all(true, 2);
        pthread_join(other, NULL);
        CHECK(ours + theirs == total);
        CHECK((int64_t)back_of(atomic_load(&word)) * UNIT >= ours);
        size_t wrong = 0;
        for (int64_t i = 0; i < total; i++) wrong += claims[i] != 1;
        CHECK(wrong == 0);
    }
}

// What this rank has not read when all is claimed, up to or from unit 4 of 9 and a half.
static void test_what_the_sender_writes(void)
{
    shoal_req r = {.peer = 1, .moved = 4 * UNIT, .total = 9 * UNIT + UNIT / 2};
    shoal_the_shm.rank = 2;
    part p = part_of_sender(&r);
    CHECK(p.from == r.moved && p.to == r.total);
    shoal_the_shm.rank = 0;
    p = part_of_sender(&r);
    CHECK(p.from == 0 && p.to == r.moved);
    r.moved = 10 * UNIT; // the last unit is not a whole one
    p = part_of_sender(&r);
    CHECK(p.from == 0 && p.to == r.total);
    CHECK(reads_front(0, 1) != reads_front(1, 0));
}

static void test_of_another_meeting(void)
{
    part p;
    total = 10 * UNIT;
    atomic_store(&word, word_of(7, 0, 10));
    CHECK(!claim(&word, 8, 1, true, total, &p) && !claim(&word, 6, 1, false, total, &p));
    CHECK(claim(&word, 7, 100, false, total, &p) && p.from == 0 && p.to == total);
    CHECK(!claim(&word, 7, 1, true, total, &p));
}

// Another process wrote it.
static void test_what_cannot_be(void)
{
    part p;
    total = 10 * UNIT - 5;
    atomic_store(&word, word_of(7, 0, 11));
    CHECK(!claim(&word, 7, 1, true, total, &p) && !claim(&word, 7, 1, false, total, &p));
    atomic_store(&word, word_of(7, 9, 3));
    CHECK(!claim(&word, 7, 1, true, total, &p) && !claim(&word, 7, 1, false, total, &p));
    atomic_store(&word, word_of(7, 9, 10));
    CHECK(claim(&word, 7, 1, true, total, &p) && p.from == 9 * UNIT && p.to == total);
}

static void test_numbers_come_round(void)
{
    shoal_peer p = {0};
    uint64_t last = 0;
    for (int k = 0; k < 200000; k++) {
        uint64_t next = next_number(&p);
        CHECK(next >= 1 && next <= 0xffff && next != last);
        p.last_meeting = (uint16_t)next;
        last = next;
    }
}

// The leader has one batch more; then a look, with a message from `peer` to come.
static void look_after_batch(leader *l, shoal_peer *peers, uint32_t rank, uint32_t peer)
{
    peers[rank].out.ring->batches[0]++;
    look_at_leader(l, peer, 0);
}

// Seen by rank 2: a lower rank that sends to us leads while it has batches of the same length.
static void test_who_leads(void)
{
    static shoal_peer peers[4];
    leader l = {0};
    for (int k = 0; k < 4; k++) peers[k].out.ring = calloc(1, sizeof(shoal_ring));
    shoal_the_shm.peers = peers;
    shoal_the_shm.rank = 2;
    for (uint32_t k = 0; k < 8; k++) look_after_batch(&l, peers, 0, k % 2 ? 1 : 3);
    CHECK(!l.leads); // rank 0 sends us nothing, rank 1 has nothing from us
    look_after_batch(&l, peers, 1, 1);
    CHECK(!l.leads);
    look_at_leader(&l, 1, 0);
    look_after_batch(&l, peers, 1, 1);
    CHECK(!l.leads); // not as often as we have
    look_after_batch(&l, peers, 1, 1);
    CHECK(l.leads && l.rank == 1 + 1);
    // Others' messages in between change nothing, nor does a batch of the leader's that is late.
    look_at_leader(&l, 3, 0);
    look_after_batch(&l, peers, 0, 0);
    CHECK(l.leads && l.rank == 1 + 1);
    look_after_batch(&l, peers, 1, 3);
    for (int k = 0; k < END; k++) {
        CHECK(l.leads);
        look_at_leader(&l, 1, 0);
    }
    CHECK(!l.leads);
    for (int k = 0; k < 5; k++) look_after_batch(&l, peers, 3, 3);
    CHECK(!l.leads); // a higher one never does
    for (int k = 0; k < 4; k++) free(peers[k].out.ring);
    shoal_the_shm.peers = NULL;
}

int main(void)
{
    test_they_meet();
    test_what_the_sender_writes();
    test_of_another_meeting();
    test_what_cannot_be();
    test_numbers_come_round();
    test_who_leads();
    return SHOAL_TEST_RESULT();
}
