// SPDX-License-Identifier: BSD-3-Clause
// What a rank of a crowd does at each turn: it offers its core to others, and looks where it is.
// Both without the C library. A turn takes a microsecond or two, processes that have theirs one
// after the other find nothing in the core's tables of pages, and each page of code that a turn
// passes through costs some 80 ns: a call into the C library is two or three.
#ifndef SHOAL_PLAT_TURN_H
#define SHOAL_PLAT_TURN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

// For functions that waits and calls go through: they lie together, on few pages.
#define SHOAL_HOT __attribute__((hot))

// Where the kernel writes the core that a thread runs on, from the thread pointer: what glibc has
// registered (rseq). Or one of these.
#define SHOAL_CORE_UNKNOWN PTRDIFF_MIN
#define SHOAL_CORE_NOWHERE PTRDIFF_MAX
extern _Atomic ptrdiff_t shoal_core_at;

// Finds that out, and asks the C library this time.
int shoal_ask_core(void);

// The thread pointer. NULL: nobody has looked how it is found on this kind of machine.
static inline const char *shoal_thread(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    const char *found;
    __asm__("mov %%fs:0, %0" : "=r"(found));
    return found;
#elif defined(__aarch64__)
    return __builtin_thread_pointer();
#else
    return NULL;
#endif
}

// The core that the calling thread runs on, or a negative number.
static inline int shoal_this_core(void)
{
    ptrdiff_t at = atomic_load_explicit(&shoal_core_at, memory_order_relaxed);
    const char *thread = shoal_thread();
    if (__builtin_expect(!thread || at == SHOAL_CORE_UNKNOWN || at == SHOAL_CORE_NOWHERE, 0))
        return shoal_ask_core();
    int32_t core = *(const volatile int32_t *)(const void *)(thread + at);
    return __builtin_expect(core >= 0, 1) ? core : shoal_ask_core();
}

// sched_yield()
static inline void shoal_yield(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    long result = 24;
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = 124;
    register long result __asm__("x0");
    __asm__ volatile("svc 0" : "=r"(result) : "r"(number) : "memory");
#else
    extern int sched_yield(void);
    sched_yield();
#endif
}

#endif
