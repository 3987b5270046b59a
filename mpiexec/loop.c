// SPDX-License-Identifier: BSD-3-Clause
// epoll for descriptors, a sorted list for the handful of timers.
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "plat/error.h"
#include "plat/plat.h"

#define BATCH 128

static int epoll_fd = -1;
static shoal_timer *timers; // soonest first

int shoal_loop_open(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) return shoal_fail(SHOAL_E_SYS, "epoll_create1: %s", strerror(errno));
    return 0;
}

bool shoal_loop_watch(shoal_source *s, uint32_t interest)
{
    if (interest == s->interest) return true;
    int op = !interest ? EPOLL_CTL_DEL : s->interest ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    struct epoll_event event = {.events = interest, .data.ptr = s};
    if (epoll_ctl(epoll_fd, op, s->fd, &event) != 0) return false;
    s->interest = interest;
    return true;
}

void shoal_loop_cancel(shoal_timer *t)
{
    if (!t->set) return;
    shoal_timer **at = &timers;
    while (*at != t) at = &(*at)->next;
    *at = t->next;
    t->set = false;
}

void shoal_loop_after(shoal_timer *t, int64_t delay_ns)
{
    shoal_loop_cancel(t);
    t->at_ns = shoal_now_ns() + delay_ns;
    shoal_timer **at = &timers;
    while (*at && (*at)->at_ns <= t->at_ns) at = &(*at)->next;
    t->next = *at;
    *at = t;
    t->set = true;
}

static int wait_ms(void)
{
    if (!timers) return -1;
    int64_t left = timers->at_ns - shoal_now_ns();
    if (left <= 0) return 0;
    // Rounded up, or the last fraction of a millisecond would be spent spinning.
    int64_t ms = (left + SHOAL_MS - 1) / SHOAL_MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static void fire_timers(void)
{
    int64_t now = shoal_now_ns();
    while (timers && timers->at_ns <= now) {
        shoal_timer *t = timers;
        shoal_loop_cancel(t);
        t->fire(t);
    }
}

static void step(int ms)
{
    struct epoll_event events[BATCH];
    int n = epoll_wait(epoll_fd, events, BATCH, ms);
    for (int i = 0; i < n; i++) {
        shoal_source *s = events[i].data.ptr;
        // An earlier callback of this batch may have taken its interest away.
        if (s->interest) s->ready(s, events[i].events);
    }
    fire_timers();
}

void shoal_loop_step(void)
{
    step(wait_ms());
}

void shoal_loop_poll(void)
{
    step(0);
}
