#include "base/report.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct TlReportItem {
  char *name, *value, *unit;
  bool quoted;
} TlReportItem;

static TlStatus add(TlReport *report, const char *name, char *value, const char *unit,
                    bool quoted) {
  TlStatus status =
      value ? TL_RESERVE(report->items, report->capacity, report->count + 1) : TL_ENOMEM;
  TlReportItem item = {tl_strdup(name), value, tl_strdup(unit), quoted};
  if (status == TL_OK && item.name && item.unit) {
    report->items[report->count++] = item;
    return TL_OK;
  }
  tl_free(item.name);
  tl_free(item.value);
  tl_free(item.unit);
  return TL_ENOMEM;
}

TlStatus tl_report_real(TlReport *report, const char *name, double value, const char *unit) {
  return add(report, name, tl_format("%.6g", value), unit, !isfinite(value));
}

TlStatus tl_report_int(TlReport *report, const char *name, int64_t value, const char *unit) {
  return add(report, name, tl_format("%lld", (long long)value), unit, false);
}

TlStatus tl_report_text(TlReport *report, const char *name, const char *value) {
  return add(report, name, tl_strdup(value), "", true);
}

char *tl_json_quote(const char *text) {
  char *out = tl_calloc(6 * strlen(text) + 3, 1);
  if (!out) return NULL;
  char *p = out;
  *p++ = '"';
  for (const char *from = text, *next = text; *from; from = next) {
    uint32_t code;
    bool valid = tl_text_next(&next, &code);
    if (code == '"' || code == '\\') {
      *p++ = '\\';
      *p++ = *from;
    } else if (!valid || tl_text_hidden(code)) { /* a byte that is no UTF-8: as Latin-1 */
      p += snprintf(p, 7, "\\u%04x", code);
    } else {
      memcpy(p, from, (size_t)(next - from));
      p += next - from;
    }
  }
  *p = '"';
  return out;
}

static TlStatus print_json_item(const TlReportItem *item, bool first) {
  char *value = item->quoted ? tl_json_quote(item->value) : tl_strdup(item->value);
  if (!value) return TL_ENOMEM;
  printf("%s\"%s%s%s\": %s", first ? "{" : ", ", item->name, item->unit[0] ? "_" : "", item->unit,
         value);
  tl_free(value);
  return TL_OK;
}

static bool muted, discarded;

void tl_report_mute(bool mute) {
  muted = mute;
}

const char *tl_report_value(const TlReport *report, const char *name) {
  for (size_t i = 0; i < report->count; i++)
    if (strcmp(report->items[i].name, name) == 0) return report->items[i].value;
  return NULL;
}

TlStatus tl_report_print(const TlReport *report, bool json) {
  if (muted || discarded) return TL_OK;
  for (size_t i = 0; i < report->count; i++) {
    const TlReportItem *item = &report->items[i];
    if (json) {
      TL_TRY(print_json_item(item, i == 0));
    } else {
      printf("%s: ", item->name);
      tl_text_show(stdout, item->value); /* names of samples and files are among them */
      printf("%s%s\n", item->unit[0] ? " " : "", item->unit);
    }
  }
  if (json) printf("%s}\n", report->count ? "" : "{");
  return tl_report_flush();
}

void tl_report_discard(void) {
  discarded = true;
}

TlStatus tl_report_flush(void) {
  if (discarded) return TL_OK;
  bool lost = ferror(stdout) != 0; /* by an earlier print, whose errno is gone */
  if (fflush(stdout) != 0) return tl_fail_errno("standard output", "cannot write");
  /* network file systems tell some errors only when a descriptor is closed */
  int copy = dup(STDOUT_FILENO);
  if (copy >= 0 && close(copy) != 0) return tl_fail_errno("standard output", "cannot write");
  if (!lost) return TL_OK;
  return tl_fail(TL_EIO, "standard output: cannot write: a part of the results was lost; look "
                         "whether its disk is full, and run again");
}

void tl_report_free(TlReport *report) {
  for (size_t i = 0; i < report->count; i++) {
    tl_free(report->items[i].name);
    tl_free(report->items[i].value);
    tl_free(report->items[i].unit);
  }
  tl_free(report->items);
  *report = (TlReport){0};
}
