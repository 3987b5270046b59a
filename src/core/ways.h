// SPDX-License-Identifier: BSD-3-Clause
// Two ways of doing the same work, of which nobody can say beforehand which is faster: whose caches
// hold the data, and how far apart the cores are, makes a difference of up to five times. So it is
// found out by doing: both are tried, the faster is taken, and the other is tried again when that
// has become slower, and now and then, ever more rarely while it loses.
//
// The first times after a change are slow because of the way before, which has left the data in
// other caches. So a trial is of several times, and the shortest counts.
#ifndef SHOAL_CORE_WAYS_H
#define SHOAL_CORE_WAYS_H

#include <stdbool.h>
#include <stdint.h>

enum { SHOAL_WAY_KERNEL, SHOAL_WAY_COPIES }; // in the order in which they are tried

#define SHOAL_WAYS_TRIES       4u
#define SHOAL_WAYS_PAUSE_LEAST 32u
#define SHOAL_WAYS_PAUSE_MOST  1024u

typedef struct shoal_ways {
    uint32_t cost[2]; // ns for a MiB; 0: not known yet
    uint16_t since;   // times that the faster was taken since the other was tried
    uint16_t pause;   // ... after which that is done again
    uint8_t way;      // the one to take
    uint8_t tries;    // of it so far; SHOAL_WAYS_TRIES: it is the faster
} shoal_ways;

static inline int shoal_ways_next(const shoal_ways *w)
{
    return w->way;
}

static inline void shoal_ways_try_other(shoal_ways *w)
{
    w->way = !w->way;
    w->tries = 0;
}

// The one that is tried has to be faster by so much, and the one that is taken slower: the ways of
// other ranks are in the times too, and each would make the other try again.
#define SHOAL_WAYS_BETTER(cost) ((cost) - (cost) / 16)
#define SHOAL_WAYS_WORSE(cost)  ((cost) + (cost) / 4)

static inline void shoal_ways_judge(shoal_ways *w)
{
    bool first = w->pause == 0, longest = w->pause >= SHOAL_WAYS_PAUSE_MOST;
    uint32_t other = w->cost[!w->way];
    bool faster = w->cost[w->way] < (first ? other : SHOAL_WAYS_BETTER(other));
    if (first || faster)
        w->pause = SHOAL_WAYS_PAUSE_LEAST;
    else if (!longest)
        w->pause = (uint16_t)(2 * w->pause);
    if (!faster) w->way = !w->way;
    w->since = 0;
}

// What disturbs a rank only ever makes it slower, and may do so a hundredfold: a shorter time is
// believed at once, a longer one bit by bit.
static inline uint32_t shoal_ways_blend(uint32_t known, uint32_t found)
{
    if (found <= known) return found;
    uint32_t more = found - known, most = known < UINT32_MAX / 32 ? 3 * known : UINT32_MAX / 8;
    return known + (more < most ? more : most) / 8 + 1;
}

// The way was taken, and so many bytes took so long. Says nothing if another was wanted.
static inline void shoal_ways_note(shoal_ways *w, int way, int64_t bytes, int64_t ns)
{
    if (way != w->way || bytes <= 0 || ns < 0) return;
    double cost = (double)ns * (1 << 20) / (double)bytes;
    uint32_t found = cost > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)cost + 1;
    uint32_t *known = &w->cost[way], other = w->cost[!way];
    if (w->tries == SHOAL_WAYS_TRIES) {
        *known = shoal_ways_blend(*known, found);
        if (*known > SHOAL_WAYS_WORSE(other) || ++w->since >= w->pause) shoal_ways_try_other(w);
        return;
    }
    if (w->tries == 0 || found < *known) *known = found;
    if (++w->tries < SHOAL_WAYS_TRIES) return;
    if (other == 0)
        shoal_ways_try_other(w);
    else
        shoal_ways_judge(w);
}

#endif
