/* SHA-256 of bytes that are added piece by piece (base/file.h has it for whole files and texts). */
#ifndef TL_BASE_DIGEST_H
#define TL_BASE_DIGEST_H

#include "base/status.h"

#include <stddef.h>

enum { TL_DIGEST_BYTES = 32, TL_DIGEST_HEX = 2 * TL_DIGEST_BYTES };

typedef struct TlDigest TlDigest;

TlStatus tl_digest_new(TlDigest **digest);
/* Starts anew. A failure here or in tl_digest_add is reported by tl_digest_value. */
void tl_digest_restart(TlDigest *digest);
void tl_digest_add(TlDigest *digest, const void *bytes, size_t size);
/* The digest of what was added since the start; restart before more is added. TL_ELIB: the library
 * failed at some step, and value is not set. */
TlStatus tl_digest_value(TlDigest *digest, unsigned char value[TL_DIGEST_BYTES]);
void tl_digest_free(TlDigest *digest);
/* As text: lower case, ends with 0. */
void tl_digest_hex(const unsigned char value[TL_DIGEST_BYTES], char hex[TL_DIGEST_HEX + 1]);

#endif
