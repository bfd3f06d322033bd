#include "io/zlib_bytes.h"

#include "base/mem.h"

#include <zlib.h>

TlStatus tl_zlib_pack(const void *bytes, size_t size, uint8_t **packed, size_t *packed_size) {
  uLongf packed_bytes = compressBound((uLong)size);
  TL_TRY(TL_NEW(*packed, packed_bytes));
  int code = compress2(*packed, &packed_bytes, bytes, (uLong)size, 9);
  if (code != Z_OK) {
    tl_free(*packed);
    *packed = NULL;
    return tl_fail(code == Z_MEM_ERROR ? TL_ENOMEM : TL_ELIB, "zlib: cannot pack %zu bytes (%d)",
                   size, code);
  }
  *packed_size = packed_bytes;
  return TL_OK;
}

TlStatus tl_zlib_unpack(const void *packed, size_t packed_size, void *bytes, size_t size) {
  uLongf got = (uLongf)size;
  int code = uncompress(bytes, &got, packed, (uLong)packed_size);
  if (code == Z_OK && got == size) return TL_OK;
  return tl_fail(code == Z_MEM_ERROR ? TL_ENOMEM : TL_EINPUT,
                 "packed bytes are damaged: zlib gives code %d and %lu of %zu bytes", code,
                 (unsigned long)got, size);
}
