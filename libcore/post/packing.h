/* A packing: the grains of one frame and the contacts of its step as arrays, and the table of its
 * measures in a region (docs/reference/results.md has the formulas).
 *
 * Signs: stress compression positive; a contact's force acts on its grain a, its normal points to
 * a. A measure is one file packing_NAME.c and one line in packing.c. Spheres of nets and platens
 * are not grains: their forces on a grain count as those of a boundary, as do the forces of a grain
 * that left the run. Sums run in the order of the arrays: the same bits every time. SI, world
 * frame. */
#ifndef TL_POST_PACKING_H
#define TL_POST_PACKING_H

#include "io/columns.h"
#include "post/figures.h"
#include "post/region.h"
#include "store/results.h"

typedef struct TlPackGrain {
  int64_t id;
  TlVec3 centre_m, velocity_m_s;
  TlVec3 long_axis; /* unit, sign without meaning; zero: none (packing_fabric.h) */
  double volume_m3, mass_kg;
  double diameter_m; /* of the sphere of equal volume */
  bool fixed;        /* does not move: no balance of forces */
  /* for the fraction of it in a region; NULL: it counts whole where its centre is */
  const TlAvatar *avatar;
  double scale;
  TlQuat rotation; /* its frame to the world */
  /* Of a part of a rigid body of several grains: forces between them are unknown, so balance and
   * stress are the body's. 0: a body of its own; else 1 + index of the grain that stands for it. */
  int64_t part_of;
  TlVec3 arm_m;    /* from the centre of its body to its own */
  double whole_m3; /* volume of its body */
} TlPackGrain;

static inline int64_t tl_pack_body(const TlPackGrain *grain, int64_t index) {
  return grain[index].part_of ? grain[index].part_of - 1 : index;
}
static inline TlVec3 tl_pack_body_centre(const TlPackGrain *grain) {
  return tl_sub(grain->centre_m, grain->arm_m);
}

typedef struct TlPackContact {
  int64_t a, b; /* indices of grains; b < 0: boundary, -1 - number of it */
  TlVec3 point_m, normal, force_N;
  double friction; /* coefficient of the step */
} TlPackContact;

/* All contact points between two grains, or a grain and a boundary, as one. */
typedef struct TlPackPair {
  int64_t a, b;
  TlVec3 normal;    /* unit: that of the points by their normal forces */
  TlVec3 force_N;   /* sum */
  double normal_N;  /* sum of the points' normal forces */
  double tangent_N; /* sum of the sizes of the points' tangential forces */
  double friction;
} TlPackPair;

typedef struct TlPacking {
  int64_t grain_count, contact_count, pair_count;
  TlPackGrain *grain;            /* by id, owned */
  TlPackContact *contact;        /* owned */
  TlPackPair *pair;              /* in the order of their first contact, owned */
  const struct TlPacking *first; /* of the run, for rotations; borrowed, NULL: none */
  double density_kg_m3;
  TlVec3 gravity_m_s2;
} TlPacking;

/* From a frame and its contacts; borrows the scene's avatars. TL_EINPUT: an avatar is missing. */
TlStatus tl_packing_make(const TlScene *scene, const TlFrame *frame,
                         const TlFrameContacts *contacts, TlPacking *packing);
/* Fill pair from contact, whose pairs lie side by side. */
TlStatus tl_packing_pairs(TlPacking *packing);
void tl_packing_free(TlPacking *packing);

/* The least upright box about the grains' nodes (centres where a grain has no avatar). */
TlRegion tl_packing_bounds(const TlPacking *packing);

static inline bool tl_packing_in(const TlPacking *p, const TlRegion *region, int64_t grain) {
  return tl_region_depth(region, p->grain[grain].centre_m) >= 0;
}

/* Of a body, by the index of the grain that stands for it. */
static inline bool tl_packing_body_in(const TlPacking *p, const TlRegion *region, int64_t body) {
  return tl_region_depth(region, tl_pack_body_centre(&p->grain[body])) >= 0;
}

/* ---- the table ---- */

/* The measures: each is one file packing_NAME.c (or another of post/) with its columns, their units
 * and meaning, and one row here. packing.csv and its reference follow, in this order. */
#define TL_PACK_MEASURES(M)                                                                        \
  M(void)                                                                                          \
  M(stress)                                                                                        \
  M(coordination)                                                                                  \
  M(fabric)                                                                                        \
  M(forces)                                                                                        \
  M(chains)                                                                                        \
  M(flow)                                                                                          \
  M(balance)                                                                                       \
  M(band)                                                                                          \
  M(strain)

typedef struct TlPackMeasure {
  size_t size; /* of the row that is measured and that the columns read */
  TlStatus (*measure)(const TlPacking *packing, const TlRegion *region, void *row); /* zeroed */
  const TlColumn *column;
  int count;
} TlPackMeasure;
/* The definition of tl_pack_NAME at the end of its file, from its function `measure`, its type Row
 * and its list of columns (io/columns.h). NaN: not defined there. */
#define TL_PACK_MEASURE(name, LIST)                                                                \
  LIST(TL_COLUMN_GET)                                                                              \
  static const TlColumn columns[] = {LIST(TL_COLUMN_ROW)};                                         \
  const TlPackMeasure tl_pack_##name = {sizeof(Row), measure, columns,                             \
                                        sizeof columns / sizeof *columns}

#define M(name) extern const TlPackMeasure tl_pack_##name;
TL_PACK_MEASURES(M)
#undef M

/* All of them; NULL: no more. */
const TlPackMeasure *tl_pack_measure(int number);
/* values[measure->count], by the columns. */
TlStatus tl_pack_values(const TlPackMeasure *measure, const TlPacking *packing,
                        const TlRegion *region, double *values);
/* packing.csv as a section of Markdown for docs/reference/columns.md, fresh memory; NULL: none. */
char *tl_pack_reference(void);

/* ---- a run ---- */

typedef struct TlPackingOptions {
  const TlRegion *region; /* NULL: tl_packing_bounds of each frame, with the specimen's volume of
                             the run's triaxial.csv if it has one */
  bool plot;
  int64_t from_frame; /* rotations and strains are counted from it; < 0: from the last one that is
                         not after from_s, and if that is NaN from the first */
  double from_s;
  double friction_deg, dilatancy_deg; /* peak angles of the test, for what theories make of the
                                         band's inclination; NaN: not known */
} TlPackingOptions;

/* A frame with its packing, both owned by the caller. TL_EINPUT: it has no contacts. */
TlStatus tl_packing_read(const char *run, const TlScene *scene, int64_t index, TlFrame *frame,
                         TlPacking *packing);
/* TL_EINPUT when the run's last frame has no contacts. */
TlStatus tl_packing_check(const char *run);
/* packing.csv (a line a frame) and, of the last frame, grain_stress.csv, fabric.csv, forces.csv,
 * chains.csv, chains.vtp, the tables of the band (packing_write.h) and with plot packing.png and fabric.png into a
 * folder, which is made. figures: the band's are added. TL_EINPUT: frames without contacts, no
 * frame from_frame. */
TlStatus tl_packing_run(const char *run, const TlScene *scene, const TlPackingOptions *options,
                        const char *folder, bool overwrite, TlFigures *figures);

#endif
