/* The caller's side of the sandbox, and what both sides pass. */
#include "base/sandbox_impl.h"

#include "base/claims.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct {
  pid_t owner; /* the process that started it: a forked child starts its own */
  pid_t process;
  int control; /* orders go there; valid when owner is this process */
} sandbox;

static double most_cpu_s;
static int64_t most_memory_bytes;

void tl_sandbox_limits(double cpu_s, int64_t memory_bytes) {
  most_cpu_s = cpu_s;
  most_memory_bytes = memory_bytes;
}

/* ---- the sandbox process ---- */

static void stop_sandbox(void) {
  if (sandbox.owner != getpid()) return;
  close(sandbox.control);
  while (waitpid(sandbox.process, NULL, 0) < 0 && errno == EINTR) {
  }
  sandbox.owner = 0;
}

/* Standard error is kept in sanitized builds only: there reports about our own code go to it. Else
 * what a dying library prints would stand beside our message. */
static int spawn(int socket, pid_t *process) {
  char *argv[] = {TL_SANDBOX_PROCESS, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
#ifndef TL_SANITIZED
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
#endif
  posix_spawn_file_actions_adddup2(&files, socket, TL_SANDBOX_CONTROL);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  int failed = posix_spawn(process, "/proc/self/exe", &files, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

static TlStatus start_sandbox(void) {
  static bool stops;
  int pair[2];
  if (sandbox.owner == getpid()) return TL_OK;
  if (sandbox.owner != 0) close(sandbox.control); /* the parent's, which would keep its own alive */
  sandbox.owner = 0;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
    return tl_fail_errno("sandbox", "cannot make the sockets of the process for foreign files");
  errno = spawn(pair[1], &sandbox.process);
  close(pair[1]);
  if (errno != 0) {
    TlStatus status = tl_fail_errno("/proc/self/exe", "cannot start the process that reads "
                                                      "foreign files");
    close(pair[0]);
    return status;
  }
  sandbox.control = pair[0];
  sandbox.owner = getpid();
  if (!stops) atexit(stop_sandbox);
  stops = true;
  return TL_OK;
}

/* socket: goes along with the order; -1: none. */
static TlStatus order(const TlSandboxOrder *what, int socket, int64_t *outcome) {
  union {
    char bytes[CMSG_SPACE(sizeof(int))];
    struct cmsghdr aligned;
  } extra = {{0}};
  struct iovec part = {.iov_base = (void *)(uintptr_t)what, .iov_len = sizeof *what};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  TlSandboxOutcome answer;
  TL_TRY(start_sandbox());
  if (socket >= 0) {
    message.msg_control = extra.bytes;
    message.msg_controllen = sizeof extra.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(head), &socket, sizeof socket);
  }
  ssize_t sent;
  while ((sent = sendmsg(sandbox.control, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  if (sent == (ssize_t)sizeof *what &&
      tl_sandbox_receive_(sandbox.control, &answer, sizeof answer)) {
    *outcome = answer.value;
    return TL_OK;
  }
  stop_sandbox();
  return tl_fail(TL_EIO, "the process that reads foreign files ended; run again, and look whether "
                         "the machine was short of memory");
}

/* ---- a file ---- */

static bool wants_leaks(void) {
  return getenv("TALUS_SANDBOX_LEAKS") != NULL; /* the tests' hook: see sandbox_process.c */
}

/* Ends the worker; its wait status, or -1. */
static int end_worker(TlSandbox *s) {
  TlSandboxOrder end = {.kind = TL_SANDBOX_END, .worker = s->worker, .kill = !wants_leaks()};
  int64_t outcome = -1;
  if (s->worker == 0) return -1;
  if (s->socket >= 0) close(s->socket);
  s->socket = -1;
  s->worker = 0;
  if (sandbox.owner != getpid() || order(&end, -1, &outcome) != TL_OK) return -1;
#ifdef TL_SANITIZED
  if (wants_leaks() && WIFEXITED(outcome) && WEXITSTATUS(outcome) == TL_SANDBOX_LEAKED) abort();
#endif
  return (int)outcome;
}

/* The worker closed its side in the middle of the talk: says why. */
static TlStatus worker_ended(TlSandbox *s) {
  int outcome = end_worker(s);
  if (outcome >= 0 && WIFEXITED(outcome) && WEXITSTATUS(outcome) == TL_SANDBOX_NO_MEMORY)
    return tl_fail(TL_ENOMEM, "%s: out of memory in the process that reads it", s->path);
  if (outcome >= 0 && WIFSIGNALED(outcome) && WTERMSIG(outcome) == SIGXCPU)
    return tl_fail(TL_EINPUT,
                   "%s: reading it took more than %.3g s of processor time and was stopped; the "
                   "file is damaged or was made so: get it again",
                   s->path, s->cpu_s);
  if (outcome >= 0 && (WIFSIGNALED(outcome) || WEXITSTATUS(outcome) != 0))
    return tl_fail(TL_EINPUT,
                   "%s: the library that reads it crashed (%s), in a process of its own with at "
                   "most %.3g GB; the file is damaged or was made so: get it again",
                   s->path,
                   WIFSIGNALED(outcome) ? strsignal(WTERMSIG(outcome)) : "it ended with an error",
                   (double)s->memory_bytes / 1e9);
  return tl_fail(TL_EINPUT, "%s: the process that reads it ended before it had answered; run again",
                 s->path);
}

static TlStatus start_worker(TlSandbox *s) {
  int pair[2], larger = 1 << 20;
  int64_t worker = 0;
  TlSandboxOrder start = {.kind = TL_SANDBOX_START};
  snprintf(start.reader, sizeof start.reader, "%s", s->reader->name);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return tl_fail_errno(s->path, "cannot make the sockets to read it");
  for (int k = 0; k < 2; k++) /* fewer turns between the two; a smaller one works as well */
    (void)setsockopt(pair[k], SOL_SOCKET, SO_SNDBUF, &larger, sizeof larger);
  TlStatus status = order(&start, pair[1], &worker);
  close(pair[1]);
  s->socket = pair[0];
  TL_TRY(status);
  if (worker < 0) {
    errno = (int)-worker;
    return tl_fail_errno(s->path, "cannot start a process to read it");
  }
  s->worker = (pid_t)worker;
  return TL_OK;
}

static TlStatus read_by(TlSandbox *s, int64_t more_memory, void *job) {
  struct stat info;
  if (stat(s->path, &info) != 0) return tl_fail_errno(s->path, "cannot open");
  if (!S_ISREG(info.st_mode)) return tl_fail(TL_EINPUT, "%s: is not a file", s->path);
  TlSandboxFile file = {
      .cpu_s = most_cpu_s > 0
                   ? most_cpu_s
                   : TL_SANDBOX_SECONDS + (double)info.st_size / TL_SANDBOX_BYTES_A_SECOND,
      .memory_bytes = most_memory_bytes > 0 ? most_memory_bytes
                                            : ((int64_t)TL_SANDBOX_MEGABYTES << 20) + more_memory +
                                                  TL_SANDBOX_TIMES_FILE * (int64_t)info.st_size};
  snprintf(file.reader, sizeof file.reader, "%s", s->reader->name);
  s->cpu_s = file.cpu_s;
  s->memory_bytes = s->left_bytes = file.memory_bytes;
  if (s->worker == 0) TL_TRY(start_worker(s));
  s->sends = true;
  TL_TRY(tl_sandbox_pass(s, &file, sizeof file));
  TL_TRY(tl_sandbox_pass_text(s, &s->path));
  if (s->reader->ask) TL_TRY(s->reader->ask(s, job));
  s->sends = false;
  TL_TRY(tl_sandbox_answer(s));
  return s->reader->tell(s, job);
}

TlStatus tl_sandbox_open(TlSandbox **out, const TlSandboxReader *reader, const char *path,
                         int64_t more_memory, void *job) {
  TlSandbox *s;
  *out = NULL;
  TL_TRY(tl_claim_read(path));
  TL_TRY(TL_NEW(s, 1));
  s->reader = reader;
  s->socket = -1;
  s->path = tl_strdup(path);
  TlStatus status = s->path ? read_by(s, more_memory, job) : TL_ENOMEM;
  if (status == TL_OK)
    *out = s;
  else
    tl_sandbox_close(&s);
  return status;
}

void tl_sandbox_close(TlSandbox **sandbox_of_file) {
  TlSandbox *s = *sandbox_of_file;
  *sandbox_of_file = NULL;
  if (!s) return;
  (void)end_worker(s);
  if (s->socket >= 0) close(s->socket);
  tl_free(s->path);
  tl_free(s);
}

/* ---- a worker for many files ----
 * A thousand frames of one run lie in one folder and come from one hand: the worker that read a
 * file is kept for the next one of that folder. What it refuses is tried again by a fresh one, so
 * that no file is blamed for what an earlier one did to the library. */

static TlSandbox *kept; /* of the process sandbox.owner */

static bool same_folder(const char *a, const char *b) {
  const char *end_a = strrchr(a, '/'), *end_b = strrchr(b, '/');
  size_t length = end_a ? (size_t)(end_a - a) : 0;
  return (end_a == NULL) == (end_b == NULL) && (!end_b || (size_t)(end_b - b) == length) &&
         strncmp(a, b, length) == 0;
}

/* *out: the kept worker, when it fits this file, or NULL. */
static TlStatus take_kept(TlSandbox **out, const TlSandboxReader *reader, const char *path) {
  TlSandbox *s = kept;
  kept = *out = NULL;
  if (!s) return TL_OK;
  char *next = tl_strdup(path);
  if (next && sandbox.owner == getpid() && !reader->ask && !reader->serve && !reader->writes &&
      same_folder(s->path, path)) {
    tl_free(s->path);
    s->path = next;
    s->reader = reader;
    *out = s;
    return TL_OK;
  }
  tl_sandbox_close(&s);
  TlStatus status = next ? TL_OK : TL_ENOMEM;
  tl_free(next);
  return status;
}

TlStatus tl_sandbox_read(const TlSandboxReader *reader, const char *path, int64_t more_memory,
                         void *job) {
  TlSandbox *s;
  TL_TRY(tl_claim_read(path));
  TL_TRY(take_kept(&s, reader, path));
  if (s) {
    TlStatus status = read_by(s, more_memory, job);
    if (status == TL_OK) {
      kept = s;
      return TL_OK;
    }
    tl_sandbox_close(&s);
    reader->release(job);
    memset(job, 0, reader->job_bytes);
    if (status != TL_EINPUT) return status; /* not for what is in the file */
  }
  TL_TRY(tl_sandbox_open(&s, reader, path, more_memory, job));
  if (!reader->ask && !reader->serve && !reader->writes && !wants_leaks()) {
    kept = s;
    return TL_OK;
  }
  int outcome = end_worker(s);
  tl_sandbox_close(&s);
  if (wants_leaks() && outcome != 0)
    return tl_fail(TL_ELIB, "%s: the worker that read it leaked memory or handles (status %d)",
                   path, outcome);
  return TL_OK;
}

TlStatus tl_sandbox_request(TlSandbox *s, const void *request, size_t size, int64_t bytes) {
  double more_s = most_cpu_s > 0 ? 0 : 1 + (double)bytes / TL_SANDBOX_BYTES_A_SECOND;
  s->cpu_s += more_s;
  if (s->worker == 0) return tl_fail(TL_EINPUT, "%s: the process that read it has ended", s->path);
  if (tl_sandbox_send_(s->socket, &more_s, sizeof more_s) &&
      tl_sandbox_send_(s->socket, request, size))
    return TL_OK;
  return worker_ended(s);
}

TlStatus tl_sandbox_answer(TlSandbox *s) {
  int32_t head[2];
  char text[2048];
  TL_TRY(tl_sandbox_take(s, head, sizeof head));
  if (head[0] == TL_OK) return TL_OK;
  if (head[0] < TL_OK || head[0] > TL_EOTHER || head[1] < 0 || head[1] >= (int32_t)sizeof text)
    return tl_fail(TL_EINPUT, "%s: the process that reads it gave no answer of sense", s->path);
  TL_TRY(tl_sandbox_take(s, text, (size_t)head[1]));
  text[head[1]] = 0;
  if (head[0] == TL_ENOMEM)
    return tl_fail(TL_ENOMEM, "%s; reading it may take %.3g GB", text,
                   (double)s->memory_bytes / 1e9);
  return tl_fail((TlStatus)head[0], "%s", text);
}

TlStatus tl_sandbox_take(TlSandbox *s, void *bytes, size_t size) {
  return tl_sandbox_receive_(s->socket, bytes, size) ? TL_OK : worker_ended(s);
}

/* ---- both sides ---- */

bool tl_sandbox_send_(int socket, const void *bytes, size_t size) {
  const char *from = bytes;
  while (size > 0) {
    ssize_t sent = send(socket, from, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    from += sent;
    size -= (size_t)sent;
  }
  return true;
}

bool tl_sandbox_receive_(int socket, void *bytes, size_t size) {
  char *to = bytes;
  while (size > 0) {
    ssize_t got = recv(socket, to, size, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    size -= (size_t)got;
  }
  return true;
}

bool tl_sandbox_takes(const TlSandbox *s) {
  return !s->sends;
}

TlStatus tl_sandbox_pass(TlSandbox *s, void *bytes, size_t size) {
  if (!s->sends && s->path) return tl_sandbox_take(s, bytes, size);
  bool passed = s->sends ? tl_sandbox_send_(s->socket, bytes, size)
                         : tl_sandbox_receive_(s->socket, bytes, size);
  if (passed) return TL_OK;
  return s->path ? worker_ended(s) : tl_fail(TL_EIO, "the caller is gone");
}

TlStatus tl_sandbox_pass_array_(TlSandbox *s, void **values, int64_t count, size_t size) {
  int64_t bytes;
  uint8_t there = *values != NULL;
  TL_TRY(tl_sandbox_pass(s, &there, sizeof there));
  if (!there) return TL_OK;
  if (count < 0 || __builtin_mul_overflow(count, (int64_t)size, &bytes) || bytes > s->left_bytes)
    return tl_fail(TL_EINPUT, "%s: tells of %lld values of %zu bytes; reading it may take %.3g GB",
                   s->path ? s->path : "the file", (long long)count, size,
                   (double)s->memory_bytes / 1e9);
  if (s->sends) return tl_sandbox_pass(s, *values, (size_t)bytes);
  s->left_bytes -= bytes;
  *values = tl_calloc((size_t)count, size);
  return *values ? tl_sandbox_pass(s, *values, (size_t)bytes) : TL_ENOMEM;
}

TlStatus tl_sandbox_pass_text(TlSandbox *s, char **text) {
  int64_t size = s->sends && *text ? (int64_t)strlen(*text) + 1 : 0;
  TL_TRY(tl_sandbox_pass(s, &size, sizeof size));
  if (size == 0) return TL_OK;
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, *text, size));
  if (!*text) return tl_fail(TL_EINPUT, "%s: a text in it has no end", s->path);
  (*text)[size - 1] = 0;
  return TL_OK;
}
