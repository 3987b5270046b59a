// SPDX-License-Identifier: BSD-3-Clause
// The predefined datatypes as two lists of facts. SHOAL_STORES says how a value lies in memory;
// SHOAL_BASICS gives each datatype of the ABI its store, the class of the standard that decides
// which reductions it may enter, and its bytes in external32. The pairs of MINLOC and MAXLOC are
// in SHOAL_PAIRS: what they consist of says everything else about them.
//
// Two datatypes with the same store (MPI_INT, MPI_INT32_T, MPI_INTEGER) share kernels; they stay
// different kinds because the standard treats them differently.
#ifndef SHOAL_CORE_DATATYPE_TABLE_H
#define SHOAL_CORE_DATATYPE_TABLE_H

#include <stddef.h>
#include <stdint.h>

// The widest integers and floats exist only where the compiler has them; elsewhere their
// datatypes have size 0 and count as not supported.
#ifdef __SIZEOF_INT128__
#define SHOAL_HAVE_INT128 1
typedef __int128 shoal_i128;
typedef unsigned __int128 shoal_u128;
#define SHOAL_SIZE_INT128 16
#else
#define SHOAL_HAVE_INT128 0
#define SHOAL_SIZE_INT128 0
#endif

#if defined(__SIZEOF_FLOAT128__)
#define SHOAL_HAVE_FLOAT128 1
typedef __float128 shoal_f128;
#define SHOAL_SIZE_FLOAT128 16
#elif __LDBL_MANT_DIG__ == 113
#define SHOAL_HAVE_FLOAT128 1
typedef long double shoal_f128;
#define SHOAL_SIZE_FLOAT128 16
#else
#define SHOAL_HAVE_FLOAT128 0
#define SHOAL_SIZE_FLOAT128 0
#endif

// clang-format off
// X(store, bytes, alignment). Complex numbers are two parts in a row, aligned as a part is.
#define SHOAL_STORES(X)                                                                          \
    X(I8, 1, 1) X(I16, 2, _Alignof(int16_t)) X(I32, 4, _Alignof(int32_t))                        \
    X(I64, 8, _Alignof(int64_t)) X(I128, SHOAL_SIZE_INT128, 16)                                  \
    X(U8, 1, 1) X(U16, 2, _Alignof(uint16_t)) X(U32, 4, _Alignof(uint32_t))                      \
    X(U64, 8, _Alignof(uint64_t))                                                                \
    X(F16, 2, 2) X(BF16, 2, 2) X(F32, 4, _Alignof(float)) X(F64, 8, _Alignof(double))            \
    X(FLD, sizeof(long double), _Alignof(long double)) X(F128, SHOAL_SIZE_FLOAT128, 16)          \
    X(C16, 4, 2) X(C32, 8, _Alignof(float)) X(C64, 16, _Alignof(double))                         \
    X(CLD, 2 * sizeof(long double), _Alignof(long double)) X(C128, 2 * SHOAL_SIZE_FLOAT128, 16)  \
    X(L8, 1, 1) X(L16, 2, 2) X(L32, 4, 4) X(L64, 8, _Alignof(int64_t))                           \
    X(L128, SHOAL_SIZE_INT128, 16)

enum shoal_store {
#define X(store, bytes, alignment) SHOAL_S_##store,
    SHOAL_STORES(X)
#undef X
    SHOAL_S_PAIR, // struct of two others
    SHOAL_STORES_END
};

// The classes of the chapter on reductions.
enum shoal_class {
    SHOAL_C_NONE, // no reduction is defined on it: text, packed data
    SHOAL_C_INTEGER,         // C integer
    SHOAL_C_FORTRAN_INTEGER,
    SHOAL_C_REAL,            // floating point
    SHOAL_C_LOGICAL,
    SHOAL_C_COMPLEX,
    SHOAL_C_BYTE,
    SHOAL_C_ADDRESS,         // multi-language: MPI_AINT, MPI_OFFSET, MPI_COUNT
    SHOAL_C_PAIR,
};

// Two that the standard does not name, for interfaces that do (abi/mpich-abi.json) and programs
// that know the values: these are free among the standard's types of two bytes.
#define MPI_C_FLOAT16 ((MPI_Datatype)0x24a)
#define MPI_C_BFLOAT16 ((MPI_Datatype)0x24b)

// X(name without MPI_, store, class, bytes in external32)
#define SHOAL_BASICS(X)                                                                          \
    X(AINT, I64, ADDRESS, 8) X(COUNT, I64, ADDRESS, 8) X(OFFSET, I64, ADDRESS, 8)                \
    X(PACKED, U8, NONE, 1)                                                                       \
    X(SHORT, I16, INTEGER, 2) X(INT, I32, INTEGER, 4) X(LONG, I64, INTEGER, 4)                   \
    X(LONG_LONG, I64, INTEGER, 8)                                                                \
    X(UNSIGNED_SHORT, U16, INTEGER, 2) X(UNSIGNED, U32, INTEGER, 4)                              \
    X(UNSIGNED_LONG, U64, INTEGER, 4) X(UNSIGNED_LONG_LONG, U64, INTEGER, 8)                     \
    X(FLOAT, F32, REAL, 4) X(DOUBLE, F64, REAL, 8) X(LONG_DOUBLE, FLD, REAL, 16)                 \
    X(C_FLOAT_COMPLEX, C32, COMPLEX, 8) X(C_DOUBLE_COMPLEX, C64, COMPLEX, 16)                    \
    X(C_LONG_DOUBLE_COMPLEX, CLD, COMPLEX, 32)                                                   \
    X(CXX_FLOAT_COMPLEX, C32, COMPLEX, 8) X(CXX_DOUBLE_COMPLEX, C64, COMPLEX, 16)                \
    X(CXX_LONG_DOUBLE_COMPLEX, CLD, COMPLEX, 32)                                                 \
    X(LOGICAL, L32, LOGICAL, 4) X(INTEGER, I32, FORTRAN_INTEGER, 4) X(REAL, F32, REAL, 4)        \
    X(COMPLEX, C32, COMPLEX, 8) X(DOUBLE_PRECISION, F64, REAL, 8)                                \
    X(DOUBLE_COMPLEX, C64, COMPLEX, 16) X(CHARACTER, U8, NONE, 1)                                \
    X(C_BOOL, L8, LOGICAL, 1) X(CXX_BOOL, L8, LOGICAL, 1) X(WCHAR, I32, NONE, 2)                 \
    X(INT8_T, I8, INTEGER, 1) X(UINT8_T, U8, INTEGER, 1) X(CHAR, U8, NONE, 1)                    \
    X(SIGNED_CHAR, I8, INTEGER, 1) X(UNSIGNED_CHAR, U8, INTEGER, 1) X(BYTE, U8, BYTE, 1)         \
    X(INT16_T, I16, INTEGER, 2) X(UINT16_T, U16, INTEGER, 2)                                     \
    X(INT32_T, I32, INTEGER, 4) X(UINT32_T, U32, INTEGER, 4)                                     \
    X(INT64_T, I64, INTEGER, 8) X(UINT64_T, U64, INTEGER, 8)                                     \
    X(LOGICAL1, L8, LOGICAL, 1) X(LOGICAL2, L16, LOGICAL, 2) X(LOGICAL4, L32, LOGICAL, 4)        \
    X(LOGICAL8, L64, LOGICAL, 8) X(LOGICAL16, L128, LOGICAL, 16)                                 \
    X(INTEGER1, I8, FORTRAN_INTEGER, 1) X(INTEGER2, I16, FORTRAN_INTEGER, 2)                     \
    X(INTEGER4, I32, FORTRAN_INTEGER, 4) X(INTEGER8, I64, FORTRAN_INTEGER, 8)                    \
    X(INTEGER16, I128, FORTRAN_INTEGER, 16)                                                      \
    X(REAL2, F16, REAL, 2) X(REAL4, F32, REAL, 4) X(REAL8, F64, REAL, 8)                         \
    X(REAL16, F128, REAL, 16)                                                                    \
    X(COMPLEX4, C16, COMPLEX, 4) X(COMPLEX8, C32, COMPLEX, 8) X(COMPLEX16, C64, COMPLEX, 16)     \
    X(COMPLEX32, C128, COMPLEX, 32)                                                              \
    X(C_FLOAT16, F16, REAL, 2) X(C_BFLOAT16, BF16, REAL, 2)

// X(name, value, index)
#define SHOAL_PAIRS(X)                                                                           \
    X(FLOAT_INT, FLOAT, INT) X(DOUBLE_INT, DOUBLE, INT) X(LONG_INT, LONG, INT)                   \
    X(2INT, INT, INT) X(SHORT_INT, SHORT, INT) X(LONG_DOUBLE_INT, LONG_DOUBLE, INT)              \
    X(2REAL, REAL, REAL) X(2DOUBLE_PRECISION, DOUBLE_PRECISION, DOUBLE_PRECISION)                \
    X(2INTEGER, INTEGER, INTEGER)

enum shoal_basic {
    SHOAL_B_NONE, // mixed, or no element at all
#define X(name, store, class, external) SHOAL_B_##name,
    SHOAL_BASICS(X)
#undef X
#define X(name, value, index) SHOAL_B_##name,
    SHOAL_PAIRS(X)
#undef X
    SHOAL_BASICS_END
};

typedef struct shoal_basic_facts {
    const char *name; // "MPI_INT"
    uint8_t store;    // enum shoal_store
    uint8_t class;    // enum shoal_class
    uint8_t external; // bytes in external32
    int8_t size;      // bytes here; 0: this compiler does not have it
    int8_t align;
} shoal_basic_facts;

// By enum shoal_basic.
extern const shoal_basic_facts shoal_basics[SHOAL_BASICS_END];
// clang-format on

#endif
