#include "image/source.h"

#include <assert.h>
#include <math.h>

#define COPY(member)                                                                               \
  for (int64_t i = 0; i < count; i++) grey[i] = (float)v->member[first + i];                       \
  break

static TlStatus read_volume(const void *context, int64_t z, int64_t n, float *grey) {
  const TlVolume *v = context;
  int64_t first = z * v->ny * v->nx, count = n * v->ny * v->nx;
  switch (v->type) {
  case TL_U8:
    COPY(u8);
  case TL_I8:
    COPY(i8);
  case TL_U16:
    COPY(u16);
  case TL_I16:
    COPY(i16);
  case TL_U32:
    COPY(u32);
  case TL_I32:
    COPY(i32);
  case TL_F32:
    COPY(f32);
  }
  return TL_OK;
}

TlSource tl_source_volume(const TlVolume *v) {
  return (TlSource){.nx = v->nx,
                    .ny = v->ny,
                    .nz = v->nz,
                    .voxel_m = {v->voxel_m[0], v->voxel_m[1], v->voxel_m[2]},
                    .read = read_volume,
                    .context = v};
}

TlStatus tl_source_read(const TlSource *s, int64_t z, int64_t n, float *grey) {
  assert(z >= 0 && n > 0 && z + n <= s->nz);
  TL_TRY(s->read(s->context, z, n, grey));
  int64_t count = n * s->ny * s->nx, wrong = 0;
  for (int64_t i = 0; i < count; i++) wrong += !isfinite(grey[i]);
  for (int64_t i = 0; wrong > 0 && i < count; i++)
    if (!isfinite(grey[i]))
      return tl_fail(TL_EINPUT, "voxel (%lld, %lld, %lld) is %s", (long long)(i % s->nx),
                     (long long)(i / s->nx % s->ny), (long long)(z + i / s->nx / s->ny),
                     isnan(grey[i]) ? "not a number (NaN)" : "infinite");
  for (int64_t i = 0; s->negated && i < count; i++) grey[i] = -grey[i];
  return TL_OK;
}

TlRoi tl_roi_from_slice(const TlRoi *roi, int64_t z) {
  TlRoi part = *roi;
  if (roi->kind == TL_ROI_MASK) part.mask += z * roi->ny * roi->nx;
  return part;
}

static int64_t step_of(int64_t nz, int64_t thick) {
  assert(thick % TL_SLAB_STEP == 0);
  return thick > 0 ? thick : nz;
}

TlSlab tl_slab(int64_t nz, int64_t thick, int64_t halo, int64_t k) {
  TlSlab s = {.begin = k * step_of(nz, thick)};
  s.end = s.begin + step_of(nz, thick);
  if (s.end > nz) s.end = nz;
  s.low = s.begin > halo ? s.begin - halo : 0;
  s.high = s.end + halo < nz ? s.end + halo : nz;
  return s;
}

int64_t tl_slab_count(int64_t nz, int64_t thick) {
  return (nz + step_of(nz, thick) - 1) / step_of(nz, thick);
}
