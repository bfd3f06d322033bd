/* Water in the pores of a phantom (phantom/phantom.h): which part of each voxel it takes.
 *
 * TL_WATER_MENISCI: the wetting fluid of a drained packing. Gas is where a ball of radius r fits
 * between the grains; what is left is water: bridges at contacts and narrow pores, with menisci of
 * that radius (Hazlett 1995; Hilpert and Miller 2001), and a film TL_PHANTOM_FILM thick on free
 * grain surfaces. TL_WATER_FILMS: a coat of one thickness on all grains. TL_WATER_LEVEL: water
 * fills the pores of the lower layers, from z = 0 to a level plane. Radius and thickness are found
 * by bisection so that water takes the asked fraction of the pores. Distances are those between
 * voxel centres; a surface is spread over one voxel. The phantom has functions of its own, so
 * that the truth does not depend on the code that it judges. Unit: voxel.
 */
#ifndef TL_PHANTOM_PHANTOM_WATER_H
#define TL_PHANTOM_PHANTOM_WATER_H

#include "num/volume.h"

#define TL_PHANTOM_FILM 0.5

typedef enum TlPhantomWater {
  TL_WATER_NONE = 0,
  TL_WATER_MENISCI,
  TL_WATER_FILMS,
  TL_WATER_LEVEL
} TlPhantomWater;

/* labels: U32, 0 is pore; beyond cylinder_radius of the middle axis (0: no cylinder) there is no
 * pore. saturation: above 0 up to 1. part: new F32 volume, 0 to 1; owner: the caller. reached: the
 * saturation of part, within 0.01 of the asked one unless the film alone takes more. */
TlStatus tl_phantom_water(const TlVolume *labels, double cylinder_radius, TlPhantomWater water,
                          double saturation, TlVolume *part, double *reached);

#endif
