/* What the imaging tools share: options of the input stack and the region, opening both, and the
 * lines of the report that say so. */
#ifndef TL_TOOLS_IMAGING_H
#define TL_TOOLS_IMAGING_H

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "conf/cli.h"
#include "image/roi.h"
#include "io/stack.h"
#include "post/preview.h"

#include <stddef.h>
#include <stdio.h>

typedef struct ImagingInput {
  char *roi, *voxel_size_um, *raw, *preview;
  bool allow_gaps;
} ImagingInput;

/* Rows of a parameter table for a struct with a member `input`. */
#define IMAGING_STACK_PARAMS(Values)                                                               \
  {NULL, TL_P_HEADING, 0, NULL, NULL, 0, 0, NULL, "Input", NULL},                                  \
      {"roi",                                                                                      \
       TL_P_TEXT,                                                                                  \
       offsetof(Values, input.roi),                                                                \
       "",                                                                                         \
       "auto",                                                                                     \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "region of the specimen: auto (a disc when the corners hold none), none, "                  \
       "cylinder:X,Y,R in voxels, or a mask stack",                                                \
       "auto|none|cylinder:X,Y,R|FILE"},                                                           \
      {"voxel-size-um",                                                                            \
       TL_P_TEXT,                                                                                  \
       offsetof(Values, input.voxel_size_um),                                                      \
       "um",                                                                                       \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "voxel size, one number or X,Y,Z; wins over what the file says",                            \
       "X[,Y,Z]"},                                                                                 \
  {                                                                                                \
    "allow-gaps", TL_P_FLAG, offsetof(Values, input.allow_gaps), "", "false", 0, 0, NULL,          \
        "let numbers of a slice series be missing", NULL                                           \
  }

/* ... and of one that may begin with the scan itself. */
#define IMAGING_INPUT_PARAMS(Values)                                                               \
  IMAGING_STACK_PARAMS(Values), {                                                                  \
    "raw", TL_P_TEXT, offsetof(Values, input.raw), "", "", 0, 0, NULL,                             \
        "the file has no header: 'NZ,NY,NX,TYPE,ENDIAN[,OFFSET]', say 1000,800,800,u16,little",    \
        "SPEC"                                                                                     \
  }

/* ... and of one whose product is a stack of the input's size. */
#define IMAGING_PREVIEW_PARAM(Values)                                                              \
  {                                                                                                \
    "preview", TL_P_TEXT, offsetof(Values, input.preview), "", "", 0, 0, NULL,                     \
        "write the three middle slices before, after and what changed as PNG", "FILE.png",         \
        TL_ROLE_REPLACES                                                                           \
  }

/* Memory is counted in MB, 10^6 bytes, by all tools: what may be used, what a plan says and what
 * was taken. For a struct with a double `memory_mb`. */
#define IMAGING_MEMORY_PARAM(Values, usual, help)                                                  \
  { "memory", TL_P_REAL, offsetof(Values, memory_mb), "MB", usual, 0, 1e9, NULL, help, NULL }
#define IMAGING_SLABS_HELP                                                                         \
  "work in slabs of layers that fit into this; 0: the whole stack at once. The product is the "    \
  "same to the bit"
#define IMAGING_MB 1e6

static inline int64_t imaging_bytes(double memory_mb) {
  return (int64_t)(memory_mb * IMAGING_MB);
}

static inline TlStatus imaging_report_bytes(TlReport *report, const char *key, int64_t bytes) {
  return tl_report_real(report, key, (double)bytes / IMAGING_MB, "MB");
}

/* The plan of --dry-run: peak memory of the stage. */
static inline TlStatus imaging_report_memory(TlReport *report, int64_t bytes) {
  return imaging_report_bytes(report, "memory", bytes);
}

/* After the work. */
static inline TlStatus imaging_report_peak(TlReport *report) {
  return imaging_report_bytes(report, "peak_memory", tl_mem_peak_bytes());
}

/* text: what --roi takes. */
static inline TlStatus imaging_roi(const char *text, const TlLayers *stack,
                                   TlProvenance *provenance, TlRoi *roi) {
  int is_file;
  TL_TRY(tl_roi_parse(text, stack, roi, &is_file));
  if (!is_file) return TL_OK;
  TlLayers mask;
  TL_TRY(tl_stack_open(text, NULL, provenance, &mask));
  TlStatus status = tl_context(tl_roi_from_mask(&mask, &stack->head, roi), "%s", text);
  tl_layers_close(&mask);
  return status;
}

static inline TlStatus imaging_roi_of(const ImagingInput *input, const TlVolume *stack,
                                      TlProvenance *provenance, TlRoi *roi) {
  TlLayers layers;
  tl_layers_of(stack, &layers);
  return imaging_roi(input->roi, &layers, provenance, roi);
}

static inline TlStatus imaging_options(const ImagingInput *input, TlStackOptions *options) {
  *options = (TlStackOptions){.allow_gaps = input->allow_gaps, .raw = input->raw};
  if (!input->voxel_size_um || !input->voxel_size_um[0]) return TL_OK;
  TlStatus parsed = tl_stack_parse_voxel_um(input->voxel_size_um, options->voxel_um);
  return parsed == TL_OK ? TL_OK : tl_fail(TL_EUSAGE, "--voxel-size-um: %s", tl_message());
}

/* A product's cylinder is the region it was made in: what lies outside is no sample to the stages
 * after this one either. */
static inline void imaging_keep_region(TlVolume *product, const TlRoi *roi) {
  if (roi->kind != TL_ROI_CYLINDER) return;
  product->cylinder[0] = roi->x;
  product->cylinder[1] = roi->y;
  product->cylinder[2] = roi->r;
}

/* Read the stack and find the region. On failure nothing is left to release. */
static inline TlStatus imaging_open(const TlCall *call, const ImagingInput *input, TlVolume *stack,
                                    TlRoi *roi) {
  TlStackOptions options;
  TL_TRY(imaging_options(input, &options));
  TL_TRY(tl_stack_read(call->argv[0], &options, call->provenance, stack));
  TlStatus status = imaging_roi_of(input, stack, call->provenance, roi);
  if (status != TL_OK) tl_volume_free(stack);
  return status;
}

/* The same for a stack that is read by layers. */
static inline TlStatus imaging_open_layers(const TlCall *call, const ImagingInput *input,
                                           TlLayers *stack, TlRoi *roi) {
  TlStackOptions options;
  TL_TRY(imaging_options(input, &options));
  TL_TRY(tl_stack_open(call->argv[0], &options, call->provenance, stack));
  TlStatus status = imaging_roi(input->roi, stack, call->provenance, roi);
  if (status != TL_OK) tl_layers_close(stack);
  return status;
}

static inline void imaging_close(TlVolume *stack, TlRoi *roi) {
  tl_volume_free(stack);
  tl_roi_free(roi);
}

/* Stack size, voxel size, region: the first lines of every report. */
static inline TlStatus imaging_report_input(TlReport *report, const TlVolume *stack,
                                            const TlRoi *roi) {
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

static inline TlStatus imaging_draw_preview(const TlCall *call, const ImagingInput *input,
                                            const TlLayers *before, TlReport *report) {
  TlLayers after;
  TlImage image;
  TL_TRY(tl_stack_open(call->output, NULL, NULL, &after));
  TlStatus status = tl_preview_draw(before, &after, &image);
  tl_layers_close(&after);
  TL_TRY(status);
  status = tl_image_write_png(&image, input->preview, call->overwrite);
  tl_image_free(&image);
  return status == TL_OK ? tl_report_text(report, "preview", input->preview) : status;
}

static inline TlStatus imaging_preview(const TlCall *call, const ImagingInput *input,
                                       const TlVolume *stack, TlReport *report) {
  TlLayers before;
  if (call->dry_run || !input->preview || !input->preview[0]) return TL_OK;
  tl_layers_of(stack, &before);
  return imaging_draw_preview(call, input, &before, report);
}

/* Open, work, print the report, close: what every imaging tool does around its own work. */
static inline TlStatus imaging_run(const TlCall *call, const ImagingInput *input,
                                   TlStatus (*work)(const TlCall *call, const TlVolume *stack,
                                                    const TlRoi *roi, TlReport *report)) {
  TlVolume stack;
  TlRoi roi;
  TlReport report = {0};
  TL_TRY(imaging_open(call, input, &stack, &roi));
  TlStatus status = work(call, &stack, &roi, &report);
  if (status == TL_OK) status = imaging_preview(call, input, &stack, &report);
  if (status == TL_OK) status = tl_report_print(&report, call->json);
  tl_report_free(&report);
  imaging_close(&stack, &roi);
  return status;
}

#endif
