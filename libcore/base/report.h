/* The result of a tool or a stage: an ordered list of named values with units. It is printed on
 * stdout as text lines "name: value unit" or as one JSON object (--json), or read by name. Owner:
 * the caller, by tl_report_free; zeroed memory is an empty report. */
#ifndef TL_BASE_REPORT_H
#define TL_BASE_REPORT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlReport {
  struct TlReportItem *items;
  size_t count, capacity;
} TlReport;

/* name: lower case with underscores; unit: "" when none. In JSON the key is name_unit. */
TlStatus tl_report_real(TlReport *report, const char *name, double value, const char *unit);
TlStatus tl_report_int(TlReport *report, const char *name, int64_t value, const char *unit);
TlStatus tl_report_text(TlReport *report, const char *name, const char *value);
/* The value of a name as it is printed, without unit; NULL when there is none. Borrowed until the
 * report changes. */
const char *tl_report_value(const TlReport *report, const char *name);
TlStatus tl_report_print(const TlReport *report, bool json);
/* From now on nothing is printed (--quiet). */
void tl_report_mute(bool mute);
/* From now on nothing is printed, and nothing can be lost: standard output of this process leads
 * nowhere (ranks other than the first). */
void tl_report_discard(void);
/* TL_OK if everything printed on standard output has arrived, whichever function printed it; TL_EIO
 * if not. A tool calls this last (conf/cli.h). */
TlStatus tl_report_flush(void);
void tl_report_free(TlReport *report);

/* JSON string literal of text (with quotes), fresh memory; NULL when memory is out. */
char *tl_json_quote(const char *text);

#endif
