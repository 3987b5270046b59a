// SPDX-License-Identifier: BSD-3-Clause
// See meet.h.
#include "p2p/meet.h"

#include "p2p/p2p.h"

#define MEET_MIN    (192u << 10) // shorter ones are faster copied twice, unless the kernel is quick,
#define MEET_QUICK  (48u << 10)  // ... and then faster read by the receiver alone; but in a crowd:
#define CROWD_BYTES (12u << 20)  // what all who are awake may move at once, copying twice ...
#define CROWD_HUGE  (1u << 20)   // ... from huge pages, which the kernel copies in half the time
#define MANY        2u           // ... messages of each, at least, where many are sent
#define CROWD_QUICK (48u << 10)  // ... and from here on, whatever all move, if the kernel is quick
#define UNIT        4096u        // parts are claimed in whole units
#define LEAST       32u          // ... so many at least: a call of the kernel costs as much as two,
#define LEAST_QUICK 8u           // ... or less
#define MEET_MOST   ((int64_t)UNIT << 23)
#define TRY_AGAIN   16          // messages to a peer that has declined, before it is asked again
#define LENGTHS     10u         // kinds of lengths, each from twice that of the one before
#define SHORT       (96u << 10) // trying copies that turn out to be slow does not cost much
#define PATIENCE    8           // ... so it is done earlier
// Of the last kind: even a quick kernel may be slower than copies.
#define VERY_LONG ((uint64_t)SHOAL_MEET_SHORTEST << (LENGTHS - 1))

// By whether the cores share a cache; and by whether the sender is busy, and length, which number
// the bits of `wants_copies` in the ring.
#define KINDS (2 * LENGTHS)
static_assert(KINDS <= SHOAL_LENGTHS && SHOAL_LENGTHS <= 32, "a bit for each");
static shoal_ways ways[2][KINDS];

// Two ranks that get the same lengths from each other: if each tried by itself, both would see the
// other's way in all their times, and going the same way may be faster than either alone would make
// it. So the lower rank finds out, and the other takes the way that it takes.
typedef struct leader {
    uint32_t rank;   // plus 1; 0: nobody
    uint8_t batches; // that it had had at the last look
    uint8_t looks;   // in a row at which these were more; while it leads: were not
    bool leads;
} leader;
#define BEGIN 2 // looks after which it leads
#define END   3 // ... and leads no more
static leader leaders[2][KINDS];

// Of what may come eagerly nobody says whether the sender was busy.
static unsigned kind_of(uint64_t bytes, bool busy)
{
    unsigned k = 0;
    while (k + 1 < LENGTHS && bytes >= (uint64_t)SHOAL_MEET_SHORTEST << (k + 1)) k++;
    return (busy && bytes > SHOAL_EAGER_MAX) * LENGTHS + k;
}

// May a message of that length be moved by the kernel while everybody has a core?
static bool long_enough(uint64_t bytes)
{
    return bytes >= (shoal_the_shm.fetches ? SHOAL_MEET_SHORTEST : MEET_MIN);
}

// In a crowd each rank's times are made of all ranks' ways, and would tell it little of its own;
// unless all take the same, as in collective calls.
static shoal_ways *ways_of(uint32_t peer, uint64_t bytes, bool busy)
{
    if (!long_enough(bytes) || shoal_shm_crowded()) return NULL;
    shoal_ways *w = &ways[shoal_shm_far(peer)][kind_of(bytes, busy)];
    if (shoal_the_shm.fetches && bytes < VERY_LONG)
        w->patience = bytes < SHORT ? PATIENCE : SHOAL_WAYS_PATIENCE;
    return w;
}

shoal_ways *shoal_meet_ways(const shoal_req *r, uint32_t peer, const shoal_rts *rts)
{
    return ways_of(peer, (uint64_t)r->total, rts->traits & SHOAL_RTS_BUSY);
}

// Had the peer rather copies of what we send to it?
static bool wants_copies(const shoal_peer *p, unsigned kind)
{
    return atomic_load_explicit(&p->out.ring->wants_copies, memory_order_relaxed) >> kind & 1;
}

// At the end of a batch, before a message of the peer's: has the leader had one, too, since the
// last look? If there is none, perhaps it is the peer.
static void look_at_leader(leader *l, uint32_t peer, unsigned kind)
{
    const shoal_shm *s = &shoal_the_shm;
    if (!l->leads && peer > s->rank) return;
    bool another = !l->leads && l->rank != peer + 1;
    if (another) l->rank = peer + 1;
    const shoal_ring *ring = s->peers[l->rank - 1].out.ring;
    uint8_t batches = atomic_load_explicit(&ring->batches[kind], memory_order_relaxed);
    bool more = !another && batches != l->batches;
    l->batches = batches;
    l->looks = more != l->leads ? (uint8_t)(l->looks + 1) : 0;
    if (l->looks < (l->leads ? END : BEGIN)) return;
    l->leads = !l->leads;
    l->looks = 0;
}

// For the peer to see: one batch more that went the way it should.
static void count_batch(shoal_ring *ring, unsigned kind)
{
    uint8_t had = atomic_load_explicit(&ring->batches[kind], memory_order_relaxed);
    atomic_store_explicit(&ring->batches[kind], (uint8_t)(had + 1), memory_order_relaxed);
}

void shoal_meet_wish(uint32_t peer, shoal_ways *w, int64_t now)
{
    shoal_ring *ring = shoal_the_shm.peers[peer].in.ring;
    bool far = w >= ways[1];
    unsigned kind = (unsigned)(w - ways[far]);
    leader *l = &leaders[far][kind];
    if (shoal_ways_full(w, now)) {
        look_at_leader(l, peer, kind);
        if (w->gone == w->way) count_batch(ring, kind);
    }
    if (l->leads)
        shoal_ways_follow(w, wants_copies(&shoal_the_shm.peers[l->rank - 1], kind), now);
    else
        shoal_ways_begin(w, now);
    uint32_t bit = 1u << kind,
             old = atomic_load_explicit(&ring->wants_copies, memory_order_relaxed);
    uint32_t new = shoal_ways_next(w) == SHOAL_WAY_COPIES ? old | bit : old & ~bit;
    if (new != old) atomic_store_explicit(&ring->wants_copies, new, memory_order_relaxed);
}

void shoal_meet_came(uint32_t peer, uint64_t bytes, bool fetched)
{
    shoal_ways *w = ways_of(peer, bytes, false);
    if (!w) return;
    int64_t now = shoal_now_ns();
    shoal_meet_wish(peer, w, now);
    shoal_ways_went(w, fetched ? SHOAL_WAY_KERNEL : SHOAL_WAY_COPIES, (int64_t)bytes, now);
}

// The word: number of the meeting (16 bits), units that the one at the front has claimed (24), and
// the unit at which those that the other has claimed begin (24). All is claimed when these are
// equal.
static uint64_t word_of(uint64_t number, uint64_t front, uint64_t back)
{
    return number << 48 | front << 24 | back;
}

static uint64_t front_of(uint64_t word)
{
    return word >> 24 & 0xffffff;
}

static uint64_t back_of(uint64_t word)
{
    return word & 0xffffff;
}

static uint64_t units_of(int64_t bytes)
{
    return ((uint64_t)bytes + UNIT - 1) / UNIT;
}

// A claim: bytes from `from` to `to` of the message.
typedef struct part {
    int64_t from, to;
} part;

static part part_of(uint64_t from, uint64_t to, int64_t total)
{
    part p = {.from = (int64_t)from * UNIT, .to = (int64_t)to * UNIT};
    if (p.to > total) p.to = total;
    return p;
}

// Claims up to `most` units at the front or at the back; false if none are left or the meeting is
// not this one any more. What the other side has written is of no interest here, only the word.
static bool claim(_Atomic uint64_t *word, uint64_t number, uint64_t most, bool at_front,
                  int64_t total, part *out)
{
    uint64_t old = atomic_load_explicit(word, memory_order_relaxed);
    for (;;) {
        uint64_t front = front_of(old), back = back_of(old);
        if (old >> 48 != number || front >= back || back > units_of(total)) return false;
        uint64_t n = back - front < most ? back - front : most;
        uint64_t new =
            at_front ? word_of(number, front + n, back) : word_of(number, front, back - n);
        if (!atomic_compare_exchange_weak_explicit(word, &old, new, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        *out = at_front ? part_of(front, front + n, total) : part_of(back - n, back, total);
        return true;
    }
}

// While everybody has a core two ranks copying at the same time may beat two copies, if the kernel
// is quick. In a crowd it is the work that counts, and one copy is less, if much is moved.
bool shoal_meet_is_better(uint32_t peer, const char *data, uint64_t bytes, enum shoal_beside beside)
{
    const shoal_world_header *h = shoal_the_shm.world->header;
    shoal_peer *p = &shoal_the_shm.peers[peer];
    int32_t awake = atomic_load_explicit(&h->awake, memory_order_relaxed);
    bool quick = shoal_the_shm.fetches, huge = shoal_on_huge_pages(data, bytes);
    if (awake > (int32_t)h->cores) {
        uint32_t messages = (uint32_t)awake * (beside == SHOAL_BESIDE_MANY ? MANY : 1);
        return (quick && bytes >= CROWD_QUICK) ||
               bytes >= (huge ? CROWD_HUGE : CROWD_BYTES) / messages;
    }
    if (!(huge || quick) || !long_enough(bytes) ||
        wants_copies(p, kind_of(bytes, beside != SHOAL_BESIDE_NOTHING)))
        return false;
    if (p->declined == 0) return true;
    p->declined--;
    return false;
}

void shoal_meet_declined(uint32_t peer)
{
    shoal_the_shm.peers[peer].declined = TRY_AGAIN;
}

// All is there, or nothing of the sender's can be read: then it is asked to send it.
static void finish(shoal_req *r, bool good)
{
    uint32_t peer = r->peer;
    shoal_the_shm.peers[peer].meeting[r->meeting % SHOAL_MEETINGS] = false;
    if (good) {
        shoal_control_send(peer, SHOAL_PKT_FIN, r->remote_id, NULL);
        shoal_rndv_end(r);
        return;
    }
    r->moved = 0;
    r->meeting = 0;
    shoal_cts cts = {.id = (uint64_t)(uintptr_t)shoal_object_handle(r),
                     .bytes = (uint64_t)r->total};
    shoal_control_send(peer, SHOAL_PKT_CTS, r->remote_id, &cts);
}

// Which of the two begins at the front does not depend on who sends: so what goes to and fro, or
// has one root and then the other, stays in halves in the caches of the two.
static bool reads_front(uint32_t receiver, uint32_t sender)
{
    return receiver > sender;
}

// The receiver, when all is claimed: what the sender has to write.
static part part_of_sender(const shoal_req *r)
{
    if (reads_front(shoal_the_shm.rank, r->peer)) return (part){.from = r->moved, .to = r->total};
    return (part){.from = 0, .to = r->moved < r->total ? r->moved : r->total};
}

static bool read_part(const shoal_req *r, uint64_t address, part p)
{
    return shoal_cma_read(r->peer, r->buf + r->type->true_lb + p.from, address + (uint64_t)p.from,
                          (uint64_t)(p.to - p.from));
}

// Reads from one end until nothing is left to claim: half of what is left each time while the
// sender may help, else all of it.
static bool read_parts(shoal_req *r, _Atomic uint64_t *word, uint64_t number, uint64_t address)
{
    bool good = true, at_front = reads_front(shoal_the_shm.rank, r->peer);
    uint64_t least = shoal_the_shm.fetches ? LEAST_QUICK : LEAST;
    part p;
    for (;;) {
        uint64_t now = atomic_load_explicit(word, memory_order_relaxed);
        uint64_t left = back_of(now) - front_of(now), most = left;
        if (good && shoal_shm_on_core(r->peer)) most = left / 2 > least ? left / 2 : least;
        if (!claim(word, number, most, at_front, r->total, &p)) return good;
        good = good && read_part(r, address, p);
    }
}

// From 1 to 65535, and again.
static uint64_t next_number(const shoal_peer *p)
{
    return p->last_meeting % 0xffffu + 1;
}

bool shoal_meet_suits(const shoal_req *r, const shoal_rts *rts)
{
    if (!(rts->traits & SHOAL_RTS_FETCH)) return false;
    return shoal_shm_crowded() || shoal_the_shm.fetches ||
           (r->type->dense && shoal_on_huge_pages(r->buf + r->type->true_lb, (size_t)r->total));
}

bool shoal_meet_can_be(const shoal_req *r, uint32_t peer, const shoal_rts *rts)
{
    const shoal_peer *p = &shoal_the_shm.peers[peer];
    return shoal_meet_suits(r, rts) && !(rts->traits & SHOAL_RTS_BUSY) && r->type->dense &&
           r->total >= (shoal_the_shm.fetches && !shoal_shm_crowded() ? MEET_QUICK : MEET_MIN) &&
           r->total <= MEET_MOST && !p->meeting[next_number(p) % SHOAL_MEETINGS] &&
           shoal_shm_on_core(peer) && !shoal_shm_asleep(peer) && shoal_cma_works(peer);
}

void shoal_meet_begin(shoal_req *r, uint32_t peer, const shoal_rts *rts)
{
    shoal_peer *p = &shoal_the_shm.peers[peer];
    uint64_t number = next_number(p);
    _Atomic uint64_t *word = &p->in.ring->meet[number % SHOAL_MEETINGS];
    atomic_store_explicit(word, word_of(number, 0, units_of(r->total)), memory_order_release);
    shoal_cts cts = {.id = (uint64_t)(uintptr_t)shoal_object_handle(r),
                     .bytes = (uint64_t)r->total,
                     .address = (uint64_t)(uintptr_t)(r->buf + r->type->true_lb),
                     .meeting = number};
    shoal_control_send(peer, SHOAL_PKT_CTS, rts->id, &cts);
    p->meeting[number % SHOAL_MEETINGS] = true;
    p->last_meeting = (uint16_t)number;
    r->meeting = (uint16_t)number;
    bool good = read_parts(r, word, number, rts->address);
    // Where our part and that of the sender meet.
    r->moved = (int64_t)back_of(atomic_load_explicit(word, memory_order_relaxed)) * UNIT;
    r->address = good ? rts->address : 0;
    part its = part_of_sender(r);
    if (its.from >= its.to) finish(r, good);
}

void shoal_meet_on_wrote(const shoal_packet *p)
{
    shoal_req *r = shoal_req_get((MPI_Request)(uintptr_t)p->id);
    shoal_cts cts;
    if (!r || r->kind != SHOAL_REQ_RECV || r->state != SHOAL_RQ_MOVING || r->peer != p->peer ||
        p->length != sizeof cts || !r->meeting)
        return;
    shoal_packet_copy(p, 0, &cts, sizeof cts);
    bool good = r->address != 0;
    if (good && cts.bytes == 0) good = read_part(r, r->address, part_of_sender(r));
    finish(r, good);
}

void shoal_meet_join(shoal_req *r, const shoal_cts *cts)
{
    shoal_peer *peer = &shoal_the_shm.peers[r->peer];
    const char *data = r->buf + r->type->true_lb;
    uint64_t half = units_of(r->total) / 2, least = shoal_the_shm.fetches ? LEAST_QUICK : LEAST;
    bool good = shoal_cma_works(r->peer), any = false; // if not, the receiver moves all of it
    part p;
    _Atomic uint64_t *word = &peer->out.ring->meet[cts->meeting % SHOAL_MEETINGS];
    peer->declined = 0;
    int64_t began = shoal_now_ns(); // the receiver has just written the word
    (void)atomic_load_explicit(word, memory_order_acquire);
    shoal_shm_note_distance(r->peer, shoal_now_ns() - began);
    bool at_front = !reads_front(r->peer, shoal_the_shm.rank);
    while (good && claim(word, cts->meeting, half > least ? half : least, at_front, r->total, &p)) {
        any = true;
        good = shoal_cma_write(r->peer, cts->address + (uint64_t)p.from, data + p.from,
                               (uint64_t)(p.to - p.from));
    }
    shoal_cts wrote = {.id = cts->id, .bytes = good};
    if (any) shoal_control_send(r->peer, SHOAL_PKT_WROTE, cts->id, &wrote);
}
