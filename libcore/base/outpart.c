#include "base/outpart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

TlStatus tl_outpart_open(TlOutPart *part, const char *path, const char *temp) {
  part->path = path;
  part->goes = strcmp(path, temp) != 0;
  part->descriptor = open(temp, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (part->descriptor >= 0) return TL_OK;
  return tl_fail(TL_EIO,
                 "%s: cannot open to write a part of it: %s; every rank writes into the folder of "
                 "the results, so all machines of the run must see it",
                 path, strerror(errno));
}

static TlStatus cannot_write(const TlOutPart *part, int number) {
  return tl_fail(TL_EIO, "%s: cannot write: %s%s", part->path, strerror(number),
                 part->goes ? "; the file was not kept" : "");
}

TlStatus tl_outpart_put(const TlOutPart *part, int64_t at, const void *bytes, size_t size) {
  const char *from = bytes;
  while (size > 0) {
    ssize_t put = pwrite(part->descriptor, from, size, (off_t)at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return cannot_write(part, put < 0 ? errno : ENOSPC);
    from += put;
    at += put;
    size -= (size_t)put;
  }
  return TL_OK;
}

TlStatus tl_outpart_close(TlOutPart *part, bool sync) {
  int number = 0;
  if (part->descriptor < 0) return TL_OK;
  if (sync && fsync(part->descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) number = errno;
  if (close(part->descriptor) != 0 && !number) number = errno;
  part->descriptor = -1;
  return number ? cannot_write(part, number) : TL_OK;
}
