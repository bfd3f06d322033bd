/* The phantom's grey levels: blur, noise and faults of a scan (phantom/phantom.h has the model). The
 * phantom has filters of its own, so that the truth does not depend on the filters that it judges. */
#ifndef TL_PHANTOM_PHANTOM_GREY_H
#define TL_PHANTOM_PHANTOM_GREY_H

#include "base/random.h"
#include "num/volume.h"

#include <stdbool.h>

/* Poisson number of the given mean (exact: inversion below 10, Hormann's PTRS above). */
double tl_phantom_poisson(TlRandom *random, double mean);

/* Gaussian blur in place of an F32 volume, kernel cut at 4 sigma. Beyond the sides: periodic, or
 * edges repeated. */
TlStatus tl_phantom_blur(TlVolume *grey, double sigma, bool periodic);

typedef enum TlPhantomFilter {
  TL_FILTER_NONE = 0,
  TL_FILTER_HANN,
  TL_FILTER_SHEPP_LOGAN
} TlPhantomFilter;

/* What a scan does to the greys beside blur and white noise; all zero: nothing. Grey levels are
 * added, so that a stack with all of them differs from the clean one by their sum and the noise. */
typedef struct TlPhantomFaults {
  double
      noise_correlation_voxels; /* sigma of the Gaussian that smooths the noise; its sd is kept */
  double rings_grey; /* sd of the rings about the axis x, y = (n-1)/2, one number a radius in whole
                      * voxels, between them linear: half of the variance the same in all slices,
                      * half each slice's own */
  double
      cupping_grey;   /* the axis is darker by this than half the shorter side away from it (r^2) */
  double bias_z_grey; /* the last slice is brighter by this than the first (linear) */
  TlPhantomFilter noise_filter; /* white noise of the projections, filtered by the ramp with this
                                 * window and back-projected slice by slice; its sd is kept */
} TlPhantomFaults;

/* F32 grey -> U16 units with faults (NULL: none) and Poisson-Gaussian noise of this sd at the grain
 * level (0: none). */
TlStatus tl_phantom_noise(const TlVolume *grey, const TlPhantomFaults *faults, double noise_sd,
                          uint64_t seed, TlVolume *out);

/* Layers z to z + count - 1 of the stack that copies of grey side by side make (head: its size, a
 * multiple of grey's in x and y), with noise and faults of their own at every voxel; the noise is
 * never correlated. out: count layers of head's nx * ny. */
void tl_phantom_noise_tiled(const TlVolume *grey, const TlVolume *head,
                            const TlPhantomFaults *faults, double noise_sd, uint64_t seed,
                            int64_t z, int64_t count, uint16_t *out);

/* Opaque balls, 3 voxels across, at random places inside grains until they are this fraction of the
 * solid voxels; labels: where grains are; into the unblurred F32 greys. */
void tl_phantom_specks(TlVolume *grey, const TlVolume *labels, double fraction, double level,
                       uint64_t seed);

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
