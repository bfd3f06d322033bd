#include "post/gnuplot.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/image.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_TABLES = 8 };

struct TlPlot {
  FILE *script; /* in memory */
  TlStatus status;
  char *path[MOST_TABLES]; /* of the tables, owned */
  int file[MOST_TABLES], files;
};

/* ---- the script ---- */

/* Everything but letters, digits and harmless marks by its octal number, of which gnuplot takes
 * three digits behind a 0. (In single quotes 5.4 takes a doubled quote for an end where it stands
 * first.) */
static void put_quoted(FILE *to, const char *text) {
  char shown[TL_TEXT_SHOWN];
  fputc('"', to);
  while (*text) {
    text = tl_text_shown(text, shown);
    for (const unsigned char *c = (const unsigned char *)shown; *c; c++)
      if (*c >= 0x80 || isalnum(*c) || strchr(" .,:=+-/()[]_#%", *c))
        fputc(*c, to);
      else
        fprintf(to, "\\0%03o", *c);
  }
  fputc('"', to);
}

void tl_plot_put(TlPlot *plot, const char *format, ...) {
  va_list args;
  va_start(args, format);
  for (const char *at = format; *at;) {
    size_t plain = strcspn(at, "%");
    fwrite(at, 1, plain, plot->script);
    at += plain;
    if (!*at) break;
    char one[16];
    size_t length = 1 + strspn(at + 1, "+-0123456789.l");
    assert(length + 2 <= sizeof one);
    memcpy(one, at, length + 1);
    one[length + 1] = 0;
    switch (at[length]) {
    case '%':
      fputc('%', plot->script);
      break;
    case 's':
      put_quoted(plot->script, va_arg(args, const char *));
      break;
    case 'c': {
      int letter = va_arg(args, int);
      assert(isalpha(letter));
      fputc(letter, plot->script);
      break;
    }
    case 'd':
      if (strchr(one, 'l'))
        fprintf(plot->script, one, va_arg(args, long long));
      else
        fprintf(plot->script, one, va_arg(args, int));
      break;
    default:
      assert(strchr("gfe", at[length]));
      fprintf(plot->script, one, va_arg(args, double));
    }
    at += length + 1;
  }
  va_end(args);
}

void tl_plot_page(TlPlot *plot, int width, int height, int letters) {
  tl_plot(
      plot,
      "set terminal pngcairo noenhanced size %d,%d font 'DejaVu Sans,%d' background '#ffffff'\n",
      width, height, letters);
}

void tl_plot_next(TlPlot *plot, bool *begun) {
  if (*begun)
    tl_plot(plot, ", ");
  else
    tl_plot(plot, "plot ");
  *begun = true;
}

/* Number of the descriptor that the file is open at, for gnuplot too. */
static int table_file(TlPlot *plot, const char *path) {
  for (int i = 0; i < plot->files; i++)
    if (strcmp(plot->path[i], path) == 0) return plot->file[i];
  assert(plot->files < MOST_TABLES);
  int first = open(path, O_RDONLY | O_CLOEXEC), file = -1;
  if (first >= 0) file = fcntl(first, F_DUPFD, STDERR_FILENO + 1); /* gnuplot inherits this one */
  if (file < 0) plot->status = tl_fail_errno(path, "cannot open");
  if (first >= 0) close(first);
  char *copy = file >= 0 ? tl_strdup(path) : NULL;
  if (file >= 0 && !copy) {
    close(file);
    plot->status = TL_ENOMEM;
  }
  if (!copy) return -1;
  plot->path[plot->files] = copy;
  plot->file[plot->files++] = file;
  return file;
}

void tl_plot_table(TlPlot *plot, const char *path) {
  tl_plot(plot, "'/dev/fd/%d'", table_file(plot, path));
}

/* ---- gnuplot ---- */

static TlStatus no_gnuplot(int number) {
  if (number == ENOENT)
    return tl_fail(TL_EIO, "gnuplot: not found; install it (Debian: gnuplot-nox) to draw plots");
  errno = number;
  return tl_fail_errno("gnuplot", "cannot start");
}

/* Without a shell, and without the user's own start-up files. */
static TlStatus start(int script, int picture, pid_t *process) {
  extern char **environ;
  char program[] = "gnuplot", settings[] = "-d";
  char *arguments[] = {program, settings, NULL};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  int number = posix_spawn_file_actions_init(&files);
  if (number != 0) return no_gnuplot(number);
  number = posix_spawnattr_init(&how);
  if (number == 0) {
    posix_spawnattr_setsigdefault(&how, &usual);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF);
    number = posix_spawn_file_actions_adddup2(&files, script, STDIN_FILENO);
    if (number == 0) number = posix_spawn_file_actions_adddup2(&files, picture, STDOUT_FILENO);
    if (number == 0) number = posix_spawnp(process, program, &files, &how, arguments, environ);
    posix_spawnattr_destroy(&how);
  }
  posix_spawn_file_actions_destroy(&files);
  return number == 0 ? TL_OK : no_gnuplot(number);
}

/* Errno of a write that failed, or 0. */
static int write_all(int to, const char *text, size_t size) {
  while (size > 0) {
    ssize_t put = write(to, text, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text += put;
    size -= (size_t)put;
  }
  return 0;
}

static TlStatus finish(pid_t process, const char *what, int wrote) {
  int ended;
  while (waitpid(process, &ended, 0) < 0)
    if (errno != EINTR) return tl_fail_errno("gnuplot", "cannot wait for it");
  if (ended != 0)
    return tl_fail(TL_EIO, "gnuplot: failed to plot %s (%s %d)", what,
                   WIFEXITED(ended) ? "exit status" : "signal",
                   WIFEXITED(ended) ? WEXITSTATUS(ended) : WTERMSIG(ended));
  errno = wrote;
  return wrote ? tl_fail_errno("gnuplot", "did not take the whole script") : TL_OK;
}

/* picture: open for writing. */
static TlStatus run(const char *script, size_t size, int picture, const char *what) {
  int ends[2];
  pid_t process;
  if (pipe(ends) != 0) return tl_fail_errno("gnuplot", "cannot make a pipe to it");
  fcntl(ends[1], F_SETFD, FD_CLOEXEC); /* gnuplot waits for the script's end */
  TlStatus status = start(ends[0], picture, &process);
  close(ends[0]);
  /* A gnuplot that dies early must not take us along: its exit status is what counts. */
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  sigaction(SIGPIPE, &ignore, &before);
  int wrote = status == TL_OK ? write_all(ends[1], script, size) : 0;
  close(ends[1]);
  if (status == TL_OK) status = finish(process, what, wrote);
  sigaction(SIGPIPE, &before, NULL);
  return status;
}

/* gnuplot reports no write that falls short, so the picture itself is looked at. */
static TlStatus draw(const char *script, size_t size, const char *what, const char *temp) {
  int picture = open(temp, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC);
  if (picture < 0) return tl_fail_errno(temp, "cannot open");
  TlStatus status = run(script, size, picture, what);
  if (close(picture) != 0 && status == TL_OK) status = tl_fail_errno(temp, "cannot write");
  return status == TL_OK ? tl_png_check(temp) : status;
}

TlStatus tl_gnuplot(TlPlotScript script, const void *context, const char *what, const char *path,
                    bool overwrite) {
  TlOutFile out;
  TlPlot plot = {.status = TL_OK};
  char *text = NULL;
  size_t size = 0;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  plot.script = open_memstream(&text, &size);
  TlStatus status = plot.script ? TL_OK : tl_fail(TL_ENOMEM, "%s: no memory for the plot", path);
  if (plot.script) {
    script(&plot, context);
    bool failed = ferror(plot.script) != 0;
    if (fclose(plot.script) != 0 || failed)
      status = tl_fail(TL_ENOMEM, "%s: no memory for the plot", path);
  }
  if (status == TL_OK) status = plot.status;
  if (status == TL_OK) status = tl_context(draw(text, size, what, out.temp), "%s", path);
  if (status == TL_OK) status = tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  for (int i = 0; i < plot.files; i++) {
    close(plot.file[i]);
    tl_free(plot.path[i]);
  }
  free(text); /* open_memstream's own */
  return status;
}
