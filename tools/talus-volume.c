/* talus-volume: look into a stack, or bring it into another format. */
#include "stage/imaging.h"

static TlStatus run_info(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_info(&stage, call->values));
}

static TlStatus run_convert(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_convert(&stage, call->values));
}

static TlStatus run_crop(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_crop(&stage, call->values));
}

static TlStatus run_downsample(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_downsample(&stage, call->values));
}

static TlStatus run_mask(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_mask(&stage, call->values));
}

static TlStatus run_histogram(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_histogram(&stage, call->values));
}

static TlStatus run_slice(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_volume_slice(&stage, call->values));
}

static const TlTool slice = {
    .name = "talus-volume slice",
    .purpose = "draw one slice as PNG: grey stretched, labels in colours",
    .arguments = "STACK",
    .example = "  talus-volume slice labels.h5 --zoom=3 -o labels.png\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT,
    .options = &tl_slice_table,
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
    .options = &tl_volume_table,
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
    .options = &tl_volume_table,
    .run = run_convert,
};

static const TlTool crop_verb = {
    .name = "talus-volume crop",
    .purpose = "write a box of a stack as a stack of its own",
    .arguments = "STACK",
    .description = "The layers go through memory one by one: any size of stack will do.",
    .example = "  talus-volume crop scan.tif --low=16,16,0 --size=32,32,32 -o part.h5\n",
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    .least_arguments = 1,
    .most_arguments = 1,
    .options = &tl_crop_table,
    .run = run_crop,
};

static const TlTool downsample_verb = {
    .name = "talus-volume downsample",
    .purpose = "write a stack with larger voxels, each the mean of a cube",
    .arguments = "STACK",
    .description = "The voxel size grows along. Labels (u32) are refused.",
    .example = "  talus-volume downsample scan.h5 --factor=2 -o half.h5\n",
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    .least_arguments = 1,
    .most_arguments = 1,
    .options = &tl_coarse_table,
    .run = run_downsample,
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
    .least_arguments = 1,
    .most_arguments = 1,
    .options = &tl_region_table,
    .run = run_mask,
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
    .least_arguments = 1,
    .most_arguments = 1,
    .options = &tl_region_table,
    .run = run_histogram,
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
