#include "base/text.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_text_real(char text[40], double value) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 40, "%.*g", digits, value);
    if (strtod(text, NULL) == value) return;
  }
}

bool tl_text_next(const char **at, uint32_t *code) {
  const unsigned char *byte = (const unsigned char *)*at;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  int length = byte[0] < 0x80             ? 1
               : (byte[0] & 0xe0) == 0xc0 ? 2
               : (byte[0] & 0xf0) == 0xe0 ? 3
               : (byte[0] & 0xf8) == 0xf0 ? 4
                                          : 0;
  uint32_t value = length > 1 ? byte[0] & (0x7fu >> length) : byte[0];
  bool valid = length > 0;
  for (int i = 1; i < length && valid; i++) { /* stops at the text's end: 0 continues nothing */
    valid = (byte[i] & 0xc0) == 0x80;
    value = value << 6 | (byte[i] & 0x3fu);
  }
  valid = valid && value >= least[length] && value <= 0x10ffff && (value & 0xfffff800u) != 0xd800;
  *code = valid ? value : byte[0];
  *at += valid ? length : 1;
  return valid;
}

bool tl_text_hidden(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

const char *tl_text_shown(const char *text, char shown[TL_TEXT_SHOWN]) {
  const char *at = text;
  uint32_t code;
  bool valid = tl_text_next(&at, &code);
  if (valid && !tl_text_hidden(code)) {
    memcpy(shown, text, (size_t)(at - text));
    shown[at - text] = 0;
  } else if (code == '\n' || code == '\r' || code == '\t') {
    snprintf(shown, TL_TEXT_SHOWN, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
  } else {
    snprintf(shown, TL_TEXT_SHOWN, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
  }
  return at;
}

void tl_text_show(FILE *to, const char *text) {
  char shown[TL_TEXT_SHOWN];
  while (*text) {
    text = tl_text_shown(text, shown);
    fputs(shown, to);
  }
}

char *tl_text_for_shell(const char *text) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
  bool safe = *text != 0;
  for (const char *c = text; *c; c++) safe &= (unsigned char)*c >= 0x80 || strchr(plain, *c);
  if (safe) return tl_strdup(text);
  char *word;
  if (TL_NEW(word, 4 * strlen(text) + 3) != TL_OK) return NULL;
  char *to = word;
  *to++ = '\'';
  for (const char *c = text; *c; c++) {
    if (*c == '\'') {
      memcpy(to, "'\\''", 4); /* out of the quotes, a quote, into them again */
      to += 4;
    } else {
      *to++ = *c;
    }
  }
  memcpy(to, "'", 2);
  return word;
}

TlStatus tl_text_add(TlGrowingText *to, const char *separator, const char *more) {
  size_t gap = to->text ? strlen(separator) : 0, length = strlen(more);
  TL_TRY(TL_RESERVE(to->text, to->capacity, to->length + gap + length + 1));
  memcpy(to->text + to->length, separator, gap);
  memcpy(to->text + to->length + gap, more, length + 1);
  to->length += gap + length;
  return TL_OK;
}

char *tl_text_unmarked(char *text) {
  static const char mark[] = "\xEF\xBB\xBF";
  return strncmp(text, mark, 3) == 0 ? text + 3 : text;
}

char *tl_text_trim(char *text) {
  while (isspace((unsigned char)*text)) text++;
  char *end = text + strlen(text);
  while (end > text && isspace((unsigned char)end[-1])) *--end = 0;
  return text;
}
