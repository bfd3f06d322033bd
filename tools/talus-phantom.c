/* talus-phantom: a synthetic CT stack with known truth, or a valley as an elevation raster. */
#include "stage/phantom.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_phantom(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-phantom",
    .purpose = "Make a synthetic CT stack of touching grains with known truth, or a valley",
    .description =
        "A stack (.tif, .h5) of irregular grains: rounded, angular, elongated and concave ones,\n"
        "sizes 1:5, packed at random so that they touch over small patches and never overlap.\n"
        "Grey levels (stored times 200 as 16 bit): void 90, grains 160 +- 6 each, 3% opaque at\n"
        "225; partial volume at the edges, blur of 0.7 voxel, Poisson-Gaussian noise; specks,\n"
        "rings, correlated noise and slow drifts when asked for.\n"
        "Truth: labels, and a CSV of volume, centroid and inertia of each grain, taken from 4^3\n"
        "sub-samples a voxel of the exact shapes (voxel index coordinates, unit density). A\n"
        "folder also holds points and normals of the whole grains' surfaces: float32 records\n"
        "label z y x nz ny nx.\n"
        "\n"
        "With --terrain: a valley with a steep bowl, a channel, a fan and a flat run-out as an\n"
        "elevation raster in projected coordinates. The same seed gives the same files.",
    .example =
        "  talus-phantom --size=96,96,96 -o sand.tif --labels=labels.h5 --truth=grains.csv\n"
        "  talus-phantom --folder --shapes=rounded --size=64,64,64 --d50-voxels=20 -o phantom\n"
        "  talus-phantom --disc --size=96,96,64 --d50-voxels=18 --noise=20 -o disc.h5\n"
        "  talus-phantom --terrain --nodata-outline -o valley.asc",
    .takes = TL_NEEDS_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_SEED | TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_phantom_table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
