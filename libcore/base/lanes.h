/* Hot loops are compiled for several instruction sets and chosen when the program starts, so the
 * installed build needs no -march. No clone may fuse multiply and add (-ffp-contract=off): all give
 * the same bits. Not under a sanitizer, whose run time is not up yet when the choice is made. */
#ifndef TL_BASE_LANES_H
#define TL_BASE_LANES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__)
#define TL_LANES_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TL_LANES_CLONES
#endif

#endif
