/* talus-avatars: each label of a stack becomes a level-set avatar in the catalog. */
#include "stage/grains.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_avatars(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-avatars",
    .purpose = "Make a level-set avatar of each labelled grain and store it in a catalog",
    .arguments = "LABELS | --mesh FILE...",
    .description =
        "Each grain's surface is found in the grey stack by distance-regularised\n"
        "level set evolution in its label's box, kept clear of its neighbours and\n"
        "made a true signed distance. Volume, centroid and inertia are measured, the\n"
        "grid is turned to the principal axes (the pose in the scan is kept), and\n"
        "nodes with areas are spread evenly over the surface. Each gets residuals, a\n"
        "verdict (good, doubtful, rejected: talus-catalog show) and descriptors; studies\n"
        "leave rejected ones out. Grains that cannot be\n"
        "made are named with the reason and left out; the tool fails when none can.\n"
        "Voxels that are no cubes are resampled around each grain to cubes of their\n"
        "least edge. The same input gives the same bytes of every avatar\n"
        "for any number of threads and any --memory.\n"
        "Grains without a scan come from closed meshes (--mesh FILE... --unit=mm) and\n"
        "from formulas (--superellipsoid-um); a mesh that is open, passes through\n"
        "itself, holds several shells or does not agree which side is out is refused.",
    .example = "  talus-avatars labels.h5 --grey=denoised.h5 --catalog=sand.tals --sample=hostun\n"
               "  talus-avatars --mesh stone.stl --unit=mm --spacing-um=2000 --nodes=800 "
               "--sample=stones --catalog=rock.tals\n"
               "  talus-avatars --superellipsoid-um=500,400,300,0.4,0.4 --sample=formula "
               "--catalog=rock.tals",
    .least_arguments = 0,
    .most_arguments = -1,
    .takes = TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_avatars_table,
    .run = run};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
