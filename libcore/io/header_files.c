#include "io/volume_header.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEADER_BYTES = 1 << 20, MOST_FILES = 1000000 };

static TlStatus claim(const char *header, const char *name) {
  char *folder = tl_path_directory(header);
  char *path = !folder ? NULL : name[0] == '/' ? tl_strdup(name) : tl_path_join(folder, name);
  TlStatus status = path ? tl_claim_read(path) : TL_ENOMEM;
  tl_free(folder);
  tl_free(path);
  return status;
}

/* "NAME%03d.raw FIRST LAST STEP ...", with one %d of a width that may begin with 0. */
static TlStatus claim_numbered(const char *header, const char *text) {
  const char *at = strchr(text, '%'), *rest = text + strcspn(text, " \t");
  char *after = NULL;
  int width = at ? (int)strtol(at + 1, &after, 10) : 0;
  bool zeros = at && at[1] == '0';
  long first = 0, last = -1, step = 1;
  if (!at || at > rest || *after != 'd' || width < 0 || width > 30) return TL_OK;
  if (sscanf(rest, "%ld %ld %ld", &first, &last, &step) < 2 || step == 0) return TL_OK;
  TlStatus status = TL_OK;
  long n = (last - first) / step + 1;
  for (long i = 0; status == TL_OK && i < n && i < MOST_FILES; i++) {
    char number[64];
    snprintf(number, sizeof number, zeros ? "%0*ld" : "%*ld", width, first + i * step);
    char *name =
        tl_format("%.*s%s%.*s", (int)(at - text), text, number, (int)(rest - after - 1), after + 1);
    status = name ? claim(header, name) : TL_ENOMEM;
    tl_free(name);
  }
  return status;
}

static char *trimmed(char *line) {
  while (isspace((unsigned char)*line)) line++;
  size_t n = strlen(line);
  while (n > 0 && isspace((unsigned char)line[n - 1])) line[--n] = 0;
  return line;
}

/* The value behind "ElementDataFile =", "data file:" or "datafile:"; NULL: another line. */
static char *data_value(char *line) {
  static const char *const keys[] = {"ElementDataFile", "data file", "datafile"};
  for (int k = 0; k < 3; k++) {
    size_t n = strlen(keys[k]);
    if (strncasecmp(line, keys[k], n) != 0) continue;
    char *value = line + n + strspn(line + n, " \t");
    if (*value == '=' || *value == ':') return trimmed(value + 1);
  }
  return NULL;
}

static TlStatus claim_lines(const char *header, char *text) {
  char *rest = text;
  bool list = false;
  while (rest) {
    char *line = trimmed(strsep(&rest, "\n")), *value = data_value(line);
    if (list && *line) TL_TRY(claim(header, line));
    if (list || !value) continue;
    list = strncmp(value, "LIST", 4) == 0;
    if (list) continue;
    return strchr(value, '%')            ? claim_numbered(header, value)
           : strcmp(value, "LOCAL") == 0 ? TL_OK
                                         : claim(header, value);
  }
  return TL_OK;
}

TlStatus tl_header_claim_files(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  if (!file) return tl_fail_errno(path, "cannot open");
  TlStatus status = TL_NEW(text, HEADER_BYTES + 1);
  if (status == TL_OK) text[fread(text, 1, HEADER_BYTES, file)] = 0;
  fclose(file);
  if (status == TL_OK) status = claim_lines(path, text);
  tl_free(text);
  return status;
}
