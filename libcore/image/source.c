#include "image/source.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

#define COPY(member)                                                                               \
  for (int64_t i = 0; i < count; i++) grey[i] = (float)v->member[first + i];                       \
  break

static void to_float(const TlVolume *v, int64_t first, int64_t count, float *grey) {
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
}

static TlStatus read_volume(const void *context, int64_t z, int64_t n, float *grey) {
  const TlVolume *v = context;
  to_float(v, z * v->ny * v->nx, n * v->ny * v->nx, grey);
  return TL_OK;
}

/* A few at a time, so that a slab is not there twice; ends where our files' chunks end. */
enum { AT_ONCE = 16 };

static TlStatus read_layers(const void *context, int64_t z, int64_t n, float *grey) {
  const TlLayers *layers = context;
  const TlVolume *head = &layers->head;
  TlVolume part;
  TlStatus status = TL_OK;
  TL_TRY(tl_volume_new(&part, head->type, head->nx, head->ny, n < AT_ONCE ? n : AT_ONCE));
  for (int64_t done = 0, count; status == TL_OK && done < n; done += count) {
    count = AT_ONCE - (z + done) % AT_ONCE;
    if (count > n - done) count = n - done;
    int64_t voxels = count * head->nx * head->ny;
    status = tl_layers_read(layers, z + done, count, part.data);
    if (status == TL_OK) to_float(&part, 0, voxels, grey + done * head->nx * head->ny);
  }
  tl_volume_free(&part);
  return status;
}

static TlSource of_head(const TlVolume *head) {
  return (TlSource){.nx = head->nx,
                    .ny = head->ny,
                    .nz = head->nz,
                    .voxel_m = {head->voxel_m[0], head->voxel_m[1], head->voxel_m[2]}};
}

TlSource tl_source_volume(const TlVolume *volume) {
  TlSource s = of_head(volume);
  s.read = read_volume;
  s.context = volume;
  return s;
}

TlSource tl_source_layers(const TlLayers *layers) {
  TlSource s = of_head(&layers->head);
  s.read = read_layers;
  s.context = layers;
  return s;
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

TlStatus tl_roi_part(const TlRoi *roi, int64_t z, int64_t n, TlRoi *part) {
  *part = *roi;
  if (roi->kind != TL_ROI_MASK) return TL_OK;
  int64_t count = n * roi->ny * roi->nx, first = z * roi->ny * roi->nx;
  TL_TRY(TL_NEW(part->bits, (size_t)(count / 8 + 1)));
  for (int64_t i = 0; i < count; i++)
    if (roi->bits[(first + i) >> 3] >> ((first + i) & 7) & 1)
      part->bits[i >> 3] |= (uint8_t)(1 << (i & 7));
  return TL_OK;
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
