/* talus-catalog: look into a catalog, check it, take grains out and bring grains in. */
#include "stage/grains.h"

static TlStatus run_list(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_list(&stage));
}

static const TlTool list = {
    .name = "talus-catalog list",
    .purpose = "List the samples and terrains of a catalog",
    .arguments = "CATALOG",
    .description = "Grains are listed by: talus-catalog export CATALOG --format=csv -o grains.csv",
    .example = "  talus-catalog list out/catalog.tals",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_JSON | TL_TELLS,
    .run = run_list,
};

static TlStatus run_show(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_show(&stage, call->values));
}

static const TlTool show = {
    .name = "talus-catalog show",
    .purpose =
        "Show a grain: its measures, and the commands, versions and inputs that made it; or a "
        "terrain",
    .arguments = "CATALOG [--grain=N | --terrain=NAME]",
    .description =
        "run_1 is the oldest run behind the grain; the last one stored it. The same in\n"
        "SQL: SELECT * FROM grain_provenance WHERE grain = N (docs/reference/catalog.md).\n"
        "Of a terrain: samples, cell, CRS, extent, and the origin that positions of a study\n"
        "are relative to (local = CRS - origin), unless the study says crs: terrain.",
    .example = "  talus-catalog show out/catalog.tals --grain=12\n"
               "  talus-catalog show out/catalog.tals --terrain=slope",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_JSON | TL_TELLS,
    .options = &tl_catalog_show_table,
    .run = run_show,
};

static TlStatus run_verify(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_verify(&stage));
}

static const TlTool verify = {
    .name = "talus-catalog verify",
    .purpose = "Check a catalog: the file, every checksum, every grain",
    .arguments = "CATALOG",
    .description = "Runs SQLite's quick_check, follows every reference, decompresses every array\n"
                   "and compares its CRC, and checks each grain for what the solver relies on.\n"
                   "Names the first thing that is wrong and exits with 1.",
    .example = "  talus-catalog verify out/catalog.tals",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_JSON | TL_TELLS,
    .run = run_verify,
};

static TlStatus run_grading(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_grading(&stage, call->values));
}

static const TlTool grading = {
    .name = "talus-catalog grading",
    .purpose = "The grading curve: volume in grains finer than a size",
    .arguments = "CATALOG",
    .description = "Two sizes: the diameter of the sphere of equal volume, and the intermediate\n"
                   "principal axis, which stands for the sieve a grain just passes. -o writes the\n"
                   "curves as CSV. Grains cut by the scan's border are left out unless asked for.",
    .example = "  talus-catalog grading out/catalog.tals -o grading.csv --plot=grading.png",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_TAKES_OUTPUT | TL_TAKES_JSON | TL_TELLS,
    .options = &tl_catalog_grading_table,
    .run = run_grading,
};

static TlStatus run_export(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_export(&stage, call->values));
}

static const TlTool export = {
    .name = "talus-catalog export",
    .purpose = "Write grains as a table, surfaces, level sets or LS-DEM text",
    .arguments = "CATALOG",
    .description =
        "Surfaces are closed, outward and have the grain's own volume. Several grains go into\n"
        "a folder, grain_NNNNNN.EXT each; morphology adds positions.txt, rotations.txt,\n"
        "labels.txt and a README.txt that states units, index order and quaternion order.",
    .example =
        "  talus-catalog export out/catalog.tals --format=csv -o grains.csv\n"
        "  talus-catalog export out/catalog.tals --grain=12 --format=stl -o 12.stl\n"
        "  talus-catalog export out/catalog.tals --format=morphology --sample=grains -o morphology",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_JSON,
    .options = &tl_catalog_export_table,
    .run = run_export,
};

static TlStatus run_import(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_import(&stage, call->values));
}

static const TlTool import = {
    .name = "talus-catalog import",
    .purpose = "Bring grains in from LS-DEM morphology text or LAMMPS level-set grids",
    .arguments = "CATALOG FILE...",
    .description = "Each file is a grain in eight lines as talus-catalog export writes them (and\n"
                   "Andrade's group reads them). The n-th file gets label n, unless labels.txt\n"
                   "stands beside. Of a LAMMPS grid the mass is worked out and nodes are placed.\n"
                   "The catalog is made when it is missing. All files or none are stored.",
    .example = "  talus-catalog import grains.tals morphology/grain_*.txt --sample=sand "
               "--spacing-um=10",
    .least_arguments = 2,
    .most_arguments = -1,
    .takes = TL_TAKES_JSON,
    .options = &tl_catalog_import_table,
    .run = run_import,
};

static TlStatus run_remove(const TlCall *call) {
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_catalog_remove(&stage));
}

static const TlTool remove_sample = {
    .name = "talus-catalog remove-sample",
    .purpose = "Remove a sample with its grains",
    .arguments = "CATALOG NAME",
    .description =
        "Their numbers are never used again. The file keeps its size; new grains fill it.",
    .example = "  talus-catalog remove-sample out/catalog.tals old",
    .least_arguments = 2,
    .most_arguments = 2,
    .takes = TL_TAKES_JSON,
    .run = run_remove,
};

static const TlTool *const verbs[] = {&list,   &show,   &verify,        &grading,
                                      &export, &import, &remove_sample, NULL};

static const TlTool tool = {
    .name = "talus-catalog",
    .purpose = "Look into a catalog of grains and terrains, check it, export and import",
    .example = "  talus-catalog list out/catalog.tals\n"
               "  talus-catalog show out/catalog.tals --grain=12\n"
               "  talus-catalog grading out/catalog.tals --plot=grading.png",
    .verbs = verbs,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
