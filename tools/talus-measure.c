/* talus-measure: what a run says, as numbers. */
#include "base/mem.h"
#include "post/packing.h"
#include "stage/results.h"

#include <stdio.h>

static TlStatus print_columns(void) {
  char *section = tl_pack_reference();
  if (!section) return TL_ENOMEM;
  fputs(section, stdout);
  tl_free(section);
  return TL_OK;
}

static TlStatus run(const TlCall *call) {
  if (((const TlMeasureStage *)call->values)->columns) return print_columns();
  if (call->argc != 1) return tl_fail(TL_EUSAGE, "RUN wanted; see talus-measure --help");
  if (!call->output) return tl_fail(TL_EUSAGE, "-o/--output wanted: where to write the result");
  TlReport report = {0};
  TlStageCall stage = tl_stage_of(call, &report);
  return tl_stage_print(call, &report, tl_stage_measure(&stage, call->values));
}

static const TlTool tool = {
    .name = "talus-measure",
    .purpose = "Measure a run: energy, runout, deposit, angle of repose, contacts, stress, fabric",
    .arguments = "RUN",
    .description =
        "RUN is the folder that talus-solve wrote. Into the folder given by -o go\n"
        "  frames.csv   a line a frame: energies, mass centre, runout, angles, contacts\n"
        "  grains.csv   a line a grain of the last frame: place, height, penetration\n"
        "  deposit.csv  a line a covered cell of the last frame: ground, top, thickness\n"
        "and, with --packing,\n"
        "  packing.csv       a line a frame: void ratio, stress, coordination, fabric, forces,\n"
        "                    chains, inertia number, unbalanced force, in a box or a cylinder\n"
        "  grain_stress.csv  stress of each grain of the last frame; there also\n"
        "  fabric.csv        spherical histograms (kind 0 normals, 1 branches, 2 long axes)\n"
        "  rotations.csv     how far grains turned, local strains, the shear band's grains;\n"
        "                    local_strain.vtp: the same as points for ParaView\n"
        "  band.csv          the band's plane, fabric and forces inside and outside of it\n"
        "                    (band_frames.csv: of each frame)\n"
        "  forces.csv        normal forces over their mean\n"
        "  chains.csv        a line a force chain; chains.vtp: the same as lines for ParaView\n"
        "and, with --overlap,\n"
        "  overlap.csv         a line a pair of grains, or of a grain and a boundary, that "
        "overlap:\n"
        "                      true overlap, what the nodes see of it, place, direction, test\n"
        "  overlap_frames.csv  a line a frame: how many touch, largest, median, quantiles\n"
        "and, with --maps, on the raster of the terrain, .tif or .asc,\n"
        "  passages (of blocks), reach_probability (of releases: a block each, or those that an\n"
        "  ensemble releases together), deposit_count, deposit_volume_m3, deposit_thickness_m,\n"
        "  and of speed_m_s, energy_kJ, translational_kJ, rotational_kJ and jump_height_m each\n"
        "  _max, _mean, _p50, _p90, _p95, _p99 over the blocks that pass a cell, of all steps;\n"
        "  filled_ground where no-data was filled;\n"
        "  with --release-per-year\n"
        "  energy_kJ_ and intensity_ (1 to 3) for return periods 30y, 100y, 300y; with --danger\n"
        "  danger (1 residual, 2 yellow, 3 blue, 4 red)\n"
        "and, with --trajectories,\n"
        "  trajectories, stops   lines and points as .gpkg or .geojson, or .csv: run, id, end,\n"
        "                        on_filled, mass, volume, stop time, runout, largest speed,\n"
        "                        energy, jump, release\n"
        "and, with --fences,\n"
        "  fences.csv     a line a fence: blocks, releases, quantiles of energy, speed and height "
        "needed\n"
        "  passages.csv   a line a block and fence that it passes\n"
        "and, with --avaframe, a folder avaframe: each block as a simulation of AvaFrame\n"
        "and, with --triaxial,\n"
        "  triaxial_curves.csv   a line a row of RUN/triaxial.csv: stress ratio, dilatancy, ...\n"
        "  triaxial_summary.csv  peak and critical angles, moduli, dilatancy, relaxation, ...\n"
        "  triaxial_runs.csv     with --with: a line a run\n"
        "and a summary goes to standard output. packing.csv is plotted over time by\n"
        "talus-render RUN --plots --csv=packing.csv. Definitions: docs/reference/results.md.",
    .example = "  talus-measure out/run -o out/measures\n"
               "  talus-measure out/run -o out/measures --cell-m=10 --json --overwrite\n"
               "  talus-measure out/run -o out/m --packing --plot --cylinder-foot-m=0,0,0 "
               "--cylinder-axis-m=0,0,0.1 --cylinder-radius-m=0.025\n"
               "  talus-measure out/run -o out/overlap --overlap --overlap-frames=all\n"
               "  talus-measure out/dense -o out/curves --triaxial --compare=lab.csv "
               "--with=out/loose",
    .least_arguments = 0,
    .most_arguments = 1,
    .takes = TL_TAKES_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_JSON,
    .options = &tl_measure_table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
