/* talus-denoise: noise out of a grey stack, edges kept. */
#include "stage/imaging.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_denoise(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-denoise",
    .purpose = "Take noise out of a grey CT stack and keep the edges",
    .arguments = "STACK",
    .description =
        "STACK is a multi-page TIFF, a folder or glob of slices, HDF5, MetaImage or NRRD.\n"
        "Non-local means (Tan 2022 2.2.5) averages voxels whose surroundings look alike; its\n"
        "strength follows the noise, which is measured in flat places when not given.\n"
        "8- and 16-bit stacks keep their type, others become float. Voxels outside the region\n"
        "become 0. Noise that neighbours share and rings are looked for and said. With --memory\n"
        "the stack may be larger than memory; --dry-run says how it would be cut and how long it\n"
        "takes.",
    .example = "  talus-denoise scan.tif -o denoised.h5 --voxel-size-um=12.5\n"
               "  talus-denoise large.tif -o denoised.h5 --memory=3000 --dry-run",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_denoise_table,
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
