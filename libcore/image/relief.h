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
 * Climbs continue beyond a slab into planes that are known already. One that is not at its peak
 * where these end goes through a portal: an id for each voxel that is come to there, which is that
 * of a hill as soon as the planes beyond are known. The record of a portal and its passes
 * is freed then (an index of 4 bytes stays), so little is kept when climbs are mostly done in the
 * planes known beyond: a flat seam without such planes has a portal for every third to fifth voxel
 * and six passes a portal. Cost: 26 differences a voxel in vectors, then one walk; besides the slab
 * 48 bytes a hill or open portal, 56 a pass. Threads take rows; the walk is serial. The same bits
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
/* Ids of portals have this bit, those of hills not. */
#define TL_RELIEF_PORTAL UINT32_C(0x80000000)

typedef struct TlBasin {
  int64_t at;    /* index of the peak in the whole volume; -1: a portal's or the user's marker's */
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
  int64_t known;      /* planes whose steps up are known: done or more */
  float inverse[27];  /* one over the distance to each neighbour */
  TlBasin *basin;     /* hills by id */
  size_t ids, basin_capacity;
  uint32_t *leads; /* by portal: the id it leads to; its own while it is open */
  size_t portals, leads_capacity;
  TlBasin *open; /* what came through the portals from first_open on */
  size_t first_open, open_capacity;
  TlSaddle *saddle; /* of two hills, a pair more than once until tl_relief_close */
  size_t saddles, saddle_capacity, compact_at;
  TlSaddle *pending; /* those with a portal, open when its slab was done */
  size_t pendings, pending_capacity;
  uint32_t *below;              /* ids of the last plane */
  uint32_t *portal;             /* by voxel of plane `known`: id of those who climb there */
  uint32_t *by_marker;          /* hash table of the markers met: their hills, 0 where it is free */
  size_t markers, marker_slots; /* slots: a power of two, at least twice the count; 0: none yet */
  struct TlSaddleTable *table;  /* of the slab in hand */
} TlRelief;

/* edge: of a voxel along x, y, z in any unit. Owner: the caller, by tl_relief_free. */
TlStatus tl_relief_open(TlRelief *relief, int64_t nx, int64_t ny, int64_t nz, const double edge[3]);
void tl_relief_free(TlRelief *relief);

/* Planes [relief->done, end), to climb in planes up to known >= end and >= relief->known.
 * field: planes [done - 1, known + 1) where they are there; clue: the same planes
 * (image/label_dip.h) or NULL: no grey.
 * markers: planes [done, known), or NULL; a marker's voxels are one basin whatever their heights,
 * voxels that reach one on their path up belong to it.
 * ids: of planes [done, known). Out: of [done, end) 0 in the void, else tl_relief_id tells the
 * hill after tl_relief_close. In: planes [done, relief->known) as the last call left them. */
TlStatus tl_relief_add(TlRelief *relief, int64_t end, int64_t known, const float *field,
                       const TlClue *clue, const uint32_t *markers, uint32_t *ids);
/* After the last slab: each pass once. */
TlStatus tl_relief_close(TlRelief *relief);

/* The hill of a voxel with this id (0: 0), or the open portal where it is not known yet. */
static inline uint32_t tl_relief_id(const TlRelief *r, uint32_t id) {
  while (id & TL_RELIEF_PORTAL && r->leads[id - TL_RELIEF_PORTAL] != id)
    id = r->leads[id - TL_RELIEF_PORTAL];
  return id;
}
/* < 0 when saddle a is higher than b: the strict order of passes; for qsort. */
int tl_saddle_order(const void *a, const void *b);

#endif
