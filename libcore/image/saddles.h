/* The highest pass of each pair of ids among many pairs of neighbours: an open hash table, the way
 * relief.c gathers them. Internal to the relief (image/relief.h says what a pass is). */
#ifndef TL_IMAGE_SADDLES_H
#define TL_IMAGE_SADDLES_H

#include "image/relief.h"

typedef struct TlSaddleTable TlSaddleTable;

TlStatus tl_saddles_open(TlSaddleTable **table);
void tl_saddles_free(TlSaddleTable *table);
/* Voxel p (of basin a, at height fp) and its neighbour q (of b); they share a face normal to axis,
 * or none (-1); dip: of an inner face, else -1. */
TlStatus tl_saddles_meet(TlSaddleTable *table, uint32_t a, uint32_t b, int64_t p, float fp,
                         int64_t q, float fq, int axis, int32_t dip);
size_t tl_saddles_count(const TlSaddleTable *table);
/* Copies all out, in order of first meeting, and empties the table. */
void tl_saddles_take(TlSaddleTable *table, TlSaddle *out);

/* Several of one pair become one: its highest, with all their faces. Sorts by pair and makes a < b;
 * pairs of an id with itself are dropped. *count shrinks. */
void tl_saddles_merge(TlSaddle *saddle, size_t *count);

#endif
