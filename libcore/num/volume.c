#include "num/volume.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

static const struct {
  size_t size;
  const char *name;
} types[] = {{1, "u8"}, {1, "i8"}, {2, "u16"}, {2, "i16"}, {4, "u32"}, {4, "i32"}, {4, "f32"}};

size_t tl_voxel_size(TlVoxelType type) {
  return types[type].size;
}
const char *tl_voxel_name(TlVoxelType type) {
  return types[type].name;
}

TlStatus tl_volume_new(TlVolume *volume, TlVoxelType type, int64_t nx, int64_t ny, int64_t nz) {
  *volume = (TlVolume){.nx = nx, .ny = ny, .nz = nz, .type = type};
  int64_t count;
  if (nx < 1 || ny < 1 || nz < 1)
    return tl_fail(TL_EINPUT, "a volume of %lld x %lld x %lld voxels is empty", (long long)nx,
                   (long long)ny, (long long)nz);
  if (__builtin_mul_overflow(nx, ny, &count) || __builtin_mul_overflow(count, nz, &count))
    return tl_fail(TL_EINPUT, "a volume of %lld x %lld x %lld voxels is too large", (long long)nx,
                   (long long)ny, (long long)nz);
  volume->data = tl_calloc((size_t)count, tl_voxel_size(type));
  return volume->data ? TL_OK : TL_ENOMEM;
}

void tl_volume_free(TlVolume *volume) {
  tl_free(volume->data);
  tl_free(volume->history);
  *volume = (TlVolume){0};
}

TlVolume tl_volume_head(const TlVolume *model) {
  TlVolume head = *model;
  head.data = NULL;
  head.history = NULL;
  return head;
}

TlStatus tl_volume_like(TlVolume *volume, const TlVolume *model, TlVoxelType type) {
  TL_TRY(tl_volume_new(volume, type, model->nx, model->ny, model->nz));
  void *data = volume->data;
  *volume = tl_volume_head(model);
  volume->type = type;
  volume->data = data;
  return TL_OK;
}

double tl_volume_value(const TlVolume *volume, int64_t index) {
  switch (volume->type) {
  case TL_U8:
    return volume->u8[index];
  case TL_I8:
    return volume->i8[index];
  case TL_U16:
    return volume->u16[index];
  case TL_I16:
    return volume->i16[index];
  case TL_U32:
    return volume->u32[index];
  case TL_I32:
    return volume->i32[index];
  case TL_F32:
    return volume->f32[index];
  }
  assert(!"voxel type");
  return 0;
}

#define CONVERT(member)                                                                            \
  for (int64_t i = 0; i < count; i++) out->f32[i] = (float)volume->member[i];                      \
  break

static TlStatus copy_finite(const TlVolume *volume, int64_t first_z, float *out) {
  int64_t count = tl_volume_count(volume);
  for (int64_t i = 0; i < count; i++) {
    if (!isfinite(volume->f32[i]))
      return tl_fail(TL_EINPUT,
                     "voxel (%lld, %lld, %lld) is %s; mend the stack, or mask that region out",
                     (long long)(i % volume->nx), (long long)(i / volume->nx % volume->ny),
                     (long long)(first_z + i / volume->nx / volume->ny),
                     isnan(volume->f32[i]) ? "not a number (NaN)" : "infinite");
    out[i] = volume->f32[i];
  }
  return TL_OK;
}

static TlStatus convert(const TlVolume *volume, int64_t first_z, TlVolume *out) {
  int64_t count = tl_volume_count(volume);
  switch (volume->type) {
  case TL_U8:
    CONVERT(u8);
  case TL_I8:
    CONVERT(i8);
  case TL_U16:
    CONVERT(u16);
  case TL_I16:
    CONVERT(i16);
  case TL_U32:
    CONVERT(u32);
  case TL_I32:
    CONVERT(i32);
  case TL_F32:
    return copy_finite(volume, first_z, out->f32);
  }
  return TL_OK;
}

TlStatus tl_volume_to_f32(const TlVolume *volume, TlVolume *out) {
  return tl_volume_part_to_f32(volume, 0, out);
}

TlStatus tl_volume_part_to_f32(const TlVolume *volume, int64_t first_z, TlVolume *out) {
  TlStatus status = tl_volume_like(out, volume, TL_F32);
  if (status == TL_OK) status = convert(volume, first_z, out);
  if (status == TL_OK && volume->history && !(out->history = tl_strdup(volume->history)))
    status = TL_ENOMEM;
  if (status != TL_OK) tl_volume_free(out);
  return status;
}
