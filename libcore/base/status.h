/* Status codes and the message that goes with a failure.
 *
 * Every function that files, input, memory or libraries can make fail returns a TlStatus. A
 * function that returns anything but TL_OK has called tl_fail() first, so a failure always carries
 * a message: "file: what is wrong and what to do". Callers may put context in front of it. The
 * message is kept per thread (the last failure of the calling thread); worker threads of a parallel
 * loop therefore check their input before the loop, or hand their status back by value and text
 * (tl_par_blocks does so). Only a programming error of this library is an assert(). */
#ifndef TL_BASE_STATUS_H
#define TL_BASE_STATUS_H

typedef enum TlStatus {
  TL_OK = 0,
  TL_EUSAGE, /* the command line is wrong; exit 2 */
  TL_EINPUT, /* a file or a study holds something that cannot be used; exit 1 */
  TL_EIO,    /* the operating system refused: missing file, full disk; exit 1 */
  TL_ENOMEM, /* memory; exit 1 */
  TL_ELIB,   /* a library failed in a way that fits none of the above; exit 1 */
  TL_ELIMIT, /* a bound of the method was met (not converged, overlap too deep); exit 1 */
  TL_EOTHER  /* another rank failed: its message is the one to tell (tl_comm_agree); exit 1 */
} TlStatus;

/* Record a message and return code. Replaces any earlier message of this thread. */
TlStatus tl_fail(TlStatus code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As tl_fail(TL_EIO), with "path: verb: strerror(errno)". verb e.g. "cannot open". */
TlStatus tl_fail_errno(const char *path, const char *verb);

/* Put "context: " in front of the message when status is not TL_OK; returns status. */
TlStatus tl_context(TlStatus status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message of the last failure of this thread; "" when there was none. Borrowed. */
const char *tl_message(void);

/* A step of clean-up, on whose status nothing depends any more: it is dropped, and the message of
 * an earlier failure stays. A status is never dropped in another way: `make lint` looks for it. */
#define TL_CLEAN_UP(call)                                                                          \
  do {                                                                                             \
    TlMessage tl_kept_;                                                                            \
    tl_message_keep_(&tl_kept_);                                                                   \
    if ((call) != TL_OK) tl_message_restore_(&tl_kept_);                                           \
  } while (0)
typedef struct TlMessage {
  char text[2048];
} TlMessage;
void tl_message_keep_(TlMessage *message);
void tl_message_restore_(const TlMessage *message);

/* The exit status a tool owes its caller: 0, 2 for TL_EUSAGE, else 1. */
int tl_exit_code(TlStatus status);

#define TL_TRY(call)                                                                               \
  do {                                                                                             \
    TlStatus tl_try_status_ = (call);                                                              \
    if (tl_try_status_ != TL_OK) return tl_try_status_;                                            \
  } while (0)

/* For functions with something to release: status is a TlStatus variable of the caller. */
#define TL_TRY_GOTO(status, call, label)                                                           \
  do {                                                                                             \
    (status) = (call);                                                                             \
    if ((status) != TL_OK) goto label;                                                             \
  } while (0)

#endif
