/* A stack looked into, cut, or brought into another format. */
#include "stage/imaging.h"

#include "base/log.h"
#include "base/mem.h"
#include "image/cut.h"
#include "io/csv.h"
#include "post/slice.h"
#include "stage/input.h"

#include <math.h>
#include <stdio.h>

/* Rows of the table of a struct that begins with TlVolumeStage. */
#define STACK_PARAMS                                                                               \
  {"voxel-size-um",                                                                                \
   TL_P_TEXT,                                                                                      \
   offsetof(TlVolumeStage, voxel_um),                                                              \
   "um",                                                                                           \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   "voxel size: one number, or X,Y,Z; wins over what the file says",                               \
   "SIZE"},                                                                                        \
      {"raw",                                                                                      \
       TL_P_TEXT,                                                                                  \
       offsetof(TlVolumeStage, raw),                                                               \
       "",                                                                                         \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "the file has no header: 'NZ,NY,NX,TYPE,ENDIAN[,OFFSET]', say 1000,800,800,u16,little",     \
       "SPEC"},                                                                                    \
  {                                                                                                \
    "allow-gaps", TL_P_FLAG, offsetof(TlVolumeStage, allow_gaps), "", "false", 0, 0, NULL,         \
        "let numbers be missing in a series of slices", NULL                                       \
  }

static const TlParam params[] = {STACK_PARAMS};
const TlParamTable tl_volume_table = TL_PARAM_TABLE(params, TlVolumeStage);

static TlStatus open_stack(const TlStageCall *call, const TlVolumeStage *options, TlLayers *stack) {
  TlStackOptions how = {.allow_gaps = options->allow_gaps, .raw = options->raw};
  TL_TRY(tl_stack_parse_voxel_um(options->voxel_um, how.voxel_um));
  /* without a product nothing needs the digest of what may be a very large file */
  call->provenance->plan = call->provenance->plan || !call->output;
  return tl_stack_open(call->input[0], &how, call->provenance, stack);
}

typedef struct Range {
  double min, max, sum;
  int64_t voxels, not_finite;
} Range;

/* A sum a slice, so that 1e9 voxels lose no digits to a single long sum. */
static void take_slice(Range *range, const TlVolume *slice) {
  double part = 0;
  for (int64_t i = 0; i < tl_volume_count(slice); i++) {
    double value = tl_volume_value(slice, i);
    if (!isfinite(value)) {
      range->not_finite++;
      continue;
    }
    part += value;
    range->voxels++;
    range->min = fmin(range->min, value);
    range->max = fmax(range->max, value);
  }
  range->sum += part;
}

static TlStatus range_of(const TlLayers *stack, Range *range) {
  TlVolume slice;
  *range = (Range){.min = INFINITY, .max = -INFINITY};
  TL_TRY(tl_volume_new(&slice, stack->head.type, stack->head.nx, stack->head.ny, 1));
  TlStatus status = TL_OK;
  for (int64_t z = 0; z < stack->head.nz && status == TL_OK; z++) {
    status = tl_layers_read(stack, z, 1, slice.data);
    if (status == TL_OK) take_slice(range, &slice);
  }
  tl_volume_free(&slice);
  return status;
}

/* Records in a history: the objects of the outermost array. */
static int64_t count_records(const char *history) {
  int64_t depth = 0, count = 0;
  bool quoted = false;
  for (const char *p = history ? history : ""; *p; p++) {
    if (*p == '\\' && p[1])
      p++;
    else if (*p == '"')
      quoted = !quoted;
    else if (*p == '{' && !quoted)
      count += depth++ == 0;
    else if (*p == '}' && !quoted)
      depth--;
  }
  return count;
}

static TlStatus report_voxel_size(TlReport *report, const TlVolume *volume) {
  const double *v = volume->voxel_m;
  if (v[0] == 0) return tl_report_text(report, "voxel_size", "unknown");
  TL_TRY(tl_report_real(report, "voxel_size_x", v[0] * 1e6, "um"));
  TL_TRY(tl_report_real(report, "voxel_size_y", v[1] * 1e6, "um"));
  return tl_report_real(report, "voxel_size_z", v[2] * 1e6, "um");
}

static TlStatus report_range(TlReport *report, const TlLayers *stack) {
  Range range;
  TL_TRY(range_of(stack, &range));
  if (range.voxels > 0) {
    TL_TRY(tl_report_real(report, "min", range.min, ""));
    TL_TRY(tl_report_real(report, "max", range.max, ""));
    TL_TRY(tl_report_real(report, "mean", range.sum / (double)range.voxels, ""));
  }
  if (stack->head.type != TL_F32) return TL_OK;
  return tl_report_int(report, "not_finite", range.not_finite, "voxels");
}

static TlStatus report_head(TlReport *report, const char *path, const TlVolume *head) {
  const double *c = head->cylinder;
  TL_TRY(tl_report_text(report, "stack", path));
  TL_TRY(tl_report_int(report, "nx", head->nx, "voxels"));
  TL_TRY(tl_report_int(report, "ny", head->ny, "voxels"));
  TL_TRY(tl_report_int(report, "nz", head->nz, "voxels"));
  TL_TRY(tl_report_text(report, "type", tl_voxel_name(head->type)));
  TL_TRY(report_voxel_size(report, head));
  if (!(c[2] > 0)) return TL_OK;
  TL_TRY(tl_report_real(report, "cylinder_x", c[0], "voxels"));
  TL_TRY(tl_report_real(report, "cylinder_y", c[1], "voxels"));
  return tl_report_real(report, "cylinder_radius", c[2], "voxels");
}

static TlStatus report_stack(TlReport *report, const char *path, const TlLayers *stack) {
  TL_TRY(report_head(report, path, &stack->head));
  TL_TRY(report_range(report, stack));
  return tl_report_int(report, "provenance_records", count_records(stack->head.history), "");
}

/* What was written, looked at as anybody would. */
static TlStatus report_product(const TlStageCall *call) {
  TlLayers stack;
  TL_TRY(tl_stack_open(call->output, NULL, NULL, &stack));
  TlStatus status = report_stack(call->report, call->output, &stack);
  tl_layers_close(&stack);
  return status;
}

TlStatus tl_stage_volume_info(const TlStageCall *call, const TlVolumeStage *options) {
  TlLayers stack;
  TL_TRY(open_stack(call, options, &stack));
  TlStatus status = report_stack(call->report, call->input[0], &stack);
  tl_layers_close(&stack);
  return status;
}

/* What a verb that makes a stack of another adds: the product's head, and its layers. */
typedef struct Change {
  const TlStageCall *call;
  const void *options; /* the verb's own */
  const TlLayers *stack;
  TlVolume head; /* of the product; history is borrowed from the stack */
} Change;
typedef TlStatus (*Plan)(Change *change);
typedef TlStatus (*Make)(const Change *change, const TlLayerSink *sink);

static TlStatus write_product(Change *change, Make make) {
  const TlStageCall *call = change->call;
  TlLayerSink sink;
  change->head.history = change->stack->head.history;
  TL_TRY(tl_stack_begin(call->output, &change->head, call->provenance, call->overwrite, &sink));
  return tl_sink_end(&sink, make(change, &sink));
}

static TlStatus run_change(const TlStageCall *call, const TlVolumeStage *source,
                           const void *options, Plan plan, Make make) {
  TlLayers stack;
  TL_TRY(tl_stack_check_output(call->output, call->overwrite));
  TL_TRY(open_stack(call, source, &stack));
  Change change = {.call = call, .options = options, .stack = &stack};
  TlStatus status = plan(&change);
  if (status == TL_OK) status = write_product(&change, make);
  tl_layers_close(&stack);
  return status == TL_OK ? report_product(call) : status;
}

/* ---- convert ---- */

static TlStatus same_head(Change *change) {
  change->head = tl_volume_head(&change->stack->head);
  return TL_OK;
}

static TlStatus copy(const Change *change, const TlLayerSink *sink) {
  return tl_cut_crop(change->stack, (int64_t[3]){0, 0, 0}, &change->head, sink);
}

TlStatus tl_stage_volume_convert(const TlStageCall *call, const TlVolumeStage *options) {
  return run_change(call, options, options, same_head, copy);
}

/* ---- crop ---- */

static const TlParam crop_params[] = {
    STACK_PARAMS,
    {"low", TL_P_TEXT, offsetof(TlCropStage, low), "voxels", "0,0,0", 0, 0, NULL,
     "the box's first voxel, counted from 0", "X,Y,Z"},
    {"size", TL_P_TEXT, offsetof(TlCropStage, size), "voxels", "", 0, 0, NULL,
     "the box's voxels; 0: to the far end", "X,Y,Z"},
};

const TlParamTable tl_crop_table = TL_PARAM_TABLE(crop_params, TlCropStage);

static TlStatus parse_three(const char *name, const char *text, int64_t value[3]) {
  long long v[3];
  int used = 0;
  if (sscanf(text, "%lld,%lld,%lld%n", &v[0], &v[1], &v[2], &used) != 3 || text[used])
    return tl_fail(TL_EUSAGE, "--%s: '%s' is not X,Y,Z in voxels", name, text);
  for (int k = 0; k < 3; k++) value[k] = v[k];
  return TL_OK;
}

static TlStatus crop_head(Change *change) {
  const TlCropStage *options = change->options;
  const TlVolume *head = &change->stack->head;
  const int64_t n[3] = {head->nx, head->ny, head->nz};
  int64_t low[3], size[3] = {0, 0, 0};
  TL_TRY(parse_three("low", options->low, low));
  if (options->size && options->size[0]) TL_TRY(parse_three("size", options->size, size));
  for (int k = 0; k < 3; k++)
    if (size[k] == 0) size[k] = n[k] - low[k];
  return tl_cut_crop_head(head, low, size, &change->head);
}

static TlStatus crop(const Change *change, const TlLayerSink *sink) {
  const TlCropStage *options = change->options;
  int64_t low[3];
  TL_TRY(parse_three("low", options->low, low));
  return tl_cut_crop(change->stack, low, &change->head, sink);
}

TlStatus tl_stage_volume_crop(const TlStageCall *call, const TlCropStage *options) {
  return run_change(call, &options->stack, options, crop_head, crop);
}

/* ---- downsample ---- */

static const TlParam coarse_params[] = {
    STACK_PARAMS,
    {"factor", TL_P_INT, offsetof(TlCoarseStage, factor), "voxels", "2", 2, 64, NULL,
     "edge of the cubes whose mean becomes a voxel", NULL},
};

const TlParamTable tl_coarse_table = TL_PARAM_TABLE(coarse_params, TlCoarseStage);

static TlStatus coarse_head(Change *change) {
  const TlCoarseStage *options = change->options;
  int factor = (int)options->factor;
  const TlVolume *head = &change->stack->head;
  TL_TRY(tl_context(tl_cut_coarse_head(head, factor, &change->head), "%s", change->call->input[0]));
  if (head->nx % factor || head->ny % factor || head->nz % factor)
    tl_log_info("dropped at the far ends: %lld, %lld, %lld voxels (x, y, z)",
                (long long)(head->nx % factor), (long long)(head->ny % factor),
                (long long)(head->nz % factor));
  return TL_OK;
}

static TlStatus coarse(const Change *change, const TlLayerSink *sink) {
  const TlCoarseStage *options = change->options;
  return tl_cut_coarse(change->stack, (int)options->factor, &change->head, sink);
}

TlStatus tl_stage_volume_downsample(const TlStageCall *call, const TlCoarseStage *options) {
  return run_change(call, &options->stack, options, coarse_head, coarse);
}

/* ---- mask-cylinder, histogram: inside the region ---- */

static const TlParam region_params[] = {
    STACK_PARAMS,
    {"roi", TL_P_TEXT, offsetof(TlRegionStage, roi), "", "auto", 0, 0, NULL,
     "the specimen: auto (looked for), cylinder:X,Y,R in voxels, none, or a mask stack",
     "auto|none|cylinder:X,Y,R|FILE"},
};

const TlParamTable tl_region_table = TL_PARAM_TABLE(region_params, TlRegionStage);

static TlStatus region_of(const TlStageCall *call, const TlRegionStage *options,
                          const TlLayers *stack, TlRoi *roi) {
  char text[160];
  TL_TRY(tl_input_roi(options->roi, stack, call->provenance, roi));
  tl_roi_describe(roi, text, sizeof text);
  tl_log_info("region: %s", text);
  return TL_OK;
}

static TlStatus write_masked(const TlStageCall *call, const TlLayers *stack, const TlRoi *roi) {
  TlLayerSink sink;
  int64_t outside = 0;
  if (roi->kind == TL_ROI_ALL)
    return tl_fail(TL_EINPUT,
                   "%s: no specimen's cylinder was found in it; give --roi=cylinder:X,Y,R",
                   call->input[0]);
  TlVolume head = tl_cut_mask_head(&stack->head, roi);
  head.history = stack->head.history;
  TL_TRY(tl_stack_begin(call->output, &head, call->provenance, call->overwrite, &sink));
  TL_TRY(tl_sink_end(&sink, tl_cut_mask(stack, roi, &sink, &outside)));
  tl_log_info("%lld of %lld voxels lie outside: 0 now, no sample for the later stages",
              (long long)outside, (long long)tl_volume_count(&stack->head));
  return TL_OK;
}

TlStatus tl_stage_volume_mask(const TlStageCall *call, const TlRegionStage *options) {
  TlLayers stack;
  TlRoi roi;
  TL_TRY(tl_stack_check_output(call->output, call->overwrite));
  TL_TRY(open_stack(call, &options->stack, &stack));
  TlStatus status = region_of(call, options, &stack, &roi);
  if (status == TL_OK) {
    status = write_masked(call, &stack, &roi);
    tl_roi_free(&roi);
  }
  tl_layers_close(&stack);
  return status == TL_OK ? report_product(call) : status;
}

static TlStatus report_levels(TlReport *report, const char *path, const TlLayers *stack,
                              const TlCutLevels *l) {
  TL_TRY(report_head(report, path, &stack->head));
  TL_TRY(tl_report_int(report, "voxels_inside", l->voxels, ""));
  TL_TRY(tl_report_real(report, "min", l->min, ""));
  TL_TRY(tl_report_real(report, "max", l->max, ""));
  if (tl_voxel_size(stack->head.type) > 2)
    return tl_report_int(report, "not_finite", l->not_finite, "voxels");
  TL_TRY(tl_report_int(report, "levels_used", l->used, ""));
  TL_TRY(tl_report_real(report, "levels_empty_between", 100 * l->comb, "%"));
  TL_TRY(tl_report_real(report, "at_the_types_ends", 100 * (double)l->at_ends / (double)l->voxels,
                        "%"));
  return l->bits > 0 ? tl_report_int(report, "bits_used", l->bits, "") : TL_OK;
}

static TlStatus write_levels(const TlStageCall *call, const TlCutLevels *l) {
  TlCsv csv;
  if (!call->output) return TL_OK;
  TL_TRY(tl_csv_begin(&csv, call->output, call->overwrite, "grey,voxels"));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < l->bins && status == TL_OK; i++) {
    double level = l->low + l->width * ((double)i + (l->width == 1 ? 0 : 0.5));
    if (l->count[i] > 0) status = tl_csv_row(&csv, (double[]){level, (double)l->count[i]}, 2);
  }
  if (status == TL_OK) return tl_csv_commit(&csv);
  tl_csv_abort(&csv);
  return status;
}

TlStatus tl_stage_volume_histogram(const TlStageCall *call, const TlRegionStage *options) {
  TlLayers stack;
  TlRoi roi = {0};
  TlCutLevels levels = {0};
  TL_TRY(open_stack(call, &options->stack, &stack));
  TlStatus status = region_of(call, options, &stack, &roi);
  if (status == TL_OK)
    status = tl_context(tl_cut_levels(&stack, &roi, &levels), "%s", call->input[0]);
  if (status == TL_OK) status = write_levels(call, &levels);
  if (status == TL_OK) status = report_levels(call->report, call->input[0], &stack, &levels);
  tl_cut_levels_free(&levels);
  tl_roi_free(&roi);
  tl_layers_close(&stack);
  return status;
}

/* ---- slice ---- */

static const TlParam slice_params[] = {
    STACK_PARAMS,
    {"z", TL_P_INT, offsetof(TlSliceStage, z), "voxels", "-1", -1, 1e9, NULL,
     "index of the slice, -1: the middle one", NULL},
    {"zoom", TL_P_INT, offsetof(TlSliceStage, zoom), "pixels", "1", 1, 64, NULL, "pixels a voxel",
     NULL},
    {"low", TL_P_REAL, offsetof(TlSliceStage, low), "grey", "0", 0, 0, NULL,
     "grey level shown black; low = high: 0.5% and 99.5% of the slice", NULL},
    {"high", TL_P_REAL, offsetof(TlSliceStage, high), "grey", "0", 0, 0, NULL,
     "grey level shown white", NULL},
};

const TlParamTable tl_slice_table = TL_PARAM_TABLE(slice_params, TlSliceStage);

/* The wanted slice alone, as a stack of one. */
static TlStatus read_slice(const TlStageCall *call, const TlSliceStage *options, TlVolume *slice) {
  TlLayers stack;
  TL_TRY(open_stack(call, &options->stack, &stack));
  const TlVolume *head = &stack.head;
  int64_t z = options->z < 0 ? head->nz / 2 : options->z;
  TlStatus status = TL_OK;
  if (z >= head->nz)
    status = tl_fail(TL_EUSAGE, "%s: has slices 0 to %lld, none of index %lld", call->input[0],
                     (long long)head->nz - 1, (long long)z);
  if (status == TL_OK) status = tl_volume_new(slice, head->type, head->nx, head->ny, 1);
  if (status == TL_OK) status = tl_layers_read(&stack, z, 1, slice->data);
  tl_layers_close(&stack);
  return status;
}

TlStatus tl_stage_volume_slice(const TlStageCall *call, const TlSliceStage *options) {
  TlVolume volume = {0};
  TlImage image = {0};
  TlSliceStyle style = {
      .z = 0, .zoom = (int)options->zoom, .low = options->low, .high = options->high};
  TlStatus status = read_slice(call, options, &volume);
  if (status == TL_OK) status = tl_slice_draw(&volume, &style, &image);
  if (status == TL_OK) status = tl_image_write(&image, call->output, call->overwrite);
  tl_image_free(&image);
  tl_volume_free(&volume);
  return status;
}
