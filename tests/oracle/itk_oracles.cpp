/* Distance map, markers and watershed of ITK (itk_oracles.h). */
#include "itk_oracles.h"

#include "itk/itk_impl.hpp"

#include "itkMorphologicalWatershedFromMarkersImageFilter.h"
#include "itkReconstructionByDilationImageFilter.h"
#include "itkRegionalMaximaImageFilter.h"
#include "itkSignedMaurerDistanceMapImageFilter.h"

#include <cfloat>
#include <cmath>
#include <limits>

using namespace tl_itk;

/* ITK measures to the rim voxels of the object, which for the mask itself would be distances to its
 * own outermost voxels, one step short. With the void as the object the rim is the void's, and the
 * nearest void voxel of a mask voxel always lies on it. */
TlStatus tl_itk_distance(const TlVolume *mask, TlVolume *out) {
  std::memset(out, 0, sizeof *out);
  return guarded("distance map", TL_ELIB, [&]() -> TlStatus {
    OwnedVolume object, result;
    TL_TRY(tl_volume_like(&object.volume, mask, TL_U8));
    phase(mask, object.volume.u8, false);
    int64_t count = tl_volume_count(mask);
    if (!std::memchr(object.volume.u8, 1, static_cast<size_t>(count)))
      return tl_fail(TL_EINPUT, "distance map: the mask has no void voxel, so no distance exists; "
                                "check the threshold and the region of interest");
    TL_TRY(tl_volume_like(&result.volume, mask, TL_F32));
    auto filter = itk::SignedMaurerDistanceMapImageFilter<Image<uint8_t>, Image<float>>::New();
    filter->SetInput(lend(object.volume.u8, mask));
    filter->SetBackgroundValue(0);
    filter->SquaredDistanceOff();
    filter->UseImageSpacingOff();
    filter->InsideIsPositiveOff();
    run_into(filter.GetPointer(), result.volume.f32, mask);
    for (int64_t i = 0; i < count; i++)
      if (object.volume.u8[i] || result.volume.f32[i] < 0) result.volume.f32[i] = 0;
    result.hand_over(out);
    return TL_OK;
  });
}

namespace {

TlStatus same_size(const TlVolume *a, const TlVolume *b, const char *what) {
  if (a->nx == b->nx && a->ny == b->ny && a->nz == b->nz) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: volumes of %lld x %lld x %lld and %lld x %lld x %lld voxels", what,
                 static_cast<long long>(a->nx), static_cast<long long>(a->ny),
                 static_cast<long long>(a->nz), static_cast<long long>(b->nx),
                 static_cast<long long>(b->ny), static_cast<long long>(b->nz));
}

TlStatus need_type(const TlVolume *volume, TlVoxelType type, const char *what) {
  if (volume->type == type) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: needs %s voxels, not %s", what, tl_voxel_name(type),
                 tl_voxel_name(volume->type));
}

/* field -> its h-maxima transform, in place of marker: reconstruction of field - h under field. */
void h_transform(const TlVolume *field, double h, float *transformed) {
  int64_t count = tl_volume_count(field);
  for (int64_t i = 0; i < count; i++) transformed[i] = static_cast<float>(field->f32[i] - h);
  auto filter = itk::ReconstructionByDilationImageFilter<Image<float>, Image<float>>::New();
  filter->SetMarkerImage(lend(transformed, field));
  filter->SetMaskImage(lend(field->f32, field));
  filter->FullyConnectedOn();
  filter->Update();
  std::memcpy(transformed, filter->GetOutput()->GetBufferPointer(),
              static_cast<size_t>(count) * sizeof(float));
}

void regional_maxima(float *transformed, const TlVolume *field, uint8_t *maxima) {
  auto filter = itk::RegionalMaximaImageFilter<Image<float>, Image<uint8_t>>::New();
  filter->SetInput(lend(transformed, field));
  filter->FullyConnectedOn();
  filter->FlatIsMaximaOn();
  filter->SetForegroundValue(1);
  filter->SetBackgroundValue(0);
  run_into(filter.GetPointer(), maxima, field);
}

} // namespace

TlStatus tl_itk_markers(const TlVolume *field, double h, TlVolume *out, uint32_t *count) {
  std::memset(out, 0, sizeof *out);
  *count = 0;
  TL_TRY(need_type(field, TL_F32, "markers"));
  if (!(h >= 0)) return tl_fail(TL_EUSAGE, "markers: the height h must not be negative, not %g", h);
  return guarded("markers", TL_ELIB, [&]() -> TlStatus {
    OwnedVolume transformed, maxima;
    TL_TRY(tl_volume_like(&transformed.volume, field, TL_F32));
    TL_TRY(tl_volume_like(&maxima.volume, field, TL_U8));
    h_transform(field, h, transformed.volume.f32);
    regional_maxima(transformed.volume.f32, field, maxima.volume.u8);
    int64_t voxels = tl_volume_count(field);
    /* A transform of 0 or less is the void's own level: such a summit does not rise by h. */
    for (int64_t i = 0; i < voxels; i++)
      maxima.volume.u8[i] &= field->f32[i] > 0 && transformed.volume.f32[i] > 0;
    return tl_itk_components(&maxima.volume, 26, out, count);
  });
}

namespace {

const uint32_t VOID_LABEL = std::numeric_limits<uint32_t>::max() - 1;

/* The landscape -field with the void as a plateau above all, and a marker of its own on it: the
 * flood meets the void last and never passes through it from grain to grain. */
TlStatus landscape(const TlVolume *field, const TlVolume *markers, const TlVolume *mask,
                   float *height, uint32_t *seed) {
  int64_t count = tl_volume_count(field);
  for (int64_t i = 0; i < count; i++) {
    if (mask->u8[i] && !std::isfinite(field->f32[i]))
      return tl_fail(TL_EINPUT, "watershed: the field is not finite at voxel %lld",
                     static_cast<long long>(i));
    if (markers->u32[i] >= VOID_LABEL)
      return tl_fail(TL_EINPUT, "watershed: marker %u is beyond the range of labels",
                     markers->u32[i]);
    height[i] = mask->u8[i] ? -field->f32[i] : FLT_MAX;
    seed[i] = mask->u8[i] ? markers->u32[i] : VOID_LABEL;
  }
  return TL_OK;
}

} // namespace

TlStatus tl_itk_watershed(const TlVolume *field, const TlVolume *markers, const TlVolume *mask,
                          TlVolume *out) {
  std::memset(out, 0, sizeof *out);
  TL_TRY(need_type(field, TL_F32, "watershed: field"));
  TL_TRY(need_type(markers, TL_U32, "watershed: markers"));
  TL_TRY(need_type(mask, TL_U8, "watershed: mask"));
  TL_TRY(same_size(field, markers, "watershed: field and markers"));
  TL_TRY(same_size(field, mask, "watershed: field and mask"));
  return guarded("watershed", TL_ELIB, [&]() -> TlStatus {
    OwnedVolume height, seed, result;
    TL_TRY(tl_volume_like(&height.volume, field, TL_F32));
    TL_TRY(tl_volume_like(&seed.volume, field, TL_U32));
    TL_TRY(landscape(field, markers, mask, height.volume.f32, seed.volume.u32));
    TL_TRY(tl_volume_like(&result.volume, mask, TL_U32));
    auto filter =
        itk::MorphologicalWatershedFromMarkersImageFilter<Image<float>, Image<uint32_t>>::New();
    filter->SetInput(lend(height.volume.f32, field));
    filter->SetMarkerImage(lend(seed.volume.u32, field));
    filter->MarkWatershedLineOff();
    filter->FullyConnectedOff();
    run_into(filter.GetPointer(), result.volume.u32, field);
    int64_t count = tl_volume_count(field);
    for (int64_t i = 0; i < count; i++)
      if (result.volume.u32[i] == VOID_LABEL) result.volume.u32[i] = 0;
    result.hand_over(out);
    return TL_OK;
  });
}
