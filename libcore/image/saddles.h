/* The highest pass of each pair of ids among many pairs of neighbours: an open hash table, in which
 * relief.c gathers them. Internal to the relief (image/relief.h defines a pass). */
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
/* A pass found before: faces and dips are added to the pair's, the higher place counts. */
TlStatus tl_saddles_add(TlSaddleTable *table, uint32_t a, uint32_t b, const TlSaddle *pass);
size_t tl_saddles_count(const TlSaddleTable *table);
/* All, in order of first meeting; until the next meeting. */
const TlSaddle *tl_saddles_all(const TlSaddleTable *table);
void tl_saddles_clear(TlSaddleTable *table);

/* Several of one pair become one: its highest, with all their faces. Sorts by pair and makes a < b;
 * pairs of an id with itself are dropped. *count shrinks. */
void tl_saddles_merge(TlSaddle *saddle, size_t *count);

#endif
