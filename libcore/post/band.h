/* Grain rotations between two frames, and the shear band that large rotations or strains show (Tan
 * 2022 section 4.6.3).
 *
 * Rotation of a grain: the angle of the turn that takes its first attitude to its second, 0 to pi
 * (turns beyond pi fold back: frames must not lie too far apart).
 * Band: of the grains whose value (a rotation, a local deviatoric strain of packing_strain.h) lies
 * above the mean plus two standard deviations, a plane by total least squares: its normal is the
 * least eigenvector of the covariance of their centres. Orthogonal matching: while the worst
 * |n.(x - mean)| exceeds the tolerance that grain is dropped and the plane fitted again, so that
 * grains that turn far from the band (at the platens) do not tilt it. Refused (found = false) when
 * fewer than TL_BAND_LEAST grains are left, or when those left lie along a line.
 */
#ifndef TL_POST_BAND_H
#define TL_POST_BAND_H

#include "post/packing.h"

enum { TL_BAND_LEAST = 8 };

/* Angle [grain_count of now] against the grain of the same id in before; NaN: it was not there. */
void tl_band_rotations(const TlPacking *before, const TlPacking *now, double *angle_rad);

typedef struct TlBandOptions {
  double sigmas;        /* above the mean; 0: 2 */
  double tolerance_m;   /* half of the thickness allowed; 0: 7.5 D50, the dissertation's 15 D50 */
  double dilatancy_deg; /* psi at the peak, for Roscoe's angle; NaN: not known */
} TlBandOptions;

typedef struct TlBand {
  bool found;
  int64_t chosen, kept;              /* grains above the threshold; of those in the plane */
  double mean, sd;                   /* of the values, rad for rotations; NaN: chosen by hand */
  double d50_m;                      /* median diameter of the grains, by number */
  TlVec3 point_m, normal;            /* the plane; normal with z >= 0 */
  double inclination_deg;            /* of the plane to the horizontal (across gravity), 0 to 90 */
  double thickness_m, thickness_d50; /* 2 sqrt(3) times the rms distance to the plane: that of an
                                        even layer */
  double roscoe_deg;                 /* 45 + psi/2 (Eq. 4.24) */
} TlBand;

/* value[grain_count], NaN: left out. in: the grains of the band, [grain_count], 1 for those kept;
 * may be NULL. */
TlStatus tl_band_find(const TlPacking *packing, const double *value, const TlBandOptions *options,
                      TlBand *band, unsigned char *in);
/* The same for grains that were chosen before: in[i] = 1. */
TlStatus tl_band_match(const TlPacking *packing, const TlBandOptions *options, TlBand *band,
                       unsigned char *in);
/* in[i]: the value lies above the mean plus sigmas (0: 2) standard deviations. */
void tl_band_choose(const double *value, int64_t count, double sigmas, unsigned char *in,
                    TlBand *band);

#endif
