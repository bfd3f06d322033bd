/* talus-volume: look into a stack, or bring it into another format. */
#include "imaging.h"

#include "image/cut.h"
#include "io/csv.h"
#include "post/slice.h"

#include <math.h>

typedef struct Options {
  char *voxel_um, *raw;
  bool allow_gaps;
} Options;

/* Rows of the table of a struct that begins with Options. */
#define STACK_PARAMS                                                                               \
  {"voxel-size-um",                                                                                \
   TL_P_TEXT,                                                                                      \
   offsetof(Options, voxel_um),                                                                    \
   "um",                                                                                           \
   "",                                                                                             \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   "voxel size: one number, or X,Y,Z; wins over what the file says",                               \
   "SIZE"},                                                                                        \
      {"raw",                                                                                      \
       TL_P_TEXT,                                                                                  \
       offsetof(Options, raw),                                                                     \
       "",                                                                                         \
       "",                                                                                         \
       0,                                                                                          \
       0,                                                                                          \
       NULL,                                                                                       \
       "the file has no header: 'NZ,NY,NX,TYPE,ENDIAN[,OFFSET]', say 1000,800,800,u16,little",     \
       "SPEC"},                                                                                    \
  {                                                                                                \
    "allow-gaps", TL_P_FLAG, offsetof(Options, allow_gaps), "", "false", 0, 0, NULL,               \
        "let numbers be missing in a series of slices", NULL                                       \
  }

static const TlParam params[] = {STACK_PARAMS};

static TlStatus open_stack(const TlCall *call, TlLayers *stack) {
  const Options *options = call->values;
  TlStackOptions how = {.allow_gaps = options->allow_gaps, .raw = options->raw};
  TL_TRY(tl_stack_parse_voxel_um(options->voxel_um, how.voxel_um));
  /* without a product nothing needs the digest of what may be a very large file */
  call->provenance->plan = call->provenance->plan || !call->output;
  return tl_stack_open(call->argv[0], &how, call->provenance, stack);
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

static TlStatus print_stack(const TlCall *call, const char *path, const TlLayers *stack) {
  TlReport report = {0};
  TlStatus status = report_stack(&report, path, stack);
  if (status == TL_OK) status = tl_report_print(&report, call->json);
  tl_report_free(&report);
  return status;
}

/* What was written, looked at as anybody would. */
static TlStatus print_product(const TlCall *call) {
  TlLayers stack;
  TL_TRY(tl_stack_open(call->output, NULL, NULL, &stack));
  TlStatus status = print_stack(call, call->output, &stack);
  tl_layers_close(&stack);
  return status;
}

static TlStatus run_info(const TlCall *call) {
  TlLayers stack;
  TL_TRY(open_stack(call, &stack));
  TlStatus status = print_stack(call, call->argv[0], &stack);
  tl_layers_close(&stack);
  return status;
}

/* What a verb that makes a stack of another adds: the product's head, and its layers. */
typedef struct Change {
  const TlCall *call;
  const TlLayers *stack;
  TlVolume head; /* of the product; history is borrowed from the stack */
} Change;
typedef TlStatus (*Plan)(Change *change);
typedef TlStatus (*Make)(const Change *change, const TlLayerSink *sink);

static TlStatus make_product(Change *change, Plan plan, Make make) {
  const TlCall *call = change->call;
  TlLayerSink sink;
  TL_TRY(plan(change));
  change->head.history = change->stack->head.history;
  TL_TRY(tl_stack_begin(call->output, &change->head, call->provenance, call->overwrite, &sink));
  return tl_sink_end(&sink, make(change, &sink));
}

static TlStatus run_change(const TlCall *call, Plan plan, Make make) {
  TlLayers stack;
  TL_TRY(tl_stack_check_output(call->output, call->overwrite));
  TL_TRY(open_stack(call, &stack));
  Change change = {.call = call, .stack = &stack};
  TlStatus status = make_product(&change, plan, make);
  tl_layers_close(&stack);
  return status == TL_OK ? print_product(call) : status;
}

/* ---- convert ---- */

static TlStatus same_head(Change *change) {
  change->head = tl_volume_head(&change->stack->head);
  return TL_OK;
}

static TlStatus copy(const Change *change, const TlLayerSink *sink) {
  return tl_cut_crop(change->stack, (int64_t[3]){0, 0, 0}, &change->head, sink);
}

static TlStatus run_convert(const TlCall *call) {
  return run_change(call, same_head, copy);
}

/* ---- crop ---- */

typedef struct CropOptions {
  Options stack; /* first: open_stack sees it */
  char *low, *size;
} CropOptions;

static const TlParam crop_params[] = {
    STACK_PARAMS,
    {"low", TL_P_TEXT, offsetof(CropOptions, low), "voxels", "0,0,0", 0, 0, NULL,
     "the box's first voxel, counted from 0", "X,Y,Z"},
    {"size", TL_P_TEXT, offsetof(CropOptions, size), "voxels", "", 0, 0, NULL,
     "the box's voxels; 0: to the far end", "X,Y,Z"},
};

static TlStatus parse_three(const char *name, const char *text, int64_t value[3]) {
  long long v[3];
  int used = 0;
  if (sscanf(text, "%lld,%lld,%lld%n", &v[0], &v[1], &v[2], &used) != 3 || text[used])
    return tl_fail(TL_EUSAGE, "--%s: '%s' is not X,Y,Z in voxels", name, text);
  for (int k = 0; k < 3; k++) value[k] = v[k];
  return TL_OK;
}

static TlStatus crop_head(Change *change) {
  const CropOptions *options = change->call->values;
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
  const CropOptions *options = change->call->values;
  int64_t low[3];
  TL_TRY(parse_three("low", options->low, low));
  return tl_cut_crop(change->stack, low, &change->head, sink);
}

static TlStatus run_crop(const TlCall *call) {
  return run_change(call, crop_head, crop);
}

/* ---- downsample ---- */

typedef struct CoarseOptions {
  Options stack;
  int64_t factor;
} CoarseOptions;

static const TlParam coarse_params[] = {
    STACK_PARAMS,
    {"factor", TL_P_INT, offsetof(CoarseOptions, factor), "voxels", "2", 2, 64, NULL,
     "edge of the cubes whose mean becomes a voxel", NULL},
};

static TlStatus coarse_head(Change *change) {
  const CoarseOptions *options = change->call->values;
  int factor = (int)options->factor;
  const TlVolume *head = &change->stack->head;
  TL_TRY(tl_context(tl_cut_coarse_head(head, factor, &change->head), "%s", change->call->argv[0]));
  if (head->nx % factor || head->ny % factor || head->nz % factor)
    tl_log_info("dropped at the far ends: %lld, %lld, %lld voxels (x, y, z)",
                (long long)(head->nx % factor), (long long)(head->ny % factor),
                (long long)(head->nz % factor));
  return TL_OK;
}

static TlStatus coarse(const Change *change, const TlLayerSink *sink) {
  const CoarseOptions *options = change->call->values;
  return tl_cut_coarse(change->stack, (int)options->factor, &change->head, sink);
}

static TlStatus run_downsample(const TlCall *call) {
  return run_change(call, coarse_head, coarse);
}

/* ---- mask-cylinder, histogram: inside the region ---- */

typedef struct RegionOptions {
  Options stack;
  char *roi;
} RegionOptions;

static const TlParam region_params[] = {
    STACK_PARAMS,
    {"roi", TL_P_TEXT, offsetof(RegionOptions, roi), "", "auto", 0, 0, NULL,
     "the specimen: auto (looked for), cylinder:X,Y,R in voxels, none, or a mask stack",
     "auto|none|cylinder:X,Y,R|FILE"},
};

static TlStatus region_of(const TlCall *call, const TlLayers *stack, TlRoi *roi) {
  const RegionOptions *options = call->values;
  char text[160];
  TL_TRY(imaging_roi(options->roi, stack, call->provenance, roi));
  tl_roi_describe(roi, text, sizeof text);
  tl_log_info("region: %s", text);
  return TL_OK;
}

static TlStatus make_masked(Change *change, const TlRoi *roi, int64_t *outside) {
  const TlCall *call = change->call;
  TlLayerSink sink;
  if (roi->kind == TL_ROI_ALL)
    return tl_fail(TL_EINPUT,
                   "%s: no specimen's cylinder was found in it; give --roi=cylinder:X,Y,R",
                   call->argv[0]);
  change->head = tl_cut_mask_head(&change->stack->head, roi);
  change->head.history = change->stack->head.history;
  TL_TRY(tl_stack_begin(call->output, &change->head, call->provenance, call->overwrite, &sink));
  return tl_sink_end(&sink, tl_cut_mask(change->stack, roi, &sink, outside));
}

static TlStatus run_mask(const TlCall *call) {
  TlLayers stack;
  TlRoi roi;
  int64_t outside = 0;
  TL_TRY(tl_stack_check_output(call->output, call->overwrite));
  TL_TRY(open_stack(call, &stack));
  TlStatus status = region_of(call, &stack, &roi);
  if (status == TL_OK) {
    Change change = {.call = call, .stack = &stack};
    status = make_masked(&change, &roi, &outside);
    tl_roi_free(&roi);
  }
  if (status == TL_OK)
    tl_log_info("%lld of %lld voxels lie outside: 0 now, no sample for the later stages",
                (long long)outside, (long long)tl_volume_count(&stack.head));
  tl_layers_close(&stack);
  return status == TL_OK ? print_product(call) : status;
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

static TlStatus write_levels(const TlCall *call, const TlCutLevels *l) {
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

static TlStatus histogram_of(const TlCall *call, const TlLayers *stack, const TlRoi *roi) {
  TlCutLevels levels;
  TlReport report = {0};
  TL_TRY(tl_context(tl_cut_levels(stack, roi, &levels), "%s", call->argv[0]));
  TlStatus status = write_levels(call, &levels);
  if (status == TL_OK) status = report_levels(&report, call->argv[0], stack, &levels);
  if (status == TL_OK) status = tl_report_print(&report, call->json);
  tl_report_free(&report);
  tl_cut_levels_free(&levels);
  return status;
}

static TlStatus run_histogram(const TlCall *call) {
  TlLayers stack;
  TlRoi roi;
  TL_TRY(open_stack(call, &stack));
  TlStatus status = region_of(call, &stack, &roi);
  if (status == TL_OK) {
    status = histogram_of(call, &stack, &roi);
    tl_roi_free(&roi);
  }
  tl_layers_close(&stack);
  return status;
}

/* ---- slice ---- */

typedef struct SliceOptions {
  Options stack;
  int64_t z, zoom;
  double low, high;
} SliceOptions;

static const TlParam slice_params[] = {
    STACK_PARAMS,
    {"z", TL_P_INT, offsetof(SliceOptions, z), "voxels", "-1", -1, 1e9, NULL,
     "index of the slice, -1: the middle one", NULL},
    {"zoom", TL_P_INT, offsetof(SliceOptions, zoom), "pixels", "1", 1, 64, NULL, "pixels a voxel",
     NULL},
    {"low", TL_P_REAL, offsetof(SliceOptions, low), "grey", "0", 0, 0, NULL,
     "grey level shown black; low = high: 0.5% and 99.5% of the slice", NULL},
    {"high", TL_P_REAL, offsetof(SliceOptions, high), "grey", "0", 0, 0, NULL,
     "grey level shown white", NULL},
};

/* The wanted slice alone, as a stack of one. */
static TlStatus read_slice(const TlCall *call, int64_t z, TlVolume *slice) {
  TlLayers stack;
  TL_TRY(open_stack(call, &stack));
  const TlVolume *head = &stack.head;
  if (z < 0) z = head->nz / 2;
  TlStatus status = TL_OK;
  if (z >= head->nz)
    status = tl_fail(TL_EUSAGE, "%s: has slices 0 to %lld, none of index %lld", call->argv[0],
                     (long long)head->nz - 1, (long long)z);
  if (status == TL_OK) status = tl_volume_new(slice, head->type, head->nx, head->ny, 1);
  if (status == TL_OK) status = tl_layers_read(&stack, z, 1, slice->data);
  tl_layers_close(&stack);
  return status;
}

static TlStatus run_slice(const TlCall *call) {
  const SliceOptions *options = call->values;
  TlVolume volume = {0};
  TlImage image = {0};
  TlSliceStyle style = {
      .z = 0, .zoom = (int)options->zoom, .low = options->low, .high = options->high};
  TlStatus status = read_slice(call, options->z, &volume);
  if (status == TL_OK) status = tl_slice_draw(&volume, &style, &image);
  if (status == TL_OK) status = tl_image_write_png(&image, call->output, call->overwrite);
  tl_image_free(&image);
  tl_volume_free(&volume);
  return status;
}

static const TlTool slice = {
    .name = "talus-volume slice",
    .purpose = "draw one slice as PNG: grey stretched, labels in colours",
    .arguments = "STACK",
    .example = "  talus-volume slice labels.h5 --zoom=3 -o labels.png\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT,
    .params = slice_params,
    .param_count = sizeof slice_params / sizeof *slice_params,
    .values_size = sizeof(SliceOptions),
    .run = run_slice,
};

static const TlTool info = {
    .name = "talus-volume info",
    .purpose = "say what a stack holds: size, type, voxel size, range of values",
    .arguments = "STACK",
    .description =
        "STACK is a TIFF or BigTIFF with several pages, a folder of TIFF or grey PNG slices,\n"
        "a pattern ('scan/s_*.tif', s_%04d.tif), HDF5 (FILE.h5, FILE.h5:/dataset),\n"
        "MetaImage or NRRD.",
    .example = "  talus-volume info scan.tif\n  talus-volume info --json slices/\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_JSON | TL_TELLS,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Options),
    .run = run_info,
};

static const TlTool convert = {
    .name = "talus-volume convert",
    .purpose = "write a stack as HDF5 (.h5) or TIFF (.tif), values and type kept",
    .arguments = "STACK",
    .description = "Reads what 'talus-volume info' reads. The voxel size and the history of how\n"
                   "the stack was made go along.",
    .example = "  talus-volume convert slices/ --voxel-size-um=5.2 -o scan.h5\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Options),
    .run = run_convert,
};

#define VERB(table, Values, go)                                                                    \
  .least_arguments = 1, .most_arguments = 1, .params = table,                                      \
  .param_count = sizeof table / sizeof *table, .values_size = sizeof(Values), .run = go

static const TlTool crop_verb = {
    .name = "talus-volume crop",
    .purpose = "write a box of a stack as a stack of its own",
    .arguments = "STACK",
    .description = "The layers go through memory one by one: any size of stack will do.",
    .example = "  talus-volume crop scan.tif --low=16,16,0 --size=32,32,32 -o part.h5\n",
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    VERB(crop_params, CropOptions, run_crop),
};

static const TlTool downsample_verb = {
    .name = "talus-volume downsample",
    .purpose = "write a stack with larger voxels, each the mean of a cube",
    .arguments = "STACK",
    .description = "The voxel size grows along. Labels (u32) are refused.",
    .example = "  talus-volume downsample scan.h5 --factor=2 -o half.h5\n",
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    VERB(coarse_params, CoarseOptions, run_downsample),
};

static const TlTool mask_verb = {
    .name = "talus-volume mask-cylinder",
    .purpose = "find or take the specimen's cylinder; what lies outside is no sample",
    .arguments = "STACK",
    .description =
        "Voxels outside become 0 and the cylinder is written into the product, where the\n"
        "later stages find it (--roi=auto) and leave out what is outside. A mask stack\n"
        "as region sets its outside to 0 but is no cylinder: give it to each stage.",
    .example = "  talus-volume mask-cylinder scan.h5 --roi=cylinder:32,31.5,28 -o sample.h5\n",
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    VERB(region_params, RegionOptions, run_mask),
};

static const TlTool histogram_verb = {
    .name = "talus-volume histogram",
    .purpose = "count the grey levels inside the specimen",
    .arguments = "STACK",
    .description =
        "-o FILE.csv writes grey, voxels: a line a level (8 and 16 bits) or a bin of 4096\n"
        "(others; the middle of each). Says how many levels are empty between the 1% and\n"
        "99% points (a comb: the scan was stretched), how many bits are used (12 in 16),\n"
        "and what lies at the ends of the type (cut off there?).",
    .example = "  talus-volume histogram scan.tif -o grey.csv\n",
    .takes = TL_TAKES_OUTPUT | TL_TAKES_JSON | TL_TELLS,
    VERB(region_params, RegionOptions, run_histogram),
};

static const TlTool *const verbs[] = {&info,      &convert,        &crop_verb, &downsample_verb,
                                      &mask_verb, &histogram_verb, &slice,     NULL};
static const TlTool tool = {
    .name = "talus-volume",
    .purpose = "look into voxel stacks, draw and convert them",
    .example = "  talus-volume info scan.tif\n"
               "  talus-volume convert scan.tif --voxel-size-um=5.2 -o scan.h5\n",
    .verbs = verbs,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
