/* The materials of a study, and the laws of their pairs, from the keys that it has for them today:
 * contact (grains, and their boundaries), terrain.classes, walls, the platen of a triaxial cell,
 * nets.
 *
 * Which law a pair has is said by one of the two: a net's sphere before all others (of two nets the
 * first in the list), then the platen, then walls and ground, then grains. */
#ifndef TL_RUN_MATERIALS_H
#define TL_RUN_MATERIALS_H

#include "model/material.h"
#include "run/setup.h"

/* Numbers of materials; item: place in the study's list. */
int32_t tl_material_of_class(const TlSetup *setup, int64_t item);
int32_t tl_material_of_wall(const TlSetup *setup, int64_t item);
int32_t tl_material_of_platen(const TlSetup *setup);
int32_t tl_material_of_net(const TlSetup *setup, int64_t item);

/* All laws; stiffness by config, which tl_setup_solver made. To be released. */
TlStatus tl_setup_materials(const TlSetup *setup, const TlSolverConfig *config,
                            TlMaterials *materials);

#endif
