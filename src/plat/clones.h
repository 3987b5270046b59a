// SPDX-License-Identifier: BSD-3-Clause
// Loops for processors of several kinds.
#ifndef SHOAL_PLAT_CLONES_H
#define SHOAL_PLAT_CLONES_H

// A loop compiled for several vector widths; the loader picks one. Only where the compiler and
// the C library can (GCC with glibc on x86-64); sanitizers run before the loader's choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHOAL_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
// Without fused instructions: GCC 12 fuses a product and an alternating sum, as in complex
// products, even when told not to contract.
#define SHOAL_CLONES_UNFUSED __attribute__((target_clones("avx2", "default")))
#else
#define SHOAL_CLONES
#define SHOAL_CLONES_UNFUSED
#endif

#endif
