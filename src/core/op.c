// SPDX-License-Identifier: BSD-3-Clause
// Operations: the predefined ones, which of them the standard defines on which class of
// datatypes, and how one is applied to a typed buffer.
#include "core/op.h"

#include <assert.h>
#include <limits.h>

#include "core/op_kernels.h"
#include "core/outside.h"
#include "core/program.h"
#include "plat/error.h"

#define FIRST_HANDLE 0x20u
#define HANDLES      0x20u

static shoal_op predefined[HANDLES];
static shoal_op_fn *kernels[SHOAL_OP_CODES][SHOAL_BASICS_END]; // a user's operation has none

#define BIT(class) (1u << SHOAL_C_##class)
#define NUMBERS    (BIT(INTEGER) | BIT(FORTRAN_INTEGER) | BIT(REAL) | BIT(ADDRESS))
#define BITS       (BIT(INTEGER) | BIT(FORTRAN_INTEGER) | BIT(BYTE) | BIT(ADDRESS))

// The classes that each operation is defined on: the table of the chapter on reductions.
static const uint16_t defined_on[SHOAL_OP_CODES] = {
    [SHOAL_OP_SUM] = NUMBERS | BIT(COMPLEX),
    [SHOAL_OP_PROD] = NUMBERS | BIT(COMPLEX),
    [SHOAL_OP_MIN] = NUMBERS,
    [SHOAL_OP_MAX] = NUMBERS,
    [SHOAL_OP_BAND] = BITS,
    [SHOAL_OP_BOR] = BITS,
    [SHOAL_OP_BXOR] = BITS,
    [SHOAL_OP_LAND] = BIT(INTEGER) | BIT(LOGICAL),
    [SHOAL_OP_LOR] = BIT(INTEGER) | BIT(LOGICAL),
    [SHOAL_OP_LXOR] = BIT(INTEGER) | BIT(LOGICAL),
    [SHOAL_OP_MINLOC] = BIT(PAIR),
    [SHOAL_OP_MAXLOC] = BIT(PAIR),
};

// NULL if the two do not go together.
static shoal_op_fn *kernel_of(enum shoal_op_code code, enum shoal_basic basic)
{
    const shoal_basic_facts *f = &shoal_basics[basic];
    if (code == SHOAL_OP_REPLACE) return shoal_kernel_of_replace(f->size);
    if (basic == SHOAL_B_NONE || !(defined_on[code] >> f->class & 1u)) return NULL;
    if (f->class == SHOAL_C_PAIR) return shoal_kernel_of_pair(code, basic);
    if (f->class == SHOAL_C_REAL || f->class == SHOAL_C_COMPLEX)
        return shoal_kernel_of_float(code, f->store);
    return shoal_kernel_of_integer(code, f->store);
}

bool shoal_op_shows_order(const shoal_op *o)
{
    return o->code != SHOAL_OP_SUM && o->code != SHOAL_OP_PROD &&
           (o->code < SHOAL_OP_BAND || o->code > SHOAL_OP_LXOR);
}

int shoal_op_init(void)
{
    static const struct {
        MPI_Op handle;
        const char *name;
        uint8_t code;
    } all[] = {
#define OP(id) {MPI_##id, "MPI_" #id, SHOAL_OP_##id}
        OP(SUM),  OP(MIN), OP(MAX),  OP(PROD),   OP(BAND),   OP(BOR),     OP(BXOR),
        OP(LAND), OP(LOR), OP(LXOR), OP(MINLOC), OP(MAXLOC), OP(REPLACE), OP(NO_OP),
#undef OP
    };
    shoal_object_register(SHOAL_KIND_OP, sizeof(shoal_op));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (enum shoal_basic b = 0; b < SHOAL_BASICS_END; b++)
            kernels[all[i].code][b] = kernel_of(all[i].code, b);
        predefined[(uintptr_t)all[i].handle - FIRST_HANDLE] =
            (shoal_op){.handle = all[i].handle,
                       .name = all[i].name,
                       .code = all[i].code,
                       .kernels = kernels[all[i].code],
                       .commutative = all[i].code != SHOAL_OP_REPLACE,
                       .predefined = true};
    }
    return 0;
}

shoal_op *shoal_op_get(MPI_Op handle)
{
    uintptr_t value = (uintptr_t)handle - FIRST_HANDLE;
    if (value < HANDLES) return predefined[value].name ? &predefined[value] : NULL;
    shoal_op *o = shoal_object_get(SHOAL_KIND_OP, handle);
    return o && !o->freed ? o : NULL;
}

int shoal_op_new(bool commutative, shoal_op **out)
{
    shoal_op *o = shoal_object_new(SHOAL_KIND_OP);
    if (!o) return SHOAL_E_NO_MEM;
    o->handle = shoal_object_handle(o);
    o->code = SHOAL_OP_USER;
    o->kernels = kernels[SHOAL_OP_USER];
    o->commutative = commutative;
    *out = o;
    return 0;
}

void shoal_op_drop(shoal_op *o)
{
    if (o->predefined) return;
    assert(o->object.refs > 0);
    if (--o->object.refs == 0) shoal_object_free(o);
}

static int undefined_pair(const shoal_op *o, const shoal_datatype *t)
{
    return shoal_fail(SHOAL_E_OP, "%s is not defined on %s", o->name, shoal_datatype_label(t));
}

int shoal_op_check(const shoal_op *o, shoal_datatype *t)
{
    if (o->code == SHOAL_OP_USER) return 0;
    // The common case needs no look at the table.
    if (!o->kernels[t->basic] || o->code == SHOAL_OP_REPLACE) return undefined_pair(o, t);
    if (t->dense || !t->layout) return 0;
    if (shoal_basics[t->basic].class == SHOAL_C_PAIR) {
        return t->predefined ? 0 : undefined_pair(o, t);
    }
    return shoal_datatype_typed(t) ? 0 : SHOAL_E_NO_MEM;
}

int shoal_op_check_accumulate(const shoal_op *o, shoal_datatype *t)
{
    if (o->code == SHOAL_OP_REPLACE || o->code == SHOAL_OP_NO_OP) return 0;
    if (o->code != SHOAL_OP_USER) return shoal_op_check(o, t);
    return shoal_fail(SHOAL_E_OP, "a user-defined operation cannot be used in accumulating");
}

static void call_user(const shoal_op *o, void *in, void *inout, int64_t count, MPI_Datatype handle)
{
    MPI_Count n = count;
    int small = (int)count;
    shoal_outside outside = shoal_outside_go();
    if (o->door)
        o->door((shoal_door_user_fn *)o->user.small, in, inout, n, handle);
    else if (o->large)
        o->user.wide(in, inout, &n, &handle);
    else
        o->user.small(in, inout, &small, &handle);
    shoal_outside_return(outside);
}

// Calls the user's function, in pieces if its int length demands it. The handle is good inside
// the function even if the user has freed the datatype meanwhile.
static void apply_user(const shoal_op *o, const void *in, void *inout, int64_t count,
                       shoal_datatype *t)
{
    char *left = (char *)(uintptr_t)in, *right = inout;
    const int64_t most = o->large ? INT64_MAX : INT_MAX;
    t->handles++;
    while (count > 0) {
        int64_t n = count < most ? count : most;
        call_user(o, left, right, n, t->handle);
        count -= n;
        if (count == 0) break;
        left += n * t->extent;
        right += n * t->extent;
    }
    t->handles--;
}

typedef struct combine {
    shoal_op_fn *kernel;
    const char *in;
    char *inout;
} combine;

static void combine_run(void *context, const shoal_run *r)
{
    const combine *c = context;
    int64_t n = r->bytes / shoal_basics[r->basic].size;
    for (int64_t k = 0; k < r->outer; k++) {
        for (int64_t i = 0; i < r->count; i++) {
            int64_t at = r->offset + k * r->outer_stride + (r->list ? r->list[i] : i * r->stride);
            c->kernel(c->in + at, c->inout + at, n);
        }
    }
}

void shoal_op_apply(const shoal_op *o, const void *in, void *inout, int64_t count,
                    const shoal_datatype *t)
{
    if (count == 0 || t->size == 0 || o->code == SHOAL_OP_NO_OP) return;
    if (o->code == SHOAL_OP_USER) {
        apply_user(o, in, inout, count, (shoal_datatype *)(uintptr_t)t);
        return;
    }
    if (o->code == SHOAL_OP_REPLACE) {
        shoal_datatype_copy(in, count, t, inout, count, t);
        return;
    }
    combine c = {.kernel = o->kernels[t->basic], .in = in, .inout = inout};
    assert(c.kernel);
    if (t->dense) {
        int64_t basic = shoal_datatype_of(t->basic)->size;
        c.kernel(c.in + t->true_lb, c.inout + t->true_lb, count * (t->size / basic));
    } else if (t->predefined) {
        c.kernel(in, inout, count); // a pair with a hole: the kernel knows its struct
    } else {
        assert(t->typed);
        shoal_program_run(t->typed, count, t->extent, 0, count * t->size, combine_run, &c);
    }
}
