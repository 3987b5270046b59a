// SPDX-License-Identifier: BSD-3-Clause
// Two ways of doing the same work, of which nobody can say beforehand which is faster: whose caches
// hold the data, and how far apart the cores are, makes a difference of up to five times. So it is
// found out by doing: both are tried, the faster is taken, and the other is tried again when that
// has become slower, or much faster, so that the program does something else now, and now and then,
// ever more rarely while it loses.
//
// Times are taken of several pieces of work in a row (a batch), from the beginning of the first to
// that of the next batch, so that what the program does in between counts too, and it does not
// matter whether pieces follow each other or are done side by side. A trial is of some batches. The
// first does not count: it is slow because of the way before, which has left the data in other
// caches. Nor does the longest, when somebody else had the core. It ends early if it goes badly.
#ifndef SHOAL_CORE_WAYS_H
#define SHOAL_CORE_WAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOAL_WAY_KERNEL, SHOAL_WAY_COPIES }; // in the order in which they are tried

#define SHOAL_WAYS_BATCH       16      // pieces,
#define SHOAL_WAYS_LONG        4000000 // ... or as many as take so long, in ns
#define SHOAL_WAYS_TRIES       4u      // batches, the first included,
#define SHOAL_WAYS_LONG_TRIES  2u      // ... or these if they are long
#define SHOAL_WAYS_PAUSE_LEAST 8u      // batches between two trials of the slower one,
#define SHOAL_WAYS_PAUSE_CLEAR 32u     // ... if it was clearly slower,
#define SHOAL_WAYS_PAUSE_MOST  256u
#define SHOAL_WAYS_PATIENCE    32u // batches of a way that is likely to be the faster, at first

typedef struct shoal_ways {
    int64_t began, bytes; // of the batch under way,
    uint8_t pieces;       // ... how many there are,
    uint8_t gone;         // ... and which way they have gone
    uint8_t way;          // the one to take
    bool trial;           // it is being tried beside the other, which has been taken so far
    uint8_t tries;        // batches of it so far, while it is tried
    uint8_t patience;     // batches of the kernel's, which is likely to be faster for such pieces,
                          // before copies are first tried: set by who uses this
    bool known[2];        // what each costs:
    float cost[2];        // ns for a byte,
    float then;           // ... and of the one that is taken, when it was chosen
    float sum, most;      // of a trial: the batches that count, without the longest; that one
    bool slow, fast;      // the last batch of it cost much more, or less
    bool shaken;          // so did two, and one of the ways has not been tried since
    uint16_t since;       // batches of the faster since the other was tried
    uint16_t pause;       // ... after which that is done again
} shoal_ways;

static inline int shoal_ways_next(const shoal_ways *w)
{
    return w->way;
}

static inline void shoal_ways_try(shoal_ways *w, uint8_t way)
{
    w->way = way;
    w->trial = true;
    w->tries = 0;
    w->sum = w->most = 0;
}

// The one that is tried has to be faster by so much, and the one that is taken slower: the ways of
// other ranks are in the times too, and each would make the other try again. The first time it is
// the kernel's that has to be: where a program computes for long, times tell nothing, and copies
// never do much harm. But a kernel that is quick is taken for some time before copies are tried.
#define SHOAL_WAYS_BETTER 0.95f
#define SHOAL_WAYS_WORSE  1.25f // such a loser of a trial is not tried again so soon
#define SHOAL_WAYS_BADLY  1.5f  // goes a trial that ends early
#define SHOAL_WAYS_MUCH   4     // times what it costs
#define SHOAL_WAYS_ELSE   0.7f  // of what it cost: what the other cost then says nothing any more

static inline void shoal_ways_judge(shoal_ways *w)
{
    bool first = w->pause == 0;
    float cost = w->cost[w->way], other = w->cost[!w->way];
    bool kernel_first = first && w->way == SHOAL_WAY_COPIES;
    bool faster = cost < other * (kernel_first ? 1 / SHOAL_WAYS_BETTER : SHOAL_WAYS_BETTER);
    float won = faster ? cost : other, lost = faster ? other : cost;
    bool clearly = lost > won * SHOAL_WAYS_WORSE && w->tries > 2;
    uint32_t longer = (clearly ? 4u : 2u) * w->pause;
    // What the other costs may be of the moment in which the program went over to something else.
    if (w->shaken)
        w->pause = SHOAL_WAYS_PAUSE_LEAST;
    else if (first || faster)
        w->pause = clearly ? SHOAL_WAYS_PAUSE_CLEAR : SHOAL_WAYS_PAUSE_LEAST;
    else
        w->pause = (uint16_t)(longer < SHOAL_WAYS_PAUSE_MOST ? longer : SHOAL_WAYS_PAUSE_MOST);
    if (!faster) w->way = !w->way;
    w->then = w->cost[w->way];
    w->since = 0;
    w->slow = w->fast = w->shaken = false;
    w->trial = false;
}

// One batch more of a trial; true at its end.
static inline bool shoal_ways_tried(shoal_ways *w, float cost, bool is_long)
{
    if (w->tries++ > 0) {
        w->sum += cost < w->most ? cost : w->most;
        if (cost > w->most) w->most = cost;
    }
    float so_far = w->tries > 2 ? w->sum / (float)(w->tries - 2) : 0;
    bool badly = w->known[!w->way] && so_far > SHOAL_WAYS_BADLY * w->cost[!w->way];
    if (w->tries < (is_long ? SHOAL_WAYS_LONG_TRIES : SHOAL_WAYS_TRIES) && !badly) return false;
    w->cost[w->way] = w->tries > 2 ? w->sum / (float)(w->tries - 2) : w->most;
    w->known[w->way] = true;
    return true;
}

// A batch has taken so long. Says nothing if another way was wanted.
static inline void shoal_ways_note(shoal_ways *w, int way, int64_t bytes, int64_t ns)
{
    if (way != w->way || bytes <= 0 || ns < 0) return;
    float cost = (float)ns / (float)bytes, *known = &w->cost[way];
    if (w->trial || !w->known[way]) {
        if (!shoal_ways_tried(w, cost, ns >= SHOAL_WAYS_LONG)) return;
        if (w->known[!way])
            shoal_ways_judge(w);
        else if (w->patience && way == SHOAL_WAY_KERNEL)
            w->pause = w->patience;
        else
            shoal_ways_try(w, !way);
        return;
    }
    // One batch may have had a pause of the program in it, or luck. Two alike have not: then what
    // was known, of either way, is of something else.
    bool slow = cost > SHOAL_WAYS_MUCH * *known, fast = cost < SHOAL_WAYS_ELSE * *known;
    bool again = (slow && w->slow) || (fast && w->fast);
    w->slow = slow;
    w->fast = fast;
    w->shaken = w->shaken || (again && w->known[!way]);
    w->since++;
    if ((slow || fast) && !again && w->since < 2 * w->pause) return;
    *known = again ? cost : *known + (cost - *known) / 8;
    if (again && !w->known[!way]) w->since = 0;
    bool changed = *known > SHOAL_WAYS_WORSE * w->cost[!way] || *known < SHOAL_WAYS_ELSE * w->then;
    if ((w->known[!way] && changed) || w->since >= w->pause) shoal_ways_try(w, !way);
}

// Is a batch over when the next piece begins now?
static inline bool shoal_ways_full(const shoal_ways *w, int64_t now)
{
    return w->pieces >= SHOAL_WAYS_BATCH || (w->pieces > 0 && now - w->began >= SHOAL_WAYS_LONG);
}

// The next piece of work is about to begin.
static inline void shoal_ways_begin(shoal_ways *w, int64_t now)
{
    if (!shoal_ways_full(w, now)) return;
    shoal_ways_note(w, w->gone, w->bytes, now - w->began);
    w->pieces = 0;
}

// The next piece begins, and the way is another's choice. What was found out so far stays, but a
// trial that is cut short says nothing.
static inline void shoal_ways_follow(shoal_ways *w, uint8_t way, int64_t now)
{
    if (shoal_ways_full(w, now)) w->pieces = 0;
    if (way == w->way && !w->trial) return;
    w->way = way;
    w->then = w->cost[way];
    w->trial = w->slow = w->fast = false;
    w->tries = 0;
    w->since = 0;
    w->sum = w->most = 0;
}

// It went this way, and began then.
static inline void shoal_ways_went(shoal_ways *w, int way, int64_t bytes, int64_t began)
{
    if (w->pieces == 0 || way != w->gone) {
        w->began = began;
        w->bytes = 0;
        w->pieces = 0;
        w->gone = (uint8_t)way;
    }
    w->pieces++;
    w->bytes += bytes;
}

#endif
