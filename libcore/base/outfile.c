#define _GNU_SOURCE /* renameat2, syncfs */

#include "base/outfile.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- temporaries ---- */

static void first_line(const char *path, char *line, int size) {
  FILE *file = fopen(path, "r");
  if (!file || !fgets(line, size, file)) line[0] = 0;
  if (file) fclose(file);
}

/* This machine as 8 hexadecimal digits; processes in containers have numbers of their own, so a
 * container counts as a machine. One without an identity is another machine after each start. */
static void host_mark(char mark[9]) {
  char text[512] = "", id[64] = "", numbers[64] = "", name[256] = "";
  first_line("/etc/machine-id", id, sizeof id);
  if (!id[0]) first_line("/proc/sys/kernel/random/boot_id", id, sizeof id);
  gethostname(name, sizeof name - 1);
  ssize_t length = readlink("/proc/self/ns/pid", numbers, sizeof numbers - 1);
  if (length < 0) numbers[0] = 0;
  snprintf(text, sizeof text, "%s/%s/%s", name, id, numbers);
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
  snprintf(mark, 9, "%08x", (unsigned)hash);
}

/* When a process began, in ticks since the machine did; 0: the system does not say. */
static unsigned long long process_start(long process) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  size_t got = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[got] = 0;
  const char *at = strrchr(text, ')'); /* ends the program's name; start is the 20th field behind */
  for (int field = 0; at && field < 20; field++) at = strchr(at + 1, ' ');
  return at ? strtoull(at, NULL, 10) : 0;
}

typedef struct TempName {
  size_t length; /* of the product's name */
  char host[9];
  long process;
  unsigned long long start;
} TempName;

static bool parse_temp(const char *name, TempName *temp) {
  static const char hex[] = "0123456789abcdef";
  size_t size = strlen(name);
  const char *at = name + size;
  if (size < 4 || strcmp(at - 4, ".tmp") != 0) return false;
  at -= 4;
  for (int back = 0; back < 3; back++) { /* to the third dash from the end */
    do
      if (--at <= name) return false;
    while (*at != '-');
  }
  if (at - name < 10 || at[-9] != '.') return false; /* one character of a name, dot, host */
  memcpy(temp->host, at - 8, 8);
  temp->host[8] = 0;
  temp->length = (size_t)(at - 9 - name);
  char *end;
  errno = 0;
  temp->process = strtol(at + 1, &end, 10);
  if (at[1] < '0' || at[1] > '9' || *end != '-' || end[1] < '0' || end[1] > '9') return false;
  temp->start = strtoull(end + 1, &end, 10);
  return errno == 0 && *end == '-' && strspn(end + 1, hex) == 8 && strcmp(end + 9, ".tmp") == 0 &&
         strspn(temp->host, hex) == 8;
}

bool tl_outfile_is_temp(const char *name, size_t *length) {
  TempName temp;
  if (!parse_temp(name, &temp)) return false;
  *length = temp.length;
  return true;
}

/* A process number is given out again in time; the start tells two processes apart. */
static bool is_gone(const TempName *temp) {
  if (kill((pid_t)temp->process, 0) != 0 && errno == ESRCH) return true;
  unsigned long long now = process_start(temp->process);
  return now != 0 && temp->start != 0 && now != temp->start;
}

static void clear_temp(int folder, const char *path, const char *name, const char *host) {
  TempName temp;
  struct stat info;
  if (!parse_temp(name, &temp) || strcmp(temp.host, host) != 0 || !is_gone(&temp)) return;
  if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid()) return;
  if (unlinkat(folder, name, 0) == 0)
    tl_log_info("%s/%s: removed, a process that was stopped left it unfinished", path, name);
}

/* What killed processes left in the folder; looked for once a process and folder in a row. */
static void clear_temps(const char *path, const char *host) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static dev_t device;
  static ino_t inode;
  struct stat info;
  DIR *list = opendir(path);
  if (!list) return; /* a folder may be writable and not be listed */
  pthread_mutex_lock(&mutex);
  bool fresh = fstat(dirfd(list), &info) == 0 && (info.st_dev != device || info.st_ino != inode);
  if (fresh) {
    device = info.st_dev;
    inode = info.st_ino;
  }
  pthread_mutex_unlock(&mutex);
  if (fresh)
    for (struct dirent *entry; (entry = readdir(list));)
      clear_temp(dirfd(list), path, entry->d_name, host);
  closedir(list);
}

void tl_outfile_clear(const char *folder) {
  char host[9];
  host_mark(host);
  clear_temps(folder, host);
}

static TlStatus make_temp(TlOutFile *out, const char *host) {
  enum { TRIES = 100 };
  long process = (long)getpid();
  for (int i = 0; i < TRIES; i++) {
    uint32_t number = 0;
    if (getentropy(&number, sizeof number) != 0) number = (uint32_t)i;
    char *temp = tl_format("%s.%s-%ld-%llu-%08x.tmp", out->path, host, process,
                           process_start(process), (unsigned)number);
    if (!temp) return TL_ENOMEM;
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd >= 0) {
      close(fd); /* empty: nothing to lose here */
      out->temp = temp;
      return TL_OK;
    }
    int error = errno;
    tl_free(temp);
    errno = error;
    if (errno != EEXIST) break;
  }
  return tl_fail_errno(out->path, "cannot create");
}

/* ---- products ---- */

static TlStatus check_product(const char *path, bool overwrite) {
  struct stat info;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
    return tl_fail(TL_EUSAGE, "%s: is %s; give the name of a file", path,
                   S_ISDIR(info.st_mode) ? "a folder" : "a device, a pipe or a socket");
  TL_TRY(tl_claim_replace(path));
  if (!overwrite && lstat(path, &info) == 0)
    return tl_fail(TL_EUSAGE, "%s: already exists; give --overwrite to replace it", path);
  return TL_OK;
}

TlStatus tl_outfile_begin(TlOutFile *out, const char *path, bool overwrite) {
  char host[9];
  *out = (TlOutFile){.overwrite = overwrite};
  TL_TRY(check_product(path, overwrite));
  char *directory = tl_path_directory(path);
  if (!directory) return TL_ENOMEM;
  TlStatus status = TL_OK;
  if (access(directory, W_OK | X_OK) != 0)
    status = tl_fail(TL_EIO, "%s: cannot write into the folder %s: %s", path, directory,
                     strerror(errno));
  host_mark(host);
  if (status == TL_OK) clear_temps(directory, host);
  tl_free(directory);
  if (status == TL_OK && !(out->path = tl_strdup(path))) status = TL_ENOMEM;
  if (status == TL_OK) status = make_temp(out, host);
  if (status != TL_OK) tl_outfile_abort(out);
  return status;
}

static TlStatus sync_path(const char *path, int flags) {
  int fd = open(path, flags);
  if (fd < 0) return tl_fail_errno(path, "cannot open to sync");
  int failed = fsync(fd);
  int number = errno;
  if (close(fd) != 0 && !failed) return tl_fail_errno(path, "cannot close");
  if (failed && number != EINVAL && number != ENOTSUP) { /* some file systems cannot sync */
    errno = number;
    return tl_fail_errno(path, "cannot sync");
  }
  return TL_OK;
}

TlStatus tl_dir_sync(const char *path) {
  return sync_path(path, O_RDONLY | O_DIRECTORY);
}

TlStatus tl_file_sync(const char *path) {
  return sync_path(path, O_RDONLY | O_NOFOLLOW);
}

TlStatus tl_disk_sync(const char *folder) {
  int fd = open(folder, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return tl_fail_errno(folder, "cannot open to sync");
  TlStatus status = syncfs(fd) == 0 ? TL_OK : tl_fail_errno(folder, "cannot sync");
  close(fd);
  return status;
}

static TlStatus taken(const char *path) {
  return tl_fail(TL_EUSAGE,
                 "%s: another process has made it meanwhile, and it is left as it is; give "
                 "--overwrite to replace it, or another name",
                 path);
}

static TlStatus unplaced(const char *path) {
  return errno == EEXIST ? taken(path)
                         : tl_fail_errno(path, "cannot rename the finished file into place");
}

/* The two names are one file: a link over NFS may have been made although the answer says not. */
static bool linked(const char *from, const char *to) {
  struct stat a, b;
  return lstat(from, &a) == 0 && lstat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

TlStatus tl_file_place(const char *from, const char *to, TlPlaceWay first) {
  if (first <= TL_PLACE_RENAME) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return TL_OK;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return unplaced(to);
  }
  if (first <= TL_PLACE_LINK) {
    if (link(from, to) == 0 || linked(from, to))
      return unlink(from) == 0 ? TL_OK : tl_fail_errno(from, "cannot remove");
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP && errno != EMLINK)
      return unplaced(to);
  }
  int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return unplaced(to);
  close(fd); /* empty, and ours alone to replace */
  if (rename(from, to) == 0) return TL_OK;
  TlStatus status = unplaced(to);
  unlink(to);
  return status;
}

static TlStatus place_product(const TlOutFile *out) {
  if (!out->overwrite) return tl_file_place(out->temp, out->path, TL_PLACE_RENAME);
  TL_TRY(tl_claim_replace(out->path)); /* an input may have been opened since the begin */
  return rename(out->temp, out->path) == 0 ? TL_OK : unplaced(out->path);
}

/* The product has its name; the temporary is no more. */
static TlStatus finish(TlOutFile *out) {
  TlStatus status = tl_claim_made(out->path);
  tl_free(out->temp);
  out->temp = NULL; /* nothing left to remove */
  return status;
}

TlStatus tl_outfile_rename(TlOutFile *out) {
  TlStatus status = place_product(out);
  if (status == TL_OK) status = finish(out);
  tl_outfile_abort(out);
  return status;
}

TlStatus tl_outfile_commit(TlOutFile *out) {
  TlStatus status = tl_file_sync(out->temp);
  if (status == TL_OK) status = place_product(out);
  if (status != TL_OK) {
    tl_outfile_abort(out);
    return status;
  }
  char *directory = tl_path_directory(out->path);
  if (!directory) status = TL_ENOMEM;
  if (directory) status = tl_dir_sync(directory);
  tl_free(directory);
  TlStatus finished = finish(out);
  if (status == TL_OK) status = finished;
  tl_outfile_abort(out);
  return status;
}

void tl_outfile_abort(TlOutFile *out) {
  if (out->temp) unlink(out->temp);
  tl_free(out->temp);
  tl_free(out->path);
  *out = (TlOutFile){0};
}
