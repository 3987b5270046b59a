// SPDX-License-Identifier: BSD-3-Clause
// The life of datatypes: the predefined ones and how a handle finds them, owners, commit, and the
// arithmetic on counts, bytes and basic elements.
#include "core/datatype.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/datatype_make.h"
#include "core/program.h"
#include "core/recipe.h"
#include "plat/error.h"

_Static_assert(sizeof(long) == 8 && sizeof(wchar_t) == 4, "the table takes LP64 for granted");

enum {
#define X(store, bytes, alignment) SIZE_##store = bytes, ALIGN_##store = alignment,
    SHOAL_STORES(X)
#undef X
};

const shoal_basic_facts shoal_basics[SHOAL_BASICS_END] = {
    [SHOAL_B_NONE] = {.name = "no basic datatype"},
#define X(id, st, cl, ext)                                                                         \
    [SHOAL_B_##id] = {.name = "MPI_" #id,                                                          \
                      .store = SHOAL_S_##st,                                                       \
                      .class = SHOAL_C_##cl,                                                       \
                      .external = ext,                                                             \
                      .size = SIZE_##st,                                                           \
                      .align = ALIGN_##st},
    SHOAL_BASICS(X)
#undef X
#define X(id, value, index)                                                                        \
    [SHOAL_B_##id] = {.name = "MPI_" #id, .store = SHOAL_S_PAIR, .class = SHOAL_C_PAIR},
        SHOAL_PAIRS(X)
#undef X
};

static shoal_datatype predefined[SHOAL_BASICS_END];
shoal_datatype *shoal_datatype_predefined[0x100];

static void set_up_basic(enum shoal_basic basic, MPI_Datatype handle)
{
    const shoal_basic_facts *f = &shoal_basics[basic];
    shoal_datatype *t = &predefined[basic];
    *t = (shoal_datatype){.handle = handle,
                          .size = f->size,
                          .extent = f->size,
                          .true_extent = f->size,
                          .align = f->align,
                          .basics = f->size > 0,
                          .external = f->size > 0 ? f->external : 0,
                          .dense = true,
                          .committed = true,
                          .predefined = true,
                          .basic = (uint8_t)basic,
                          .handles = 1};
    snprintf(t->name, sizeof t->name, "%s", f->name);
    shoal_datatype_predefined[(uintptr_t)handle - SHOAL_TYPE_HANDLES] = t;
}

// A pair is a C struct of its two parts: a layout says so, and the rest follows from it.
static int set_up_pair(enum shoal_basic pair, MPI_Datatype handle, enum shoal_basic value,
                       enum shoal_basic index)
{
    shoal_layout *layout = shoal_layout_new(2);
    if (!layout) return SHOAL_E_NO_MEM;
    int64_t align = predefined[index].align;
    int64_t at = (predefined[value].size + align - 1) / align * align;
    layout->part[0] = (shoal_part){.disp = 0, .length = 1, .child = &predefined[value]};
    layout->part[1] = (shoal_part){.disp = at, .length = 1, .child = &predefined[index]};
    shoal_datatype *made = NULL;
    int rc = shoal_datatype_build(layout, NULL, &made);
    if (rc != 0) return rc;
    shoal_datatype *t = &predefined[pair];
    *t = *made;
    made->layout = NULL;
    shoal_datatype_drop(made);
    t->object = (shoal_object){0};
    t->handle = handle;
    t->predefined = true;
    t->basic = (uint8_t)pair;
    t->handles = 1;
    snprintf(t->name, sizeof t->name, "%s", shoal_basics[pair].name);
    shoal_datatype_predefined[(uintptr_t)handle - SHOAL_TYPE_HANDLES] = t;
    return shoal_datatype_commit(t);
}

int shoal_datatype_init(void)
{
    if (predefined[SHOAL_B_INT].handle) return 0;
    shoal_object_register(SHOAL_KIND_DATATYPE, sizeof(shoal_datatype));
#define X(id, st, cl, ext) set_up_basic(SHOAL_B_##id, MPI_##id);
    SHOAL_BASICS(X)
#undef X
    int rc = 0;
#define X(id, value, index)                                                                        \
    if (rc == 0) rc = set_up_pair(SHOAL_B_##id, MPI_##id, SHOAL_B_##value, SHOAL_B_##index);
    SHOAL_PAIRS(X)
#undef X
    return rc;
}

static void free_inside(shoal_datatype *t)
{
    shoal_program_free(t->program);
    shoal_program_free(t->typed);
    shoal_layout *l = t->layout;
    if (l && l->holds) {
        for (int64_t i = 0; i < l->parts; i++) shoal_datatype_drop(l->part[i].child);
    }
    free(l);
    shoal_recipe_free(t->recipe);
    t->program = t->typed = NULL;
    t->layout = NULL;
    t->recipe = NULL;
}

void shoal_datatype_fini(void)
{
    shoal_datatype_match_fini();
    for (int i = 0; i < SHOAL_BASICS_END; i++) {
        free_inside(&predefined[i]);
        predefined[i].handle = NULL;
    }
}

shoal_datatype *shoal_datatype_lookup(MPI_Datatype handle)
{
    shoal_datatype *t = shoal_object_get(SHOAL_KIND_DATATYPE, handle);
    return t && t->handles > 0 ? t : NULL;
}

shoal_datatype *shoal_datatype_of(enum shoal_basic basic)
{
    assert(basic > SHOAL_B_NONE && basic < SHOAL_BASICS_END);
    return &predefined[basic];
}

void shoal_datatype_drop(shoal_datatype *t)
{
    if (t->predefined) return;
    assert(t->object.refs > 0);
    if (--t->object.refs > 0) return;
    free_inside(t);
    shoal_object_free(t);
}

int shoal_datatype_commit(shoal_datatype *t)
{
    if (t->committed) return 0;
    shoal_program *program = NULL;
    int rc = t->size > 0 ? shoal_program_compile(t, false, &program) : 0;
    if (rc != 0) return rc;
    t->dense = t->size == 0 || (shoal_program_is_block(program) && t->extent == t->size);
    if (t->dense) {
        shoal_program_free(program);
        program = NULL;
    }
    t->program = program;
    t->committed = true;
    return 0;
}

const shoal_program *shoal_datatype_typed(shoal_datatype *t)
{
    if (!t->typed && shoal_program_compile(t, true, &t->typed) != 0) return NULL;
    return t->typed;
}

const char *shoal_datatype_label(const shoal_datatype *t)
{
    static const char *const made_by[] = {
        "a duplicate",
        "a contiguous datatype",
        "a vector",
        "an hvector",
        "an indexed datatype",
        "an hindexed datatype",
        "an indexed_block",
        "an hindexed_block",
        "a struct",
        "a subarray",
        "a darray",
        "an f90 real",
        "an f90 complex",
        "an f90 integer",
        "a resized datatype",
    };
    if (t->name[0]) return t->name;
    if (!t->recipe) return "a datatype";
    return made_by[t->recipe->combiner - MPI_COMBINER_DUP];
}

void shoal_datatype_too_many(const shoal_datatype *t, int64_t count)
{
    shoal_fail(SHOAL_E_COUNT, "%lld elements of %s (%lld bytes each) are more than 2^63 - 1 bytes",
               (long long)count, shoal_datatype_label(t), (long long)t->size);
}

// Counts basic elements in what a program runs over, up to a limit on either measure.
typedef struct tally {
    int64_t elements, bytes;
    int64_t limit; // elements at which to stop counting
    bool broken;   // a piece ended inside an element
} tally;

static void count_elements(void *context, const shoal_run *run)
{
    tally *t = context;
    int64_t size = shoal_basics[run->basic].size;
    int64_t bytes = run->bytes * run->count * run->outer;
    if (bytes % size != 0) t->broken = true;
    int64_t n = bytes / size;
    if (n > t->limit - t->elements) n = t->limit - t->elements;
    t->elements += n;
    t->bytes += n * size;
}

int shoal_datatype_elements(shoal_datatype *t, int64_t bytes, int64_t *elements_out)
{
    if (t->size == 0) {
        *elements_out = bytes == 0 ? 0 : MPI_UNDEFINED;
        return 0;
    }
    tally sum = {.limit = INT64_MAX};
    int64_t rest = bytes % t->size;
    if (rest > 0 && t->basics == 1) sum.broken = true;
    if (rest > 0 && t->basics > 1) {
        const shoal_program *typed = shoal_datatype_typed(t);
        if (!typed) return SHOAL_E_NO_MEM;
        shoal_program_run(typed, 1, t->extent, 0, rest, count_elements, &sum);
    }
    int64_t whole;
    if (__builtin_mul_overflow(bytes / t->size, t->basics, &whole)) sum.broken = true;
    *elements_out = sum.broken ? MPI_UNDEFINED : whole + sum.elements;
    return 0;
}

int shoal_datatype_element_bytes(shoal_datatype *t, int64_t elements, int64_t *bytes_out)
{
    if (t->basics == 0) {
        if (elements == 0) {
            *bytes_out = 0;
            return 0;
        }
        return shoal_fail(SHOAL_E_COUNT, "%lld basic elements of %s, which has none",
                          (long long)elements, shoal_datatype_label(t));
    }
    tally sum = {.limit = elements % t->basics};
    if (sum.limit > 0) {
        const shoal_program *typed = shoal_datatype_typed(t);
        if (!typed) return SHOAL_E_NO_MEM;
        shoal_program_run(typed, 1, t->extent, 0, t->size, count_elements, &sum);
    }
    int64_t whole = 0;
    int rc = shoal_datatype_bytes(t, elements / t->basics, &whole);
    if (rc == 0) *bytes_out = whole + sum.bytes;
    return rc;
}
