// SPDX-License-Identifier: BSD-3-Clause
// For unit tests of what lies below p2p: nobody takes packets in, and nobody has any to send.
#ifndef SHOAL_NET_NET_NOBODY_H
#define SHOAL_NET_NET_NOBODY_H

#include "net/net.h"

void shoal_net_deliver(const shoal_packet *p)
{
    (void)p;
}

void shoal_net_deliver_small(uint32_t peer, const shoal_header *h, uint32_t length)
{
    (void)peer;
    (void)h;
    (void)length;
}

uint32_t shoal_net_owed;

int shoal_net_settle(int64_t before)
{
    (void)before;
    return 0;
}

int shoal_net_flush(uint32_t peer)
{
    (void)peer;
    return 0;
}

#endif
