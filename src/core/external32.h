// SPDX-License-Identifier: BSD-3-Clause
// The data representation "external32": every basic element in the size that the standard fixes,
// big endian, floats in IEEE formats, without padding.
#ifndef SHOAL_CORE_EXTERNAL32_H
#define SHOAL_CORE_EXTERNAL32_H

#include <stdint.h>

#include "core/datatype.h"

// Bytes of `count` elements in external32; SHOAL_E_COUNT beyond 2^63 - 1.
int shoal_external32_bytes(const shoal_datatype *, int64_t count, int64_t *bytes_out);

// Moves `count` elements of a committed datatype. The packed side has shoal_external32_bytes().
// A value that the other side cannot hold (MPI_LONG and MPI_WCHAR are narrower there) loses its
// high bits. Fails only for lack of memory.
int shoal_external32_pack(const void *from, int64_t count, shoal_datatype *, void *out);
int shoal_external32_unpack(const void *in, void *to, int64_t count, shoal_datatype *);

#endif
