/* The process that waits for orders, and the workers that it forks. */
#include "base/sandbox_impl.h"

#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_READERS = 16 };
static const TlSandboxReader *readers[MOST_READERS];
static bool prepared[MOST_READERS];
static int reader_count;

void tl_sandbox_register_(const TlSandboxReader *reader) {
  if (reader_count == MOST_READERS || strlen(reader->name) >= TL_SANDBOX_NAME) abort();
  readers[reader_count++] = reader;
}

/* ---- a worker ---- */

/* The file's reader allocates at most this much beyond what the program itself takes. A sanitized
 * program reserves terabytes and cannot be limited so. */
static void limit_memory(int64_t bytes) {
#ifndef TL_SANITIZED
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld", &pages) != 1) _exit(1);
  fclose(file);
  rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)bytes;
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit); /* the next file has its own: only the soft limit */
  limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
#else
  (void)bytes;
#endif
}

static double used_s(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Until this much is used in all. Whole seconds: the kernel counts no finer. */
static void limit_cpu(double until_s) {
  struct rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  rlim_t until = (rlim_t)ceil(until_s);
  limit.rlim_cur = until < limit.rlim_max ? until : limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

static double allowed_s; /* to this worker so far */

TlStatus tl_sandbox_reply(TlSandbox *s, TlStatus status) {
  const char *text = status == TL_OK ? "" : tl_message();
  int32_t head[2] = {(int32_t)status, (int32_t)strlen(text)};
  if (!tl_sandbox_send_(s->socket, head, sizeof head) ||
      !tl_sandbox_send_(s->socket, text, (size_t)head[1])) {
    shutdown(s->socket, SHUT_RDWR); /* else both sides would wait for each other */
    return tl_fail(TL_EIO, "the caller is gone");
  }
  return status;
}

bool tl_sandbox_next(TlSandbox *s, void *request, size_t size) {
  double more_s;
  if (!tl_sandbox_receive_(s->socket, &more_s, sizeof more_s)) return false;
  limit_cpu(allowed_s += more_s);
  return tl_sandbox_receive_(s->socket, request, size);
}

static TlStatus read_for(TlSandbox *s, char **path, void *job) {
  const TlSandboxReader *r = s->reader;
  TL_TRY(tl_sandbox_pass_text(s, path));
  if (!*path) return tl_fail(TL_EIO, "no path was told");
  if (r->ask) TL_TRY(r->ask(s, job));
  TL_TRY(tl_sandbox_reply(s, r->read(*path, job)));
  s->sends = true;
  TL_TRY(r->tell(s, job));
  return r->serve ? r->serve(s, job) : TL_OK;
}

#ifdef TL_SANITIZED
int __lsan_do_recoverable_leak_check(void);
#endif

/* The tests ask for a look at what a reader left behind; a leak is the program's own exit status.
 */
static int leaked(void) {
#ifdef TL_SANITIZED
  if (getenv("TALUS_SANDBOX_LEAKS") && __lsan_do_recoverable_leak_check()) return TL_SANDBOX_LEAKED;
#endif
  return 0;
}

static int find_reader(const char *name) {
  for (int r = 0; r < reader_count; r++)
    if (strcmp(readers[r]->name, name) == 0) return r;
  return -1;
}

/* False: there is no next file. */
static bool serve_file(int socket) {
  TlSandboxFile file;
  char *path = NULL;
  if (!tl_sandbox_receive_(socket, &file, sizeof file)) return false;
  const TlSandboxReader *reader = readers[find_reader(file.reader)];
  TlSandbox s = {.reader = reader,
                 .socket = socket,
                 .memory_bytes = file.memory_bytes,
                 .left_bytes = file.memory_bytes};
  limit_memory(file.memory_bytes);
  limit_cpu(allowed_s = used_s() + file.cpu_s);
  void *job = tl_calloc(1, reader->job_bytes);
  if (!job) _exit(TL_SANDBOX_NO_MEMORY);
  TlStatus status = read_for(&s, &path, job);
  if (status == TL_ENOMEM) _exit(TL_SANDBOX_NO_MEMORY); /* it may not have been told */
  reader->release(job);
  tl_free(job);
  tl_free(path);
  return status == TL_OK && !reader->serve;
}

static _Noreturn void work(const TlSandboxReader *first, int socket) {
  const struct rlimit nothing = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &nothing);
  if (!first->writes) setrlimit(RLIMIT_FSIZE, &nothing);
  while (serve_file(socket)) {
  }
  _exit(leaked());
}

/* ---- orders ---- */

static int64_t start_worker(const TlSandboxOrder *start, int socket) {
  int r = find_reader(start->reader);
  if (r < 0 || socket < 0) return -EINVAL;
  if (!prepared[r] && readers[r]->prepare) readers[r]->prepare();
  prepared[r] = true;
  pid_t worker = fork();
  if (worker < 0) return -errno;
  if (worker == 0) {
    close(TL_SANDBOX_CONTROL);
    work(readers[r], socket);
  }
  return worker;
}

static int64_t end_worker(const TlSandboxOrder *end) {
  int status = -1;
  if (end->kill) kill(end->worker, SIGKILL);
  while (waitpid(end->worker, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/* False: the caller is gone. *socket: came along, or -1. */
static bool next_order(TlSandboxOrder *order, int *socket) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
  } extra;
  struct iovec part = {.iov_base = order, .iov_len = sizeof *order};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = extra.bytes,
                           .msg_controllen = sizeof extra.bytes};
  ssize_t got;
  while ((got = recvmsg(TL_SANDBOX_CONTROL, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  *socket = -1;
  const struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (head && head->cmsg_type == SCM_RIGHTS) memcpy(socket, CMSG_DATA(head), sizeof *socket);
  return got == (ssize_t)sizeof *order;
}

/* Keys that end the caller (Ctrl-C) reach this process as well; it ends when the caller does, which
 * may still read a file to finish in order. */
static _Noreturn void obey(void) {
  TlSandboxOrder order;
  int socket;
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);          /* a library that tries to write a file beside gets an error */
  closefrom(TL_SANDBOX_CONTROL + 1); /* locks and files of the caller */
  while (next_order(&order, &socket)) {
    TlSandboxOutcome outcome = {order.kind == TL_SANDBOX_START ? start_worker(&order, socket)
                                                               : end_worker(&order)};
    if (socket >= 0) close(socket);
    if (!tl_sandbox_send_(TL_SANDBOX_CONTROL, &outcome, sizeof outcome)) break;
  }
  _exit(0);
}

/* Before main(), after the readers have registered themselves. The C library hands main's arguments
 * to such functions. */
__attribute__((constructor(2000))) static void sandbox_main(int argc, char **argv) {
  if (argc == 1 && argv && strcmp(argv[0], TL_SANDBOX_PROCESS) == 0) obey();
}
