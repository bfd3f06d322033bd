/* Bytes packed by zlib (its own format: two bytes of header, deflate, Adler-32), which browsers
 * unpack by themselves. zlib stands behind this header alone. */
#ifndef TL_BASE_ZLIB_BYTES_H
#define TL_BASE_ZLIB_BYTES_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* packed: fresh memory. Level 9; the same bytes every time with one version of zlib. */
TlStatus tl_zlib_pack(const void *bytes, size_t size, uint8_t **packed, size_t *packed_size);
/* The same at any level into memory of at least tl_zlib_bound(size) bytes, for blocks of columns. */
size_t tl_zlib_bound(size_t size);
TlStatus tl_zlib_pack_into(int level, const void *bytes, size_t size, uint8_t *packed,
                           size_t *packed_size);
/* TL_EINPUT when the bytes are damaged or do not hold exactly `size` of them. */
TlStatus tl_zlib_unpack(const void *packed, size_t packed_size, void *bytes, size_t size);

#endif
