/* What the files behind the door to ITK share (C++): volumes of this library lent to ITK without a
 * copy wherever the filter lets us, and ITK's exceptions turned into a status. Included by
 * libcore/itk/itk_bridge.cpp and by the oracles of the tests only. */
#ifndef TL_ITK_ITK_IMPL_HPP
#define TL_ITK_ITK_IMPL_HPP

extern "C" {
#include "base/par.h"
#include "itk/itk.h"
}

#include "itkImage.h"
#include "itkImportImageContainer.h"
#include "itkMultiThreaderBase.h"

#include <cstring>
#include <new>
#include <string>

namespace tl_itk {

template <typename T> using Image = itk::Image<T, 3>;

/* A volume that is released on every return until it is handed over. */
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
inline std::string one_line(const std::string &text) {
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

inline void phase(const TlVolume *mask, uint8_t *out, bool value) {
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

} // namespace tl_itk

#endif
