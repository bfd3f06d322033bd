/* A voxel volume: the plain array that the imaging stages exchange.
 *
 * Order z, y, x with x fastest: voxel (x, y, z) is element (z*ny + y)*nx + x. Voxel centres lie at
 * integer index coordinates; the physical position of voxel (x,y,z) is (x*dx, y*dy, z*dz) metres
 * (the scan frame). voxel_m is 0 where the size is not known; stages that need it return an error
 * then. Masks are U8 volumes (0 / 1), labels U32 (0 = void). */
#ifndef TL_NUM_VOLUME_H
#define TL_NUM_VOLUME_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum TlVoxelType { TL_U8 = 0, TL_I8, TL_U16, TL_I16, TL_U32, TL_I32, TL_F32 } TlVoxelType;

typedef struct TlVolume {
  int64_t nx, ny, nz;
  double voxel_m[3];  /* dx, dy, dz in metres; 0 = unknown */
  double cylinder[3]; /* the specimen: x and y of its axis (along z), its radius, in voxels; radius
                         0: not known. Voxels outside are no specimen (image/roi.h, `auto`) */
  TlVoxelType type;
  union {
    void *data; /* owned, nx*ny*nz elements */
    uint8_t *u8;
    int8_t *i8;
    uint16_t *u16;
    int16_t *i16;
    uint32_t *u32;
    int32_t *i32;
    float *f32;
  };
  char *history; /* provenance JSON array (base/provenance.h), owned, may be NULL */
} TlVolume;

size_t tl_voxel_size(TlVoxelType type);      /* bytes of one voxel */
const char *tl_voxel_name(TlVoxelType type); /* "u8", "i16", "f32" ... */

/* Zeroed voxels. TL_EINPUT when a dimension is < 1. Release by tl_volume_free. */
TlStatus tl_volume_new(TlVolume *volume, TlVoxelType type, int64_t nx, int64_t ny, int64_t nz);
void tl_volume_free(TlVolume *volume);
/* What model is, without voxels and history. */
TlVolume tl_volume_head(const TlVolume *model);
/* A volume like model (size, voxel_m, cylinder; not history) of another type. */
TlStatus tl_volume_like(TlVolume *volume, const TlVolume *model, TlVoxelType type);
/* Grey values as float, whatever the type; out is a new F32 volume with the history copied.
 * Fails on NaN or infinity, naming the first such voxel. */
TlStatus tl_volume_to_f32(const TlVolume *volume, TlVolume *out);
/* The same of a part of a stack whose layers begin at first_z: such a voxel is named by its place
 * in the stack. */
TlStatus tl_volume_part_to_f32(const TlVolume *volume, int64_t first_z, TlVolume *out);

static inline int64_t tl_volume_count(const TlVolume *v) {
  return v->nx * v->ny * v->nz;
}
static inline int64_t tl_volume_at(const TlVolume *v, int64_t x, int64_t y, int64_t z) {
  return (z * v->ny + y) * v->nx + x;
}
/* One voxel as double (slow path for tests and reports). */
double tl_volume_value(const TlVolume *volume, int64_t index);

#endif
