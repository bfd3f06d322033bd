/* Checksums when OpenSSL fails: its functions are replaced here by some that fail at the k-th call,
 * and no digest is told that was not made. */
#define _GNU_SOURCE
#include "support/tltest.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/provenance.h"

#include <dlfcn.h>
#include <openssl/evp.h>
#include <stdio.h>

static int calls, failing; /* the failing-th call fails; 0: none */

static bool fails(void) {
  return ++calls == failing;
}

EVP_MD_CTX *EVP_MD_CTX_new(void) {
  static EVP_MD_CTX *(*real)(void);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "EVP_MD_CTX_new");
  return fails() ? NULL : real();
}
int EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, ENGINE *engine) {
  static int (*real)(EVP_MD_CTX *, const EVP_MD *, ENGINE *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestInit_ex");
  return fails() ? 0 : real(context, type, engine);
}
int EVP_DigestUpdate(EVP_MD_CTX *context, const void *bytes, size_t size) {
  static int (*real)(EVP_MD_CTX *, const void *, size_t);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestUpdate");
  return fails() ? 0 : real(context, bytes, size);
}
int EVP_DigestFinal_ex(EVP_MD_CTX *context, unsigned char *value, unsigned *length) {
  static int (*real)(EVP_MD_CTX *, unsigned char *, unsigned *);
  if (!real) *(void **)&real = dlsym(RTLD_NEXT, "EVP_DigestFinal_ex");
  return fails() ? 0 : real(context, value, length);
}

static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

START_TEST(a_step_that_fails_is_told) {
  char hex[65];
  char *path = tl_path_join(tl_test_folder(), "abc");
  CK_OK(tl_file_write(path, "abc", 3, true));
  for (failing = 1; failing <= 4; failing++) {
    calls = 0;
    ck_assert_int_ne(tl_sha256("abc", 3, hex), TL_OK);
    ck_assert_int_ge(calls, failing);
    calls = 0;
    ck_assert_int_ne(tl_file_sha256(path, hex), TL_OK);
    ck_assert_int_ge(calls, failing);
  }
  failing = 2;
  calls = 0;
  CK_FAILS(tl_file_sha256(path, hex), TL_ELIB, path); /* the message names the file */
  failing = 0;
  CK_OK(tl_file_sha256(path, hex));
  ck_assert_str_eq(hex, abc);
  tl_free(path);
}
END_TEST

START_TEST(a_digest_can_be_made_after_a_failure) {
  TlDigest *digest;
  unsigned char value[TL_DIGEST_BYTES];
  char hex[TL_DIGEST_HEX + 1];
  failing = 0;
  CK_OK(tl_digest_new(&digest));
  calls = 0;
  failing = 1;
  tl_digest_add(digest, "x", 1);
  failing = 0;
  tl_digest_add(digest, "abc", 3);
  CK_FAILS(tl_digest_value(digest, value), TL_ELIB, "SHA-256");
  tl_digest_restart(digest);
  tl_digest_add(digest, "abc", 3);
  CK_OK(tl_digest_value(digest, value));
  tl_digest_hex(value, hex);
  ck_assert_str_eq(hex, abc);
  tl_digest_free(digest);
}
END_TEST

START_TEST(no_input_is_recorded_without_its_digest) {
  char *path = tl_path_join(tl_test_folder(), "input");
  TlProvenance p;
  CK_OK(tl_file_write(path, "abc", 3, true));
  tl_provenance_begin(&p, "test", 0, NULL);
  for (failing = 1; failing <= 4; failing++) {
    calls = 0;
    ck_assert_int_ne(tl_provenance_input(&p, path), TL_OK);
    ck_assert_ptr_null(p.inputs);
  }
  failing = 0;
  CK_OK(tl_provenance_input(&p, path));
  ck_assert_ptr_nonnull(strstr(p.inputs, abc));
  tl_provenance_free(&p);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("digest", a_step_that_fails_is_told, a_digest_can_be_made_after_a_failure,
             no_input_is_recorded_without_its_digest)
