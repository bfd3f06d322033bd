#include "base/provenance.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/report.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "version.h" /* made by the Makefile: TL_VERSION, TL_COMMIT, TL_BUILD_FLAGS */

const char *tl_version(void) {
  return TL_VERSION;
}
const char *tl_commit(void) {
  return TL_COMMIT;
}
const char *tl_build(void) {
  return __VERSION__ " " TL_BUILD_FLAGS;
}

static void now_utc(char text[32]) {
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

void tl_provenance_begin(TlProvenance *p, const char *tool, int argc, char **argv) {
  *p = (TlProvenance){.tool = tool, .argc = argc, .argv = argv, .threads = 1, .ranks = 1};
  now_utc(p->start);
}

/* Append text to the comma-separated list *members. Takes over text. */
static TlStatus append(char **members, char *text) {
  if (!text) return TL_ENOMEM;
  char *joined = *members ? tl_format("%s, %s", *members, text) : tl_strdup(text);
  tl_free(text);
  if (!joined) return TL_ENOMEM;
  tl_free(*members);
  *members = joined;
  return TL_OK;
}

TlStatus tl_provenance_input(TlProvenance *p, const char *path) {
  char hex[65] = "";
  int64_t bytes;
  TL_TRY(tl_claim_read(path));
  TL_TRY(tl_file_size(path, &bytes));
  if (!p->plan) TL_TRY(tl_file_sha256(path, hex));
  char *quoted = tl_json_quote(path);
  if (!quoted) return TL_ENOMEM;
  char *text = tl_format("{\"path\": %s, \"size_bytes\": %lld, \"sha256\": \"%s\"}", quoted,
                         (long long)bytes, hex);
  tl_free(quoted);
  return append(&p->inputs, text);
}

TlStatus tl_provenance_parameter(TlProvenance *p, const char *name, const char *value) {
  char *quoted_name = tl_json_quote(name), *quoted = tl_json_quote(value);
  char *text = quoted_name && quoted ? tl_format("%s: %s", quoted_name, quoted) : NULL;
  tl_free(quoted_name);
  tl_free(quoted);
  return append(&p->parameters, text);
}

static TlStatus quoted_arguments(const TlProvenance *p, char **list) {
  *list = NULL;
  for (int i = 0; i < p->argc; i++) {
    TlStatus status = append(list, tl_json_quote(p->argv[i]));
    if (status == TL_OK) continue;
    TL_FREE(*list);
    return status;
  }
  return TL_OK;
}

TlStatus tl_provenance_record(const TlProvenance *p, char **json) {
  char *arguments, end[32], host[256] = "";
  TL_TRY(quoted_arguments(p, &arguments));
  now_utc(end);
  gethostname(host, sizeof host - 1);
  char *quoted_host = tl_json_quote(host);
  char *build = tl_json_quote(tl_build());
  *json =
      quoted_host && build
          ? tl_format("{\"tool\": \"%s\", \"version\": \"%s\", \"commit\": \"%s\", \"build\": %s, "
                      "\"argv\": [%s], \"host\": %s, \"start\": \"%s\", \"end\": \"%s\", "
                      "\"threads\": %d, \"ranks\": %d, \"seed\": %llu, "
                      "\"peak_memory_bytes\": %lld, \"inputs\": [%s], \"parameters\": {%s}}",
                      p->tool, tl_version(), tl_commit(), build, arguments ? arguments : "",
                      quoted_host, p->start, end, p->threads, p->ranks, (unsigned long long)p->seed,
                      (long long)tl_mem_peak_bytes(), p->inputs ? p->inputs : "",
                      p->parameters ? p->parameters : "")
          : NULL;
  tl_free(arguments);
  tl_free(quoted_host);
  tl_free(build);
  return *json ? TL_OK : TL_ENOMEM;
}

/* Length of history up to its closing bracket; 0 when it holds no record. */
static size_t records_end(const char *history) {
  size_t length = history ? strlen(history) : 0;
  while (length && history[length - 1] != ']') length--;
  return length < 3 ? 0 : length - 1; /* "", NULL or "[]" */
}

TlStatus tl_provenance_append(const TlProvenance *p, const char *history, char **out) {
  char *record;
  TL_TRY(tl_provenance_record(p, &record));
  size_t end = records_end(history);
  *out = end ? tl_format("%.*s, %s]", (int)end, history, record) : tl_format("[%s]", record);
  tl_free(record);
  return *out ? TL_OK : TL_ENOMEM;
}

TlStatus tl_provenance_join(const char *a, const char *b, char **out) {
  size_t end_a = records_end(a), end_b = records_end(b);
  if (end_a && end_b)
    *out = tl_format("%.*s, %s", (int)end_a, a, b + strspn(b, " [\n"));
  else
    *out = tl_strdup(end_a ? a : end_b ? b : "[]");
  return *out ? TL_OK : TL_ENOMEM;
}

TlStatus tl_provenance_values(const char *history, const char *parameter, char **joined,
                              int64_t *count) {
  *count = 0;
  *joined = NULL;
  /* a quotation mark inside a text is escaped, so this is a member's name and nothing else */
  char *name = tl_format("\"%s\": \"", parameter);
  if (!name) return TL_ENOMEM;
  TlStatus status = TL_OK;
  for (const char *at = history; status == TL_OK && at && (at = strstr(at, name)); ++*count) {
    at += strlen(name);
    status = append(joined, tl_format("%.*s", (int)strcspn(at, "\""), at));
  }
  tl_free(name);
  if (status == TL_OK && !*joined && !(*joined = tl_strdup(""))) status = TL_ENOMEM;
  return status;
}

void tl_provenance_free(TlProvenance *p) {
  tl_free(p->inputs);
  tl_free(p->parameters);
  p->inputs = p->parameters = NULL;
}
