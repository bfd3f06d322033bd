/* Some elements of a surface (model/elements.h) and their points, laid out for the sums of each step
 * (tractions.h): the few of some thousand that two bodies have near each other lie side by side, where the surface's
 * own records would be fetched from all over its memory, and each point is there once.
 *
 * Every element brings the points that none before it has. So the first k, which are the nearest ones where a list
 * (near.h) is in the order of gaps, need the first element[k - 1].points points and no other.
 */
#ifndef TL_CONTACT_LISTED_H
#define TL_CONTACT_LISTED_H

#include "model/elements.h"

#include <stddef.h>

typedef struct TlListedElement {
  int32_t point[TL_ELEMENT_POINTS]; /* among those listed */
  int32_t points;       /* what it and those before it need: so many, from the first on */
  int32_t number, node; /* of the surface's elements; TlElement.node */
  float stretch[4];     /* TlElement */
  uint64_t bare;
} TlListedElement;

typedef struct TlListed {
  TlListedElement *element; /* [count], in the order in which they were listed; owned */
  float (*point)[3];        /* [point_count] body frame, unit scale, metres; owned */
  int32_t *by_number; /* [count] the elements in the order of their numbers, once sorted; owned */
  int32_t count, point_count;
  size_t element_capacity, point_capacity, order_capacity;
} TlListed;

/* Of a point of a surface, its place among those listed, + 1; 0: it is not there. One of a thread, 0 between calls. */
typedef struct TlListing {
  int32_t *at; /* owned */
  size_t capacity;
} TlListing;

/* A list of these elements anew, whatever was in it; by_number is not sorted yet. */
TlStatus tl_listed_make(TlListed *listed, const TlElements *elements, const int32_t *number,
                        int32_t count, TlListing *listing);
/* Sums take the elements by number. */
void tl_listed_sort(TlListed *listed);
void tl_listed_free(TlListed *listed);

/* The first `count` of some that are listed. */
typedef struct TlListedPart {
  const TlListed *listed;
  int32_t count;
} TlListedPart;

static inline TlVec3 tl_listed_point(const TlListed *listed, int32_t point) {
  const float *p = listed->point[point];
  return tl_vec3(p[0], p[1], p[2]);
}

#endif
