/* The one file of the library that knows ITK: its readers and its connected components. */
#include "itk/itk_impl.hpp"

#include "itkConnectedComponentImageFilter.h"
#include "itkMetaImageIO.h"
#include "itkNrrdImageIO.h"

#include <iostream>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace {

using namespace tl_itk;

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
    auto filter = itk::ConnectedComponentImageFilter<Image<uint8_t>, Image<uint32_t>>::New();
    filter->SetInput(lend(solid.volume.u8, mask));
    filter->SetFullyConnected(neighbours == 26);
    uint32_t *label = result.volume.u32;
    run_into(filter.GetPointer(), label, mask);
    /* ITK's numbering follows the pieces that its threads took; ours is the order of first voxels.
     */
    std::vector<uint32_t> number(static_cast<size_t>(filter->GetObjectCount()) + 1, 0);
    int64_t voxels = tl_volume_count(mask);
    for (int64_t i = 0; i < voxels; i++) {
      if (!label[i]) continue;
      uint32_t &mine = number.at(label[i]);
      if (!mine) mine = ++*count;
      label[i] = mine;
    }
    result.hand_over(out);
    return TL_OK;
  });
}
