#include "base/log.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static struct {
  const char *tool;
  TlLogLevel level;
  TlProgressMode progress;
  bool mute;
} state = {"talus", TL_LOG_INFO, TL_PROGRESS_AUTO, false};

void tl_log_set(const char *tool, TlLogLevel level) {
  state.tool = tool;
  state.level = level;
}

void tl_log_mute(bool mute) {
  state.mute = mute;
}

static void say(TlLogLevel level, const char *mark, const char *format, va_list args) {
  if (level > state.level || state.mute) return;
  char text[4096];
  vsnprintf(text, sizeof text, format, args);
  fprintf(stderr, "%s: %s", state.tool, mark);
  tl_text_show(stderr, text); /* names of files are in it, and they may hold anything */
  fputc('\n', stderr);
}

#define TL_LOG_BODY(level, mark)                                                                   \
  va_list args;                                                                                    \
  va_start(args, format);                                                                          \
  say(level, mark, format, args);                                                                  \
  va_end(args)

void tl_log_error(const char *format, ...) {
  TL_LOG_BODY(TL_LOG_ERROR, "");
}
void tl_log_warn(const char *format, ...) {
  TL_LOG_BODY(TL_LOG_WARN, "warning: ");
}
void tl_log_info(const char *format, ...) {
  TL_LOG_BODY(TL_LOG_INFO, "");
}
void tl_log_debug(const char *format, ...) {
  TL_LOG_BODY(TL_LOG_DEBUG, "");
}

void tl_progress_mode(TlProgressMode mode) {
  state.progress = mode;
}

TlProgress tl_progress_start(const char *what, int64_t total) {
  bool terminal = isatty(STDERR_FILENO) != 0;
  bool wanted = state.progress != TL_PROGRESS_OFF && !state.mute && state.level >= TL_LOG_INFO;
  return (TlProgress){.what = what,
                      .total = total > 0 ? total : 1,
                      .start_s = tl_clock_s(),
                      .bar = terminal,
                      .silent = !wanted};
}

static void show(TlProgress *progress, int64_t done, double now) {
  double fraction = (double)done / (double)progress->total;
  double spent = now - progress->start_s;
  char left[80];
  if (!progress->left)
    snprintf(left, sizeof left, ", %.0f s left",
             fraction > 0 ? spent * (1 - fraction) / fraction : 0);
  else
    snprintf(left, sizeof left, "%s%.70s", progress->left[0] ? ", " : "", progress->left);
  if (!progress->bar) {
    fprintf(stderr, "%s: %s: %3.0f%%, %.1f s%s\n", state.tool, progress->what, 100 * fraction,
            spent, left);
    return;
  }
  enum { WIDTH = 30 };
  char bar[WIDTH + 1];
  for (int i = 0; i < WIDTH; i++) bar[i] = (double)i < fraction * WIDTH ? '#' : '.';
  bar[WIDTH] = 0;
  fprintf(stderr, "\r%s: %s [%s] %3.0f%%%s\033[K", state.tool, progress->what, bar, 100 * fraction,
          left);
}

void tl_progress(TlProgress *progress, int64_t done) {
  if (progress->silent) return;
  double now = tl_clock_s();
  bool due = progress->bar
                 ? now - progress->last_s > 0.1
                 : done * 10 / progress->total > progress->last_shown * 10 / progress->total &&
                       now - progress->start_s > 1.0 && done < progress->total;
  if (!due) return;
  progress->last_s = now;
  progress->last_shown = done;
  show(progress, done, now);
}

void tl_progress_end(TlProgress *progress) {
  if (progress->silent || !progress->bar) return;
  fprintf(stderr, "\r\033[K");
}

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tl_clock_s(void) {
  return seconds(CLOCK_MONOTONIC);
}
double tl_clock_process_cpu_s(void) {
  return seconds(CLOCK_PROCESS_CPUTIME_ID);
}
