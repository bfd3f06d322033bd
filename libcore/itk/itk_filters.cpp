/* Smoothing filters of ITK (see itk.h); a file of its own because their templates take long to
 * compile. */
extern "C" {
#include "base/par.h"
#include "itk/itk.h"
}

#include <itkBilateralImageFilter.h>
#include <itkDiscreteGaussianImageFilter.h>
#include <itkGradientAnisotropicDiffusionImageFilter.h>
#include <itkImage.h>
#include <itkMedianImageFilter.h>

#include <cstring>

namespace {

using Image = itk::Image<float, 3>;

/* An ITK image over memory that stays ours. */
Image::Pointer lend(const TlVolume *volume) {
  auto image = Image::New();
  Image::SizeType size;
  size[0] = static_cast<itk::SizeValueType>(volume->nx);
  size[1] = static_cast<itk::SizeValueType>(volume->ny);
  size[2] = static_cast<itk::SizeValueType>(volume->nz);
  image->SetRegions(Image::RegionType(size));
  auto container = Image::PixelContainer::New();
  container->SetImportPointer(volume->f32, static_cast<itk::SizeValueType>(tl_volume_count(volume)),
                              false);
  image->SetPixelContainer(container);
  return image;
}

template <typename Filter>
TlStatus run(const char *name, const TlVolume *grey, TlVolume *out, Filter *filter) {
  std::memset(out, 0, sizeof *out);
  if (grey->type != TL_F32)
    return tl_fail(TL_EINPUT, "%s: needs f32 voxels, not %s", name, tl_voxel_name(grey->type));
  try {
    itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(
        static_cast<itk::ThreadIdType>(tl_par_threads()));
    filter->SetInput(lend(grey));
    filter->Update();
  } catch (const std::exception &e) {
    return tl_fail(TL_ELIB, "%s: ITK says: %s", name, e.what());
  }
  TL_TRY(tl_volume_like(out, grey, TL_F32));
  std::memcpy(out->f32, filter->GetOutput()->GetBufferPointer(),
              static_cast<size_t>(tl_volume_count(grey)) * sizeof(float));
  return TL_OK;
}

} // namespace

TlStatus tl_itk_gaussian(const TlVolume *grey, double sigma, TlVolume *out) {
  auto filter = itk::DiscreteGaussianImageFilter<Image, Image>::New();
  filter->SetVariance(sigma * sigma);
  filter->SetMaximumError(0.001);
  filter->SetMaximumKernelWidth(1000);
  filter->SetUseImageSpacing(false);
  return run("Gaussian", grey, out, filter.GetPointer());
}

TlStatus tl_itk_median(const TlVolume *grey, int radius, TlVolume *out) {
  auto filter = itk::MedianImageFilter<Image, Image>::New();
  filter->SetRadius(static_cast<unsigned>(radius));
  return run("median", grey, out, filter.GetPointer());
}

TlStatus tl_itk_bilateral(const TlVolume *grey, double sigma_space, double sigma_grey,
                          TlVolume *out) {
  auto filter = itk::BilateralImageFilter<Image, Image>::New();
  filter->SetDomainSigma(sigma_space);
  filter->SetRangeSigma(sigma_grey);
  return run("bilateral", grey, out, filter.GetPointer());
}

/* The conductance scaled by a fixed mean gradient of 1 is the slope kappa itself. */
TlStatus tl_itk_diffusion(const TlVolume *grey, double kappa, double step, int rounds,
                          TlVolume *out) {
  auto filter = itk::GradientAnisotropicDiffusionImageFilter<Image, Image>::New();
  filter->SetConductanceParameter(kappa);
  filter->SetFixedAverageGradientMagnitude(1);
  filter->SetTimeStep(step);
  filter->SetNumberOfIterations(static_cast<itk::IdentifierType>(rounds));
  filter->SetUseImageSpacing(false);
  return run("diffusion", grey, out, filter.GetPointer());
}
