#include "post/html.h"

#include "base/mem.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void tl_html_free(TlHtml *html) {
  tl_free(html->text);
  *html = (TlHtml){0};
}

static bool reserve(TlHtml *to, size_t more) {
  if (to->status == TL_OK) to->status = TL_RESERVE(to->text, to->capacity, to->size + more + 1);
  return to->status == TL_OK;
}

void tl_html_bytes(TlHtml *to, const char *bytes, size_t size) {
  if (!reserve(to, size)) return;
  memcpy(to->text + to->size, bytes, size);
  to->size += size;
  to->text[to->size] = 0;
}

void tl_html_add(TlHtml *to, const TlHtml *part) {
  if (to->status == TL_OK) to->status = part->status;
  if (part->size > 0) tl_html_bytes(to, part->text, part->size);
}

void tl_html(TlHtml *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(NULL, 0, format, list);
  va_end(list);
  if (n < 0 || !reserve(to, (size_t)n)) return;
  va_start(list, format);
  vsnprintf(to->text + to->size, (size_t)n + 1, format, list);
  va_end(list);
  to->size += (size_t)n;
}

/* ---- text of unknown origin ---- */

/* The next character, and where it ends; 0xfffd for a byte that begins none. */
static uint32_t next_character(const char **at) {
  uint32_t code;
  return tl_text_next(at, &code) ? code : 0xfffd;
}

/* What a terminal would act on, and what is no text to a reader; lines and tabs are. */
static bool hidden(uint32_t c) {
  return (tl_text_hidden(c) && c != '\n' && c != '\t') || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

static void put_character(TlHtml *to, uint32_t c, const char *from, const char *end) {
  if (c == 0xfffd)
    tl_html_bytes(to, "\xef\xbf\xbd", 3);
  else if (c < 0x80 && hidden(c))
    tl_html(to, "\\x%02x", (unsigned)c);
  else if (hidden(c))
    tl_html(to, "\\u%04x", (unsigned)c);
  else
    tl_html_bytes(to, from, (size_t)(end - from));
}

void tl_html_text(TlHtml *to, const char *text) {
  while (*text) {
    const char *from = text;
    uint32_t c = next_character(&text);
    switch (c) {
    case '&':
      tl_html(to, "&amp;");
      break;
    case '<':
      tl_html(to, "&lt;");
      break;
    case '>':
      tl_html(to, "&gt;");
      break;
    case '"':
      tl_html(to, "&quot;");
      break;
    case '\'':
      tl_html(to, "&#39;");
      break;
    default:
      put_character(to, c, from, text);
    }
  }
}

void tl_html_json(TlHtml *to, const char *text) {
  tl_html(to, "\"");
  while (*text) {
    const char *from = text;
    uint32_t c = next_character(&text);
    if (c == '"' || c == '\\')
      tl_html(to, "\\%c", (int)c);
    else if (c < 0x20 || c == '<' || c == '>' || c == '&')
      tl_html(to, "\\u%04x", (unsigned)c);
    else
      put_character(to, c, from, text);
  }
  tl_html(to, "\"");
}

void tl_html_number(TlHtml *to, double value) {
  char text[40];
  if (!isfinite(value)) {
    tl_html(to, "null");
    return;
  }
  tl_text_real(text, value);
  tl_html(to, "%s", text);
}

void tl_html_base64(TlHtml *to, const void *bytes, size_t size) {
  static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *p = bytes;
  if (!reserve(to, (size + 2) / 3 * 4)) return;
  char *out = to->text + to->size;
  for (size_t i = 0; i < size; i += 3) {
    size_t left = size - i;
    uint32_t three =
        (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (left > 2 ? p[i + 2] : 0);
    *out++ = digit[three >> 18];
    *out++ = digit[three >> 12 & 63];
    *out++ = left > 1 ? digit[three >> 6 & 63] : '=';
    *out++ = left > 2 ? digit[three & 63] : '=';
  }
  to->size = (size_t)(out - to->text);
  *out = 0;
}

/* ---- numbers for readers ---- */

void tl_html_value(char text[40], double value) {
  double size = fabs(value);
  if (isnan(value)) {
    strcpy(text, "none");
  } else if (value == 0) {
    strcpy(text, "0");
  } else if (size >= 1e7 || size < 1e-4) {
    snprintf(text, 40, "%.3g", value);
  } else {
    int digits = size >= 1000 ? 0 : 3 - (int)floor(log10(size));
    char plain[40];
    snprintf(plain, sizeof plain, "%.*f", digits, value);
    if (strchr(plain, '.')) { /* zeros at the end say nothing */
      char *end = plain + strlen(plain) - 1;
      while (*end == '0') *end-- = 0;
      if (*end == '.') *end = 0;
    }
    /* thin spaces part thousands */
    size_t whole = strcspn(plain, "."), used = 0;
    for (size_t i = 0; plain[i]; i++) {
      text[used++] = plain[i];
      size_t left = whole > i + 1 ? whole - i - 1 : 0;
      if (left > 0 && left % 3 == 0 && whole > 4 && plain[i] != '-') text[used++] = ' ';
    }
    text[used] = 0;
  }
}
