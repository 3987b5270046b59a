// SPDX-License-Identifier: BSD-3-Clause
// Every predefined operation on every predefined datatype: refused where the standard does not
// define it, else compared with a plain loop, for all lengths up to a few vectors and at every
// alignment. Then derived datatypes, and user-defined operations.
#include "core/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/datatype_make.h"
#include "core/op_kernels.h"
#include "plat/error.h"
#include "plat/test.h"

#define MOST 70 // elements in one reduction
#define AREA (MOST * 32 + 64)

static uint64_t seed = 2463534242u;

static uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BAND,   MPI_BOR,
                             MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};
#define OPS (sizeof ops / sizeof ops[0])

// What the chapter on reductions says, in words of its own: a string of the operations' initials
// for each group of datatypes. s sum and product, m min and max, b bits, l logical, p pairs.
static const char *allowed(enum shoal_basic basic)
{
    switch (basic) {
    case SHOAL_B_SHORT:
    case SHOAL_B_INT:
    case SHOAL_B_LONG:
    case SHOAL_B_LONG_LONG:
    case SHOAL_B_UNSIGNED_SHORT:
    case SHOAL_B_UNSIGNED:
    case SHOAL_B_UNSIGNED_LONG:
    case SHOAL_B_UNSIGNED_LONG_LONG:
    case SHOAL_B_SIGNED_CHAR:
    case SHOAL_B_UNSIGNED_CHAR:
    case SHOAL_B_INT8_T:
    case SHOAL_B_INT16_T:
    case SHOAL_B_INT32_T:
    case SHOAL_B_INT64_T:
    case SHOAL_B_UINT8_T:
    case SHOAL_B_UINT16_T:
    case SHOAL_B_UINT32_T:
    case SHOAL_B_UINT64_T: return "smbl";
    case SHOAL_B_INTEGER:
    case SHOAL_B_INTEGER1:
    case SHOAL_B_INTEGER2:
    case SHOAL_B_INTEGER4:
    case SHOAL_B_INTEGER8:
    case SHOAL_B_INTEGER16:
    case SHOAL_B_AINT:
    case SHOAL_B_OFFSET:
    case SHOAL_B_COUNT: return "smb";
    case SHOAL_B_FLOAT:
    case SHOAL_B_DOUBLE:
    case SHOAL_B_LONG_DOUBLE:
    case SHOAL_B_REAL:
    case SHOAL_B_DOUBLE_PRECISION:
    case SHOAL_B_REAL2:
    case SHOAL_B_REAL4:
    case SHOAL_B_REAL8:
    case SHOAL_B_REAL16:
    case SHOAL_B_C_FLOAT16:
    case SHOAL_B_C_BFLOAT16: return "sm";
    case SHOAL_B_LOGICAL:
    case SHOAL_B_LOGICAL1:
    case SHOAL_B_LOGICAL2:
    case SHOAL_B_LOGICAL4:
    case SHOAL_B_LOGICAL8:
    case SHOAL_B_LOGICAL16:
    case SHOAL_B_C_BOOL:
    case SHOAL_B_CXX_BOOL: return "l";
    case SHOAL_B_C_FLOAT_COMPLEX:
    case SHOAL_B_C_DOUBLE_COMPLEX:
    case SHOAL_B_C_LONG_DOUBLE_COMPLEX:
    case SHOAL_B_CXX_FLOAT_COMPLEX:
    case SHOAL_B_CXX_DOUBLE_COMPLEX:
    case SHOAL_B_CXX_LONG_DOUBLE_COMPLEX:
    case SHOAL_B_COMPLEX:
    case SHOAL_B_DOUBLE_COMPLEX:
    case SHOAL_B_COMPLEX4:
    case SHOAL_B_COMPLEX8:
    case SHOAL_B_COMPLEX16:
    case SHOAL_B_COMPLEX32: return "s";
    case SHOAL_B_BYTE: return "b";
    case SHOAL_B_CHAR:
    case SHOAL_B_CHARACTER:
    case SHOAL_B_WCHAR:
    case SHOAL_B_PACKED: return "";
    default: return "p";
    }
}

static bool is_allowed(MPI_Op op, enum shoal_basic basic)
{
    char group = 'p';
    if (op == MPI_SUM || op == MPI_PROD) group = 's';
    if (op == MPI_MIN || op == MPI_MAX) group = 'm';
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) group = 'b';
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) group = 'l';
    return strchr(allowed(basic), group) != NULL;
}

// Half precision, slowly: decode by its definition, encode by looking for the nearest.
static double half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double v = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
    return h & 0x8000 ? -v : v;
}

static uint16_t half_nearest(double v)
{
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    double m = fabs(v);
    if (isnan(v)) return 0x7e00;
    if (m >= 65520) return (uint16_t)(sign | 0x7c00);
    int low = 0, high = 0x7c00; // half_value(low) <= m < half_value(high)
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (half_value((uint16_t)middle) <= m)
            low = middle;
        else
            high = middle;
    }
    double below = half_value((uint16_t)low);
    double above = low == 0x7bff ? 65536 : half_value((uint16_t)high);
    bool up = m - below > above - m || (m - below == above - m && (low & 1));
    return (uint16_t)(sign | (up ? high : low));
}

static double brain_value(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

// For moderate numbers only.
static uint16_t brain_nearest(double d)
{
    double m = fabs(d);
    int low = 0, high = 0x7f80;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (brain_value((uint16_t)middle) <= m)
            low = middle;
        else
            high = middle;
    }
    double below = m - brain_value((uint16_t)low), above = brain_value((uint16_t)high) - m;
    bool up = below > above || (below == above && (low & 1));
    return (uint16_t)((signbit(d) ? 0x8000 : 0) | (up ? high : low));
}

// The plain loop: one element, by store. Integers of one width share it, signs told apart.
#define INTEGER_CASE(store, type, unsigned_type)                                                   \
    case SHOAL_S_##store: {                                                                        \
        type a, b;                                                                                 \
        memcpy(&a, left, sizeof a);                                                                \
        memcpy(&b, right, sizeof b);                                                               \
        unsigned_type ua = (unsigned_type)a, ub = (unsigned_type)b, r = 0;                         \
        if (op == MPI_SUM) r = (unsigned_type)(ua + ub);                                           \
        if (op == MPI_PROD) r = (unsigned_type)((unsigned_type)1 * ua * (0u + ub));                \
        if (op == MPI_MIN) r = (unsigned_type)(a < b ? a : b);                                     \
        if (op == MPI_MAX) r = (unsigned_type)(a > b ? a : b);                                     \
        if (op == MPI_BAND) r = ua & ub;                                                           \
        if (op == MPI_BOR) r = ua | ub;                                                            \
        if (op == MPI_BXOR) r = ua ^ ub;                                                           \
        if (op == MPI_LAND) r = ua && ub;                                                          \
        if (op == MPI_LOR) r = ua || ub;                                                           \
        if (op == MPI_LXOR) r = !ua != !ub;                                                        \
        memcpy(right, &r, sizeof r);                                                               \
        return;                                                                                    \
    }
#define REAL_CASE(store, type, bytes)                                                              \
    case SHOAL_S_##store: {                                                                        \
        type a, b, r = 0;                                                                          \
        memcpy(&a, left, sizeof a);                                                                \
        memcpy(&b, right, sizeof b);                                                               \
        if (op == MPI_SUM) r = a + b;                                                              \
        if (op == MPI_PROD) r = a * b;                                                             \
        if (op == MPI_MIN) r = a < b ? a : b;                                                      \
        if (op == MPI_MAX) r = a > b ? a : b;                                                      \
        memcpy(right, &r, bytes);                                                                  \
        return;                                                                                    \
    }
#define COMPLEX_CASE(store, type, bytes)                                                           \
    case SHOAL_S_##store: {                                                                        \
        type a[2], b[2], r[2];                                                                     \
        memcpy(a, left, sizeof a);                                                                 \
        memcpy(b, right, sizeof b);                                                                \
        r[0] = op == MPI_SUM ? a[0] + b[0] : a[0] * b[0] - a[1] * b[1];                            \
        r[1] = op == MPI_SUM ? a[1] + b[1] : a[0] * b[1] + a[1] * b[0];                            \
        memcpy(right, &r[0], bytes);                                                               \
        memcpy((char *)right + sizeof(type), &r[1], bytes);                                        \
        return;                                                                                    \
    }

static void half_element(MPI_Op op, const uint16_t *a, uint16_t *b)
{
    double x = half_value(*a), y = half_value(*b);
    if (op == MPI_SUM) *b = half_nearest(x + y);
    if (op == MPI_PROD) *b = half_nearest(x * y);
    if (op == MPI_MIN) *b = x < y ? *a : *b;
    if (op == MPI_MAX) *b = x > y ? *a : *b;
}

static void brain_element(MPI_Op op, const uint16_t *a, uint16_t *b)
{
    double x = brain_value(*a), y = brain_value(*b);
    if (op == MPI_SUM) *b = brain_nearest(x + y);
    if (op == MPI_PROD) *b = brain_nearest(x * y);
    if (op == MPI_MIN) *b = x < y ? *a : *b;
    if (op == MPI_MAX) *b = x > y ? *a : *b;
}

// The parts of a product are exact in float; their sum is rounded to float, then to half.
static void half_complex(MPI_Op op, const uint16_t *a, uint16_t *b)
{
    float x[2] = {(float)half_value(a[0]), (float)half_value(a[1])};
    float y[2] = {(float)half_value(b[0]), (float)half_value(b[1])};
    b[0] = half_nearest(op == MPI_SUM ? x[0] + y[0] : x[0] * y[0] - x[1] * y[1]);
    b[1] = half_nearest(op == MPI_SUM ? x[1] + y[1] : x[0] * y[1] + x[1] * y[0]);
}

static void plain_element(MPI_Op op, enum shoal_store store, const void *left, void *right)
{
    switch (store) {
        INTEGER_CASE(I8, int8_t, uint8_t)
        INTEGER_CASE(I16, int16_t, uint16_t)
        INTEGER_CASE(I32, int32_t, uint32_t)
        INTEGER_CASE(I64, int64_t, uint64_t)
        INTEGER_CASE(U8, uint8_t, uint8_t)
        INTEGER_CASE(U16, uint16_t, uint16_t)
        INTEGER_CASE(U32, uint32_t, uint32_t)
        INTEGER_CASE(U64, uint64_t, uint64_t)
        INTEGER_CASE(L8, uint8_t, uint8_t)
        INTEGER_CASE(L16, uint16_t, uint16_t)
        INTEGER_CASE(L32, uint32_t, uint32_t)
        INTEGER_CASE(L64, uint64_t, uint64_t)
        REAL_CASE(F32, float, 4)
        REAL_CASE(F64, double, 8)
        REAL_CASE(FLD, long double, 10)
        COMPLEX_CASE(C32, float, 4)
        COMPLEX_CASE(C64, double, 8)
        COMPLEX_CASE(CLD, long double, 10)
#if SHOAL_HAVE_INT128
        INTEGER_CASE(I128, shoal_i128, shoal_u128)
        INTEGER_CASE(L128, shoal_u128, shoal_u128)
#endif
#if SHOAL_HAVE_FLOAT128
        REAL_CASE(F128, shoal_f128, 16)
        COMPLEX_CASE(C128, shoal_f128, 16)
#endif
    case SHOAL_S_BF16: {
        uint16_t a, b;
        memcpy(&a, left, sizeof a);
        memcpy(&b, right, sizeof b);
        brain_element(op, &a, &b);
        memcpy(right, &b, sizeof b);
        return;
    }
    case SHOAL_S_F16:
    case SHOAL_S_C16: {
        uint16_t a[2], b[2];
        size_t bytes = store == SHOAL_S_C16 ? 4 : 2;
        memcpy(a, left, bytes);
        memcpy(b, right, bytes);
        if (store == SHOAL_S_C16)
            half_complex(op, a, b);
        else
            half_element(op, a, b);
        memcpy(right, b, bytes);
        return;
    }
    default: abort();
    }
}

// Numbers of moderate size in every format, so that nothing is an infinity or a NaN, but signs,
// zeros and rounding all occur.
static void fill_element(enum shoal_store store, char *at, int64_t size)
{
    int64_t n = (int64_t)(random_bits() % 41) - 20;
    double d = (double)n * (random_bits() % 2 ? 0.3 : 1.0);
    bool two = store == SHOAL_S_C16 || store == SHOAL_S_C32 || store == SHOAL_S_C64 ||
               store == SHOAL_S_CLD || store == SHOAL_S_C128;
    for (int i = 0; i <= two; i++, d = 1.7 * d - 0.1) {
        char *part = at + i * (size / 2);
        float f = (float)d;
        long double l = d;
        uint16_t h = half_nearest(d), brain = brain_nearest(d);
        switch (store) {
        case SHOAL_S_F16:
        case SHOAL_S_C16: memcpy(part, &h, 2); break;
        case SHOAL_S_BF16: memcpy(part, &brain, 2); break;
        case SHOAL_S_F32:
        case SHOAL_S_C32: memcpy(part, &f, 4); break;
        case SHOAL_S_F64:
        case SHOAL_S_C64: memcpy(part, &d, 8); break;
        case SHOAL_S_FLD:
        case SHOAL_S_CLD: memcpy(part, &l, sizeof l); break;
#if SHOAL_HAVE_FLOAT128
        case SHOAL_S_F128:
        case SHOAL_S_C128: {
            shoal_f128 q = d;
            memcpy(part, &q, sizeof q);
            break;
        }
#endif
        default:
            for (int64_t k = 0; k < size; k++) part[k] = (char)random_bits();
            if (random_bits() % 3 == 0) memset(part, 0, (size_t)size);
        }
    }
}

static void check_pair(MPI_Op handle, shoal_datatype *t, int n, int shift)
{
    const shoal_op *o = shoal_op_get(handle);
    static char in[AREA], inout[AREA], want[AREA];
    enum shoal_store store = shoal_basics[t->basic].store;
    for (int i = 0; i < n; i++) {
        fill_element(store, in + shift + i * t->size, t->size);
        fill_element(store, inout + shift + i * t->size, t->size);
    }
    memcpy(want, inout, sizeof want);
    for (int i = 0; i < n; i++) {
        plain_element(handle, store, in + shift + i * t->size, want + shift + i * t->size);
    }
    shoal_op_apply(o, in + shift, inout + shift, n, t);
    CHECK(memcmp(want, inout, sizeof want) == 0);
}

static void test_pairs(void)
{
    for (int basic = 1; basic < SHOAL_BASICS_END; basic++) {
        shoal_datatype *t = shoal_datatype_of((enum shoal_basic)basic);
        for (size_t i = 0; i < OPS; i++) {
            bool may = is_allowed(ops[i], (enum shoal_basic)basic) && t->size > 0;
            CHECK(shoal_op_check(shoal_op_get(ops[i]), t) == (may ? 0 : SHOAL_E_OP));
            if (!may || shoal_basics[basic].store == SHOAL_S_PAIR) continue;
            for (int n = 0; n <= MOST; n++) check_pair(ops[i], t, n, n % 17);
        }
        CHECK(shoal_op_check(shoal_op_get(MPI_REPLACE), t) == SHOAL_E_OP);
        CHECK(shoal_op_check(shoal_op_get(MPI_NO_OP), t) == SHOAL_E_OP);
        CHECK(shoal_op_check_accumulate(shoal_op_get(MPI_REPLACE), t) == 0);
    }
    shoal_op_check(shoal_op_get(MPI_BAND), shoal_datatype_get(MPI_FLOAT));
    CHECK(strcmp(shoal_fail_text(), "MPI_BAND is not defined on MPI_FLOAT") == 0);
}

// Every half against every sort of half: sums and products of all magnitudes, rounding included.
static void test_halves(void)
{
    const shoal_op *sum = shoal_op_get(MPI_SUM), *product = shoal_op_get(MPI_PROD);
    shoal_datatype *t = shoal_datatype_get(MPI_REAL2);
    for (int k = 0; k < 40; k++) {
        static uint16_t a[65536], b[65536], c[65536];
        for (int i = 0; i < 65536; i++) {
            a[i] = (uint16_t)i;
            b[i] = c[i] = k == 0 ? (uint16_t)i : (uint16_t)random_bits();
        }
        shoal_op_apply(k % 2 ? product : sum, a, c, 65536, t);
        int wrong = 0;
        for (int i = 0; i < 65536; i++) {
            double x = half_value(a[i]), y = half_value(b[i]);
            uint16_t want = half_nearest(k % 2 ? x * y : x + y);
            bool both_nan = isnan(half_value(want)) && isnan(half_value(c[i]));
            if (c[i] != want && !both_nan) wrong++;
        }
        CHECK(wrong == 0);
    }
}

typedef struct double_int {
    double value;
    int index;
} double_int;

typedef struct short_int {
    short value;
    int index;
} short_int;

static void test_locations(void)
{
    double_int a[4] = {{1.5, 3}, {2, 7}, {5, 1}, {-1, 9}};
    double_int b[4] = {{1, 8}, {2, 4}, {4, 2}, {-1, 12}};
    shoal_op_apply(shoal_op_get(MPI_MINLOC), a, b, 4, shoal_datatype_get(MPI_DOUBLE_INT));
    CHECK(b[0].index == 8 && b[1].index == 4 && b[2].index == 2 && b[3].index == 9);
    CHECK(b[0].value == 1 && b[1].value == 2 && b[2].value == 4 && b[3].value == -1);
    short_int c[2] = {{7, 1}, {-3, 2}}, d[2] = {{7, 0}, {-4, 5}};
    shoal_op_apply(shoal_op_get(MPI_MAXLOC), c, d, 2, shoal_datatype_get(MPI_SHORT_INT));
    CHECK(d[0].value == 7 && d[0].index == 0 && d[1].value == -3 && d[1].index == 2);
    float e[2] = {2, 11}, f[2] = {2, 10};
    shoal_op_apply(shoal_op_get(MPI_MAXLOC), e, f, 1, shoal_datatype_get(MPI_2REAL));
    CHECK(f[0] == 2 && f[1] == 10);
}

// Derived datatypes of one basic type; the holes stay as they are.
static void test_derived(void)
{
    shoal_datatype *t = NULL;
    int64_t unit = 0;
    CHECK(shoal_datatype_vector(3, 2, 4, shoal_datatype_get(MPI_INT), false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0);
    CHECK(shoal_op_check(shoal_op_get(MPI_SUM), t) == 0);
    CHECK(shoal_op_kernel(shoal_op_get(MPI_SUM), t, &unit) == NULL);
    int a[20], b[20];
    for (int i = 0; i < 20; i++) {
        a[i] = i;
        b[i] = 100;
    }
    shoal_op_apply(shoal_op_get(MPI_SUM), a, b, 2, t); // the second starts at int 10
    for (int i = 0; i < 20; i++) CHECK(b[i] == (i % 10 % 4 < 2 ? 100 + i : 100));
    shoal_datatype_drop(t);
    CHECK(shoal_datatype_contiguous(5, shoal_datatype_get(MPI_DOUBLE), false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0);
    CHECK(shoal_op_kernel(shoal_op_get(MPI_SUM), t, &unit) != NULL && unit == 8);
    shoal_datatype_drop(t);
    shoal_datatype *two[] = {shoal_datatype_get(MPI_INT), shoal_datatype_get(MPI_FLOAT)};
    CHECK(shoal_datatype_struct(2, (int64_t[]){1, 1}, (int64_t[]){0, 4}, two, false, &t) == 0);
    CHECK(shoal_op_check(shoal_op_get(MPI_SUM), t) == SHOAL_E_OP);
    shoal_datatype_drop(t);
}

static int user_calls;

static void take_last(void *in, void *inout, int *len, MPI_Datatype *type)
{
    user_calls++;
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *len; i++) ((int *)inout)[i] = 10 * ((int *)in)[i] + ((int *)inout)[i];
}

static void take_last_c(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    user_calls++;
    CHECK(shoal_datatype_get(*type) != NULL);
    const int *a = in;
    int *b = inout;
    for (MPI_Count i = 0; i < *len; i++) b[i] = 10 * a[i] + b[i];
}

static int64_t long_elements;
static int long_pieces;

static void count_up(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)type;
    long_elements += *len;
    long_pieces++;
}

// More elements than an int counts: the function is called in pieces. They are all in one place.
static void test_long_user(void)
{
    shoal_op *o = NULL;
    shoal_datatype *t = NULL;
    char a = 0, b = 0;
    CHECK(shoal_op_new(true, &o) == 0);
    o->user.small = count_up;
    CHECK(shoal_datatype_resized(shoal_datatype_get(MPI_CHAR), 0, 0, false, &t) == 0);
    CHECK(shoal_datatype_commit(t) == 0);
    int64_t n = 2 * (int64_t)INT32_MAX + 5;
    shoal_op_apply(o, &a, &b, n, t);
    CHECK(long_elements == n && long_pieces == 3);
    shoal_datatype_drop(t);
    shoal_op_drop(o);
}

static void test_user(void)
{
    shoal_op *o = NULL;
    CHECK(shoal_op_new(false, &o) == 0);
    o->user.small = take_last;
    CHECK(shoal_op_get(o->handle) == o && !o->commutative);
    int a[3] = {1, 2, 3}, b[3] = {4, 5, 6};
    shoal_op_apply(o, a, b, 3, shoal_datatype_get(MPI_INT));
    CHECK(b[0] == 14 && b[1] == 25 && b[2] == 36 && user_calls == 1);
    o->large = true;
    o->user.wide = take_last_c;
    // A datatype that the user has freed while the operation was under way.
    shoal_datatype *t = NULL;
    CHECK(shoal_datatype_dup(shoal_datatype_get(MPI_INT), &t) == 0);
    t->handles = 0;
    shoal_op_apply(o, a, b, 3, t);
    CHECK(b[0] == 24 && user_calls == 2);
    CHECK(shoal_datatype_get(t->handle) == NULL);
    shoal_datatype_drop(t);
    MPI_Op handle = o->handle;
    o->freed = true;
    CHECK(shoal_op_get(handle) == NULL);
    shoal_op_drop(o);
    CHECK(shoal_op_get(handle) == NULL && shoal_op_get(MPI_OP_NULL) == NULL);
}

int main(void)
{
    CHECK(shoal_datatype_init() == 0 && shoal_op_init() == 0);
    test_pairs();
    test_halves();
    test_locations();
    test_derived();
    test_user();
    test_long_user();
    shoal_datatype_fini();
    return SHOAL_TEST_RESULT();
}
