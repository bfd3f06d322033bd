/* talus-binarize: grain or void, voxel by voxel. */
#include "stage/imaging.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_binarize(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-binarize",
    .purpose = "Tell grain from void in a denoised CT stack",
    .arguments = "STACK",
    .description =
        "Writes a mask stack: 1 grain, 0 void or outside the region. The default is a hidden\n"
        "Markov random field fitted by EM (Tan 2022 2.4) that starts from Otsu's threshold and\n"
        "decides at the local half level between grain and void; partial-volume voxels are\n"
        "part of the model, so denoised and noisy stacks are both fit for it. A stack with\n"
        "one grey population only (all void) is refused.",
    .example = "  talus-binarize denoised.h5 -o mask.h5\n"
               "  talus-binarize scan.tif -o by_hand.h5 --method=threshold --threshold=30000\n"
               "  talus-binarize soil.tif -o stones.h5 --phases=3 --solid-from=2",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_binarize_table,
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
