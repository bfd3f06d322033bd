/* Colours of the pictures, linear RGB 0..1. */
#ifndef TL_POST_RENDER_COLOUR_H
#define TL_POST_RENDER_COLOUR_H

#include "num/vec.h"

#include <stdint.h>

/* A perceptual map (dark violet - red - yellow), t clamped to 0..1. */
TlVec3 tl_colour_map(double t);
/* A colour for an id: bright, neighbours differ. */
TlVec3 tl_colour_of_id(uint64_t id);
/* Ground by slope and part of its height (0 lowest, 1 highest). */
TlVec3 tl_colour_of_ground(double slope_deg, double part);

/* Nets and membranes, spheres and bonds. */
TlVec3 tl_colour_of_net(void);

TlVec3 tl_colour_from_srgb(double r, double g, double b); /* 0..255 */
/* Linear -> display bytes, with a soft shoulder for what is too bright. */
void tl_colour_to_bytes(TlVec3 linear, uint8_t rgb[3]);

#endif
