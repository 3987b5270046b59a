// SPDX-License-Identifier: BSD-3-Clause
// The operating system, and the only place with raw system calls: waiting on a word (futex),
// nameless shared memory (memfd), other processes' memory (process_vm_readv), barriers that one
// side pays for (membarrier), clocks and cores.
#ifndef SHOAL_PLAT_PLAT_H
#define SHOAL_PLAT_PLAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

// The distance that keeps two writers out of each other's cache lines; two lines, because the
// hardware fetches neighbours in pairs.
#define SHOAL_LINE  64
#define SHOAL_APART 128

// Sleeps while *word == value, until woken, a signal, or `timeout_ns` (< 0: no limit) has passed.
// The word may lie in memory shared with other processes. Returns for any reason; look again.
void shoal_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns);

// Wakes up to `count` sleepers on the word.
void shoal_futex_wake(_Atomic uint32_t *word, int count);

// Process-private forms, for threads of one process.
void shoal_futex_wait_private(_Atomic uint32_t *word, uint32_t value, int64_t timeout_ns);
void shoal_futex_wake_private(_Atomic uint32_t *word, int count);

// Registers this process for shoal_membarrier(); false if the kernel cannot do it.
bool shoal_membarrier_register(void);

// Makes every registered process pass a full memory barrier before it returns.
void shoal_membarrier(void);

// A new shared memory object of `bytes` (sparse), sealed against shrinking, close-on-exec.
// Returns the descriptor or a negative SHOAL_E_*.
int shoal_memfd(const char *label, size_t bytes);

// Maps the whole of a shared memory object; NULL after shoal_fail().
void *shoal_map_shared(int fd, size_t bytes);

// Copies from the memory of another process. Returns bytes copied or a negative errno.
ssize_t shoal_vm_read(pid_t pid, void *to, uint64_t from, size_t bytes);
// ... and to it.
ssize_t shoal_vm_write(pid_t pid, uint64_t to, const void *from, size_t bytes);

// Does the kernel copy between processes nearly as fast as a process copies by itself? Takes some
// tens of microseconds to find out.
bool shoal_vm_is_quick(void);

// Lets any process of this user reach this one's memory where Yama would forbid it (best effort).
void shoal_vm_allow(void);

// Makes malloc keep freed blocks of up to 32 MiB, at most 64 MiB of them, instead of giving them
// back to the kernel at once, and lets the heap grow on huge pages. Does nothing, and returns
// false, if the user has set malloc up by environment variables, says SHOAL_MALLOC=0, or the C
// library is not glibc.
bool shoal_malloc_keep(void);

// Does a buffer that is used for a message lie on huge pages, as far as is known? A very large one
// that is used again and again is put there. Called with the engine lock held.
bool shoal_on_huge_pages(const void *block, size_t bytes);
// This part of the heap does.
void shoal_huge_heap(uintptr_t from, uintptr_t to);

// memcpy() for what may be long. On AMD's Zen 3 and 4 the C library (glibc before 2.39) and the
// kernel copy by an instruction that is twenty times as slow where `to` lies up to 31 bytes above
// `from` within their pages: 64 KiB from the beginning of a page to what malloc() gave take 26 us
// instead of 1.5.
void shoal_copy_by_vectors(void *to, const void *from, size_t bytes);
static inline bool shoal_copy_is_slow(uintptr_t to, uintptr_t from)
{
    return ((to - from - 1) & 4095) < 31;
}
#define SHOAL_COPY_SLOW_FROM 2048 // below, and above, it is done otherwise
#define SHOAL_COPY_SLOW_TO   (1u << 20)
static inline void shoal_copy(void *to, const void *from, size_t bytes)
{
    if (__builtin_expect(bytes >= SHOAL_COPY_SLOW_FROM && bytes <= SHOAL_COPY_SLOW_TO &&
                             shoal_copy_is_slow((uintptr_t)to, (uintptr_t)from),
                         0))
        shoal_copy_by_vectors(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

// The same if the two may overlap.
static inline void shoal_move(void *to, const void *from, size_t bytes)
{
    uintptr_t t = (uintptr_t)to, f = (uintptr_t)from;
    if (t < f + bytes && f < t + bytes)
        memmove(to, from, bytes);
    else
        shoal_copy(to, from, bytes);
}

// memcpy() that leaves the copy in memory rather than in this core's caches, where the machine can.
// Such stores are ordered before later ones only by shoal_settle_copies().
void shoal_copy_past_caches(void *to, const void *from, size_t bytes);
void shoal_settle_copies(void);

// Is what one core writes and another reads that shares no near cache with it faster handed over in
// memory than in the caches, on processors of this kind?
bool shoal_memory_is_nearer(void);

// Monotonic nanoseconds.
int64_t shoal_now_ns(void);
// The same to within some microseconds, mostly, and now and then a little back, where the processor
// counts its cycles, for a tenth of the time: for those who ask at each turn. Called with the
// engine lock held.
int64_t shoal_quick_ns(void);

// Waits until somebody has read what was written to `fd`, if it is a pipe; not for ever.
void shoal_await_reader(int fd);

// Cores this process may use: affinity mask and cgroup quota (rounded up), at least 1.
int shoal_usable_cores(void);

// Moves the calling thread from the core that it runs on to another one that it may run on, for
// which `taken` is false if there is such a one. What the thread may run on stays as it is. False:
// it has nowhere to go.
bool shoal_change_core(bool (*taken)(int core));

// The kernel gives threads of one core that yield all the time their turns in a cycle. This says
// where in it the calling thread has its turn, as a part of it; it means something only beside the
// place of another thread on that core. False: this kernel does not tell.
bool shoal_cycle_place(double *place_out);

// Yields, and from then on has its turn later in the cycle by `more` of it, if the kernel can do
// it.
void shoal_cycle_yield(double more);

// The kernel's id of the calling thread.
pid_t shoal_tid(void);

// memcpy for what is mostly a few bytes.
static inline void shoal_copy_few(void *to, const void *from, size_t bytes)
{
    char *d = to;
    const char *s = from;
    if (bytes > 16) {
        memcpy(d, s, bytes);
    } else if (bytes >= 8) {
        uint64_t first, last; // which overlap
        memcpy(&first, s, 8);
        memcpy(&last, s + bytes - 8, 8);
        memcpy(d, &first, 8);
        memcpy(d + bytes - 8, &last, 8);
    } else {
        for (; bytes > 0; bytes--) *d++ = *s++;
    }
}

// Asks for a cache line to write to it soon.
static inline void shoal_prefetch_write(const void *line)
{
#if defined(__x86_64__)
    // What the builtin gives unless the compiler is told of the machine is a prefetch for reading,
    // and the line would come shared. Processors that do not know this one ignore it.
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// Spins for about so many nanoseconds, up to a microsecond or so, without looking at a clock.
void shoal_relax_ns(int ns);

// Tells the core that this is a spin loop.
static inline void shoal_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
