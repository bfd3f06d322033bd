/* talus-topo: an elevation raster becomes a terrain of the catalog. */
#include "stage/grains.h"

static TlStatus run(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_terrain(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-topo",
    .purpose = "turn an elevation raster into a terrain of the catalog",
    .arguments = "RASTER",
    .description =
        "Reads heights in metres on square cells of a projected CRS (GeoTIFF, Esri ASCII\n"
        "and the like), keeps them relative to a local origin, and stores them with the\n"
        "signed distance to the bilinear ground in a narrow band: each point of the band has\n"
        "the distance to a closest point of its own, found by Newton steps over the bilinear\n"
        "patches and compared with its neighbours' (docs/theory/terrain.md). No-data outside the\n"
        "outline is where the terrain ends; no-data enclosed by data is refused unless\n"
        "--fill-holes.",
    .example = "  talus-topo valley.tif --catalog=sand.tals --name=valley\n"
               "  talus-topo alps.asc --catalog=sand.tals --crop=178000,376500,178800,377300",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_DRY_RUN | TL_TAKES_JSON,
    .options = &tl_terrain_table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
