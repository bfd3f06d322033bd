/* Internals of the sandbox for base/sandbox*.c: the orders, and both ends of the connection. */
#ifndef TL_BASE_SANDBOX_IMPL_H
#define TL_BASE_SANDBOX_IMPL_H

#include "base/sandbox.h"

#include <sys/types.h>

#if defined(__SANITIZE_ADDRESS__)
#define TL_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TL_SANITIZED 1
#endif
#endif

/* argv[0] of the process that forks the workers, and the descriptor of its orders. */
#define TL_SANDBOX_PROCESS "talus: reads foreign files"
enum { TL_SANDBOX_CONTROL = 3, TL_SANDBOX_NAME = 32, TL_SANDBOX_LEAKED = 97 };
/* Exit status of a worker that ran out of memory before it could answer. */
enum { TL_SANDBOX_NO_MEMORY = 98 };

/* One order: START a worker (its socket comes along; the reader's library is made ready first), or
 * END one. */
typedef struct TlSandboxOrder {
  enum { TL_SANDBOX_START, TL_SANDBOX_END } kind;
  pid_t worker;                 /* END */
  bool kill;                    /* END: do not wait for its own end */
  char reader[TL_SANDBOX_NAME]; /* START */
} TlSandboxOrder;

/* What a worker gets first for each file; the path and what ask passes follow. */
typedef struct TlSandboxFile {
  char reader[TL_SANDBOX_NAME];
  double cpu_s;
  int64_t memory_bytes; /* beyond what the worker takes already */
} TlSandboxFile;

/* START: the worker's process id, or -errno; END: its wait status. */
typedef struct TlSandboxOutcome {
  int64_t value;
} TlSandboxOutcome;

struct TlSandbox {
  const TlSandboxReader *reader;
  int socket;
  bool sends;                       /* what ask and tell do on this side just now */
  int64_t memory_bytes, left_bytes; /* the limit; what of it may still be taken by ask or tell */
  /* in the caller */
  pid_t worker;
  char *path;
  double cpu_s; /* that it may take for this file */
};

/* False: the other side is gone. */
bool tl_sandbox_send_(int socket, const void *bytes, size_t size);
bool tl_sandbox_receive_(int socket, void *bytes, size_t size);

#endif
