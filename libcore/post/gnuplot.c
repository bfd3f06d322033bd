#include "post/gnuplot.h"

#include "base/file.h"

#include <signal.h>

void tl_gnuplot_quoted(FILE *to, const char *text) {
  fputc('\'', to);
  for (; *text; text++) {
    if (*text == '\'') fputc('\'', to);
    fputc(*text, to);
  }
  fputc('\'', to);
}

static TlStatus pipe_script(TlGnuplotScript put, const void *context, const char *what,
                            const char *picture) {
  /* A gnuplot that dies early must not take us along: its exit status is what counts. */
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  FILE *to = popen("gnuplot", "w");
  TlStatus status = to ? TL_OK : tl_fail_errno("gnuplot", "cannot start");
  if (to) {
    put(to, context, picture);
    int ended = pclose(to);
    if (ended != 0) status = tl_fail(TL_EIO, "gnuplot: failed to plot %s (status %d)", what, ended);
  }
  signal(SIGPIPE, before == SIG_ERR ? SIG_DFL : before);
  return status;
}

TlStatus tl_gnuplot(TlGnuplotScript put, const void *context, const char *what, const char *path,
                    bool overwrite) {
  TlOutFile out;
  int64_t size = 0;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  TlStatus status = pipe_script(put, context, what, out.temp);
  if (status == TL_OK) status = tl_file_size(out.temp, &size);
  if (status == TL_OK && size == 0) status = tl_fail(TL_EIO, "%s: gnuplot drew nothing", path);
  if (status == TL_OK) status = tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
