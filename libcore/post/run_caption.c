#include "post/run_caption.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "post/departures.h"
#include "post/ensemble_scene.h"
#include "post/render.h"
#include "shape/fate.h"
#include "store/results.h"

#include <string.h>

TlStatus tl_run_not_started(const char *run, int64_t *count) {
  TlTable table = {0};
  int column = 0;
  char *path = tl_path_join(run, "blocks.csv");
  TlStatus status = path ? TL_OK : TL_ENOMEM;
  bool there = path && tl_file_exists(path);
  *count = 0;
  if (there) status = tl_table_read(path, &table);
  if (there && status == TL_OK) status = tl_table_need(&table, "end", &column);
  for (int64_t i = 0; status == TL_OK && i < table.rows; i++)
    *count += tl_fate_of(tl_table_text(&table, i, column)) == TL_FATE_NOT_STARTED;
  tl_table_free(&table);
  tl_free(path);
  return status;
}

static TlStatus describe(const char *run, const TlScene *scene, int64_t frame_index,
                         TlRenderOptions *options, char **text) {
  char line[TL_RENDER_DESCRIPTION];
  TlFrame frame;
  if (options->blocks) TL_TRY(tl_run_not_started(run, &options->not_started));
  TL_TRY(tl_results_read_frame(run, frame_index, &frame));
  TlStatus status = tl_render_describe(scene, &frame, options, line);
  char *title = NULL;
  if (status == TL_OK) status = tl_render_title(scene, run, &title);
  if (status == TL_OK) *text = tl_format("%s, at %.6g s: %s", title, frame.time_s, line);
  if (status == TL_OK && !*text) status = TL_ENOMEM;
  tl_free(title);
  tl_frame_free(&frame);
  return status;
}

TlStatus tl_run_caption(const char *run, char **text) {
  TlScene scene;
  TlDepartures departures = {0};
  int64_t *frames = NULL, count = 0;
  *text = NULL;
  TL_TRY(tl_results_read_scene(run, &scene));
  TlRenderOptions options = {.departures = &departures, .blocks = tl_scene_is_ensemble(&scene)};
  TlStatus status = tl_departures_read(run, &departures);
  if (status == TL_OK) status = tl_results_frames(run, &frames, &count);
  if (status == TL_OK && count == 0)
    status = tl_fail(TL_EINPUT, "%s: the run has no frame yet", run);
  if (status == TL_OK) status = describe(run, &scene, frames[count - 1], &options, text);
  tl_free(frames);
  tl_departures_free(&departures);
  tl_scene_free(&scene);
  return status;
}
