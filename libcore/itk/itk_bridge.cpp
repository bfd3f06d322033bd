/* The one file that knows ITK. Volumes of the house are lent to ITK without a copy wherever the
 * filter lets us; filters write straight into the new volume when ITK keeps the buffer it is given.
 */
extern "C" {
#include "base/mem.h"
#include "base/par.h"
#include "itk/itk.h"
}

#include "itkConnectedComponentImageFilter.h"
#include "itkImage.h"
#include "itkImportImageContainer.h"
#include "itkMetaImageIO.h"
#include "itkMorphologicalWatershedFromMarkersImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "itkNrrdImageIO.h"
#include "itkReconstructionByDilationImageFilter.h"
#include "itkRegionalMaximaImageFilter.h"
#include "itkSignedMaurerDistanceMapImageFilter.h"

#include <cfloat>
#include <cstring>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

template <typename T> using Image = itk::Image<T, 3>;

/* MetaIO reports on std::cerr and continues; what it said belongs into our message instead. */
class CerrCapture {
public:
  CerrCapture() : before(std::cerr.rdbuf(text.rdbuf())) {}
  ~CerrCapture() { std::cerr.rdbuf(before); }
  CerrCapture(const CerrCapture &) = delete;
  CerrCapture &operator=(const CerrCapture &) = delete;
  std::string said() const { return text.str(); }

private:
  std::ostringstream text;
  std::streambuf *before;
};

/* A volume of the house that is given back on every way out until it is handed over. */
class OwnedVolume {
public:
  OwnedVolume() { std::memset(&volume, 0, sizeof volume); }
  ~OwnedVolume() { tl_volume_free(&volume); }
  OwnedVolume(const OwnedVolume &) = delete;
  OwnedVolume &operator=(const OwnedVolume &) = delete;
  void hand_over(TlVolume *out) {
    *out = volume;
    std::memset(&volume, 0, sizeof volume);
  }
  TlVolume volume;
};

/* One line of what went wrong: ITK's messages hold file and line of its own source first. */
std::string one_line(const std::string &text) {
  std::string line;
  for (char c : text) {
    bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/* Run body and turn whatever it throws into a status; what names the filter or the file. */
template <typename Body> TlStatus guarded(const char *what, TlStatus code, Body body) {
  try {
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(
        static_cast<itk::ThreadIdType>(tl_par_threads()));
    return body();
  } catch (const std::bad_alloc &) {
    return tl_fail(TL_ENOMEM, "%s: ITK ran out of memory", what);
  } catch (const itk::MemoryAllocationError &) {
    return tl_fail(TL_ENOMEM, "%s: ITK ran out of memory", what);
  } catch (const itk::ExceptionObject &e) {
    return tl_fail(code, "%s: ITK says: %s", what, one_line(e.GetDescription()).c_str());
  } catch (const std::exception &e) {
    return tl_fail(code, "%s: ITK says: %s", what, one_line(e.what()).c_str());
  } catch (...) {
    return tl_fail(code, "%s: ITK failed without a message", what);
  }
}

/* An ITK image over memory that stays ours. */
template <typename T> typename Image<T>::Pointer lend(T *data, const TlVolume *shape) {
  auto image = Image<T>::New();
  typename Image<T>::SizeType size;
  size[0] = static_cast<itk::SizeValueType>(shape->nx);
  size[1] = static_cast<itk::SizeValueType>(shape->ny);
  size[2] = static_cast<itk::SizeValueType>(shape->nz);
  image->SetRegions(typename Image<T>::RegionType(size));
  auto container = Image<T>::PixelContainer::New();
  container->SetImportPointer(data, static_cast<itk::SizeValueType>(tl_volume_count(shape)), false);
  image->SetPixelContainer(container);
  return image;
}

/* Update a filter with data as its output buffer; copy only if ITK took a buffer of its own. */
template <typename T, typename Filter>
void run_into(Filter *filter, T *data, const TlVolume *shape) {
  filter->GraftOutput(lend<T>(data, shape));
  filter->Update();
  const T *result = filter->GetOutput()->GetBufferPointer();
  if (result != data)
    std::memcpy(data, result, static_cast<size_t>(tl_volume_count(shape)) * sizeof(T));
}

/* Whatever the type of the mask: 1 where mask > 0 equals value, else 0. */
template <typename T> void phase_of(const T *mask, uint8_t *out, int64_t count, bool value) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < count; i++) out[i] = (mask[i] > 0) == value;
}

void phase(const TlVolume *mask, uint8_t *out, bool value) {
  int64_t count = tl_volume_count(mask);
  switch (mask->type) {
  case TL_U8:
    return phase_of(mask->u8, out, count, value);
  case TL_I8:
    return phase_of(mask->i8, out, count, value);
  case TL_U16:
    return phase_of(mask->u16, out, count, value);
  case TL_I16:
    return phase_of(mask->i16, out, count, value);
  case TL_U32:
    return phase_of(mask->u32, out, count, value);
  case TL_I32:
    return phase_of(mask->i32, out, count, value);
  case TL_F32:
    return phase_of(mask->f32, out, count, value);
  }
}

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

/* ---- files ---- */

bool voxel_type_of(itk::ImageIOBase::IOComponentType component, TlVoxelType *type) {
  switch (component) {
  case itk::ImageIOBase::UCHAR:
    *type = TL_U8;
    return true;
  case itk::ImageIOBase::CHAR:
    *type = TL_I8;
    return true;
  case itk::ImageIOBase::USHORT:
    *type = TL_U16;
    return true;
  case itk::ImageIOBase::SHORT:
    *type = TL_I16;
    return true;
  case itk::ImageIOBase::UINT:
    *type = TL_U32;
    return true;
  case itk::ImageIOBase::INT:
    *type = TL_I32;
    return true;
  case itk::ImageIOBase::FLOAT:
  case itk::ImageIOBase::DOUBLE: /* narrowed as it is read */
    *type = TL_F32;
    return true;
  default:
    return false;
  }
}

/* Three axes; a fourth of one element is let pass, as writers of single time steps make it. */
TlStatus check_header(const char *path, itk::ImageIOBase *io, TlVoxelType *type) {
  if (io->GetNumberOfComponents() != 1)
    return tl_fail(TL_EINPUT, "%s: holds %u values a voxel; a grey or label volume has one", path,
                   io->GetNumberOfComponents());
  if (!voxel_type_of(io->GetComponentType(), type))
    return tl_fail(TL_EINPUT,
                   "%s: voxels of type %s; store it as 8-, 16- or 32-bit integers or "
                   "as float",
                   path,
                   itk::ImageIOBase::GetComponentTypeAsString(io->GetComponentType()).c_str());
  unsigned axes = io->GetNumberOfDimensions();
  for (unsigned k = 3; k < axes; k++)
    if (io->GetDimensions(k) != 1) axes = 0;
  if (axes < 3)
    return tl_fail(TL_EINPUT, "%s: has %u axes; a volume has three", path,
                   io->GetNumberOfDimensions());
  return TL_OK;
}

TlStatus read_voxels(const char *path, itk::ImageIOBase *io, TlVolume *volume) {
  CerrCapture capture;
  unsigned axes = io->GetNumberOfDimensions();
  itk::ImageIORegion region(axes);
  for (unsigned k = 0; k < axes; k++) {
    region.SetIndex(k, 0);
    region.SetSize(k, io->GetDimensions(k));
  }
  io->SetIORegion(region);
  if (io->GetComponentType() == itk::ImageIOBase::DOUBLE) {
    std::vector<double> wide(static_cast<size_t>(tl_volume_count(volume)));
    io->Read(wide.data());
    for (size_t i = 0; i < wide.size(); i++) volume->f32[i] = static_cast<float>(wide[i]);
  } else {
    io->Read(volume->data);
  }
  std::string said = one_line(capture.said());
  if (said.empty()) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: voxels cannot be read whole: %s", path, said.c_str());
}

TlStatus read_with(const char *path, itk::ImageIOBase *io, double unit_m, TlVolume *volume) {
  TlVoxelType type = TL_U8;
  {
    CerrCapture capture;
    if (!io->CanReadFile(path))
      return tl_fail(TL_EINPUT, "%s: not a readable MetaImage or NRRD header", path);
    io->SetFileName(path);
    io->ReadImageInformation();
  }
  TL_TRY(check_header(path, io, &type));
  OwnedVolume owned;
  TL_TRY(tl_context(tl_volume_new(&owned.volume, type, static_cast<int64_t>(io->GetDimensions(0)),
                                  static_cast<int64_t>(io->GetDimensions(1)),
                                  static_cast<int64_t>(io->GetDimensions(2))),
                    "%s", path));
  for (unsigned k = 0; k < 3; k++)
    owned.volume.voxel_m[k] = unit_m > 0 ? io->GetSpacing(k) * unit_m : 0;
  TL_TRY(read_voxels(path, io, &owned.volume));
  owned.hand_over(volume);
  return TL_OK;
}

bool is_nrrd(const char *path) {
  std::string name(path);
  auto ends = [&name](const char *end) {
    size_t n = std::strlen(end);
    return name.size() >= n && strcasecmp(name.c_str() + name.size() - n, end) == 0;
  };
  return ends(".nrrd") || ends(".nhdr");
}

} // namespace

TlStatus tl_itk_read(const char *path, double spacing_unit_m, TlVolume *volume) {
  std::memset(volume, 0, sizeof *volume);
  if (access(path, R_OK) != 0) return tl_fail_errno(path, "cannot open");
  return guarded(path, TL_EINPUT, [&]() -> TlStatus {
    itk::ImageIOBase::Pointer io;
    if (is_nrrd(path))
      io = itk::NrrdImageIO::New().GetPointer();
    else
      io = itk::MetaImageIO::New().GetPointer();
    return read_with(path, io, spacing_unit_m, volume);
  });
}

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

/* Components of a 0/1 image into out; the numbering is made here, in order of first voxel, for
 * ITK's follows the pieces its threads took. */
uint32_t components_into(uint8_t *mask, const TlVolume *shape, bool full, uint32_t *out) {
  auto filter = itk::ConnectedComponentImageFilter<Image<uint8_t>, Image<uint32_t>>::New();
  filter->SetInput(lend(mask, shape));
  filter->SetFullyConnected(full);
  run_into(filter.GetPointer(), out, shape);
  std::vector<uint32_t> number(static_cast<size_t>(filter->GetObjectCount()) + 1, 0);
  uint32_t next = 0;
  int64_t count = tl_volume_count(shape);
  for (int64_t i = 0; i < count; i++) {
    if (!out[i]) continue;
    uint32_t &mine = number.at(out[i]);
    if (!mine) mine = ++next;
    out[i] = mine;
  }
  return next;
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
    OwnedVolume transformed, maxima, result;
    TL_TRY(tl_volume_like(&transformed.volume, field, TL_F32));
    TL_TRY(tl_volume_like(&maxima.volume, field, TL_U8));
    h_transform(field, h, transformed.volume.f32);
    regional_maxima(transformed.volume.f32, field, maxima.volume.u8);
    int64_t voxels = tl_volume_count(field);
    /* A transform of 0 or less is the void's own level: such a summit does not rise by h. */
    for (int64_t i = 0; i < voxels; i++)
      maxima.volume.u8[i] &= field->f32[i] > 0 && transformed.volume.f32[i] > 0;
    tl_volume_free(&transformed.volume);
    TL_TRY(tl_volume_like(&result.volume, field, TL_U32));
    *count = components_into(maxima.volume.u8, field, true, result.volume.u32);
    result.hand_over(out);
    return TL_OK;
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

TlStatus tl_itk_components(const TlVolume *mask, int neighbours, TlVolume *out, uint32_t *count) {
  std::memset(out, 0, sizeof *out);
  *count = 0;
  if (neighbours != 6 && neighbours != 26)
    return tl_fail(TL_EUSAGE, "components: neighbours are 6 or 26, not %d", neighbours);
  return guarded("components", TL_ELIB, [&]() -> TlStatus {
    OwnedVolume solid, result;
    TL_TRY(tl_volume_like(&solid.volume, mask, TL_U8));
    phase(mask, solid.volume.u8, true);
    TL_TRY(tl_volume_like(&result.volume, mask, TL_U32));
    *count = components_into(solid.volume.u8, mask, neighbours == 26, result.volume.u32);
    result.hand_over(out);
    return TL_OK;
  });
}
