/* A disk that misbehaves, for tests: preload build/test/disk-shim.so.
 *
 *   TALUS_SHIM_SYNC_S=S     each fsync, fdatasync and syncfs takes S seconds more,
 *   TALUS_SHIM_SLOW=FILE    but only while there is this file
 *   TALUS_SHIM_DIE_AT=K     the K-th unlink or rename that succeeded is the process' last act
 *   TALUS_SHIM_FULL=TEXT    renaming a file whose name holds TEXT fails for lack of space
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Whole, whatever signals come. */
static void wait_for_disk(void) {
  const char *text = getenv("TALUS_SHIM_SYNC_S"), *file = getenv("TALUS_SHIM_SLOW");
  double s = text && (!file || access(file, F_OK) == 0) ? strtod(text, NULL) : 0;
  struct timespec left = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
  while (s > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

static void changed(void) {
  static atomic_int count;
  const char *text = getenv("TALUS_SHIM_DIE_AT");
  if (text && ++count == atoi(text)) _exit(9);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd) {
  wait_for_disk();
  return NEXT(fsync)(fd);
}

int fdatasync(int fd) {
  wait_for_disk();
  return NEXT(fdatasync)(fd);
}

int syncfs(int fd) {
  wait_for_disk();
  return NEXT(syncfs)(fd);
}

int unlink(const char *path) {
  int result = NEXT(unlink)(path);
  if (result == 0) changed();
  return result;
}

int rename(const char *from, const char *to) {
  const char *full = getenv("TALUS_SHIM_FULL");
  if (full && strstr(to, full)) {
    errno = ENOSPC;
    return -1;
  }
  int result = NEXT(rename)(from, to);
  if (result == 0) changed();
  return result;
}
