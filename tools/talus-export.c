/* talus-export: a run as files for ParaView. */
#include "base/report.h"
#include "conf/cli.h"
#include "post/export.h"

typedef struct Options {
  bool surfaces;
  int64_t cells;
} Options;

static const TlParam params[] = {
    {"surfaces", TL_P_FLAG, offsetof(Options, surfaces), "", "false", 0, 0, NULL,
     "write the grains' surfaces instead of points with attributes", NULL},
    {"cells", TL_P_INT, offsetof(Options, cells), "", "10", 0, 512, NULL,
     "cells along a grain's longest axis for its surface; 0: as fine as its grid", NULL},
};

static TlStatus report(const TlCall *call, const TlScene *scene, int64_t files) {
  TlReport r = {0};
  TlStatus status = tl_report_int(&r, "files", files, "");
  if (status == TL_OK) status = tl_report_real(&r, "grain_scale", scene->grain_scale, "");
  if (status == TL_OK) status = tl_report_text(&r, "output", call->output);
  if (status == TL_OK) status = tl_report_print(&r, call->json);
  tl_report_free(&r);
  return status;
}

static TlStatus run(const TlCall *call) {
  const Options *options = call->values;
  const TlExportOptions how = {options->surfaces, (int32_t)options->cells};
  TlScene scene;
  int64_t files = 0;
  TL_TRY(tl_results_read_scene(call->argv[0], &scene));
  TlStatus status =
      tl_export_run(call->argv[0], &scene, &how, call->output, call->overwrite, &files);
  if (status == TL_OK) status = report(call, &scene, files);
  tl_scene_free(&scene);
  return status;
}

static const TlParamTable table = TL_PARAM_TABLE(params, Options);

static const TlTool tool = {
    .name = "talus-export",
    .purpose = "Write a run as VTK files for ParaView",
    .arguments = "RUN",
    .description = "RUN is the folder that talus-solve wrote. Into the folder given by -o go\n"
                   "  grains_NNNNNN.vtp  a file a frame\n"
                   "  grains.pvd         the series with its physical times: open this one\n"
                   "  terrain.vtp        the ground, when there is one\n"
                   "  walls_NNNNNN.vtp   walls and planes where they are at the frame, when there\n"
                   "  walls.pvd          are any: a series like the grains'\n"
                   "Coordinates are metres in the run's own frame.",
    .example = "  talus-export out/run -o out/paraview --surfaces",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_OUTPUT_FOLDER | TL_TAKES_JSON,
    .options = &table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
