// SPDX-License-Identifier: BSD-3-Clause
// The one event loop of mpiexec: descriptors and timers. Everything else is a callback from here,
// so nothing in mpiexec may block.
#ifndef SHOAL_MPIEXEC_LOOP_H
#define SHOAL_MPIEXEC_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

// A descriptor with interest in it. The owner keeps it alive until its interest is 0 and the
// current step of the loop is over; in practice sources live as long as mpiexec.
typedef struct shoal_source {
    int fd;
    uint32_t interest; // EPOLLIN, EPOLLOUT; 0: not watched, not even for hang-up
    void (*ready)(struct shoal_source *, uint32_t events);
} shoal_source;

typedef struct shoal_timer {
    int64_t at_ns;                      // CLOCK_MONOTONIC
    void (*fire)(struct shoal_timer *); // called once; may set the timer again
    struct shoal_timer *next;
    bool set;
} shoal_timer;

#define SHOAL_MS INT64_C(1000000)

// Opens the loop. Returns 0 or a negative SHOAL_E_*.
int shoal_loop_open(void);

// Sets what is watched. False if the descriptor can not be watched (a regular file): it is always
// ready then.
bool shoal_loop_watch(shoal_source *, uint32_t interest);

// Calls `fire` after `delay_ns`; setting a set timer moves it.
void shoal_loop_after(shoal_timer *, int64_t delay_ns);
void shoal_loop_cancel(shoal_timer *);

// Waits for something to happen and calls everything that is ready.
void shoal_loop_step(void);

// The same without waiting.
void shoal_loop_poll(void);

// The source that contains a member; C has no better way to say it.
#define SHOAL_OWNER(pointer, type, member)                                                         \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
