// SPDX-License-Identifier: BSD-3-Clause
// Copies of every length around those at which the way changes, between all places within a line,
// move just what they should.
#include <stdlib.h>
#include <string.h>

#include "plat/plat.h"
#include "plat/test.h"

#define ROOM   (SHOAL_COPY_SLOW_TO + 8192)
#define AROUND 128 // bytes before and behind, that must stay

static char *from, *to;

static char content(size_t i)
{
    return (char)(i * 31 + i / 251);
}

static bool moves(size_t to_at, size_t from_at, size_t bytes)
{
    char *t = to + AROUND + to_at, *f = from + AROUND + from_at;
    memset(to, 7, bytes + 3 * AROUND);
    shoal_copy(t, f, bytes);
    for (char *p = to; p < t; p++)
        if (*p != 7) return false;
    for (char *p = t + bytes; p < t + bytes + AROUND; p++)
        if (*p != 7) return false;
    return memcmp(t, f, bytes) == 0;
}

static void every_place(void)
{
    static const size_t lengths[] = {SHOAL_COPY_SLOW_FROM - 1, SHOAL_COPY_SLOW_FROM,
                                     SHOAL_COPY_SLOW_FROM + 1, 4096 + 33, 10007};
    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++)
        for (size_t t = 0; t <= 64; t += 3)
            for (size_t f = 0; f <= 64; f += 5) CHECK(moves(t, f, lengths[k]));
}

static void every_length(void)
{
    for (size_t bytes = SHOAL_COPY_SLOW_FROM; bytes < SHOAL_COPY_SLOW_FROM + 300; bytes++)
        CHECK(moves(16, 0, bytes));
    for (size_t bytes = 0; bytes < 400; bytes++) CHECK(moves(16, 0, bytes));
    for (size_t bytes = SHOAL_COPY_SLOW_TO - 2; bytes < SHOAL_COPY_SLOW_TO + 2; bytes++)
        CHECK(moves(17, 0, bytes));
}

static void by_vectors_alone(void)
{
    for (size_t bytes = 0; bytes < 600; bytes++) {
        memset(to, 7, bytes + AROUND);
        shoal_copy_by_vectors(to + 5, from, bytes);
        CHECK(memcmp(to + 5, from, bytes) == 0 && to[5 + bytes] == 7 && to[4] == 7);
    }
}

static void overlapping(void)
{
    for (size_t by = 1; by < 40; by += 3) {
        for (size_t i = 0; i < 8192; i++) to[i] = content(i);
        volatile size_t bytes = 4096; // which the compiler need not know
        shoal_move(to + by, to, bytes);
        for (size_t i = 0; i < bytes; i++)
            if (to[by + i] != content(i)) CHECK(false);
    }
}

static void knows_slow_places(void)
{
    CHECK(shoal_copy_is_slow(0x10010, 0x20000) && shoal_copy_is_slow(0x1001f, 0x20000));
    CHECK(shoal_copy_is_slow(0x20005, 0x1fff6));
    CHECK(!shoal_copy_is_slow(0x10020, 0x20000) && !shoal_copy_is_slow(0x10000, 0x20000));
    CHECK(!shoal_copy_is_slow(0x10000, 0x20010));
}

int main(void)
{
    from = aligned_alloc(4096, ROOM);
    to = aligned_alloc(4096, ROOM);
    if (!from || !to) return 1;
    for (size_t i = 0; i < ROOM; i++) from[i] = content(i);
    every_place();
    every_length();
    by_vectors_alone();
    overlapping();
    knows_slow_places();
    free(from);
    free(to);
    return SHOAL_TEST_RESULT();
}
