/* The bodies a study places one by one (section bodies). */
#ifndef TL_RUN_BODIES_H
#define TL_RUN_BODIES_H

#include "run/assembly.h"
#include "run/avatars.h"
#include "shape/apart.h"

/* How many ids they have: one a body, or one a part of it. */
int64_t tl_placed_count(const TlSetup *setup);
/* Collective; adds this rank's part as owned bodies with ids first_id, ... in the study's order.
 * Errors at the study's key: a grain the catalog does not have. */
TlStatus tl_placed_make(const TlPlace *place, int64_t first_id, TlBodies *bodies);

/* Of body i of the study, which is of a shape of the list: radius of the sphere about its centre that
 * holds it, and volume. */
void tl_placed_size(const TlPlace *place, int64_t i, double *radius_m, double *volume_m3);

/* The study's bodies where they are put, for grains to keep clear of: the part that each collider is,
 * and the number of its body in the study's list. Without those that an apparatus adds. */
typedef struct TlObstacles {
  TlAvatarCache avatars;
  TlPlaced *part;
  int64_t *body;
  int64_t count;
} TlObstacles;

/* For one rank. obstacles: to be closed, also after a failure; it must not move. */
TlStatus tl_obstacles_open(TlObstacles *obstacles, const TlPlace *place);
void tl_obstacles_close(TlObstacles *obstacles);

/* L = R (density I s^5) R^T spin, world, of a body of this row with this rotation and scale. */
TlVec3 tl_placed_momentum(TlQuat rotation, double scale, const TlGrainRow *row,
                          double density_kg_m3, TlVec3 spin);

#endif
