#include "io/volume_header.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_FILES = 1000000 };

static TlStatus add(const char *header, const char *name, TlStackFiles *files) {
  struct stat info;
  char *folder = tl_path_directory(header);
  char *path = !folder ? NULL : name[0] == '/' ? tl_strdup(name) : tl_path_join(folder, name);
  tl_free(folder);
  if (path && (stat(path, &info) != 0 || !S_ISREG(info.st_mode))) return tl_free(path), TL_OK;
  return tl_stack_files_add(files, path);
}

static bool is_number(long n) {
  return n >= -INT32_MAX && n <= INT32_MAX;
}

/* "NAME%03d.raw FIRST LAST STEP ...", with one %d of a width that may begin with 0. Other texts are
 * the name of one file. */
static TlStatus add_numbered(const char *header, const char *text, TlStackFiles *files) {
  const char *at = strchr(text, '%'), *rest = text + strcspn(text, " \t");
  char *after = NULL;
  int width = at ? (int)strtol(at + 1, &after, 10) : 0;
  bool zeros = at && at[1] == '0';
  long first = 0, last = -1, step = 1;
  bool numbered = at && at < rest && *after == 'd' && width >= 0 && width <= 30 &&
                  sscanf(rest, "%ld %ld %ld", &first, &last, &step) >= 2 && step != 0;
  if (!numbered || !is_number(first) || !is_number(last) || !is_number(step))
    return add(header, text, files);
  TlStatus status = TL_OK;
  for (long i = 0; status == TL_OK && i <= (last - first) / step && i < MOST_FILES; i++) {
    char number[64];
    snprintf(number, sizeof number, zeros ? "%0*ld" : "%*ld", width, first + i * step);
    char *name =
        tl_format("%.*s%s%.*s", (int)(at - text), text, number, (int)(rest - after - 1), after + 1);
    status = name ? add(header, name, files) : TL_ENOMEM;
    tl_free(name);
  }
  return status;
}

TlStatus tl_header_files_find(const char *header, const char *value, char *lines,
                              TlStackFiles *files) {
  if (strncmp(value, "LIST", 4) != 0) return add_numbered(header, value, files);
  while (lines) {
    char *name = strsep(&lines, "\n");
    (void)tl_text_trim(name); /* at its end: blanks before it are of the name */
    if (*name) TL_TRY(add(header, name, files));
  }
  return TL_OK;
}
