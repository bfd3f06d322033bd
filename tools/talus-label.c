/* talus-label: one label a grain. */
#include "stage/imaging.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_label(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-label",
    .purpose = "Give each grain of a mask stack a label of its own",
    .arguments = "MASK",
    .description =
        "MASK is a stack whose voxels above 0 are grain (talus-binarize writes one). Touching\n"
        "grains are split where the distance to the void has a neck: distance map, markers,\n"
        "watershed. Labels are uint32, 0 is void, numbered by first voxel in z, y, x order.\n"
        "Grains that touch the stack's or the region's border are cut and counted apart.\n"
        "With --memory the stack goes through by slabs, to the same labels; a scratch file\n"
        "without a name then lies in the output's folder.",
    .example = "  talus-label mask.h5 --grey=denoised.h5 -o labels.h5 --min-voxels=200",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_label_table,
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
