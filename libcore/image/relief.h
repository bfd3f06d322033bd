/* The relief of a field: its hills (basins of steepest ascent) and the passes between them.
 *
 * Voxels are ordered strictly: p is higher than q when field(p) > field(q), or when the two are
 * equal and p comes first in z, y, x order; so there are no plateaus and everything below has one
 * answer only. Each voxel climbs to the higher one of its 26 neighbours with the steepest slope
 * (difference over physical distance; of equal slopes the neighbour first in order) until it is on
 * a peak: all voxels of a peak are its basin. The pass of two basins is the highest pair of
 * neighbours across them, rated by the lower one of the two. A superlevel set of the field joins
 * two basins exactly when a chain of passes above that level does, so persistence of peaks and
 * flooding from markers need the few basins and passes only (image/grains.h). This is watershed by
 * flooding (Meyer 1994; Beucher and Meyer 1993) without its queue: no order of visits, nothing to
 * sort but the passes, and the volume can come in slabs. Rejected: one hierarchical queue over all
 * voxels (the same basins up to plateaus, but serial, 12 bytes a voxel, and the whole volume at
 * once).
 *
 * The volume comes in slabs of planes, in order, of any thickness: the result is that of one slab.
 * Cost: 26 differences a voxel in vectors, then one walk; besides the slab 40 bytes a basin or
 * voxel that climbs over a seam, 48 a pass. Threads take rows; the walk is serial. The same bits
 * for any thread count.
 */
#ifndef TL_IMAGE_RELIEF_H
#define TL_IMAGE_RELIEF_H

#include "base/status.h"
#include "image/label_dip.h"

#include <stddef.h>
#include <stdint.h>

#define TL_RELIEF_VOID (-1.0F)    /* the field's value in the void; >= 0 is grain */
enum { TL_RELIEF_FIRST_ID = 32 }; /* smaller ids are not given (relief.c uses them) */

typedef struct TlBasin {
  int64_t at;    /* index of the peak in the whole volume; -1: a seam's, see TlRelief.same */
  int64_t first; /* least index of a voxel */
  int64_t voxels;
  float peak;      /* the field there */
  uint32_t marker; /* the user's marker; 0: none */
  int64_t core;    /* core voxels, with a grey stack ... */
  int64_t grey;    /* ... and the sum of their grey */
} TlBasin;

typedef struct TlSaddle {
  uint32_t a, b;      /* ids, a < b */
  float level;        /* the field at the lower voxel */
  int64_t low, other; /* indices of the lower and the higher voxel */
  uint32_t faces[3];  /* voxel faces that the two share, by the face's normal x, y, z */
  uint32_t inner;     /* those of them between two core voxels */
  uint64_t dip;       /* sum over the inner ones of the deeper of their two voxels' dips */
} TlSaddle;

typedef struct TlRelief {
  int64_t nx, ny, nz; /* of the whole volume */
  int64_t done;       /* planes so far */
  float inverse[27];  /* one over the distance to each neighbour */
  TlBasin *basin;     /* by id */
  uint32_t *same; /* by id: an id of the same basin nearer to the one that counts (tl_relief_id) */
  size_t ids, basin_capacity, same_capacity;
  TlSaddle *saddle;
  size_t saddles, saddle_capacity, compact_at;
  uint32_t *below;  /* ids of the last plane */
  uint32_t *portal; /* by voxel of the next plane: id of those who climb there */
  uint32_t *by_marker;
  size_t marker_capacity;
  struct TlSaddleTable *table; /* of the slab in hand */
} TlRelief;

/* edge: of a voxel along x, y, z in any unit. Owner: the caller, by tl_relief_free. */
TlStatus tl_relief_open(TlRelief *relief, int64_t nx, int64_t ny, int64_t nz, const double edge[3]);
void tl_relief_free(TlRelief *relief);

/* Planes [relief->done, end). field: these and one plane more on either side where there is one;
 * clue: the same planes (image/label_dip.h) or NULL: no grey.
 * markers: these planes, or NULL; a marker's voxels are one basin whatever their heights, voxels
 * that reach one on their way up belong to it. ids: out, these planes, 0 in the void. */
TlStatus tl_relief_add(TlRelief *relief, int64_t end, const float *field, const TlClue *clue,
                       const uint32_t *markers, uint32_t *ids);
/* After the last slab: each pass once, by ids that count. */
TlStatus tl_relief_close(TlRelief *relief);

/* The id that counts for the basin. */
uint32_t tl_relief_id(const TlRelief *relief, uint32_t id);
/* < 0 when saddle a is higher than b: the strict order of passes; for qsort. */
int tl_saddle_order(const void *a, const void *b);

#endif
