/* The phantom's picture: blur and noise (shape/phantom.h says the model). Own tools of the phantom,
 * so that the yardstick does not lean on the filters it judges. */
#ifndef TL_SHAPE_PHANTOM_GREY_H
#define TL_SHAPE_PHANTOM_GREY_H

#include "base/random.h"
#include "num/volume.h"

/* Poisson number of the given mean (exact: inversion below 10, Hormann's PTRS above). */
double tl_phantom_poisson(TlRandom *random, double mean);

/* Gaussian blur in place of an F32 volume, kernel cut at 4 sigma, edges repeated. */
TlStatus tl_phantom_blur(TlVolume *grey, double sigma);

/* F32 grey -> U16 units with Poisson-Gaussian noise of this sd at the grain level (0: none). */
TlStatus tl_phantom_noise(const TlVolume *grey, double noise_sd, uint64_t seed, TlVolume *out);

#endif
