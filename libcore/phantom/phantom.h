/* A synthetic CT stack of irregular, touching grains whose truth is known.
 *
 * Shapes (phantom_shape.h: rounded, angular, elongated, concave, faceted, rough if asked; diameters
 * lognormal by mass about d50, cut at +-2 sd, which is a ratio of 1:5) are packed at random
 * (tl_phantom_pack). Each point of space belongs to the grain of the least phi there, if phi <
 * offset: grains touch over small patches cut at their mid-surface and never overlap; offset (a
 * fraction of a voxel) is what gives the asked solid fraction exactly. Grains at the stack's border
 * are cut by it. The grey picture: void 90, grains 160 +- 6 each, a few opaque ones 225 +- 6, mixed
 * by the volume that each grain has in a voxel (4^3 sub-samples of the shapes where a surface is
 * near), blurred by a Gaussian (0.7 voxel), with Poisson-Gaussian noise of variance sd^2 (g/160 +
 * 1)/2 at grey level g; stored as 200 x grey, uint16. What else a scan has is optional
 * (TlPhantomFaults): correlated noise, that of a reconstruction, rings, cupping, a bias along z;
 * and what a specimen may have: opaque specks inside grains, water in the pores (tl_phantom_water).
 * The clean stack has the specks, the water and the blur, and none of the rest. Truth: volume,
 * centroid, inertia are those of the same sub-samples (of the exact shapes, not of the label
 * voxels): a sphere of 28 voxels is right to 0.01% in volume. Index coordinates, voxel centres at
 * integers; voxel space (unit: voxel). Volumes are z, y, x with x fastest. The surface of each
 * whole grain, contact faces included, as points (phantom_surface.h). Same options, same bytes, for
 * any thread count. Cost: 128^3 in about 3 s on two cores, then linear in the volume; 24 bytes a
 * voxel.
 */
#ifndef TL_PHANTOM_PHANTOM_H
#define TL_PHANTOM_PHANTOM_H

#include "base/status.h"
#include "num/vec.h"
#include "num/volume.h"
#include "phantom/phantom_grey.h"
#include "phantom/phantom_shape.h"
#include "phantom/phantom_surface.h"

#include <stdbool.h>
#include <stdint.h>

#define TL_PHANTOM_VOID 90.0
#define TL_PHANTOM_SOLID 160.0
#define TL_PHANTOM_OPAQUE 225.0
#define TL_PHANTOM_WALL 125.0       /* the container of a disc specimen */
#define TL_PHANTOM_WATER 122.0      /* 46% of the way from void to grain */
#define TL_PHANTOM_UNITS_A_GREY 200 /* uint16 value of one grey level */

typedef enum TlPhantomShapes { /* all of one kind, or a mixture of the first four */
                               TL_SHAPES_ROUNDED = TL_GRAIN_ROUNDED,
                               TL_SHAPES_ANGULAR,
                               TL_SHAPES_ELONGATED,
                               TL_SHAPES_CONCAVE,
                               TL_SHAPES_FACETED,
                               TL_SHAPES_MIXED
} TlPhantomShapes;

typedef struct TlPhantomOptions {
  int64_t nx, ny, nz;
  double d50_voxels; /* by mass */
  double size_ratio; /* coarsest over finest diameter, 1 to 5 */
  TlPhantomShapes shapes;
  double roughness_voxels;        /* rms height of waves on the grains, 0 to 1; 0: smooth */
  double roughness_length_voxels; /* of the waves; >= 4 and >= 9 roughness_voxels (no overhangs) */
  double solid_fraction;          /* of the box, or of the cylinder of a disc */
  double noise_sd;                /* grey levels at the grain level; 0: none */
  double blur_sigma;              /* voxels; 0: none */
  double grey_sd;                 /* between grains */
  double opaque;                  /* fraction of the grains */
  double specks; /* fraction of the solid volume: opaque balls 3 voxels across in grains */
  TlPhantomWater water;
  double water_saturation; /* fraction of the pores, above 0 to 1 */
  double water_grey;
  TlPhantomFaults faults;
  double voxel_m;    /* written into the volumes; 0: unknown */
  bool periodic;     /* the blur continues at the opposite side, as the packing does: to be tiled */
  bool disc;         /* grains in a cylinder (axis z) with a wall, 0 outside the scan's circle */
  bool keep_clean;   /* also the blurred stack without noise */
  bool keep_surface; /* also the surface's points */
  uint64_t seed;
} TlPhantomOptions;

/* 128^3, d50 28, sizes 1:5, mixed smooth shapes, solid fraction 0.60, noise 6, blur 0.7, grey 6, 3%
 * opaque, no specks, water or faults, 10 um, seed 1. */
TlPhantomOptions tl_phantom_defaults(void);

typedef struct TlPhantomGrain {
  uint32_t label;
  int64_t body; /* periodic images of one shape share it */
  int cell[3];  /* this image lies so many periods along x, y, z from the shape: -1, 0 or 1 */
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
  TlVolume stack;          /* U16 */
  TlVolume clean;          /* U16, only with keep_clean */
  TlVolume labels;         /* U32: the grain with the most of a voxel that is at least half solid */
  TlVolume ideal;          /* F32: the blurred greys that stack and clean are stored from */
  TlPhantomPoint *surface; /* only with keep_surface: whole grains, 0.5 a square voxel, by label */
  size_t surface_count;
  int64_t grain_count;
  TlPhantomGrain *grains;  /* grains[i].label = i + 1 */
  double solid_fraction;   /* by the sub-samples */
  double offset;           /* voxels, see above */
  double water_saturation; /* 0: dry */
  double deepest_cut;      /* largest overlap of the packed shapes that was cut, voxels */
  int64_t contacts;        /* pairs of labels that are face neighbours somewhere */
  double cylinder_radius;  /* of the disc's inside, voxels; 0: no disc */
} TlPhantom;

/* Another scan of the same specimen: its own noise sd, and noise that shares no number with that of
 * another `scan` (0 is the one in phantom->stack); the faults are the same. out: new U16. */
TlStatus tl_phantom_scan(const TlPhantom *phantom, const TlPhantomOptions *options, double noise_sd,
                         int scan, TlVolume *out);

/* A stack thinner than 3.5 d50 is cut from a packing of that size. TL_EUSAGE when a disc is
 * narrower than 3.9 d50 or an option is out of range. */
TlStatus tl_phantom_make(const TlPhantomOptions *options, TlPhantom *phantom);
void tl_phantom_free(TlPhantom *phantom);

/* A stack larger than memory: tiles[0] x tiles[1] x tiles[2] copies of a phantom made with
 * options->periodic. Its packing continues over the sides, so grains there are whole and each copy
 * has the same grains; noise and faults are those of the large stack. Layers z to z + count - 1 as
 * U16 into out. */
void tl_phantom_tile(const TlPhantom *phantom, const TlPhantomOptions *options,
                     const int64_t tiles[3], int64_t z, int64_t count, uint16_t *out);
/* How many grains that stack holds, those cut by its border included. */
TlStatus tl_phantom_tile_grains(const TlPhantom *phantom, const int64_t tiles[3], int64_t *grains);

/* The grain table as CSV: label, body (the packed shape it is an image of), border, grey, volume,
 * cz, cy, cx (voxels), Izz, Iyy, Ixx, Iyx, Izx, Izy (voxels^5, elements of the tensor), I1 <= I2 <=
 * I3, kind, opaque. */
TlStatus tl_phantom_write_truth(const TlPhantom *phantom, const char *path, bool overwrite);
/* The surface as little-endian float32 records: label, z, y, x, nz, ny, nx. */
TlStatus tl_phantom_write_surface(const TlPhantom *phantom, const char *path, bool overwrite);

#endif
