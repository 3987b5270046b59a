// SPDX-License-Identifier: BSD-3-Clause
// Point-to-point: two ranks alone (latency, bandwidth, message rate, queues), all ranks at once
// (ring, shift, pairs), and two ranks while the others are blocked in MPI_Recv.
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define DEPTH  10000
#define WORLD  MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static void exchange_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size + 64);
}

static bool came_from(const bench *b, const bench_point *p, int rank)
{
    if (p->size == 0) return true;
    char want = (char)(rank + 1);
    return b->recv[0] == want && b->recv[p->size - 1] == want && b->recv[p->size / 2] == want;
}

static bool check_pair(bench *b, const bench_point *p)
{
    return came_from(b, p, 1 - b->rank);
}

static void ping_pong(bench *b, const bench_point *p, long n, int partner, bool first)
{
    int bytes = (int)p->size;
    for (long i = 0; i < n; i++) {
        if (first) MPI_Send(b->send, bytes, MPI_BYTE, partner, TAG_DATA, WORLD);
        MPI_Recv(b->recv, bytes, MPI_BYTE, partner, TAG_DATA, WORLD, IGNORE);
        if (!first) MPI_Send(b->send, bytes, MPI_BYTE, partner, TAG_DATA, WORLD);
    }
}

static void latency(bench *b, const bench_point *p, long n)
{
    ping_pong(b, p, n, 1 - b->rank, b->rank == 0);
}

static void pairs_latency(bench *b, const bench_point *p, long n)
{
    int half = b->np / 2;
    if (b->rank < half)
        ping_pong(b, p, n, b->rank + half, true);
    else if (b->rank < 2 * half)
        ping_pong(b, p, n, b->rank - half, false);
}

// How many messages of a size are under way at once.
static int window_of(size_t size)
{
    if (size <= 65536) return BENCH_WINDOW;
    return size <= ((size_t)1 << 20) ? 16 : 4;
}

static void window_buffers(bench *b, const bench_point *p)
{
    bench_buffers(b, p->size * (size_t)window_of(p->size) + 64);
}

static void stream(bench *b, const bench_point *p, long n, int partner, bool sender)
{
    MPI_Request requests[BENCH_WINDOW];
    int window = window_of(p->size), bytes = (int)p->size;
    char ack = 0;
    for (long i = 0; i < n; i++) {
        for (int w = 0; w < window; w++) {
            if (sender)
                MPI_Isend(b->send + (size_t)w * p->size, bytes, MPI_BYTE, partner, TAG_DATA, WORLD,
                          &requests[w]);
            else
                MPI_Irecv(b->recv + (size_t)w * p->size, bytes, MPI_BYTE, partner, TAG_DATA, WORLD,
                          &requests[w]);
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        if (sender)
            MPI_Recv(&ack, 1, MPI_CHAR, partner, TAG_ACK, WORLD, IGNORE);
        else
            MPI_Send(&ack, 1, MPI_CHAR, partner, TAG_ACK, WORLD);
    }
}

static void bandwidth(bench *b, const bench_point *p, long n)
{
    stream(b, p, n, 1 - b->rank, b->rank == 0);
}

static void pairs_stream(bench *b, const bench_point *p, long n)
{
    int half = b->np / 2;
    if (b->rank < half)
        stream(b, p, n, b->rank + half, true);
    else if (b->rank < 2 * half)
        stream(b, p, n, b->rank - half, false);
}

static void ring(bench *b, const bench_point *p, long n)
{
    int right = (b->rank + 1) % b->np, left = (b->rank + b->np - 1) % b->np, bytes = (int)p->size;
    for (long i = 0; i < n; i++) {
        if (b->rank == 0) MPI_Send(b->send, bytes, MPI_BYTE, right, TAG_DATA, WORLD);
        MPI_Recv(b->recv, bytes, MPI_BYTE, left, TAG_DATA, WORLD, IGNORE);
        if (b->rank != 0) MPI_Send(b->send, bytes, MPI_BYTE, right, TAG_DATA, WORLD);
    }
}

static void shift(bench *b, const bench_point *p, long n)
{
    int right = (b->rank + 1) % b->np, left = (b->rank + b->np - 1) % b->np, bytes = (int)p->size;
    for (long i = 0; i < n; i++)
        MPI_Sendrecv(b->send, bytes, MPI_BYTE, right, TAG_DATA, b->recv, bytes, MPI_BYTE, left,
                     TAG_DATA, WORLD, IGNORE);
}

static bool check_left(bench *b, const bench_point *p)
{
    return came_from(b, p, (b->rank + b->np - 1) % b->np);
}

// DEPTH messages arrive before the receiver asks for any of them, and it asks for the last first.
static void unexpected(bench *b, const bench_point *p, long n)
{
    char ack = 0;
    for (long i = 0; i < n; i++) {
        if (b->rank == 0) {
            for (int t = 0; t < DEPTH; t++)
                MPI_Send(b->send, (int)p->size, MPI_BYTE, 1, 10 + t, WORLD);
            MPI_Send(&ack, 1, MPI_CHAR, 1, TAG_ACK, WORLD);
            MPI_Recv(&ack, 1, MPI_CHAR, 1, TAG_ACK, WORLD, IGNORE);
        } else {
            MPI_Recv(&ack, 1, MPI_CHAR, 0, TAG_ACK, WORLD, IGNORE);
            for (int t = DEPTH - 1; t >= 0; t--)
                MPI_Recv(b->recv, (int)p->size, MPI_BYTE, 0, 10 + t, WORLD, IGNORE);
            MPI_Send(&ack, 1, MPI_CHAR, 0, TAG_ACK, WORLD);
        }
    }
}

// The mirror image: DEPTH receives are posted, and the messages come for the last first.
static void posted(bench *b, const bench_point *p, long n)
{
    static MPI_Request requests[DEPTH];
    static char places[DEPTH][8];
    char ack = 0;
    for (long i = 0; i < n; i++) {
        if (b->rank == 1) {
            for (int t = 0; t < DEPTH; t++)
                MPI_Irecv(places[t], (int)p->size, MPI_BYTE, 0, 10 + t, WORLD, &requests[t]);
            MPI_Send(&ack, 1, MPI_CHAR, 0, TAG_ACK, WORLD);
            MPI_Waitall(DEPTH, requests, MPI_STATUSES_IGNORE);
            MPI_Send(&ack, 1, MPI_CHAR, 0, TAG_ACK, WORLD);
        } else {
            MPI_Recv(&ack, 1, MPI_CHAR, 1, TAG_ACK, WORLD, IGNORE);
            for (int t = DEPTH - 1; t >= 0; t--)
                MPI_Send(b->send, (int)p->size, MPI_BYTE, 1, 10 + t, WORLD);
            MPI_Recv(&ack, 1, MPI_CHAR, 1, TAG_ACK, WORLD, IGNORE);
        }
    }
}

static void point(bench *b, bench_point p, const char *name, size_t size)
{
    p.size = size;
    snprintf(p.name, sizeof p.name, "%s/%zu", name, size);
    bench_run(b, &p);
}

void bench_p2p(bench *b, const size_t *sizes, int count)
{
    bench_point lat = {
        .ranks = 2, .scale = 2, .body = latency, .prepare = exchange_buffers, .check = check_pair};
    bench_point bw = {.ranks = 2, .body = bandwidth, .prepare = window_buffers};
    bench_point deep = {
        .ranks = 2, .scale = DEPTH, .body = unexpected, .prepare = exchange_buffers};
    for (int i = 0; i < count; i++) point(b, lat, "latency", sizes[i]);
    for (int i = 0; i < count; i++) {
        bw.scale = window_of(sizes[i]);
        if (sizes[i] > 8) point(b, bw, "bandwidth", sizes[i]);
    }
    bw.scale = BENCH_WINDOW;
    point(b, bw, "rate", 8);
    point(b, deep, "unexpected-10000", 8);
    deep.body = posted;
    point(b, deep, "posted-10000", 8);
}

void bench_crowd(bench *b, const size_t *sizes, int count)
{
    bench_point p = {
        .prepare = exchange_buffers, .body = ring, .scale = b->np, .check = check_left};
    bench_point s = {.prepare = exchange_buffers, .body = shift, .scale = 1, .check = check_left};
    bench_point lat = {.prepare = exchange_buffers, .body = pairs_latency, .scale = 2};
    bench_point bw = {.prepare = window_buffers, .body = pairs_stream};
    for (int i = 0; i < count; i++) {
        point(b, p, "ring", sizes[i]);
        point(b, s, "shift", sizes[i]);
        point(b, lat, "pairs-latency", sizes[i]);
        bw.scale = window_of(sizes[i]) * (b->np / 2);
        point(b, bw, "pairs-stream", sizes[i]);
    }
}

void bench_quiet(bench *b, const size_t *sizes, int count)
{
    bench_point lat = {
        .ranks = 2, .scale = 2, .body = latency, .prepare = exchange_buffers, .check = check_pair};
    for (int i = 0; i < count; i++) point(b, lat, "others-blocked", sizes[i]);
}
