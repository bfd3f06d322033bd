#include "stage/input.h"

#include "base/log.h"
#include "base/mem.h"
#include "post/slice.h"

#include <math.h>
#include <stdio.h>

int64_t tl_input_bytes(double memory_mb) {
  return (int64_t)(memory_mb * TL_INPUT_MB);
}

TlStatus tl_input_report_bytes(TlReport *report, const char *key, int64_t bytes) {
  return tl_report_real(report, key, (double)bytes / TL_INPUT_MB, "MB");
}

TlStatus tl_input_roi(const char *text, const TlLayers *stack, TlProvenance *provenance,
                      TlRoi *roi) {
  int is_file;
  TL_TRY(tl_roi_parse(text, stack, roi, &is_file));
  if (!is_file) return TL_OK;
  TlLayers mask;
  TL_TRY(tl_stack_open(text, NULL, provenance, &mask));
  TlStatus status = tl_context(tl_roi_from_mask(&mask, &stack->head, roi), "%s", text);
  tl_layers_close(&mask);
  return status;
}

TlStatus tl_input_options(const TlStackInput *input, TlStackOptions *options) {
  *options = (TlStackOptions){.allow_gaps = input->allow_gaps, .raw = input->raw};
  if (!input->voxel_size_um || !input->voxel_size_um[0]) return TL_OK;
  TlStatus parsed = tl_stack_parse_voxel_um(input->voxel_size_um, options->voxel_um);
  return parsed == TL_OK ? TL_OK : tl_fail(TL_EUSAGE, "--voxel-size-um: %s", tl_message());
}

TlStatus tl_input_open(const TlStageCall *call, const TlStackInput *input, TlLayers *stack,
                       TlRoi *roi) {
  TlStackOptions options;
  TL_TRY(tl_input_options(input, &options));
  TL_TRY(tl_stack_open(call->input[0], &options, call->provenance, stack));
  TlStatus status = tl_input_roi(input->roi, stack, call->provenance, roi);
  if (status != TL_OK) tl_layers_close(stack);
  return status;
}

TlStatus tl_input_same_voxels(const char *path, const TlVolume *stack, const char *other_path,
                              const TlVolume *other) {
  static const double rounding = 1e-3; /* of sizes written with four digits */
  const double *a = stack->voxel_m, *b = other->voxel_m;
  for (int k = 0; k < 3; k++) {
    if (!(a[k] > 0) || !(b[k] > 0)) return TL_OK;
    if (fabs(a[k] - b[k]) > rounding * b[k])
      return tl_fail(TL_EINPUT,
                     "%s has voxels of %.6g x %.6g x %.6g um, %s of %.6g x %.6g x %.6g um: both "
                     "must be of one stack; give the stack that belongs to it, or say the right "
                     "size by --voxel-size-um",
                     path, a[0] * 1e6, a[1] * 1e6, a[2] * 1e6, other_path, b[0] * 1e6, b[1] * 1e6,
                     b[2] * 1e6);
  }
  return TL_OK;
}

void tl_input_keep_region(TlVolume *product, const TlRoi *roi) {
  if (roi->kind != TL_ROI_CYLINDER) return;
  product->cylinder[0] = roi->x;
  product->cylinder[1] = roi->y;
  product->cylinder[2] = roi->r;
}

TlStatus tl_input_repeat_warnings(const char *path, const TlVolume *head, TlReport *report) {
  char *text;
  int64_t count;
  TL_TRY(tl_provenance_values(head->history, TL_INPUT_WARNING, &text, &count));
  if (count > 0) tl_log_warn("%s was made with this warning: %s", path, text);
  TlStatus status = count > 0 ? tl_report_text(report, "warning_of_the_input", text) : TL_OK;
  tl_free(text);
  return status;
}

TlStatus tl_input_report(TlReport *report, const TlVolume *stack, const TlRoi *roi) {
  char text[160];
  snprintf(text, sizeof text, "%lld x %lld x %lld %s", (long long)stack->nx, (long long)stack->ny,
           (long long)stack->nz, tl_voxel_name(stack->type));
  TL_TRY(tl_report_text(report, "stack", text));
  if (stack->voxel_m[0] > 0) {
    snprintf(text, sizeof text, "%g x %g x %g", 1e6 * stack->voxel_m[0], 1e6 * stack->voxel_m[1],
             1e6 * stack->voxel_m[2]);
    TL_TRY(tl_report_text(report, "voxel_size_um", text));
  }
  tl_roi_describe(roi, text, sizeof text);
  tl_log_info("region: %s", text);
  return tl_report_text(report, "region", text);
}

TlStatus tl_input_preview(const TlStageCall *call, const TlStackInput *input,
                          const TlLayers *before) {
  TlLayers after;
  TlImage image;
  if (!input->preview || !input->preview[0]) return TL_OK;
  TL_TRY(tl_stack_open(call->output, NULL, NULL, &after));
  TlStatus status = tl_preview_draw(before, &after, 0, &image);
  tl_layers_close(&after);
  TL_TRY(status);
  status = tl_image_write(&image, input->preview, call->overwrite);
  tl_image_free(&image);
  return status == TL_OK ? tl_report_text(call->report, "preview", input->preview) : status;
}
