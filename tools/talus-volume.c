/* talus-volume: look into a stack, or bring it into another format. */
#include "base/report.h"
#include "conf/cli.h"
#include "io/stack.h"
#include "post/slice.h"

#include <math.h>

typedef struct Options {
  char *voxel_um, *raw;
  bool allow_gaps;
} Options;

static const TlParam params[] = {
    {"voxel-size-um", TL_P_TEXT, offsetof(Options, voxel_um), "um", "", 0, 0, NULL,
     "voxel size: one number, or X,Y,Z; wins over what the file says", "SIZE"},
    {"raw", TL_P_TEXT, offsetof(Options, raw), "", "", 0, 0, NULL,
     "the file has no header: 'NZ,NY,NX,TYPE,ENDIAN[,OFFSET]', say 1000,800,800,u16,little",
     "SPEC"},
    {"allow-gaps", TL_P_FLAG, offsetof(Options, allow_gaps), "", "false", 0, 0, NULL,
     "let numbers be missing in a series of slices", NULL},
};

static TlStatus read_stack(const TlCall *call, TlVolume *volume) {
  const Options *options = call->values;
  TlStackOptions how = {.allow_gaps = options->allow_gaps, .raw = options->raw};
  TL_TRY(tl_stack_parse_voxel_um(options->voxel_um, how.voxel_um));
  return tl_stack_read(call->argv[0], &how, call->provenance, volume);
}

typedef struct Range {
  double min, max, mean;
  int64_t not_finite;
} Range;

/* A sum a slice, so that 1e9 voxels lose no digits to a single long sum. */
static Range range_of(const TlVolume *volume) {
  Range range = {.min = INFINITY, .max = -INFINITY};
  int64_t slice = volume->nx * volume->ny;
  double sum = 0;
  for (int64_t z = 0; z < volume->nz; z++) {
    double part = 0;
    for (int64_t i = z * slice; i < (z + 1) * slice; i++) {
      double value = tl_volume_value(volume, i);
      if (!isfinite(value)) {
        range.not_finite++;
        continue;
      }
      part += value;
      range.min = fmin(range.min, value);
      range.max = fmax(range.max, value);
    }
    sum += part;
  }
  range.mean = sum / (double)(tl_volume_count(volume) - range.not_finite);
  return range;
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

static TlStatus report_range(TlReport *report, const TlVolume *volume) {
  Range range = range_of(volume);
  if (range.min <= range.max) { /* at least one number */
    TL_TRY(tl_report_real(report, "min", range.min, ""));
    TL_TRY(tl_report_real(report, "max", range.max, ""));
    TL_TRY(tl_report_real(report, "mean", range.mean, ""));
  }
  if (volume->type != TL_F32) return TL_OK;
  return tl_report_int(report, "not_finite", range.not_finite, "voxels");
}

static TlStatus report_volume(TlReport *report, const char *path, const TlVolume *volume,
                              int64_t records) {
  TL_TRY(tl_report_text(report, "stack", path));
  TL_TRY(tl_report_int(report, "nx", volume->nx, "voxels"));
  TL_TRY(tl_report_int(report, "ny", volume->ny, "voxels"));
  TL_TRY(tl_report_int(report, "nz", volume->nz, "voxels"));
  TL_TRY(tl_report_text(report, "type", tl_voxel_name(volume->type)));
  TL_TRY(report_voxel_size(report, volume));
  TL_TRY(report_range(report, volume));
  return tl_report_int(report, "provenance_records", records, "");
}

static TlStatus print_volume(const TlCall *call, const char *path, const TlVolume *volume,
                             int64_t records) {
  TlReport report = {0};
  TlStatus status = report_volume(&report, path, volume, records);
  if (status == TL_OK) status = tl_report_print(&report, call->json);
  tl_report_free(&report);
  return status;
}

static TlStatus run_info(const TlCall *call) {
  TlVolume volume;
  TL_TRY(read_stack(call, &volume));
  TlStatus status = print_volume(call, call->argv[0], &volume, count_records(volume.history));
  tl_volume_free(&volume);
  return status;
}

static TlStatus run_convert(const TlCall *call) {
  TlVolume volume;
  TL_TRY(tl_stack_check_output(call->output, call->overwrite));
  TL_TRY(read_stack(call, &volume));
  TlStatus status = tl_stack_write(call->output, &volume, call->provenance, call->overwrite);
  if (status == TL_OK) /* this run's record came on top */
    status = print_volume(call, call->output, &volume, count_records(volume.history) + 1);
  tl_volume_free(&volume);
  return status;
}

typedef struct SliceOptions {
  Options stack; /* first: read_stack sees it */
  int64_t z, zoom;
  double low, high;
} SliceOptions;

static const TlParam slice_params[] = {
    {"z", TL_P_INT, offsetof(SliceOptions, z), "voxels", "-1", -1, 1e9, NULL,
     "index of the slice, -1: the middle one", NULL},
    {"zoom", TL_P_INT, offsetof(SliceOptions, zoom), "pixels", "1", 1, 64, NULL, "pixels a voxel",
     NULL},
    {"low", TL_P_REAL, offsetof(SliceOptions, low), "grey", "0", 0, 0, NULL,
     "grey level shown black; low = high: 0.5% and 99.5% of the slice", NULL},
    {"high", TL_P_REAL, offsetof(SliceOptions, high), "grey", "0", 0, 0, NULL,
     "grey level shown white", NULL},
};

static TlStatus run_slice(const TlCall *call) {
  const SliceOptions *options = call->values;
  TlVolume volume;
  TlImage image = {0};
  TL_TRY(read_stack(call, &volume));
  TlSliceStyle style = {
      .z = options->z, .zoom = (int)options->zoom, .low = options->low, .high = options->high};
  TlStatus status = tl_slice_draw(&volume, &style, &image);
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
    .description = "STACK is a TIFF or BigTIFF with several pages, a folder of TIFF slices, a\n"
                   "pattern ('scan/s_*.tif', s_%04d.tif), HDF5 (FILE.h5, FILE.h5:/dataset),\n"
                   "MetaImage or NRRD.",
    .example = "  talus-volume info scan.tif\n  talus-volume info --json slices/\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_JSON,
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

static const TlTool *const verbs[] = {&info, &convert, &slice, NULL};
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
