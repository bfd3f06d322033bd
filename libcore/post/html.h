/* Text of an HTML page that grows in memory: markup as given, and text of unknown origin (titles,
 * file names, study files) made safe to stand in it.
 *
 * Failures are kept: once memory is out nothing more is added, and `status` holds the failure.
 * The writer of a page checks it once, at the end. */
#ifndef TL_POST_HTML_H
#define TL_POST_HTML_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct TlHtml {
  char *text; /* owned; ends with 0 once something was added */
  size_t size, capacity;
  TlStatus status;
} TlHtml;

/* Markup, as it is. */
void tl_html(TlHtml *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tl_html_bytes(TlHtml *to, const char *bytes, size_t size);
/* What was made apart, with its status: memory that ran out there fails the page too. */
void tl_html_add(TlHtml *to, const TlHtml *part);
/* Text between tags or in a quoted attribute: & < > " ' become references, bytes that are no UTF-8
 * the replacement character; control characters other than line ends and tabs, and those that turn
 * the direction of writing, are shown as such (\x1b, \u202e). */
void tl_html_text(TlHtml *to, const char *text);
/* A string of JSON, with quotes, that may stand in a script element: < > & are escaped, too. */
void tl_html_json(TlHtml *to, const char *text);
/* A number of JSON; null when it is not finite. */
void tl_html_number(TlHtml *to, double value);
void tl_html_base64(TlHtml *to, const void *bytes, size_t size);
void tl_html_free(TlHtml *html);

/* A value as a reader wants it: four significant digits, thousands parted ("12 340"), tiny and
 * large ones by powers of ten ("3.2e-05"); "none" for NaN. */
void tl_html_value(char text[40], double value);

#endif
