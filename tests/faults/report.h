/* What shim.c tells inject.c: a file that both map, and with the command all processes that it
 * starts from our own programs, so that calls are counted across them. */
#ifndef TL_FAULTS_REPORT_H
#define TL_FAULTS_REPORT_H

#include <stdatomic.h>
#include <stdint.h>

typedef enum Kind { ALLOC, OPEN, READ, WRITE, FSYNC, RENAME, CLOSE, STAT, KINDS } Kind;
static const char *const kind_name[KINDS] = {"alloc", "open",   "read",  "write",
                                             "fsync", "rename", "close", "stat"};

enum { MOST_FRAMES = 32, MOST_CALLS = 1 << 20 };

typedef struct Call {
  int32_t kind, number; /* the number-th call of its kind, from 1 */
  uint64_t path;        /* hash of the return addresses in our own code: tells call paths apart */
} Call;

typedef struct Report {
  _Atomic int32_t count[KINDS];
  _Atomic int32_t calls;  /* filled of call[], and more that found no place */
  _Atomic int32_t failed; /* calls that were made to fail */
  int32_t frames;         /* of the first of them */
  uint64_t frame[MOST_FRAMES];
  Call call[MOST_CALLS]; /* when nothing is made to fail */
} Report;

#endif
