/* Materials for bodies that have a density of their own: "rock, 2650 kg/m3" is like rock, with all its
 * pairs, but for its density. */
#ifndef TL_RUN_DENSITIES_H
#define TL_RUN_DENSITIES_H

#include "run/setup.h"

/* The body gets a material of this density, else like its own, which is listed if it was not yet.
 * TL_EINPUT: it has parts, or the name would be too long. */
TlStatus tl_body_set_density(TlSetup *setup, TlBodySetup *body, double density_kg_m3);
/* Is this the name of the material, or of one made from it above? */
bool tl_material_has_density_of(const char *name, const char *material);

/* Warns if the density of the material, of which so many blocks are, is not that of rock (shape/rock.h). */
void tl_density_warn(const TlMaterial *material, int64_t blocks);

#endif
