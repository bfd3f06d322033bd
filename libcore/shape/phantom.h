/* A synthetic CT stack of irregular, touching grains whose truth is known.
 *
 * Shapes (phantom_shape.h: rounded, angular, elongated, concave; diameters 1:5 about d50, a
 * lognormal by mass) are packed at random (phantom_pack.h). Each point of space belongs to the
 * grain of the least phi there, if phi < offset: grains touch over small patches cut at their
 * mid-surface and never overlap; offset (a fraction of a voxel) is what gives the asked solid
 * fraction exactly. Grains at the stack's border are cut by it.
 * The grey picture: void 90, grains 160 +- 6 each, a few opaque ones 225 +- 6, mixed by the volume
 * that each grain has in a voxel (4^3 sub-samples of the shapes where a surface is near), blurred
 * by a Gaussian (0.7 voxel), with Poisson-Gaussian noise of variance sd^2 (g/160 + 1)/2 at grey
 * level g; stored as 200 x grey, uint16.
 * Truth: volume, centroid, inertia are those of the same sub-samples (of the exact shapes, not of
 * the label voxels): a sphere of 28 voxels is right to 0.01% in volume. Index coordinates, voxel
 * centres at integers; voxel space (unit: voxel). Volumes are z, y, x with x fastest.
 * Same options, same bytes, for any thread count. Cost: 128^3 in about 3 s on two cores, then
 * linear in the volume; 24 bytes a voxel.
 */
#ifndef TL_SHAPE_PHANTOM_H
#define TL_SHAPE_PHANTOM_H

#include "base/status.h"
#include "num/vec.h"
#include "num/volume.h"
#include "shape/phantom_shape.h"

#include <stdbool.h>
#include <stdint.h>

#define TL_PHANTOM_VOID 90.0
#define TL_PHANTOM_SOLID 160.0
#define TL_PHANTOM_OPAQUE 225.0
#define TL_PHANTOM_WALL 125.0       /* the container of a disc specimen */
#define TL_PHANTOM_UNITS_A_GREY 200 /* uint16 value of one grey level */

typedef struct TlPhantomOptions {
  int64_t nx, ny, nz;
  double d50_voxels;     /* by mass */
  double solid_fraction; /* of the box, or of the cylinder of a disc */
  double noise_sd;       /* grey levels at the grain level; 0: none */
  double blur_sigma;     /* voxels; 0: none */
  double grey_sd;        /* between grains */
  double opaque;         /* fraction of the grains */
  double voxel_m;        /* written into the volumes; 0: unknown */
  bool disc;       /* grains in a cylinder (axis z) with a wall, 0 outside the scan's circle */
  bool keep_clean; /* also the blurred stack without noise */
  uint64_t seed;
} TlPhantomOptions;

/* 128^3, d50 28, solid fraction 0.60, noise 6, blur 0.7, grey 6, 3% opaque, 10 um, seed 1. */
TlPhantomOptions tl_phantom_defaults(void);

typedef struct TlPhantomGrain {
  uint32_t label;
  TlGrainKind kind;
  bool border; /* reaches the outermost voxels: cut by the box */
  bool opaque;
  double grey;
  double
      whole_diameter;  /* of equal volume, of the uncut shape before offset and contacts, voxels */
  double volume;       /* inside the box, voxels */
  TlVec3 centroid;     /* index coordinates */
  TlSym3 inertia;      /* about the centroid, unit density, voxel^5: xx = sum (y^2 + z^2) */
  double principal[3]; /* ascending */
} TlPhantomGrain;

typedef struct TlPhantom {
  TlVolume stack;  /* U16 */
  TlVolume clean;  /* U16, only with keep_clean */
  TlVolume labels; /* U32: the grain with the most of a voxel that is at least half solid */
  int64_t grain_count;
  TlPhantomGrain *grains; /* grains[i].label = i + 1 */
  double solid_fraction;  /* by the sub-samples */
  double offset;          /* voxels, see above */
  double deepest_cut;     /* largest overlap of the packed shapes that was cut, voxels */
  int64_t contacts;       /* pairs of labels that are face neighbours somewhere */
  double cylinder_radius; /* of the disc's inside, voxels; 0: no disc */
} TlPhantom;

/* A stack thinner than 3.5 d50 is cut from a packing of that size. TL_EUSAGE when a disc is
 * narrower than 3.9 d50 or an option is out of range. */
TlStatus tl_phantom_make(const TlPhantomOptions *options, TlPhantom *phantom);
void tl_phantom_free(TlPhantom *phantom);

/* The grain table as CSV: label, kind, border, opaque, volume_voxels, x, y, z (voxels),
 * ixx..iyz and i1..i3 (voxels^5). */
TlStatus tl_phantom_write_truth(const TlPhantom *phantom, const char *path, bool overwrite);

#endif
