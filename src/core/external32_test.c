// SPDX-License-Identifier: BSD-3-Clause
// external32: known bytes for every basic type, sizes, and round trips of a mixed datatype.
#include "core/external32.h"

#include <string.h>
#include <wchar.h>

#include "core/datatype_make.h"
#include "plat/error.h"
#include "plat/test.h"

// Packs one value and compares it with the expected bytes, then brings it back.
static void check_bytes(MPI_Datatype handle, const void *value, const char *want, int64_t n)
{
    shoal_datatype *t = shoal_datatype_get(handle);
    char got[64], back[64];
    int64_t bytes = -1;
    memset(got, 0x5a, sizeof got);
    memset(back, 0, sizeof back);
    CHECK(shoal_external32_bytes(t, 1, &bytes) == 0 && bytes == n);
    CHECK(shoal_external32_pack(value, 1, t, got) == 0);
    CHECK(memcmp(got, want, (size_t)n) == 0 && got[n] == 0x5a);
    CHECK(shoal_external32_unpack(got, back, 1, t) == 0);
    // The last 6 bytes of an extended float are padding.
    size_t compared = handle == MPI_LONG_DOUBLE && __LDBL_MANT_DIG__ == 64 ? 10 : (size_t)t->size;
    CHECK(memcmp(back, value, compared) == 0);
}

static void test_known(void)
{
    check_bytes(MPI_INT, &(int){0x01020304}, "\1\2\3\4", 4);
    check_bytes(MPI_SHORT, &(short){-2}, "\xff\xfe", 2);
    check_bytes(MPI_LONG, &(long){-3}, "\xff\xff\xff\xfd", 4);
    check_bytes(MPI_UNSIGNED_LONG, &(unsigned long){0xfffffff0ul}, "\xff\xff\xff\xf0", 4);
    check_bytes(MPI_LONG_LONG, &(long long){5}, "\0\0\0\0\0\0\0\5", 8);
    check_bytes(MPI_AINT, &(MPI_Aint){256}, "\0\0\0\0\0\0\1\0", 8);
    check_bytes(MPI_WCHAR, &(wchar_t){L'A'}, "\0A", 2);
    check_bytes(MPI_CHAR, "x", "x", 1);
    check_bytes(MPI_FLOAT, &(float){1.0f}, "\x3f\x80\0\0", 4);
    check_bytes(MPI_DOUBLE, &(double){-2.0}, "\xc0\0\0\0\0\0\0\0", 8);
    check_bytes(MPI_C_FLOAT_COMPLEX, (float[]){1.0f, -1.0f}, "\x3f\x80\0\0\xbf\x80\0\0", 8);
    check_bytes(MPI_C_BOOL, &(_Bool){1}, "\1", 1);
    check_bytes(MPI_LOGICAL, &(int){1}, "\0\0\0\1", 4);
    check_bytes(MPI_REAL2, &(uint16_t){0x3c00}, "\x3c\0", 2);
    check_bytes(MPI_LONG_INT, &(struct {
                    long l;
                    int i;
                }){7, 8},
                "\0\0\0\7\0\0\0\10", 8);
#if SHOAL_HAVE_FLOAT128
    // One as an IEEE 128-bit number, whatever long double is here.
    check_bytes(MPI_LONG_DOUBLE, &(long double){1.0L}, "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
#endif
}

static void test_mixed(void)
{
    // struct { char c; double d[2]; long l; } with its holes, three of them.
    typedef struct mixed {
        char c;
        double d[2];
        long l;
    } mixed;
    shoal_datatype *t = NULL,
                   *types[] = {shoal_datatype_get(MPI_CHAR), shoal_datatype_get(MPI_DOUBLE),
                               shoal_datatype_get(MPI_LONG)};
    int64_t disps[] = {0, offsetof(mixed, d), offsetof(mixed, l)}, bytes = 0;
    CHECK(shoal_datatype_struct(3, (int64_t[]){1, 2, 1}, disps, types, false, &t) == 0);
    CHECK(t->extent == sizeof(mixed) && t->external == 1 + 16 + 4);
    mixed in[3] = {{'a', {1, 2}, -5}, {'b', {3.5, -4}, 6}, {'c', {0, 1e300}, 1 << 30}}, out[3];
    memset(out, 0x77, sizeof out);
    char packed[64];
    CHECK(shoal_external32_bytes(t, 3, &bytes) == 0 && bytes == 63);
    CHECK(shoal_external32_pack(in, 3, t, packed) == 0);
    CHECK(packed[0] == 'a' && packed[21] == 'b' && packed[42] == 'c');
    CHECK(shoal_external32_unpack(packed, out, 3, t) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(out[i].c == in[i].c && out[i].d[0] == in[i].d[0] && out[i].d[1] == in[i].d[1]);
        CHECK(out[i].l == in[i].l && ((char *)&out[i])[1] == 0x77);
    }
    CHECK(shoal_external32_bytes(t, INT64_MAX / 4, &bytes) == SHOAL_E_COUNT);
    shoal_datatype_drop(t);
}

// Integers and floats of every size survive, at every value of each byte.
static void test_round_trips(void)
{
    for (int basic = 1; basic < SHOAL_BASICS_END; basic++) {
        shoal_datatype *t = shoal_datatype_of((enum shoal_basic)basic);
        const shoal_basic_facts *f = &shoal_basics[basic];
        bool extended = f->store == SHOAL_S_FLD || f->store == SHOAL_S_CLD;
        if (extended || f->store == SHOAL_S_PAIR) continue;
        CHECK(t->external == (f->size > 0 ? f->external : 0));
        if (f->external != f->size) continue;
        char in[512], packed[512], out[512];
        for (int i = 0; i < 512; i++) in[i] = (char)(i * 7 + basic);
        int64_t n = 512 / t->size;
        CHECK(shoal_external32_pack(in, n, t, packed) == 0);
        CHECK(shoal_external32_unpack(packed, out, n, t) == 0);
        CHECK(memcmp(in, out, (size_t)(n * t->size)) == 0);
    }
}

int main(void)
{
    CHECK(shoal_datatype_init() == 0);
    test_known();
    test_mixed();
    test_round_trips();
    shoal_datatype_fini();
    return SHOAL_TEST_RESULT();
}
