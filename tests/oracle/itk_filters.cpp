/* Smoothing filters of ITK (itk_oracles.h); a file of its own because their templates take long to
 * compile. */
#include "itk_oracles.h"

#include "itk/itk_impl.hpp"

#include <itkBilateralImageFilter.h>
#include <itkDiscreteGaussianImageFilter.h>
#include <itkGradientAnisotropicDiffusionImageFilter.h>
#include <itkMedianImageFilter.h>

namespace {

using Grey = tl_itk::Image<float>;

template <typename Filter>
TlStatus run(const char *name, const TlVolume *grey, TlVolume *out, Filter *filter) {
  std::memset(out, 0, sizeof *out);
  if (grey->type != TL_F32)
    return tl_fail(TL_EINPUT, "%s: needs f32 voxels, not %s", name, tl_voxel_name(grey->type));
  return tl_itk::guarded(name, TL_ELIB, [&]() -> TlStatus {
    filter->SetInput(tl_itk::lend(grey->f32, grey));
    filter->Update();
    TL_TRY(tl_volume_like(out, grey, TL_F32));
    std::memcpy(out->f32, filter->GetOutput()->GetBufferPointer(),
                static_cast<size_t>(tl_volume_count(grey)) * sizeof(float));
    return TL_OK;
  });
}

} // namespace

TlStatus tl_itk_gaussian(const TlVolume *grey, double sigma, TlVolume *out) {
  auto filter = itk::DiscreteGaussianImageFilter<Grey, Grey>::New();
  filter->SetVariance(sigma * sigma);
  filter->SetMaximumError(0.001);
  filter->SetMaximumKernelWidth(1000);
  filter->SetUseImageSpacing(false);
  return run("Gaussian", grey, out, filter.GetPointer());
}

TlStatus tl_itk_median(const TlVolume *grey, int radius, TlVolume *out) {
  auto filter = itk::MedianImageFilter<Grey, Grey>::New();
  filter->SetRadius(static_cast<unsigned>(radius));
  return run("median", grey, out, filter.GetPointer());
}

TlStatus tl_itk_bilateral(const TlVolume *grey, double sigma_space, double sigma_grey,
                          TlVolume *out) {
  auto filter = itk::BilateralImageFilter<Grey, Grey>::New();
  filter->SetDomainSigma(sigma_space);
  filter->SetRangeSigma(sigma_grey);
  return run("bilateral", grey, out, filter.GetPointer());
}

/* The conductance scaled by a fixed mean gradient of 1 is the slope kappa itself. */
TlStatus tl_itk_diffusion(const TlVolume *grey, double kappa, double step, int rounds,
                          TlVolume *out) {
  auto filter = itk::GradientAnisotropicDiffusionImageFilter<Grey, Grey>::New();
  filter->SetConductanceParameter(kappa);
  filter->SetFixedAverageGradientMagnitude(1);
  filter->SetTimeStep(step);
  filter->SetNumberOfIterations(static_cast<itk::IdentifierType>(rounds));
  filter->SetUseImageSpacing(false);
  return run("diffusion", grey, out, filter.GetPointer());
}
