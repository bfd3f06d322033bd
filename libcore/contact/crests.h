/* A grain on a convex edge of something else: on a straight one, or on the round rim of a cylinder or a pipe. Neither
 * nodes of the grain nor the plane of a face see it there.
 *
 * A place is where phi of the grain is least along the edge, if its normal there lies between those of the two
 * faces that meet in it: the edge's point is then as deep in the grain as phi says. Where an edge of the grain, a
 * polyhedron, crosses, the slope jumps; the normal is across both, and the gap is measured along it. A flat face on a rim
 * has places all round it. Frame of the grain, metres. What is found follows from the pose alone.
 */
#ifndef TL_CONTACT_CRESTS_H
#define TL_CONTACT_CRESTS_H

#include "contact/descent.h"
#include "contact/narrow.h"
#include "model/facets.h"

enum { TL_CREST_PLACES = 36 }; /* most of an edge */

typedef struct TlCrest {
  TlVec3 from;      /* one end of a straight edge, or the centre of a rim */
  TlVec3 along;     /* unit; of a rim the axis */
  double length;    /* of a straight edge */
  double radius;    /* of a rim; 0: straight */
  TlVec3 across;    /* of a rim: unit, where its angle is 0 */
  TlVec3 normal[2]; /* unit, out of the two faces; of a rim [0] alone, that of its flat side */
  double side;      /* of a rim: 1, the other face looks away from the axis; -1: to it */
} TlCrest;

typedef struct TlCrestGrain {
  TlSmooth field;
  const TlFacets *facets; /* in place of a field, a convex polyhedron at this scale; NULL: none */
  double scale;
  double radius, size; /* about its centre; the smaller radius of the two, for lengths */
  double steep;        /* most slope of phi */
  double limit;        /* gaps from here on are not wanted */
} TlCrestGrain;

/* Of a collider, a smooth grain on a grid, or part k of a polyhedron; limit: INFINITY. */
TlCrestGrain tl_crest_grain(const TlColliders *colliders, int64_t i, double size);
TlCrestGrain tl_crest_part(const TlColliders *colliders, int64_t i, int k, double size);

typedef struct TlCrestPlace {
  TlVec3 x, n;    /* on the edge; unit, from there to the grain */
  double at, gap; /* how far along the edge; phi there, or by an edge of the grain that crosses */
  int64_t number; /* the same as long as the place stays about where it is on the edge */
} TlCrestPlace;

/* The sine by which a normal may pass that of a face. */
extern const double tl_crest_beside;

/* Appends nothing to points, but counts what it asks. Returns the number of places. */
int tl_crest_places(const TlCrestGrain *grain, const TlCrest *crest,
                    TlCrestPlace place[TL_CREST_PLACES], TlPoints *points);

#endif
