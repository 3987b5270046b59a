// SPDX-License-Identifier: BSD-3-Clause
// The flat program of a datatype: an array of steps that say, in the order of the type map, where
// the data of one element lies. A step is either blocks of bytes (evenly spaced, or at listed
// offsets) or a repetition of a range of steps elsewhere in the array, so that a program is never
// longer than the arguments of the constructors it came from:
//
//     steps  [ 4 bytes at 0 | 8 bytes at 16 | repeat steps 0-1, 100 times, stride 32 ]
//               `------- body of the repeat -------'        root: step 2
//
// Every step knows where its data starts in the packed order of its body, hence any packed byte
// is found by divisions and one binary search for each level of nesting: no state is kept
// between calls.
#ifndef SHOAL_CORE_PROGRAM_H
#define SHOAL_CORE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/datatype.h"

enum shoal_step_kind {
    SHOAL_STEP_EVEN,   // blocks of one size, evenly spaced
    SHOAL_STEP_LISTED, // blocks of one size at listed offsets
    SHOAL_STEP_MIXED,  // up to SHOAL_MIXED blocks of any size, listed as offset, bytes, offset, ...
    SHOAL_STEP_REPEAT, // a range of steps, repeated
};

#define SHOAL_MIXED 64

typedef struct shoal_step {
    int64_t offset;        // of the first block or repetition, from the element's start
    int64_t bytes;         // of a block, or packed bytes of one repetition; mixed: of all blocks
    int64_t count, stride; // blocks or repetitions
    int64_t start, total;  // packed bytes before this step in its body, and of the step
    int64_t list;          // index into program->list; the offsets there add to `offset`
    uint32_t body, length; // steps to repeat
    uint8_t kind;          // enum shoal_step_kind
    uint8_t basic;         // in typed programs: what the blocks consist of
} shoal_step;

struct shoal_program {
    int64_t size;          // packed bytes of one element
    uint32_t root, length; // the steps of one element
    uint32_t steps;
    shoal_step *step;
    int64_t *list;
};

// What a run hands out: `count` blocks of `bytes`, at offset + i * stride or (list != NULL) at
// offset + list[i]; all of it `outer` times at outer_stride. Mixed blocks, which typed programs do
// not have, lie at offset + list[2 * i] and have list[2 * i + 1] bytes.
typedef struct shoal_run {
    int64_t offset, bytes, count, stride;
    int64_t outer, outer_stride;
    const int64_t *list;
    bool mixed;
    uint8_t basic;
} shoal_run;

typedef void shoal_run_fn(void *context, const shoal_run *);

// The program of a datatype, committed or not. `typed`: blocks of different basic types are not
// merged, and pairs are taken apart.
int shoal_program_compile(shoal_datatype *, bool typed, shoal_program **out);
void shoal_program_free(shoal_program *);

// Whether an element is one block.
bool shoal_program_is_block(const shoal_program *);

// Calls `fn` for the packed bytes [from, to) of `count` elements spaced by `extent`, in packed
// order. Blocks cut by the range come as pieces.
void shoal_program_run(const shoal_program *, int64_t count, int64_t extent, int64_t from,
                       int64_t to, shoal_run_fn *, void *context);

#endif
