/* The grain shapes of the phantom: implicit functions of irregular grains.
 *
 * A grain is one to three lobes, each a convex body with rounded edges (smooth maximum of up to
 * TL_PHANTOM_PLANES half spaces whose distances follow an ellipsoid and scatter about it), joined
 * by a smooth minimum, with at most one dent (a ball taken away). phi < 0 inside, in voxels, in
 * the grain's body frame with its centroid near the origin. Every blend is a convex combination
 * of unit gradients, so |grad phi| <= 1 everywhere: phi / 1 is a safe bound for culling.
 *
 * Roughness, put on after packing, adds plane waves to phi: no point moves by more than
 * bump (2.7 times its rms), and the slope grows to at most 1 + slope (below).
 */
#ifndef TL_PHANTOM_PHANTOM_SHAPE_H
#define TL_PHANTOM_PHANTOM_SHAPE_H

#include "base/random.h"
#include "base/status.h"
#include "num/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  TL_PHANTOM_PLANES = 20,
  TL_PHANTOM_LOBES = 3,
  TL_PHANTOM_BATCH = 64,
  TL_PHANTOM_NODES = 72,
  TL_PHANTOM_WAVES = 4
};

typedef enum TlGrainKind {
  TL_GRAIN_ROUNDED = 0,
  TL_GRAIN_ANGULAR,
  TL_GRAIN_ELONGATED, /* longest to middle axis up to 2.5 */
  TL_GRAIN_CONCAVE,   /* lobes or a dent */
  TL_GRAIN_FACETED    /* a crystal: 9 to 12 flat faces, sharp edges */
} TlGrainKind;
enum { TL_GRAIN_KINDS = 5 };

const char *tl_grain_kind_name(TlGrainKind kind);

typedef struct TlPhantomLobe {
  int planes;
  float nx[TL_PHANTOM_PLANES], ny[TL_PHANTOM_PLANES], nz[TL_PHANTOM_PLANES];
  float d[TL_PHANTOM_PLANES]; /* n.p - d */
  float edge;                 /* width of the smooth maximum */
} TlPhantomLobe;

typedef struct TlPhantomShape {
  TlGrainKind kind;
  int lobes;
  TlPhantomLobe lobe[TL_PHANTOM_LOBES];
  float blend; /* width of the smooth minimum between lobes */
  bool dented;
  float dent[3], dent_radius;
  double diameter; /* of the sphere of equal volume, voxels */
  double radius;   /* no point with phi <= 0 is farther from the origin */
  int node_count;  /* points on phi = 0, spread over the directions */
  bool rough;
  float wave_x[TL_PHANTOM_WAVES], wave_y[TL_PHANTOM_WAVES],
      wave_z[TL_PHANTOM_WAVES];                    /* periods a voxel */
  float wave_phase[TL_PHANTOM_WAVES], wave_height; /* of each, voxels */
  double slope, bump; /* of the waves together, at most; 0 when smooth */
  float node_x[TL_PHANTOM_NODES], node_y[TL_PHANTOM_NODES], node_z[TL_PHANTOM_NODES];
} TlPhantomShape;

/* A shape of this kind and equal-volume diameter (voxels), from the stream's next numbers. Its
 * volume is that of a 40^3 sampling (about 0.3%); its centroid is the origin to about 0.02 d. */
void tl_phantom_shape_make(TlPhantomShape *shape, TlGrainKind kind, double diameter,
                           TlRandom *random);

/* Plane waves of this wave length (voxels) and random directions on the surface, together of this
 * rms height. The nodes and the diameter stay those of the smooth shape; radius grows. */
void tl_phantom_shape_roughen(TlPhantomShape *shape, double rms, double length, TlRandom *random);

/* phi at count <= TL_PHANTOM_BATCH body points. */
void tl_phantom_shape_phi(const TlPhantomShape *shape, int count, const float *x, const float *y,
                          const float *z, float *phi);

/* Unit normal at a body point by central differences. */
TlVec3 tl_phantom_shape_normal(const TlPhantomShape *shape, TlVec3 p);

/* Packing of the phantom's grains: from random places, grown to full size while overlaps are
 * pushed apart (position-based, on the shapes themselves: surface nodes of one in phi of the
 * other, both ways, rigid translation and rotation), which ends in a random dense packing.
 *
 * Box: [0, size) in voxels, periodic in z always and in x, y unless a cylinder is given; then the
 * nodes stay within cylinder_radius of the axis through (size.x/2, size.y/2).
 * Jacobi sweeps read the old state only and add pair by pair in a fixed order: the same bits for
 * any thread count. Cost: about 0.1 ms a grain a hundred sweeps.
 */

typedef struct TlPhantomPose {
  TlVec3 position; /* voxels */
  TlQuat rotation; /* body -> box */
} TlPhantomPose;

typedef struct TlPhantomBox {
  double size[3];
  double cylinder_radius; /* 0: periodic in x and y */
} TlPhantomBox;

/* poses: count, out. *deepest: largest overlap left, voxels (what the voxeliser then cuts). */
TlStatus tl_phantom_pack(const TlPhantomBox *box, const TlPhantomShape *shapes, int64_t count,
                         uint64_t seed, TlPhantomPose *poses, double *deepest);

#endif
