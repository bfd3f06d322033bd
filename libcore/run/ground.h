/* The terrain's classes as a surface of the solver: its material by place. */
#ifndef TL_RUN_GROUND_H
#define TL_RUN_GROUND_H

#include "model/boundary.h"
#include "run/setup.h"

typedef struct TlGround {
  TlSurface surface;
  int32_t *class_id;       /* ascending, owned */
  int32_t *class_material; /* owned */
} TlGround;

/* A study without classes asks for none: the terrain then has one surface. TL_EINPUT names the
 * study and a class that the terrain has and the study lacks, or has twice. */
TlStatus tl_ground_open(TlGround *ground, const TlSetup *setup, const TlStudy *study,
                        const TlTerrain *terrain);
void tl_ground_free(TlGround *ground);

#endif
