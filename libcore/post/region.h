/* A region of space for measures: an upright box or a cylinder; with a slab, its part inside or
 * outside of the slab. SI, world frame. */
#ifndef TL_POST_REGION_H
#define TL_POST_REGION_H

#include "num/vec.h"

#include <stdbool.h>

typedef struct TlRegion {
  bool round;        /* cylinder, else box */
  TlVec3 low, high;  /* box: corners, m */
  TlVec3 foot, axis; /* cylinder: middle of one end, vector to that of the other, m */
  double radius_m;
  double whole_m3; /* volume of a specimen that lies in it whole; 0: what is measured fills it */
  int slab;        /* 0: none; 1: only what lies within the slab, -1: only what does not */
  TlVec3 slab_point, slab_normal; /* its middle plane; unit */
  double slab_half_m;             /* half of its thickness */
} TlRegion;

/* whole_m3, else that of box or cylinder; no slab. */
double tl_region_volume(const TlRegion *region);
/* > 0 inside: distance to the nearest face; < 0 outside: no point of the region is nearer than
 * that. */
double tl_region_depth(const TlRegion *region, TlVec3 p);
/* Without a slab: fraction of the segment that lies inside, 0 to 1; a segment without length: 1 or
 * 0. */
double tl_region_fraction(const TlRegion *region, TlVec3 from, TlVec3 to);

#endif
