/* Numbers as text, text of unknown origin made safe to show, and texts that grow. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* With the fewest of 15 to 17 digits that read back as the same number. */
void tl_text_real(char text[40], double value);

/* The next character of UTF-8 text, which must not be at its end; *at moves behind it. False: the
 * byte begins no valid character (*code is then the byte, and *at moves by one). */
bool tl_text_next(const char **at, uint32_t *code);
/* Characters that a terminal acts on instead of showing them: C0 and C1 controls, DEL, and those
 * that turn the direction of writing. */
bool tl_text_hidden(uint32_t code);

/* The text without the blanks at both its ends; it is ended there. */
char *tl_text_trim(char *text);
/* Behind the byte order mark with which some programs begin a file of UTF-8; the text where it has none. */
char *tl_text_unmarked(char *text);

enum { TL_TEXT_SHOWN = 12 };
/* One character as everything prints it that shows names from files and command lines (log,
 * reports, plots): itself, or an escape such as \n, \x1b, \u202e where a terminal would act on it
 * or it is no UTF-8. shown ends with 0. Returns the text behind the character. */
const char *tl_text_shown(const char *text, char shown[TL_TEXT_SHOWN]);
/* The whole text, so shown. */
void tl_text_show(FILE *to, const char *text);

/* As one word of a command line that is copied into a shell: itself, or in single quotes where the shell
 * would take it apart. Fresh memory; NULL: no memory. */
char *tl_text_for_shell(const char *text);

/* A text that grows at its end, in time proportional to its length. Starts zeroed; text is fresh
 * memory, NULL while nothing was added. */
typedef struct TlGrowingText {
  char *text;
  size_t length, capacity;
} TlGrowingText;
/* Adds more, behind a separator unless it is the first. TL_ENOMEM leaves it as it was. */
TlStatus tl_text_add(TlGrowingText *to, const char *separator, const char *more);

#endif
