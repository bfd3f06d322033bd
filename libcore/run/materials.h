/* The materials of a study and the laws of their pairs, from sections materials, pairs and contact.
 *
 * Numbers: 0 is what grains.material names (else 'grain'), 1 is 'boundary', then the list of
 * materials, then one for each thing that has friction or restitution of its own in the old form
 * (terrain classes, walls, the top platen of a cell without platen_material, nets).
 *
 * The law of a pair:
 * - listed in pairs: what is given there; what is not, as if the pair were not listed;
 * - a material with itself: contact.*; of one that only terrain, planes, walls and platens are of,
 *   contact.boundary_*;
 * - one of the two is 'boundary' or of the old form: that one's values, whatever touches it. A net
 *   comes before the platen, the platen before walls and ground; of two nets the first says it;
 * - else the two laws that each has with itself, combined (tl_pair_combined).
 * Stiffness is penalty.boundary_* where one is a boundary, else that between grains. */
#ifndef TL_RUN_MATERIALS_H
#define TL_RUN_MATERIALS_H

#include "model/material.h"
#include "run/setup.h"

/* Numbers of materials; item: place in the study's list. */
int32_t tl_material_named(const TlSetup *setup, const char *name); /* -1: there is none */
int32_t tl_material_of_terrain(const TlSetup *setup);
int32_t tl_material_of_class(const TlSetup *setup, int64_t item);
int32_t tl_material_of_plane(const TlSetup *setup, int64_t item);
int32_t tl_material_of_wall(const TlSetup *setup, int64_t item);
int32_t tl_material_of_platen(const TlSetup *setup); /* the top one */
int32_t tl_material_of_net(const TlSetup *setup, int64_t item);
int32_t tl_material_of_body(const TlSetup *setup, int64_t item); /* without parts */
int32_t tl_material_of_part(const TlSetup *setup, int64_t item, int64_t part);
/* Of a grain with this avatar: its shape's, else that of grains. */
int32_t tl_material_of_avatar(const TlSetup *setup, int64_t avatar_id);

/* As it is moved: times penalty.mass_scale. */
double tl_material_density(const TlSetup *setup, int32_t material);
/* Of the grains' material on itself. */
double tl_grain_friction(const TlSetup *setup);

/* All materials and laws. To be released. */
TlStatus tl_setup_materials(const TlSetup *setup, TlMaterials *materials);
/* Can bodies of one of the two touch the other, in this study? */
bool tl_materials_meet(const TlSetup *setup, int32_t one, int32_t two);
/* Is one of them of bodies, and the other of terrain, planes, walls or a platen? */
bool tl_materials_bound(const TlSetup *setup, int32_t one, int32_t two);

/* The key of the study that this value of a pair is from, for messages: "pairs.2.adhesion_N",
 * "contact.boundary_rolling". */
const char *tl_pair_key_path(char path[96], const TlSetup *setup, const TlMaterials *materials,
                             int32_t one, int32_t two, const char *key);

#endif
