/* talus-superres: finer voxels for a coarse stack, learnt from a fine one. */
#include "stage/imaging.h"

static TlStatus run_train(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_superres_train(&stage, call->values));
}

static const TlTool train = {
    .name = "talus-superres train",
    .purpose = "learn from a fine stack what a coarse one of the same kind misses",
    .arguments = "STACK",
    .description =
        "STACK is a fine scan of the material, with little noise (denoise it first). It is made\n"
        "coarser by box means and interpolated again; coupled dictionaries are learnt of what\n"
        "the interpolation misses (Tan 2022 2.3). -o FILE.h5 is the dictionary, with the digest\n"
        "of STACK and how it was made.",
    .example = "  talus-superres train fine.h5 -o sand.h5\n"
               "  talus-superres train fine.h5 --noise=7 -o denoised_sand.h5\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON | TL_TAKES_SEED,
    .options = &tl_train_table,
    .run = run_train,
};

static TlStatus run_apply(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_superres_apply(&stage, call->values));
}

static const TlTool apply = {
    .name = "talus-superres apply",
    .purpose = "refine a coarse stack with a dictionary",
    .arguments = "STACK",
    .description =
        "Each voxel becomes factor^3, whose mean stays what it was. Noise is estimated and taken\n"
        "out before (--denoise): the mean is then the denoised voxel's. STACK should have greys\n"
        "like those trained on. All three directions of planes are refined and averaged. 8- and\n"
        "16-bit stacks keep their type, others become\n"
        "float. Voxels outside the region become 0. With --memory the stack may be larger than\n"
        "memory; --dry-run says how it would be cut. --preview shows the interpolated stack,\n"
        "the refined one and the difference.",
    .example = "  talus-superres apply scan.h5 --dictionary=sand.h5 -o finer.h5\n",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_apply_table,
    .run = run_apply,
};

static const TlTool *const verbs[] = {&train, &apply, NULL};
static const TlTool tool = {
    .name = "talus-superres",
    .purpose = "finer voxels for a coarse stack, learnt from a fine one (sparse coding)",
    .example = "  talus-superres train fine.h5 -o sand.h5\n"
               "  talus-superres apply scan.h5 --dictionary=sand.h5 -o finer.h5\n",
    .verbs = verbs,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
