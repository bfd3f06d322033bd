#include "base/file.h"

#include "base/claims.h"
#include "base/digest.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool tl_same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool tl_file_exists(const char *path) {
  return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != EACCES);
}

char *tl_path_directory(const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return tl_strdup(".");
  if (slash == path) return tl_strdup("/");
  return tl_format("%.*s", (int)(slash - path), path);
}

char *tl_path_join(const char *directory, const char *name) {
  return tl_format("%s/%s", directory, name);
}

void tl_path_extension(const char *path, char extension[16]) {
  const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
  extension[0] = 0;
  if (!dot || (slash && dot < slash)) return;
  size_t i = 0;
  for (; i < 15 && dot[i + 1]; i++) extension[i] = (char)tolower((unsigned char)dot[i + 1]);
  extension[i] = 0;
}

TlStatus tl_file_size(const char *path, int64_t *bytes) {
  struct stat info;
  if (stat(path, &info) != 0) return tl_fail_errno(path, "cannot open");
  *bytes = (int64_t)info.st_size;
  return TL_OK;
}

TlStatus tl_file_read(const char *path, char **text, size_t *size) {
  *text = NULL;
  TL_TRY(tl_claim_read(path));
  FILE *file = fopen(path, "rb");
  if (!file) return tl_fail_errno(path, "cannot open");
  size_t capacity = 0, used = 0;
  TlStatus status = TL_OK;
  for (;;) { /* by growth, so that pipes work */
    TL_TRY_GOTO(status, TL_RESERVE(*text, capacity, used + 65536), done);
    size_t got = fread(*text + used, 1, capacity - used - 1, file);
    used += got;
    if (got == 0) break;
  }
  if (ferror(file)) status = tl_fail_errno(path, "cannot read");
  if (status == TL_OK) (*text)[used] = 0;
  *size = used;
done:
  fclose(file);
  if (status != TL_OK) TL_FREE(*text);
  return status;
}

TlStatus tl_file_write(const char *path, const void *bytes, size_t size, bool overwrite) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *file = fopen(out.temp, "wb");
  TlStatus status = TL_OK;
  if (!file) {
    status = tl_fail_errno(path, "cannot create");
  } else {
    bool wrote = fwrite(bytes, 1, size, file) == size;
    if (fclose(file) != 0 || !wrote) status = tl_fail_errno(path, "cannot write");
  }
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}

static TlStatus copy_bytes(FILE *in, const char *from, FILE *out, const char *to) {
  char block[65536];
  for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
    if (fwrite(block, 1, n, out) != n) return tl_fail_errno(to, "cannot write");
  return ferror(in) ? tl_fail_errno(from, "cannot read") : TL_OK;
}

TlStatus tl_file_copy(const char *from, const char *to) {
  FILE *in = fopen(from, "rb");
  if (!in) return tl_fail_errno(from, "cannot open");
  FILE *out = fopen(to, "wb");
  TlStatus status = out ? copy_bytes(in, from, out, to) : tl_fail_errno(to, "cannot create");
  if (out && fclose(out) != 0 && status == TL_OK) status = tl_fail_errno(to, "cannot write");
  fclose(in);
  return status;
}

bool tl_is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

TlStatus tl_dir_make(const char *path) {
  char *part = tl_strdup(path);
  if (!part) return TL_ENOMEM;
  TlStatus status = TL_OK;
  for (char *p = part + 1; status == TL_OK; p++) {
    if (*p != '/' && *p) continue;
    char end = *p;
    *p = 0;
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
      status = tl_fail_errno(part, "cannot make the folder");
    *p = end;
    if (!end) break;
  }
  struct stat info;
  if (status == TL_OK && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)))
    status = tl_fail(TL_EIO, "%s: is there, but is not a folder", path);
  tl_free(part);
  return status;
}

TlStatus tl_dir_next(DIR *folder, const char *path, const char **name) {
  *name = NULL;
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    if (!entry) return errno ? tl_fail_errno(path, "cannot list the folder") : TL_OK;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    *name = entry->d_name;
    return TL_OK;
  }
}

TlStatus tl_disk_free(const char *path, int64_t *bytes) {
  struct statvfs info;
  *bytes = 0;
  char *at = tl_strdup(path);
  while (at && statvfs(at, &info) != 0) {
    char *above = strcmp(at, ".") == 0 || strcmp(at, "/") == 0 ? NULL : tl_path_directory(at);
    tl_free(at);
    if (!above) return TL_OK;
    at = above;
  }
  if (!at) return TL_ENOMEM;
  tl_free(at);
  *bytes = (int64_t)info.f_bavail * (int64_t)info.f_frsize;
  return TL_OK;
}

static TlStatus hex_digest(TlDigest *digest, char hex[TL_DIGEST_HEX + 1]) {
  unsigned char value[TL_DIGEST_BYTES];
  TL_TRY(tl_digest_value(digest, value));
  tl_digest_hex(value, hex);
  return TL_OK;
}

TlStatus tl_sha256(const void *bytes, size_t size, char hex[65]) {
  TlDigest *digest;
  TL_TRY(tl_digest_new(&digest));
  tl_digest_add(digest, bytes, size);
  TlStatus status = hex_digest(digest, hex);
  tl_digest_free(digest);
  return status;
}

TlStatus tl_file_sha256(const char *path, char hex[65]) {
  TlDigest *digest;
  FILE *file = fopen(path, "rb");
  if (!file) return tl_fail_errno(path, "cannot open");
  TlStatus status = tl_digest_new(&digest);
  unsigned char buffer[65536];
  for (size_t got; status == TL_OK && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    tl_digest_add(digest, buffer, got);
  if (status == TL_OK && ferror(file)) status = tl_fail_errno(path, "cannot read");
  if (status == TL_OK) status = tl_context(hex_digest(digest, hex), "%s", path);
  tl_digest_free(digest);
  fclose(file);
  return status;
}
