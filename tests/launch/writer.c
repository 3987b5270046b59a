// SPDX-License-Identifier: BSD-3-Clause
// Writes BYTES bytes of numbered lines to stdout in pieces of random size, so that lines are cut
// anywhere; not an MPI program. For output_test.py.
// RANKS:
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 16];

static void write_all(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, n);
        if (done <= 0) exit(3);
        bytes += done;
        n -= (size_t)done;
    }
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    long left = argc > 1 ? atol(argv[1]) : 1000;
    unsigned seed = rank ? (unsigned)atoi(rank) * 7919u + 1u : 1u;
    size_t used = 0;
    for (long line = 0; left > 0; line++) {
        seed = seed * 1103515245u + 12345u;
        size_t fill = seed >> 16 & 127;
        int n = sprintf(text + used, "%s %ld ", rank ? rank : "0", line);
        memset(text + used + n, 'a' + (int)(fill % 26), fill);
        used += (size_t)n + fill;
        text[used++] = '\n';
        left -= n + (long)fill + 1;
        // A piece ends anywhere; the rest is the beginning of the next piece.
        if (used > sizeof text - 512 || (seed >> 8) % 61 == 0) {
            size_t piece = used - (used > 16 ? seed % 16 : 0);
            write_all(text, piece);
            memmove(text, text + piece, used - piece);
            used -= piece;
        }
    }
    write_all(text, used);
    return 0;
}
