// SPDX-License-Identifier: BSD-3-Clause
// What MPI_Status says beyond its public fields: the byte count in MPI_internal[0..1] (low word
// first), whether the operation was cancelled in MPI_internal[2].
#ifndef SHOAL_CORE_STATUS_H
#define SHOAL_CORE_STATUS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef MPI_Status shoal_status;

static inline void shoal_status_set_bytes(MPI_Status *s, int64_t bytes)
{
    memcpy(&s->MPI_internal[0], &bytes, sizeof bytes);
}

static inline int64_t shoal_status_bytes(const MPI_Status *s)
{
    int64_t bytes;
    memcpy(&bytes, &s->MPI_internal[0], sizeof bytes);
    return bytes;
}

static inline void shoal_status_set_cancelled(MPI_Status *s, bool cancelled)
{
    s->MPI_internal[2] = cancelled;
}

static inline bool shoal_status_cancelled(const MPI_Status *s)
{
    return s->MPI_internal[2] != 0;
}

// The status of an operation without a partner or without an operation: what the standard calls
// empty.
static inline void shoal_status_empty(MPI_Status *s)
{
    *s = (MPI_Status){
        .MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

// Hands a status to the user: MPI_ERROR is his unless the call says otherwise.
static inline void shoal_status_give(const MPI_Status *from, MPI_Status *to)
{
    if (to == MPI_STATUS_IGNORE) return;
    int keep = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = keep;
}

#endif
