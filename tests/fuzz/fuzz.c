#include "fuzz/fuzz.h"

#include "base/log.h"
#include "base/sandbox_impl.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char folder[256];
static pid_t owner;

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

static int64_t crashed; /* files that the library which decodes them died of, in its process */

static void finish(void) {
  if (getpid() != owner) return;
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (crashed) fprintf(stderr, "libraries crashed in the sandbox: %lld\n", (long long)crashed);
}

static const char *scratch(void) {
  const char *there = getenv("TMPDIR");
  return there ? there : "/tmp";
}

#ifdef TL_FUZZER
/* The sandbox under libFuzzer. What a worker covers must count, or inputs would be changed blindly:
 * the whole pages of coverage counters are memory that this process, the sandbox and its workers
 * share. A report of a sanitizer about our own code in a worker must be a finding, while a crash
 * inside of HDF5, ITK or GDAL is what the sandbox is for: the worker leaves a file, and
 * tl_fuzz_done ends this process, so that libFuzzer keeps the input. */
extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[];
void __asan_set_error_report_callback(void (*callback)(const char *));
void __ubsan_on_report(void);
static char report_path[300];

static void share_counters(pid_t of, int flags) {
  char path[300];
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t first = ((uintptr_t)__start___sancov_cntrs + page - 1) / page * page;
  size_t size = (uintptr_t)__stop___sancov_cntrs / page * page - first;
  snprintf(path, sizeof path, "%s/talus-fuzz-counters-%d", scratch(), (int)of);
  snprintf(report_path, sizeof report_path, "%s/talus-fuzz-report-%d", scratch(), (int)of);
  int file = open(path, flags, 0600);
  if (file < 0) abort();
  if (flags & O_CREAT && pwrite(file, (void *)first, size, 0) != (ssize_t)size) abort();
  if (mmap((void *)first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
      MAP_FAILED)
    abort();
  close(file);
}

static void leave_report(void) {
  if (report_path[0]) close(open(report_path, O_CREAT | O_WRONLY, 0600));
}

static void on_asan(const char *text) {
  const char *summary = strstr(text, "SUMMARY: ");
  if (summary && (strstr(summary, "/libcore/") || strstr(summary, "/tests/"))) leave_report();
}

void __ubsan_on_report(void) { /* only our own code is made with these checks */
  leave_report();
}

/* After AddressSanitizer has begun, before the sandbox waits for orders. */
__attribute__((constructor(1500))) static void share(int argc, char **argv) {
  if (argc != 1 || strcmp(argv[0], TL_SANDBOX_PROCESS) != 0) return;
  share_counters(getppid(), O_RDWR);
  __asan_set_error_report_callback(on_asan);
}

static void expect_no_report(void) {
  if (access(report_path, F_OK) != 0) return;
  remove(report_path);
  fprintf(stderr, "a fault of our own code in the process that reads foreign files, see above\n");
  abort();
}
#else
static void expect_no_report(void) {}
#endif

const char *tl_fuzz_folder(void) {
  if (owner == getpid()) return folder;
  snprintf(folder, sizeof folder, "%s/talus-fuzz-XXXXXX", scratch());
  if (!mkdtemp(folder)) abort();
  owner = getpid();
  atexit(finish);
#ifdef TL_FUZZER
  share_counters(owner, O_RDWR | O_CREAT | O_EXCL);
#endif
  tl_log_mute(true);
  tl_sandbox_limits(5, (int64_t)1 << 30);
  return folder;
}

const char *tl_fuzz_path(const char *name) {
  static char path[300];
  snprintf(path, sizeof path, "%s/%s", tl_fuzz_folder(), name);
  return path;
}

const char *tl_fuzz_file(const char *name, const void *bytes, size_t size) {
  const char *path = tl_fuzz_path(name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
  return path;
}

/* By our own loop: what strstr looks for, libFuzzer would put into the inputs, and so into other
 * messages. */
static bool is_crash(const char *message) {
  const char *want = ": the library that reads it crashed (";
  for (const char *c = folder; *c; c++)
    if (*c != *message++) return false;
  while (*message && *message != ':') message++;
  while (*want)
    if (*want++ != *message++) return false;
  return true;
}

bool tl_fuzz_says;

void tl_fuzz_done(TlStatus status) {
  if (tl_fuzz_says) printf("  %s\n", status == TL_OK ? "read" : tl_message());
  expect_no_report();
  crashed += status != TL_OK && is_crash(tl_message());
  if (status == TL_OK || tl_message()[0]) return;
  fprintf(stderr, "status %d without a message\n", (int)status);
  abort();
}

void tl_fuzz_must(TlStatus status) {
  if (status == TL_OK) return;
  fprintf(stderr, "a step of the harness failed: %s\n", tl_message());
  abort();
}
