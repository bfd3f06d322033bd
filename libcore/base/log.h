/* The log (messages on stderr) and progress bars.
 *
 * Results go to stdout by report.h; all messages during the work go through here. The level is set
 * by -q / -v. Lines read "tool: text"; control characters in them are shown as escapes
 * (base/text.h). Progress: a bar with the time left when stderr is a terminal, plain lines every
 * tenth otherwise; forced on or off by --progress / --no-progress. */
#ifndef TL_BASE_LOG_H
#define TL_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum TlLogLevel { TL_LOG_ERROR = 0, TL_LOG_WARN, TL_LOG_INFO, TL_LOG_DEBUG } TlLogLevel;

void tl_log_set(const char *tool, TlLogLevel level);
/* Silences this process for good, errors too: ranks other than 0, whose errors rank 0 reports
 * (base/comm.h). */
void tl_log_mute(bool mute);
void tl_log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tl_log_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tl_log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tl_log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

typedef enum TlProgressMode {
  TL_PROGRESS_AUTO = 0, /* bar on a terminal, lines elsewhere */
  TL_PROGRESS_ON,
  TL_PROGRESS_OFF
} TlProgressMode;
void tl_progress_mode(TlProgressMode mode);

typedef struct TlProgress {
  const char *what;
  int64_t total, last_shown;
  double start_s, last_s;
  bool bar, silent;
  const char *left; /* what to say of the time left ("": nothing), borrowed; NULL: as long in
                       proportion as what is done took */
} TlProgress;
/* Start, report done of total (call from one thread), end. what: borrowed until the end. */
TlProgress tl_progress_start(const char *what, int64_t total);
void tl_progress(TlProgress *progress, int64_t done);
void tl_progress_end(TlProgress *progress);

/* Monotonic wall clock and CPU time of the process, seconds. */
double tl_clock_s(void);
double tl_clock_process_cpu_s(void);

#endif
