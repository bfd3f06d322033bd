/* A struct with the arrays that it owns as one block of bytes, whose arrays are used where they lie.
 *
 * One function a struct names its arrays in order; it measures the block, writes it or finds the arrays in it, by the
 * mode. A pointer that is NULL when the block is written is NULL where it is read. The block begins with the struct,
 * whose pointers mean nothing there.
 */
#ifndef TL_BASE_FLAT_H
#define TL_BASE_FLAT_H

#include "base/mem.h"

#include <string.h>

typedef enum TlFlatMode { TL_FLAT_MEASURE, TL_FLAT_WRITE, TL_FLAT_READ } TlFlatMode;

typedef struct TlFlat {
  TlFlatMode mode;
  unsigned char *bytes; /* NULL: measured */
  size_t at;
  TlStatus
      status; /* TL_ENOMEM: a struct could not be read; what was read before is whole, the rest NULL */
} TlFlat;

static inline void *tl_flat_pass(TlFlat *flat, const void *from, size_t bytes) {
  void *place = flat->bytes ? flat->bytes + flat->at : NULL;
  if (flat->mode == TL_FLAT_WRITE && bytes > 0) memcpy(place, from, bytes);
  flat->at += (bytes + 63) / 64 * 64;
  return place;
}

/* An array: where it is read it stays in the block. */
#define TL_FLAT_ARRAY(flat, array, count)                                                          \
  do {                                                                                             \
    if (!(array)) break;                                                                           \
    void *tl_place_ = tl_flat_pass((flat), (array), (size_t)(count) * sizeof *(array));            \
    if ((flat)->mode == TL_FLAT_READ) (array) = tl_place_;                                         \
  } while (0)

/* A struct behind a pointer: where it is read a copy of its own, whose arrays are to follow. */
#define TL_FLAT_STRUCT(flat, pointer)                                                              \
  do {                                                                                             \
    if (!(pointer)) break;                                                                         \
    const void *tl_place_ = tl_flat_pass((flat), (pointer), sizeof *(pointer));                    \
    if ((flat)->mode != TL_FLAT_READ) break;                                                       \
    if ((flat)->status == TL_OK) (flat)->status = TL_NEW((pointer), 1);                            \
    if ((flat)->status == TL_OK)                                                                   \
      memcpy((pointer), tl_place_, sizeof *(pointer));                                             \
    else                                                                                           \
      (pointer) = NULL;                                                                            \
  } while (0)

#endif
