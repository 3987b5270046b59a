// SPDX-License-Identifier: BSD-3-Clause
// Blocks of uneven lengths: which way each length goes the processor has to guess, and a wrong
// guess takes longer than a short block does. Where it can load and store some bytes of a vector
// and leave the others alone, all lengths go the same way.
#ifndef SHOAL_CORE_DATATYPE_MASKED_H
#define SHOAL_CORE_DATATYPE_MASKED_H

#include <stdbool.h>
#include <stdint.h>

// Packs or unpacks `count` blocks, listed as offset from `typed`, bytes, offset, ... No other byte
// is touched. Returns the end of the packed ones; NULL, and nothing is done, if this processor has
// no such instructions.
char *shoal_masked_move(char *typed, char *packed, const int64_t *list, int64_t count,
                        bool packing);

#endif
