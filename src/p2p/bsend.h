// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends: the memory a user has attached (to the process, a communicator or a session), and
// the messages that lie in it until they have left.
#ifndef SHOAL_P2P_BSEND_H
#define SHOAL_P2P_BSEND_H

#include "p2p/p2p.h"

struct shoal_buffer {
    char *base; // the user's memory, or NULL with `automatic`
    int64_t bytes;
    bool automatic;               // MPI_BUFFER_AUTOMATIC: as much as it takes
    struct shoal_buffered *first; // messages in it, in address order
    uint32_t count;
    shoal_req *flushes; // of MPI_Buffer_iflush, done when the buffer is empty
};

// The process's own buffer, or NULL.
extern shoal_buffer *shoal_process_buffer;

// Attaches memory (or MPI_BUFFER_AUTOMATIC) to *place.
int shoal_buffer_attach(shoal_buffer **place, void *memory, int64_t bytes);
// Waits until every message has left.
int shoal_buffer_flush(shoal_buffer *);
// Flush, and give the memory back; *place becomes NULL.
int shoal_buffer_detach(shoal_buffer **place, void **memory_out, int64_t *bytes_out);
// The same without waiting, for a communicator that ends: messages under way keep what they need.
void shoal_buffer_free(shoal_buffer *);
// A request that is done when the buffer is empty.
int shoal_buffer_iflush(shoal_buffer *, shoal_req **out);

// The buffer that a send on the communicator uses.
shoal_buffer *shoal_buffer_of(const shoal_comm *);

// Sends a copy from the buffer; returns at once.
int shoal_bsend(const shoal_message_args *);
// One round of a persistent buffered send.
int shoal_bsend_start(shoal_req *);

#endif
