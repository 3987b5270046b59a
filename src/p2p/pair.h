// SPDX-License-Identifier: BSD-3-Clause
// A send and a receive as one request: MPI_Sendrecv and its relatives.
#ifndef SHOAL_P2P_PAIR_H
#define SHOAL_P2P_PAIR_H

#include "p2p/p2p.h"

// Both, blocking; as shoal_p2p_recv() does it returns the receive's error.
int shoal_pair_exchange(const shoal_message_args *send, const shoal_message_args *recv,
                        MPI_Status *);
// Waits for a pair that was started, hands out its result and drops it.
int shoal_pair_finish(shoal_req *, MPI_Status *);
// Starts both; the request has one reference and is done when both are. Its status is the
// receive's.
int shoal_pair_start(const shoal_message_args *send, const shoal_message_args *recv,
                     shoal_req **out);
// The same where both name one buffer: what is sent is copied first.
int shoal_pair_start_replace(const shoal_message_args *send, const shoal_message_args *recv,
                             shoal_req **out);

#endif
