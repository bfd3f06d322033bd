#include "base/digest.h"

#include "base/mem.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct TlDigest {
  EVP_MD_CTX *context;
  bool failed; /* a step since the start */
};

TlStatus tl_digest_new(TlDigest **digest) {
  TL_TRY(TL_NEW(*digest, 1));
  (*digest)->context = EVP_MD_CTX_new();
  if ((*digest)->context) {
    tl_digest_restart(*digest);
    return TL_OK;
  }
  tl_digest_free(*digest);
  *digest = NULL;
  return tl_fail(TL_ENOMEM, "no memory for a digest");
}

void tl_digest_restart(TlDigest *digest) {
  digest->failed = EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) != 1;
}

void tl_digest_add(TlDigest *digest, const void *bytes, size_t size) {
  if (size && EVP_DigestUpdate(digest->context, bytes, size) != 1) digest->failed = true;
}

TlStatus tl_digest_value(TlDigest *digest, unsigned char value[TL_DIGEST_BYTES]) {
  unsigned char all[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (digest->failed || EVP_DigestFinal_ex(digest->context, all, &length) != 1 ||
      length != TL_DIGEST_BYTES)
    return tl_fail(TL_ELIB, "OpenSSL cannot make a SHA-256 checksum; the machine may be short of "
                            "memory: run again");
  memcpy(value, all, TL_DIGEST_BYTES);
  return TL_OK;
}

void tl_digest_free(TlDigest *digest) {
  if (!digest) return;
  EVP_MD_CTX_free(digest->context);
  tl_free(digest);
}

void tl_digest_hex(const unsigned char value[TL_DIGEST_BYTES], char hex[TL_DIGEST_HEX + 1]) {
  for (int i = 0; i < TL_DIGEST_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", value[i]);
}
