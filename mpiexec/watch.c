// SPDX-License-Identifier: BSD-3-Clause
// Proof of a deadlock. Every rank that is not gone is inside MPI and asleep, nobody has rung its
// bell since it fell asleep, and no thread of it could act before it is woken. A sender rings
// before it can itself fall asleep, so when all of this holds at one moment nothing is under way
// and nothing ever will be. "At one moment": the facts are read twice, and hold all through if
// bells and sequence numbers have not moved between the two readings.
//
// The boards are written by the ranks; what is read there is copied, checked and cut.
#include "watch.h"

#include <ctype.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plat/error.h"
#include "proc.h"
#include "run.h"
#include "say.h"

#define FIRST_TICK_NS (20 * SHOAL_MS)  // ranks behind wrappers are best seen while they begin
#define TICK_NS       (250 * SHOAL_MS) // a rank that died may have taken the notice with it
#define DOUBT_NS      (5000 * SHOAL_MS)
#define TEXT_BYTES    240
#define NOTE_BYTES    200

enum verdict { MOVING, DOUBTFUL, STUCK };

static shoal_source notice;
static void on_tick(shoal_timer *);
static shoal_timer tick = {.fire = on_tick};
static int64_t tick_ns = FIRST_TICK_NS;
static uint64_t reported; // the situation that was reported last
static int64_t doubt_since_ns;
static bool doubt_told;

// Copies a slot; false if it is not in use or was being written all the time.
static bool copy_slot(const shoal_board_slot *from, shoal_board_slot *to)
{
    for (int tries = 0; tries < 100; tries++) {
        uint32_t before = atomic_load_explicit(&from->seq, memory_order_acquire);
        if (before & 1) continue;
        memcpy(to, from, sizeof *to);
        // Pairs with the release at the end of shoal_board_write(): the copy is whole if the
        // number is still the same.
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&from->seq, memory_order_relaxed) != before) continue;
        to->call[sizeof to->call - 1] = to->comm[sizeof to->comm - 1] = 0;
        for (char *c = to->call; *c; c++)
            if (!isprint((unsigned char)*c)) *c = '?';
        for (char *c = to->comm; *c; c++)
            if (!isprint((unsigned char)*c)) *c = '?';
        return atomic_load_explicit(&to->tid, memory_order_relaxed) != 0;
    }
    return false;
}

// Whether tags mean something to this call.
static bool has_tag(const char *call)
{
    static const char *const parts[] = {"end", "ecv", "robe", "Wait", "Test", "Start"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(call, parts[i])) return true;
    return false;
}

// "source=1, tag=7", "dest=2"; nothing where the call waits for nobody in particular.
static void describe_peer(const shoal_board_slot *s, char *text, size_t room)
{
    const char *side = s->is_send ? "dest" : "source";
    int n = 0;
    text[0] = 0;
    if (s->collective) return;
    if (s->peer >= 0)
        n = snprintf(text, room, "%s=%d", side, s->peer);
    else if (s->peer == MPI_PROC_NULL)
        n = snprintf(text, room, "%s=MPI_PROC_NULL", side);
    else if (!s->is_send && has_tag(s->call))
        n = snprintf(text, room, "source=MPI_ANY_SOURCE");
    else
        return;
    if (!has_tag(s->call)) return;
    if (s->tag >= 0)
        snprintf(text + n, room - (size_t)n, ", tag=%d", s->tag);
    else if (s->tag == MPI_ANY_TAG && !s->is_send)
        snprintf(text + n, room - (size_t)n, ", tag=MPI_ANY_TAG");
}

static void describe(const shoal_board_slot *s, char text[NOTE_BYTES])
{
    char peer[64];
    describe_peer(s, peer, sizeof peer);
    int n = snprintf(text, NOTE_BYTES, "%s(%s)", s->call[0] ? s->call : "MPI", peer);
    if (s->requests > 1)
        n += snprintf(text + n, NOTE_BYTES - (size_t)n, ", the first of %u requests", s->requests);
    n += snprintf(text + n, NOTE_BYTES - (size_t)n, " on %s",
                  s->comm[0] ? s->comm : "an unnamed communicator");
    if (s->collective && s->peer >= 0)
        n += snprintf(text + n, NOTE_BYTES - (size_t)n, ", to which rank %d has not come", s->peer);
    // A rank of a communicator says little to a user who counts ranks of the job.
    if (s->peer >= 0 && s->peer_world >= 0 && s->peer_world != s->peer)
        n += snprintf(text + n, NOTE_BYTES - (size_t)n, " (rank %d of the job)", s->peer_world);
    if (s->bytes > 0)
        snprintf(text + n, NOTE_BYTES - (size_t)n, ", %lld byte%s", (long long)s->bytes,
                 s->bytes == 1 ? "" : "s");
}

// What a rank says about a collective call, if it is in the same one.
static bool in_the_same(uint32_t rank, const shoal_board_slot *s, shoal_board_slot *out)
{
    const shoal_berth *b = shoal_world_berth(&shoal_the_run.world, rank);
    for (int i = 0; i < SHOAL_BOARD_SLOTS; i++)
        if (copy_slot(&b->board[i], out) && out->collective && out->context == s->context &&
            strncmp(out->call, s->call, sizeof s->call) == 0)
            return true;
    return false;
}

// A rank that came while others slept has not woken them, and they still name it as the one that is
// missing; then it is the one that it names.
static void name_who_is_missing(shoal_board_slot *s)
{
    shoal_board_slot other;
    uint32_t ranks = shoal_the_run.world.nranks;
    for (uint32_t steps = 0; s->collective && !s->is_send && steps < ranks; steps++) {
        if (s->peer_world < 0 || (uint32_t)s->peer_world >= ranks ||
            !in_the_same((uint32_t)s->peer_world, s, &other) || other.is_send)
            return;
        s->peer = other.peer;
        s->peer_world = other.peer_world;
    }
}

void shoal_watch_where(uint32_t rank, char *text, size_t room)
{
    const shoal_berth *b = shoal_world_berth(&shoal_the_run.world, rank);
    shoal_board_slot slot;
    char note[NOTE_BYTES];
    text[0] = 0;
    for (int i = 0; i < SHOAL_BOARD_SLOTS; i++) {
        if (!copy_slot(&b->board[i], &slot)) continue;
        name_who_is_missing(&slot);
        describe(&slot, note);
        snprintf(text, room, "%s", note);
        return;
    }
}

// What a line of the report says about a rank.
static void describe_rank(uint32_t rank, char text[TEXT_BYTES])
{
    const shoal_rank *r = &shoal_the_run.ranks[rank];
    if (r->gone && r->signal) {
        snprintf(text, TEXT_BYTES, "was killed by signal %d", r->signal);
        return;
    }
    if (r->gone) {
        snprintf(text, TEXT_BYTES, "exited with status %d%s", r->code,
                 r->unfinished ? " without calling MPI_Finalize" : "");
        return;
    }
    const shoal_berth *b = shoal_world_berth(&shoal_the_run.world, rank);
    shoal_board_slot slot;
    char note[NOTE_BYTES];
    int threads = 0;
    text[0] = 0;
    for (int i = 0; i < SHOAL_BOARD_SLOTS; i++) {
        if (!copy_slot(&b->board[i], &slot)) continue;
        if (threads++ == 0) {
            name_who_is_missing(&slot);
            describe(&slot, note);
            snprintf(text, TEXT_BYTES, "%s", note);
        }
    }
    if (!text[0]) snprintf(text, TEXT_BYTES, "asleep in MPI");
    size_t used = strlen(text);
    if (threads > 1)
        snprintf(text + used, TEXT_BYTES - used, "; %d more thread%s wait%s", threads - 1,
                 threads == 2 ? "" : "s", threads == 2 ? "s" : "");
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x100000001b3u;
}

// One reading of all berths; *mark is different whenever anything has moved.
static enum verdict read_once(uint64_t *mark)
{
    const shoal_run *run = &shoal_the_run;
    uint64_t h = 0xcbf29ce484222325u;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < run->nranks; i++) {
        const shoal_rank *r = &run->ranks[i];
        if (r->pid <= 0) return MOVING; // not started yet
        h = mix(h, r->gone);
        if (r->gone) continue;
        shoal_berth *b = shoal_world_berth(&run->world, i);
        uint32_t bell = atomic_load(&b->bell);
        if (atomic_load(&b->life) != SHOAL_LIFE_INIT || atomic_load(&b->asleep) != 1 ||
            atomic_load(&b->sleepers) == 0 || atomic_load(&b->slept_bell) != bell ||
            atomic_load(&b->outside) != 0)
            return MOVING;
        h = mix(h, bell);
        for (int k = 0; k < SHOAL_BOARD_SLOTS; k++) h = mix(h, atomic_load(&b->board[k].seq));
        waiting++;
    }
    *mark = h;
    return waiting ? STUCK : MOVING;
}

// With MPI_THREAD_MULTIPLE a thread outside MPI could send what is waited for.
static bool threads_wait(uint32_t rank, uint64_t *moves)
{
    const shoal_rank *r = &shoal_the_run.ranks[rank];
    const shoal_berth *b = shoal_world_berth(&shoal_the_run.world, rank);
    if (r->gone || atomic_load(&b->thread_level) < MPI_THREAD_MULTIPLE) return true;
    pid_t pid = r->inner_pid > 0 ? r->inner_pid : r->pid;
    // Another process's word about itself; a wrong one only makes us doubt.
    if (atomic_load(&b->pid) != pid) return false;
    return shoal_proc_all_wait(pid, moves);
}

// The first rank that has a thread which could act, or the number of ranks.
static uint32_t rank_with_a_thread(uint64_t *moves)
{
    uint32_t i = 0;
    while (i < shoal_the_run.nranks && threads_wait(i, moves)) i++;
    return i;
}

static enum verdict judge(uint64_t *mark)
{
    uint64_t again;
    if (read_once(mark) != STUCK) return MOVING;
    uint64_t moves = 0, moves_again = 0;
    uint32_t in_doubt = rank_with_a_thread(&moves);
    if (in_doubt == shoal_the_run.nranks) in_doubt = rank_with_a_thread(&moves_again);
    if (in_doubt == shoal_the_run.nranks && moves != moves_again) return DOUBTFUL;
    if (read_once(&again) != STUCK || again != *mark) return MOVING;
    if (in_doubt == shoal_the_run.nranks) return STUCK;
    int64_t now = shoal_now_ns();
    if (!doubt_since_ns) doubt_since_ns = now;
    if (!doubt_told && now - doubt_since_ns > DOUBT_NS) {
        shoal_say_verbose("every rank waits in MPI, but another thread of rank %u could still act",
                          in_doubt);
        doubt_told = true;
    }
    return DOUBTFUL;
}

// "rank 3", "ranks 1-4 7": those that `same` marks, from the first on.
static void name_ranks(const uint32_t *group, uint32_t id, uint32_t n, char *text, size_t room)
{
    size_t used = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) count += group[i] == id;
    used = (size_t)snprintf(text, room, "rank%s", count > 1 ? "s" : "");
    for (uint32_t i = 0; i < n && used + 24 < room; i++) {
        if (group[i] != id) continue;
        uint32_t last = i;
        while (last + 1 < n && group[last + 1] == id) last++;
        int more = last > i ? snprintf(text + used, room - used, " %u-%u", i, last)
                            : snprintf(text + used, room - used, " %u", i);
        used += (size_t)more;
        i = last;
    }
}

static void report_title(uint32_t n)
{
    uint32_t gone = 0;
    for (uint32_t i = 0; i < n; i++) gone += shoal_the_run.ranks[i].gone;
    if (gone)
        shoal_say("deadlock: %u of %u ranks wait%s, %u %s gone, and nothing is under way", n - gone,
                  n, n - gone == 1 ? "s" : "", gone, gone == 1 ? "is" : "are");
    else if (n == 1)
        shoal_say("deadlock: the only rank waits and nothing is under way");
    else
        shoal_say("deadlock: all %u ranks wait and nothing is under way", n);
}

// Says who waits for what, unless that is what it said last (ranks that a signal woke and that
// fell asleep again are in the same situation).
static void report(void)
{
    uint32_t n = shoal_the_run.nranks;
    uint64_t situation = 0xcbf29ce484222325u;
    char(*texts)[TEXT_BYTES] = calloc(n, sizeof *texts);
    uint32_t *group = calloc(n, sizeof *group);
    for (uint32_t i = 0; texts && group && i < n; i++) {
        describe_rank(i, texts[i]);
        for (const char *c = texts[i]; *c; c++) situation = mix(situation, (unsigned char)*c);
        // Ranks that wait for the same share a line.
        group[i] = i;
        for (uint32_t k = 0; k < i; k++) {
            if (group[k] != k || strcmp(texts[k], texts[i]) != 0) continue;
            group[i] = k;
            break;
        }
    }
    bool news = situation != reported;
    reported = situation;
    if (news) report_title(n);
    for (uint32_t i = 0; news && texts && group && i < n; i++) {
        char who[160];
        if (group[i] != i) continue;
        name_ranks(group, i, n, who, sizeof who);
        shoal_say_more("  %s  %s", who, texts[i]);
    }
    free(texts);
    free(group);
}

static void look(void)
{
    shoal_run *run = &shoal_the_run;
    uint64_t mark = 0;
    if (run->ending || run->interrupted || run->options.on_deadlock == SHOAL_DEADLOCK_IGNORE)
        return;
    enum verdict v = judge(&mark);
    if (v == MOVING) doubt_since_ns = 0;
    if (v != STUCK) return;
    report();
    if (run->options.on_deadlock == SHOAL_DEADLOCK_REPORT) return;
    run->cause_told = true;
    shoal_run_end(SHOAL_EXIT_DEADLOCK);
}

static void on_tick(shoal_timer *t)
{
    shoal_run_find_inner();
    look();
    if (shoal_the_run.ending) return;
    shoal_loop_after(t, tick_ns);
    if (tick_ns < TICK_NS) tick_ns *= 2;
}

static void on_notice(shoal_source *s, uint32_t events)
{
    (void)events;
    uint64_t count;
    if (read(s->fd, &count, sizeof count) != (ssize_t)sizeof count) return;
    shoal_run_find_inner();
    look();
}

int shoal_watch_open(void)
{
    notice = (shoal_source){.fd = shoal_the_run.notify_fd, .ready = on_notice};
    if (!shoal_loop_watch(&notice, EPOLLIN))
        return shoal_fail(SHOAL_E_SYS, "cannot watch the eventfd");
    shoal_loop_after(&tick, tick_ns);
    return 0;
}

void shoal_watch_gone(uint32_t rank)
{
    shoal_world *w = &shoal_the_run.world;
    shoal_berth *b = shoal_world_berth(w, rank);
    bool left = atomic_exchange(&b->life, SHOAL_LIFE_DEAD) == SHOAL_LIFE_FINALIZED;
    // A rank that is gone is not awake, and the others' spinning and the notice depend on the
    // count. One that has left MPI in order is no longer counted.
    if (atomic_exchange(&b->asleep, 1) == 0 && !left) atomic_fetch_sub(&w->header->awake, 1);
    look();
}
