#include "post/report.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "post/ensemble_scene.h"
#include "post/report_page.h"
#include "post/report_run.h"
#include "post/report_scan.h"
#include "post/run_caption.h"
#include "post/study_label.h"

#include <math.h>
#include <string.h>

/* ---- what the playback may take ---- */

typedef struct Fineness {
  int32_t cells[TL_PLAYBACK_LEVELS];
  double most_error; /* more cells for a grain that is farther off; 0: for none */
} Fineness;
static const Fineness fineness[] = {
    {{18, 10, 5}, 0.005}, {{18, 10, 5}}, {{14, 8, 5}}, {{10, 7, 5}}, {{8, 6, 4}}};
enum { FINENESSES = sizeof fineness / sizeof *fineness };

typedef struct Work {
  const TlReportOptions *options;
  TlReportRun *run; /* [count] owned */
  int64_t count;
  TlCamera *camera;   /* [count] owned */
  TlHtml *head;       /* [count] owned */
  TlReportData *data; /* [count] owned */
  TlMeasured measured;
} Work;

static const double fov_deg = 32;

static void drop_playback(Work *w) {
  for (int64_t i = 0; i < w->count; i++) {
    tl_html_free(&w->head[i]);
    tl_data_free(&w->data[i]);
  }
}

static void release(Work *w) {
  for (int64_t i = 0; i < w->count && w->run; i++) tl_report_run_close(&w->run[i]);
  if (w->head && w->data) drop_playback(w);
  tl_free(w->run);
  tl_free(w->camera);
  tl_free(w->head);
  tl_free(w->data);
  tl_measured_free(&w->measured);
}

/* Where the first view stands: as talus-render chooses it. */
static TlStatus choose_camera(const TlReportRun *run, TlCamera *camera) {
  TlRenderPath path = {0};
  TlStatus status = TL_OK;
  for (int64_t k = 0; k < 24 && status == TL_OK; k++) {
    TlFrame frame;
    int64_t f = k * (run->motion.frames - 1) / 23;
    status = tl_results_read_frame(run->folder, run->motion.index[f], &frame);
    if (status != TL_OK) break;
    status = tl_render_path_add(&path, &run->scene, &frame);
    tl_frame_free(&frame);
  }
  if (status == TL_OK)
    status = tl_camera_automatic(&run->scene, &path, true, fov_deg, TL_STILL_WIDTH, TL_STILL_HEIGHT,
                                 camera);
  tl_render_path_free(&path);
  return status;
}

/* Are grains mere dots in the first view? Then their paths say more. */
static bool dots(const TlReportRun *run, const TlCamera *camera) {
  double size = 0;
  int64_t grains = 0;
  for (int64_t b = 0; b < run->motion.bodies; b++)
    if (tl_report_motion_grain(&run->motion, b)) {
      const TlAvatar *a = &run->scene.avatars[run->motion.shape[b]];
      size += run->motion.scale[b] * tl_avatar_diameter_m(a);
      grains++;
    }
  if (grains == 0) return false;
  return size / (double)grains / (2 * camera->tan_y * camera->focus_m) * TL_STILL_HEIGHT < 5;
}

static TlStatus pack_run(Work *w, int64_t i, int64_t stride, const Fineness *fine) {
  TlReportRun *run = &w->run[i];
  TlReportMotion thinned = {0};
  tl_html_free(&w->head[i]);
  tl_data_free(&w->data[i]);
  if (stride > 1) TL_TRY(tl_report_motion_read(run->folder, &run->scene, stride, &thinned));
  TlPlayback how = {.scene = &run->scene,
                    .motion = stride > 1 ? &thinned : &run->motion,
                    .label = run->label,
                    .stride = stride,
                    .camera = w->camera[i],
                    .fov_deg = fov_deg,
                    .paths = dots(run, &w->camera[i]),
                    .speeds = true,
                    .forces_first = run->device != TL_DEVICE_NONE,
                    .grid = run->scene.has_terrain && run->grid.nx ? &run->grid : NULL};
  memcpy(how.cells, fine->cells, sizeof how.cells);
  how.most_error = fine->most_error;
  TlStatus status = tl_playback_pack(&how, &w->head[i], &w->data[i]);
  tl_report_motion_free(&thinned);
  return status;
}

/* Bytes of the playback in the page. */
static double playback_bytes(const Work *w) {
  double sum = 0;
  for (int64_t i = 0; i < w->count; i++)
    sum += (double)w->head[i].size + 4.0 / 3 * (double)w->data[i].packed_size;
  return sum;
}

/* Coarser surfaces first, then fewer frames, until `budget` bytes are enough. */
static TlStatus fit_playback(Work *w, double budget, TlReportSize *size) {
  int64_t most_frames = 1;
  int fine = 0;
  size->frame_every = 1;
  for (int64_t i = 0; i < w->count; i++)
    if (w->run[i].motion.frames > most_frames) most_frames = w->run[i].motion.frames;
  for (;;) {
    for (int64_t i = 0; i < w->count; i++)
      TL_TRY(pack_run(w, i, size->frame_every, &fineness[fine]));
    double bytes = playback_bytes(w);
    size->cells = fineness[fine].cells[0];
    if (bytes <= budget) return TL_OK;
    if (fine + 1 < FINENESSES) {
      fine++;
      continue;
    }
    if (size->frame_every >= most_frames || budget <= 0)
      return tl_fail(TL_EUSAGE,
                     "--max-mb=%g: pictures and tables leave %.2f MB for the playback, which takes "
                     "%.2f MB with two frames and the coarsest surfaces; give more",
                     w->options->max_mb, fmax(0, budget) / 1e6, bytes / 1e6);
    int64_t next = (int64_t)ceil((double)size->frame_every * bytes / budget * 1.02);
    size->frame_every = next > size->frame_every ? next : size->frame_every + 1;
    if (size->frame_every > most_frames) size->frame_every = most_frames;
  }
}

/* ---- the page of runs ---- */

static void put_warnings(TlHtml *to, const TlHtml *items, int64_t warnings, const char *label) {
  tl_html(to, "<section class=\"warnings%s\"><h2>", warnings ? "" : " none");
  tl_html(to, "%s", warnings ? "What not to trust" : "No warnings");
  if (label) {
    tl_html(to, ": ");
    tl_html_text(to, label);
  }
  tl_html(to, "</h2>");
  if (warnings) {
    tl_html(to, "<ul>\n");
    tl_html_add(to, items);
    tl_html(to, "</ul>");
  } else {
    tl_html(to, "<p>Looked at: whether the grains are at rest, whether any left, unresolved "
                "collisions, penetration and overlap, frames too far apart to follow the grains, "
                "whether solves converged and the energy balance, of methods that tell.</p>");
  }
  tl_html(to, "</section>\n");
}

static TlStatus put_top(Work *w, const char *title, TlHtml *to, TlReportSize *size) {
  const TlReportRun *run = w->run;
  TlHtml line = {0};
  int64_t together = tl_scene_blocks_together(&run->scene);
  if (together > 1)
    tl_html(&line, "%s of releases of %lld blocks", w->count > 1 ? "Ensembles" : "Ensemble",
            (long long)together);
  else
    tl_html(&line, "%s",
            run->device ? tl_report_device_title(run->device, w->count > 1)
            : tl_scene_is_ensemble(&run->scene)
                ? w->count > 1 ? "Ensembles of single blocks" : "Ensemble of single blocks"
            : w->count > 1 ? "Runs of moving grains"
                           : "Run of moving grains");
  tl_html(&line, ": ");
  for (int64_t i = 0; i < w->count; i++) {
    tl_html(&line, "%s<code>", i ? ", " : "");
    tl_html_text(&line, run[i].folder);
    tl_html(&line, "</code>");
  }
  tl_page_begin(to, title, &line);
  tl_html_free(&line);
  for (int64_t i = 0; i < w->count; i++) {
    TlHtml items = {0};
    int64_t warnings = 0;
    TlStatus status = tl_report_run_warnings(&run[i], &items, &warnings);
    if (status == TL_OK) put_warnings(to, &items, warnings, w->count > 1 ? run[i].label : NULL);
    size->warnings += warnings;
    tl_html_free(&items);
    TL_TRY(status);
  }
  tl_html(to,
          "<nav><ul><li><a href=\"#playback\">Playback</a></li><li><a "
          "href=\"#figures\">Figures</a></li><li><a href=\"#plots\">Plots</a></li>%s%s"
          "<li><a href=\"#what\">What ran</a></li></ul></nav>\n",
          run->device ? "" : "<li><a href=\"#quantiles\">Quantiles</a></li>",
          run->scene.has_terrain ? "<li><a href=\"#maps\">Maps</a></li>" : "");
  return TL_OK;
}

static TlStatus put_player(Work *w, TlHtml *to, const char *note) {
  TlPageStill *still;
  TL_TRY(TL_NEW(still, (size_t)w->count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < w->count; i++) {
    still[i] = (TlPageStill){.scene = &w->run[i].scene,
                             .folder = w->run[i].folder,
                             .frame = &w->run[i].last,
                             .camera = &w->camera[i],
                             .bare = w->run[i].device != TL_DEVICE_NONE,
                             .departures = &w->run[i].measure.departures,
                             .blocks = tl_scene_is_ensemble(&w->run[i].scene)};
    if (still[i].blocks) status = tl_run_not_started(w->run[i].folder, &still[i].not_started);
  }
  tl_html(to, "<h2 id=\"playback\">Playback</h2>\n");
  if (status == TL_OK) status = tl_page_player(to, still, w->count, note);
  tl_free(still);
  return status;
}

static TlStatus put_body(Work *w, TlHtml *to) {
  const TlReportRun *run = w->run;
  tl_html(to, "<h2 id=\"figures\">Figures</h2>\n");
  tl_report_run_figures(to, run, w->count);
  tl_html(to, "<h2 id=\"plots\">Plots</h2>\n");
  TL_TRY(tl_report_run_plots(to, run, w->count, w->options->measured ? &w->measured : NULL));
  if (!run->device) {
    tl_html(to, "<h2 id=\"quantiles\">Quantiles over the grains</h2>\n");
    TL_TRY(tl_report_run_quantiles(to, run, w->count));
    for (int64_t i = 0; i < w->count; i++)
      TL_TRY(tl_report_run_ranges(to, &run[i], w->count > 1 ? run[i].label : NULL));
  }
  for (int64_t i = 0, maps = 0; i < w->count; i++) {
    if (!run[i].scene.has_terrain || !run[i].grid.nx) continue;
    tl_html(to, "<h2%s>Maps%s", maps++ ? "" : " id=\"maps\"", w->count > 1 ? ": " : "");
    if (w->count > 1) tl_html_text(to, run[i].label);
    tl_html(to, "</h2>\n");
    TL_TRY(tl_report_maps(to, &run[i].scene, &run[i].motion, &run[i].measure, &run[i].grid,
                          run[i].moving, (int)i));
  }
  tl_html(to, "<h2 id=\"what\">What ran</h2>\n");
  for (int64_t i = 0; i < w->count; i++) {
    if (w->count > 1) {
      tl_html(to, "<h3>");
      tl_html_text(to, run[i].label);
      tl_html(to, "</h3>\n");
    }
    TL_TRY(tl_report_run_provenance(to, run[i].scene.provenance, run[i].scene.study));
  }
  return to->status;
}

static TlStatus write_runs(Work *w, TlHtml *page, TlReportSize *size) {
  const char *own = w->run->scene.title, *title = w->options->title;
  TlHtml body = {0}, player = {0}, note = {0};
  if (!title) title = own && own[0] ? own : w->run->label;
  /* what has a size of its own first; the playback takes what is left */
  TlStatus status = put_top(w, title, page, size);
  if (status == TL_OK) status = put_player(w, &player, NULL);
  if (status == TL_OK) status = put_body(w, &body);
  double budget = 1e6 * w->options->max_mb - (double)tl_page_end_bytes(w->count) - 800 -
                  (double)page->size - (double)body.size - (double)player.size;
  if (status == TL_OK) status = fit_playback(w, budget, size);
  tl_html(&note,
          "Surfaces follow the level sets, drawn with %d cells along a grain's longest axis "
          "and fewer for small ones on the screen; places are rounded to a 128th of the "
          "median radius, turns to 0.1 degrees.",
          (int)size->cells);
  if (size->frame_every > 1 || size->cells < fineness[0].cells[0])
    tl_html(&note,
            " To keep this file under %g MB (--max-mb) the playback has every %lld. frame "
            "and surfaces of %d in place of %d cells; plots, maps and tables are of all "
            "frames.",
            w->options->max_mb, (long long)size->frame_every, (int)size->cells,
            (int)fineness[0].cells[0]);
  if (status == TL_OK) {
    tl_html_add(page, &player);
    tl_html(page, "<p class=\"small\">");
    tl_html_add(page, &note);
    tl_html(page, "</p>\n");
    tl_html_add(page, &body);
    tl_page_end(page, w->head, w->data, w->count);
    status = page->status;
  }
  tl_html_free(&body);
  tl_html_free(&player);
  tl_html_free(&note);
  return status;
}

static TlStatus open_runs(Work *w, char *const *path, int64_t count) {
  char **label;
  TL_TRY(TL_NEW(label, (size_t)count));
  TlStatus status = TL_OK;
  if (w->options->labels == 0)
    status = tl_study_labels((const char *const *)path, count, label);
  else if (w->options->labels != count)
    status = tl_fail(TL_EUSAGE, "--label: %lld for %lld runs; give one for each run",
                     (long long)w->options->labels, (long long)count);
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    char *own = w->options->labels ? tl_strdup(w->options->label[i]) : label[i];
    label[i] = NULL;
    status = tl_report_run_open(path[i], own, &w->run[i]);
    if (status != TL_OK) break;
    w->count = i + 1;
    if (w->run[i].device != w->run[0].device)
      status = tl_fail(TL_EUSAGE, "%s is %s and %s is %s: make a report of each kind", path[0],
                       tl_report_device_test(w->run[0].device), path[i],
                       tl_report_device_test(w->run[i].device));
    if (status == TL_OK) status = choose_camera(&w->run[i], &w->camera[i]);
  }
  for (int64_t i = 0; i < count; i++) tl_free(label[i]);
  tl_free(label);
  return status;
}

static TlStatus report_runs(char *const *path, int64_t count, const TlReportOptions *options,
                            TlHtml *page, TlReportSize *size) {
  Work w = {.options = options};
  TlStatus status = TL_NEW(w.run, (size_t)count);
  if (status == TL_OK) status = TL_NEW(w.camera, (size_t)count);
  if (status == TL_OK) status = TL_NEW(w.head, (size_t)count);
  if (status == TL_OK) status = TL_NEW(w.data, (size_t)count);
  if (status == TL_OK) status = open_runs(&w, path, count);
  if (status == TL_OK && options->measured && w.run->device != TL_DEVICE_TRIAXIAL)
    status = tl_fail(TL_EUSAGE, "--compare: %s is no triaxial test", path[0]);
  if (status == TL_OK && options->measured)
    status = tl_measured_read(options->measured, &w.measured);
  if (status == TL_OK) status = write_runs(&w, page, size);
  release(&w);
  return status;
}

/* ---- which kind ---- */

static TlStatus holds(const char *folder, const char *name, bool *there) {
  char *path = tl_path_join(folder, name);
  if (!path) return TL_ENOMEM;
  *there = tl_file_exists(path);
  tl_free(path);
  return TL_OK;
}

TlStatus tl_report_make(char *const *path, int64_t count, const TlReportOptions *options,
                        TlHtml *page, TlReportSize *size) {
  bool run = false, catalog = false;
  *page = (TlHtml){0};
  *size = (TlReportSize){0};
  TL_TRY(holds(path[0], "run.h5", &run));
  TL_TRY(holds(path[0], "catalog.tals", &catalog));
  TlStatus status;
  if (run || count > 1) {
    status = report_runs(path, count, options, page, size);
  } else if (catalog || tl_scan_is_catalog(path[0])) {
    status = tl_report_scan(path[0], options, page, size);
  } else {
    status = tl_fail(TL_EINPUT,
                     "%s: is neither a run (a folder with run.h5, made by talus-solve) nor a "
                     "catalog (made by talus-avatars) nor a folder with catalog.tals",
                     path[0]);
  }
  size->mb = 1e-6 * (double)page->size;
  if (status != TL_OK) tl_html_free(page);
  return status;
}
