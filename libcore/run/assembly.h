/* The grains at the start: what the study's release section says, made into bodies.
 *
 * Each rank makes its own part; ids count the grains in catalog order (as-scanned), cell order
 * (lattice: x fastest, then y, then z) or the order of their ids in the earlier run (from-run; what
 * is cut away leaves no gap) and, like everything about the bodies, do not depend on the number of
 * ranks. Afterwards bodies lie on arbitrary ranks: cut and migrate (dist/dist.h).
 */
#ifndef TL_RUN_ASSEMBLY_H
#define TL_RUN_ASSEMBLY_H

#include "run/selection.h"

typedef struct TlPlace {
  TlComm *comm; /* borrowed, as all */
  const TlSetup *setup;
  const TlStudy *study;
  const TlSelection *selection;
  const TlTerrain *terrain; /* NULL: none */
  const TlStudyShapes *shapes;
  const TlBoundary *boundaries; /* where they are at rest */
  int boundary_count;
} TlPlace;

/* Collective; adds owned bodies. *lifted_m: how far the assembly was lifted to clear the ground.
 * Errors at the study's key: no terrain below, a grain behind a plane, no cell left. */
TlStatus tl_assembly_make(const TlPlace *place, TlBodies *bodies, double *lifted_m);

/* How far up a sphere must go to stand clear of the ground by gap (0 when it does); false: no
 * terrain below its centre. */
bool tl_ground_lift(const TlTerrain *terrain, TlVec3 centre, double radius_m, double gap_m,
                    double *lift_m);

#endif
