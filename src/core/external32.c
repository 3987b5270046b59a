// SPDX-License-Identifier: BSD-3-Clause
// Converts along the datatype's typed program. Most types only have their bytes turned round;
// integers of another size are widened or cut, and long double goes through the 128-bit format.
#include "core/external32.h"

#include <string.h>

#include "core/program.h"
#include "plat/error.h"

typedef struct converter {
    char *typed;
    char *packed; // the next element
    bool packing;
} converter;

// How a basic type is converted: `parts` numbers of `native` bytes, `external` bytes outside.
typedef struct form {
    int parts, native, external;
    bool extended, is_signed;
} form;

_Static_assert(SHOAL_S_I8 == 0 && SHOAL_S_I128 == 4, "the signed stores come first");

static form form_of(enum shoal_basic basic)
{
    const shoal_basic_facts *f = &shoal_basics[basic];
    int parts = f->class == SHOAL_C_COMPLEX ? 2 : 1;
    form r = {.parts = parts, .native = f->size / parts, .external = f->external / parts};
    r.extended = f->store == SHOAL_S_FLD || f->store == SHOAL_S_CLD;
    r.is_signed = f->store <= SHOAL_S_I128;
    return r;
}

static bool little_endian(void)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

// Copies n bytes the other way round (or as they are on a big-endian machine).
static void turn(char *to, const char *from, int n)
{
    if (!little_endian()) {
        memcpy(to, from, (size_t)n);
        return;
    }
    for (int i = 0; i < n; i++) to[i] = from[n - 1 - i];
}

#if SHOAL_HAVE_FLOAT128
static void extended_out(char *to, const char *from)
{
    long double value;
    memcpy(&value, from, sizeof value);
    shoal_f128 wide = value;
    turn(to, (const char *)&wide, sizeof wide);
}

static void extended_in(char *to, const char *from)
{
    shoal_f128 wide;
    turn((char *)&wide, from, sizeof wide);
    long double value = (long double)wide;
    // The padding of the 80-bit format stays as it is.
    memcpy(to, &value, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof value);
}
#else
// Without a 128-bit format the value travels as a double in its first bytes.
static void extended_out(char *to, const char *from)
{
    long double value;
    memcpy(&value, from, sizeof value);
    double narrow = (double)value;
    memset(to, 0, 16);
    turn(to, (const char *)&narrow, sizeof narrow);
}

static void extended_in(char *to, const char *from)
{
    double narrow;
    turn((char *)&narrow, from, sizeof narrow);
    long double value = narrow;
    memcpy(to, &value, sizeof value);
}
#endif

static void integer_out(char *to, const char *from, const form *f)
{
    int64_t value = 0;
    memcpy(little_endian() ? (char *)&value : (char *)&value + 8 - f->native, from,
           (size_t)f->native);
    for (int i = 0; i < f->external; i++) {
        to[f->external - 1 - i] = (char)(value & 0xff);
        value >>= 8;
    }
}

static void integer_in(char *to, const char *from, const form *f)
{
    uint64_t value = f->is_signed && (from[0] & 0x80) ? UINT64_MAX : 0;
    for (int i = 0; i < f->external; i++) value = value << 8 | (uint8_t)from[i];
    memcpy(to, little_endian() ? (char *)&value : (char *)&value + 8 - f->native,
           (size_t)f->native);
}

// One element that is more than turned round.
static void convert_element(converter *c, char *typed, const form *f)
{
    for (int i = 0; i < f->parts; i++) {
        if (f->extended && c->packing)
            extended_out(c->packed, typed);
        else if (f->extended)
            extended_in(typed, c->packed);
        else if (c->packing)
            integer_out(c->packed, typed, f);
        else
            integer_in(typed, c->packed, f);
        typed += f->native;
        c->packed += f->external;
    }
}

// Numbers whose bytes are only turned round, in a row: the usual sizes in loops of their own.
#define TURN_ROW(bits)                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
        uint##bits##_t v;                                                                          \
        memcpy(&v, from + i * (bits / 8), bits / 8);                                               \
        v = __builtin_bswap##bits(v);                                                              \
        memcpy(to + i * (bits / 8), &v, bits / 8);                                                 \
    }

static void turn_row(char *to, const char *from, int64_t n, int size)
{
    if (size == 1 || !little_endian()) {
        memcpy(to, from, (size_t)(n * size));
    } else if (size == 2) {
        TURN_ROW(16)
    } else if (size == 4) {
        TURN_ROW(32)
    } else if (size == 8) {
        TURN_ROW(64)
    } else {
        for (int64_t i = 0; i < n; i++) turn(to + i * size, from + i * size, size);
    }
}

static void convert_block(converter *c, char *typed, int64_t n, const form *f)
{
    if (f->extended || f->native != f->external) {
        int64_t size = f->parts * f->native;
        for (int64_t e = 0; e < n; e++) convert_element(c, typed + e * size, f);
        return;
    }
    if (c->packing)
        turn_row(c->packed, typed, n * f->parts, f->native);
    else
        turn_row(typed, c->packed, n * f->parts, f->native);
    c->packed += n * f->parts * f->external;
}

static void convert_run(void *context, const shoal_run *r)
{
    converter *c = context;
    form f = form_of(r->basic);
    int64_t n = r->bytes / shoal_basics[r->basic].size;
    for (int64_t k = 0; k < r->outer; k++) {
        for (int64_t i = 0; i < r->count; i++) {
            int64_t at = r->offset + k * r->outer_stride + (r->list ? r->list[i] : i * r->stride);
            convert_block(c, c->typed + at, n, &f);
        }
    }
}

static int convert(converter *c, int64_t count, shoal_datatype *t)
{
    if (count == 0 || t->size == 0) return 0;
    const shoal_program *typed = shoal_datatype_typed(t);
    if (!typed) return SHOAL_E_NO_MEM;
    shoal_program_run(typed, count, t->extent, 0, count * t->size, convert_run, c);
    return 0;
}

int shoal_external32_bytes(const shoal_datatype *t, int64_t count, int64_t *bytes_out)
{
    int64_t bytes;
    if (__builtin_mul_overflow(t->external, count, &bytes)) {
        return shoal_fail(SHOAL_E_COUNT,
                          "%lld elements of %s are more than 2^63 - 1 bytes in "
                          "external32",
                          (long long)count, shoal_datatype_label(t));
    }
    *bytes_out = bytes;
    return 0;
}

int shoal_external32_pack(const void *from, int64_t count, shoal_datatype *t, void *out)
{
    converter c = {.typed = (char *)(uintptr_t)from, .packed = out, .packing = true};
    return convert(&c, count, t);
}

int shoal_external32_unpack(const void *in, void *to, int64_t count, shoal_datatype *t)
{
    converter c = {.typed = to, .packed = (char *)(uintptr_t)in};
    return convert(&c, count, t);
}
