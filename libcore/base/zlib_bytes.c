#include "base/zlib_bytes.h"

#include "base/mem.h"

#include <zlib.h>

size_t tl_zlib_bound(size_t size) {
  return compressBound((uLong)size);
}

TlStatus tl_zlib_pack_into(int level, const void *bytes, size_t size, uint8_t *packed,
                           size_t *packed_size) {
  uLongf packed_bytes = compressBound((uLong)size);
  int code = compress2(packed, &packed_bytes, bytes, (uLong)size, level);
  *packed_size = packed_bytes;
  if (code == Z_OK) return TL_OK;
  return tl_fail(code == Z_MEM_ERROR ? TL_ENOMEM : TL_ELIB, "zlib: cannot pack %zu bytes (%d)",
                 size, code);
}

TlStatus tl_zlib_pack(const void *bytes, size_t size, uint8_t **packed, size_t *packed_size) {
  TL_TRY(TL_NEW(*packed, tl_zlib_bound(size)));
  TlStatus status = tl_zlib_pack_into(9, bytes, size, *packed, packed_size);
  if (status != TL_OK) TL_FREE(*packed);
  return status;
}

TlStatus tl_zlib_unpack(const void *packed, size_t packed_size, void *bytes, size_t size) {
  uLongf got = (uLongf)size;
  int code = uncompress(bytes, &got, packed, (uLong)packed_size);
  if (code == Z_OK && got == size) return TL_OK;
  return tl_fail(code == Z_MEM_ERROR ? TL_ENOMEM : TL_EINPUT,
                 "packed bytes are damaged: zlib gives code %d and %lu of %zu bytes", code,
                 (unsigned long)got, size);
}
