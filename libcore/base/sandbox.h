/* Foreign files are read in a process of their own, the sandbox.
 *
 * Libraries that decode HDF5, compressed volumes and rasters can crash, hang or ask for all memory
 * when a file is damaged or made to harm. So they never see a foreign file inside the calling
 * process: a worker process with limits of memory and processor time reads the file and hands over
 * plain numbers and texts. A worker that crashes or meets a limit becomes an error that names the
 * file; the caller continues undisturbed.
 *
 * The first use starts this same program again (posix_spawn of /proc/self/exe, 10 to 20 ms), so
 * that nothing of MPI, of threads or of the caller's memory comes along. Before its main() begins
 * that process waits for orders, and forks a worker for each file (about 0.4 ms). It ends with the
 * caller. docs/design.md holds the reasons and the measured cost.
 *
 * A reader is a table (TlSandboxReader) that is registered by TL_SANDBOX_READER. Its functions ask
 * and tell run on both sides and name the same values in the same order: the side that sends puts
 * them, the other one takes them. What tell has taken comes from a process that read a foreign
 * file: ranges are checked afterwards, in the caller.
 *
 * Call from one thread at a time.
 */
#ifndef TL_BASE_SANDBOX_H
#define TL_BASE_SANDBOX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* Processor time for a file: this, a second more for each request, and for each
   * TL_SANDBOX_BYTES_A_SECOND of the file and of what is requested. A whole run.h5 takes well under
   * a second, and the slowest decoding measured was 20 MB/s; waiting for a disk does not count. */
  TL_SANDBOX_SECONDS = 60,
  TL_SANDBOX_BYTES_A_SECOND = 4 << 20,
  /* Memory of a worker: this much, and TL_SANDBOX_TIMES_FILE of the file's size: floats of avatars
   * and terrains deflate to no less than half. */
  TL_SANDBOX_MEGABYTES = 2048,
  TL_SANDBOX_TIMES_FILE = 8
};

typedef struct TlSandbox TlSandbox; /* one side of the talk between a caller and a worker */

typedef struct TlSandboxReader {
  const char *name;
  bool writes;           /* it may write files */
  size_t job_bytes;      /* of the struct that all functions get: what is asked and what is read */
  void (*prepare)(void); /* once, before the first file: starts the library. NULL: nothing */
  TlStatus (*ask)(TlSandbox *sandbox,
                  void *job); /* caller -> worker, beside the path. May be NULL */
  TlStatus (*read)(const char *path, void *job);   /* in the worker */
  TlStatus (*tell)(TlSandbox *sandbox, void *job); /* worker -> caller */
  TlStatus (*serve)(TlSandbox *sandbox,
                    void *job); /* in the worker: further requests. May be NULL */
  void (*release)(void *job);   /* in the worker, in any case */
} TlSandboxReader;

#define TL_SANDBOX_READER(reader)                                                                  \
  __attribute__((constructor(1000))) static void tl_sandbox_register_##reader(void) {              \
    tl_sandbox_register_(&(reader));                                                               \
  }
void tl_sandbox_register_(const TlSandboxReader *reader);

/* Read path: job goes by ask, is filled by read, comes back by tell. more_memory: bytes that the
 * worker may have beyond the limit above. TL_EINPUT: the file is damaged, or made the reader crash
 * or meet a limit. What job owns is the caller's, also after a failure. */
TlStatus tl_sandbox_read(const TlSandboxReader *reader, const char *path, int64_t more_memory,
                         void *job);
/* The same, and the worker stays to serve requests until tl_sandbox_close. */
TlStatus tl_sandbox_open(TlSandbox **sandbox, const TlSandboxReader *reader, const char *path,
                         int64_t more_memory, void *job);
/* Ends the worker. *sandbox may be NULL. */
void tl_sandbox_close(TlSandbox **sandbox);

/* A request, in the caller; bytes: how much it will make the worker read. Then tl_sandbox_answer
 * and what comes after it. A worker that ended says why here. */
TlStatus tl_sandbox_request(TlSandbox *sandbox, const void *request, size_t size, int64_t bytes);
TlStatus tl_sandbox_answer(TlSandbox *sandbox);
TlStatus tl_sandbox_take(TlSandbox *sandbox, void *bytes, size_t size);

/* In the worker: false when the caller is done. Then tl_sandbox_reply with the status of the work
 * (gives it back, or what became of sending it), then what comes after it when that is TL_OK. */
bool tl_sandbox_next(TlSandbox *sandbox, void *request, size_t size);
TlStatus tl_sandbox_reply(TlSandbox *sandbox, TlStatus status);

/* In ask and tell: whether this side takes what is passed. */
bool tl_sandbox_takes(const TlSandbox *sandbox);
/* In ask and tell. Text and arrays are fresh memory where they are taken; NULL stays NULL. count is
 * known on both sides (passed before) and is refused when it is negative or beyond the limit. */
TlStatus tl_sandbox_pass(TlSandbox *sandbox, void *bytes, size_t size);
TlStatus tl_sandbox_pass_text(TlSandbox *sandbox, char **text);
TlStatus tl_sandbox_pass_array_(TlSandbox *sandbox, void **values, int64_t count, size_t size);
#define TL_SANDBOX_PASS_ARRAY(sandbox, values, count)                                              \
  __extension__({                                                                                  \
    void *tl_passed_ = (values);                                                                   \
    TlStatus tl_pass_status_ =                                                                     \
        tl_sandbox_pass_array_((sandbox), &tl_passed_, (count), sizeof *(values));                 \
    (values) = tl_passed_;                                                                         \
    tl_pass_status_;                                                                               \
  })

/* Test hook: other limits for the files that are opened from now on; 0: those above. */
void tl_sandbox_limits(double cpu_s, int64_t memory_bytes);

#endif
