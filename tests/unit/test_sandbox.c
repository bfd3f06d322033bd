/* base/sandbox.h: a reader that crashes, hangs, or takes too much becomes an error that names the
 * file; what it passes arrives bit for bit. The readers stand here: the test's own program is what
 * the sandbox starts again. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINE, REFUSED, CRASHED, ABORTED, ENDLESS, GREEDY, SILENT, LIAR, WRITER, POOR };

typedef struct Job {
  int32_t asked;
  char *question; /* owned, as the next ones */
  char *content, *nothing;
  int64_t count;
  double *numbers;
} Job;

static void release(void *of) {
  Job *j = of;
  tl_free(j->question);
  tl_free(j->content);
  tl_free(j->nothing);
  tl_free(j->numbers);
  *j = (Job){0};
}

static TlStatus ask(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tl_sandbox_pass(s, &j->asked, sizeof j->asked));
  if (j->asked == POOR && tl_sandbox_takes(s)) return tl_fail(TL_ENOMEM, "no memory");
  return tl_sandbox_pass_text(s, &j->question);
}

static TlStatus tell(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tl_sandbox_pass_text(s, &j->content));
  TL_TRY(tl_sandbox_pass_text(s, &j->nothing));
  TL_TRY(tl_sandbox_pass(s, &j->count, sizeof j->count));
  return TL_SANDBOX_PASS_ARRAY(s, j->numbers, j->count);
}

static TlStatus take_all_memory(void) {
  static void *kept; /* where no optimiser can leave the allocation out */
  for (size_t bytes = 1 << 20;; bytes *= 2) {
    kept = malloc(bytes);
    if (!kept) return tl_fail(TL_ENOMEM, "no %zu bytes", bytes);
    free(kept);
    if (bytes > (size_t)1 << 40) return tl_fail(TL_EINPUT, "there is no limit");
  }
}

static TlStatus read_file(const char *path, void *of) {
  Job *j = of;
  size_t size;
  volatile double work = 1;
  switch (j->asked) {
  case REFUSED:
    return tl_fail(TL_EUSAGE, "%s: refused as %s", path, j->question);
  case CRASHED:
    raise(SIGSEGV);
    break;
  case ABORTED:
    raise(SIGABRT);
    break;
  case ENDLESS:
    while (work > 0) work += 1;
    break;
  case GREEDY:
    return take_all_memory();
  case SILENT:
    _exit(0);
  case WRITER:
    if (!fopen("/dev/null/nothing", "w")) {
      FILE *file = fopen(path, "a");
      bool wrote = file && fputs("more", file) >= 0 && fflush(file) == 0;
      if (file) fclose(file);
      return tl_fail(TL_EINPUT, wrote ? "it was written" : "it was not written");
    }
    break;
  default:
    break;
  }
  TL_TRY(tl_file_read(path, &j->content, &size));
  j->count = j->asked == LIAR ? (int64_t)1 << 60 : 1000000;
  TL_TRY(TL_NEW(j->numbers, 1000000));
  for (int64_t i = 0; i < 1000000; i++) j->numbers[i] = 0.1 * (double)i;
  return TL_OK;
}

/* Requests: a number, whose square comes back; a negative one is refused, 13 ends the worker. */
static TlStatus serve(TlSandbox *s, void *of) {
  (void)of;
  for (double x; tl_sandbox_next(s, &x, sizeof x);) {
    if (x == 13) raise(SIGBUS);
    double square = x * x;
    TlStatus status = x < 0 ? tl_fail(TL_EINPUT, "%g has no use", x) : TL_OK;
    if (tl_sandbox_reply(s, status) == TL_OK) TL_TRY(tl_sandbox_pass(s, &square, sizeof square));
  }
  return TL_OK;
}

static const TlSandboxReader once = {.name = "test once",
                                     .job_bytes = sizeof(Job),
                                     .ask = ask,
                                     .read = read_file,
                                     .tell = tell,
                                     .release = release};
static const TlSandboxReader serving = {.name = "test serving",
                                        .job_bytes = sizeof(Job),
                                        .ask = ask,
                                        .read = read_file,
                                        .tell = tell,
                                        .serve = serve,
                                        .release = release};
TL_SANDBOX_READER(once)
TL_SANDBOX_READER(serving)

static char *a_file(void) {
  char *path = tl_path_join(tl_test_folder(), "foreign.dat");
  FILE *file = fopen(path, "w");
  fputs("what a file holds", file);
  fclose(file);
  return path;
}

static TlStatus run(int what, const char *path, Job *j) {
  *j = (Job){.asked = what, .question = tl_strdup("asked")};
  return tl_sandbox_read(&once, path, 0, j);
}

START_TEST(what_a_worker_reads_arrives) {
  char *path = a_file();
  Job j;
  CK_OK(run(FINE, path, &j));
  ck_assert_str_eq(j.content, "what a file holds");
  ck_assert_ptr_null(j.nothing);
  ck_assert_int_eq(j.count, 1000000);
  for (int64_t i = 0; i < j.count; i++) ck_assert(j.numbers[i] == 0.1 * (double)i);
  release(&j);
  tl_free(path);
}
END_TEST

/* Each failure is one error that names the file, and the next file is read as if nothing was. */
START_TEST(a_worker_that_fails_is_an_error) {
  static const struct {
    int what;
    TlStatus code;
    const char *says;
  } cases[] = {{REFUSED, TL_EUSAGE, "foreign.dat: refused as asked"},
               {CRASHED, TL_EINPUT, "foreign.dat: the library that reads it crashed"},
               {ABORTED, TL_EINPUT, "foreign.dat: the library that reads it crashed"},
               {SILENT, TL_EINPUT, "foreign.dat: the process that reads it ended"},
               {LIAR, TL_EINPUT, "foreign.dat: "},
               {POOR, TL_ENOMEM, "foreign.dat: out of memory in the process that reads it"},
               {WRITER, TL_EINPUT, "it was not written"}};
  char *path = a_file();
  Job j;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CK_FAILS(run(cases[i].what, path, &j), cases[i].code, cases[i].says);
    release(&j);
    CK_OK(run(FINE, path, &j));
    release(&j);
  }
  tl_free(path);
}
END_TEST

START_TEST(limits_end_a_worker) {
  char *path = a_file();
  Job j;
  tl_sandbox_limits(1, (int64_t)200 << 20);
  double start = tl_clock_s();
  CK_FAILS(run(ENDLESS, path, &j), TL_EINPUT,
           "foreign.dat: reading it took more than 1 s of processor time");
  ck_assert_msg(tl_clock_s() - start < 30, "after %g s", tl_clock_s() - start);
  release(&j);
#ifndef __SANITIZE_ADDRESS__
  CK_FAILS(run(GREEDY, path, &j), TL_ENOMEM, "reading it may take 0.21 GB");
  release(&j);
#endif
  tl_sandbox_limits(0, 0);
  CK_OK(run(FINE, path, &j));
  release(&j);
  tl_free(path);
}
END_TEST

START_TEST(a_worker_serves_requests_until_it_is_closed) {
  char *path = a_file();
  TlSandbox *s;
  Job j = {.asked = FINE};
  CK_OK(tl_sandbox_open(&s, &serving, path, 0, &j));
  double x = 3, square = 0;
  for (int i = 0; i < 3; i++) {
    CK_OK(tl_sandbox_request(s, &x, sizeof x, 8));
    CK_OK(tl_sandbox_answer(s));
    CK_OK(tl_sandbox_take(s, &square, sizeof square));
    ck_assert(square == x * x);
    x += 1;
  }
  x = -1;
  CK_OK(tl_sandbox_request(s, &x, sizeof x, 8));
  CK_FAILS(tl_sandbox_answer(s), TL_EINPUT, "-1 has no use");
  x = 13;
  CK_OK(tl_sandbox_request(s, &x, sizeof x, 8));
  CK_FAILS(tl_sandbox_answer(s), TL_EINPUT, "foreign.dat: the library that reads it crashed");
  CK_FAILS(tl_sandbox_request(s, &x, sizeof x, 8), TL_EINPUT, "has ended");
  tl_sandbox_close(&s);
  release(&j);
  tl_free(path);
}
END_TEST

START_TEST(what_is_no_file_is_refused_without_waiting) {
  char *pipe_path = tl_path_join(tl_test_folder(), "pipe");
  Job j;
  ck_assert(mkfifo(pipe_path, 0600) == 0);
  CK_FAILS(run(FINE, pipe_path, &j), TL_EINPUT, "pipe: is not a file");
  release(&j);
  CK_FAILS(run(FINE, tl_test_folder(), &j), TL_EINPUT, "is not a file");
  release(&j);
  CK_FAILS(run(FINE, "/nowhere/at/all", &j), TL_EIO, "/nowhere/at/all: cannot open");
  release(&j);
  tl_free(pipe_path);
}
END_TEST

/* A lock of the caller is not held by the sandbox, which may end a moment later. */
START_TEST(descriptors_of_the_caller_stay_here) {
  char *path = a_file(), *lock = tl_path_join(tl_test_folder(), "lock");
  int held = open(lock, O_CREAT | O_RDWR, 0600), other = open(lock, O_RDWR);
  Job j;
  ck_assert(flock(held, LOCK_EX) == 0);
  CK_OK(run(FINE, path, &j));
  release(&j);
  close(held);
  ck_assert_msg(flock(other, LOCK_EX | LOCK_NB) == 0, "the lock is held by the sandbox");
  close(other);
  tl_free(path);
  tl_free(lock);
}
END_TEST

/* A forked child has a sandbox of its own, and its end leaves the parent's alone. */
START_TEST(a_forked_child_reads_too) {
  char *path = a_file();
  Job j;
  CK_OK(run(FINE, path, &j));
  release(&j);
  pid_t child = fork();
  if (child == 0) {
    TlStatus status = run(FINE, path, &j);
    release(&j);
    exit(status == TL_OK ? 0 : 1);
  }
  int outcome = -1;
  ck_assert(waitpid(child, &outcome, 0) == child && outcome == 0);
  CK_OK(run(FINE, path, &j));
  release(&j);
  tl_free(path);
}
END_TEST

TL_TEST_MAIN("sandbox", what_a_worker_reads_arrives, a_worker_that_fails_is_an_error,
             limits_end_a_worker, a_worker_serves_requests_until_it_is_closed,
             what_is_no_file_is_refused_without_waiting, descriptors_of_the_caller_stay_here,
             a_forked_child_reads_too)
