#include "base/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = sizeof(TlMessage) };

/* The one piece of per-thread state in the library besides the log (docs/design.md). */
static _Thread_local char message[MESSAGE_SIZE];

TlStatus tl_fail(TlStatus code, const char *format, ...) {
  char text[MESSAGE_SIZE]; /* the arguments may point into the old message */
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  memcpy(message, text, sizeof text);
  return code;
}

TlStatus tl_fail_errno(const char *path, const char *verb) {
  int number = errno;
  return tl_fail(TL_EIO, "%s: %s: %s", path, verb, strerror(number));
}

TlStatus tl_context(TlStatus status, const char *format, ...) {
  if (status == TL_OK) return status;
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  int used = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (used < 0 || used >= MESSAGE_SIZE) used = MESSAGE_SIZE - 1;
  snprintf(text + used, sizeof text - (size_t)used, ": %s", message);
  memcpy(message, text, sizeof text);
  return status;
}

const char *tl_message(void) {
  return message;
}

void tl_message_keep_(TlMessage *kept) {
  memcpy(kept->text, message, sizeof message);
}

void tl_message_restore_(const TlMessage *kept) {
  memcpy(message, kept->text, sizeof message);
}

int tl_exit_code(TlStatus status) {
  return status == TL_OK ? 0 : status == TL_EUSAGE ? 2 : 1;
}
