/* Pictures of a run's frames, and plots of its measures. */
#include "stage/results.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "post/ensemble_scene.h"
#include "post/net_bonds.h"
#include "post/render.h"
#include "post/render_colour.h"
#include "post/render_plots.h"
#include "post/render_trajectories.h"
#include "post/render_values.h"
#include "post/run_caption.h"
#include "store/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define P(key, type, member, unit, def, min, max, choices, help, arg)                              \
  { key, type, offsetof(TlRenderStage, member), unit, def, min, max, choices, help, arg }

static const TlParam params[] = {
    P("frame", TL_P_TEXT, frame, "", "last", 0, 0, NULL,
      "which frame: a number, last, or all (then -o names a folder)", "N|last|all"),
    P("colour", TL_P_CHOICE, colour, "", "speed", 0, 0,
      "speed|size|id|height|rotation|strain|aggregate",
      "what the grains' colours say; rotation (deg) and local deviatoric strain: since a frame; "
      "aggregate: which grains the model reduction moves as one",
      NULL),
    P("since", TL_P_TEXT, since, "", "first", 0, 0, NULL,
      "frame that rotation, strain and the band of --cut=band are counted from", "N|first"),
    P("colour-high", TL_P_REAL, colour_high, "", "0", 0, 1e15, NULL,
      "upper end of the colours, in SI units or degrees, to compare pictures; 0: found", NULL),
    P("chains", TL_P_FLAG, chains, "", "false", 0, 0, NULL,
      "contacts in place of the grains: tubes as thick as the normal force, force chains in "
      "colour; "
      "for frames with contacts",
      NULL),
    P("cut", TL_P_TEXT, cut, "", "", 0, 0, NULL,
      "a section: leaves out what lies before the vertical plane through the grains' mean, moved "
      "by M metres, whose normal points to DEG degrees counter-clockwise from +x; band: that which "
      "shows the shear band from its side. The camera looks at it from there",
      "DEG[,M]|band"),
    P("cut-depth-m", TL_P_REAL, cut_depth_m, "m", "0", 0, 1e6, NULL,
      "with --cut: a slice, without what has its middle deeper than that behind the plane; 0: all",
      NULL),
    P("trajectories", TL_P_FLAG, trajectories, "", "false", 0, 0, NULL,
      "also where the grains came, as lines from frame to frame in the colour of their speed",
      NULL),
    P("enlarge", TL_P_REAL, enlarge, "", "1", 1, 1000, NULL,
      "draw grains so many times as large, which the caption says: on a long slope they are dots",
      "N"),
    P("view", TL_P_TEXT, view, "deg", "", 0, 0, NULL,
      "where the camera stands, seen from the grains: counter-clockwise from +x, above the "
      "horizon; "
      "-90,90: from above, north up, as a map without perspective",
      "DEG,DEG"),
    P("zoom", TL_P_CHOICE, zoom, "", "path", 0, 0, "path|grains",
      "frame the grains' whole path and the ground about it, or the grains of each frame", NULL),
    P("width", TL_P_INT, width, "pixels", "1280", 64, 16384, NULL, "width of the picture", NULL),
    P("height", TL_P_INT, height, "pixels", "800", 64, 16384, NULL, "height of the picture", NULL),
    P("from", TL_P_TEXT, from, "m", "", 0, 0, NULL,
      "camera position in the run's frame (with --at); found automatically when not given",
      "X,Y,Z"),
    P("at", TL_P_TEXT, at, "m", "", 0, 0, NULL, "point the camera looks at", "X,Y,Z"),
    P("fov-deg", TL_P_REAL, fov_deg, "deg", "0", 0, 150, NULL,
      "field of view over the picture's height; 0: 32, and 1 from straight above, where a map has "
      "no perspective",
      NULL),
    P("smooth", TL_P_FLAG, smooth, "", "true", 0, 0, NULL,
      "2 x 2 rays a pixel; --no-smooth is four times as fast", NULL),
    P("captions", TL_P_FLAG, captions, "", "true", 0, 0, NULL,
      "title, time, scale bar and legend; --no-captions leaves them out", NULL),
    P("bare", TL_P_FLAG, bare, "", "false", 0, 0, NULL,
      "without nets, membranes and platens: the grains that they hide", NULL),
    P("plots", TL_P_FLAG, plots, "", "false", 0, 0, NULL,
      "plot the measures over time instead (gnuplot); -o names a folder", NULL),
    P("csv", TL_P_TEXT, csv, "", "", 0, 0, NULL,
      "with --plots: also plot this file, made by talus-measure", "FILE"),
};

const TlParamTable tl_render_table = TL_PARAM_TABLE(params, TlRenderStage);

/* ---- frames and camera ---- */

enum { PATH_FRAMES = 24 };

/* First, last and up to 24 frames between tell where the grains went. */
static TlStatus read_path(const char *run, const TlScene *scene, const int64_t *frames,
                          int64_t count, TlRenderPath *path) {
  int64_t samples = count < PATH_FRAMES ? count : PATH_FRAMES;
  for (int64_t k = 0; k < samples; k++) {
    int64_t i = samples > 1 ? k * (count - 1) / (samples - 1) : 0;
    TlFrame frame;
    TL_TRY(tl_results_read_frame(run, frames[i], &frame));
    TlStatus status = tl_render_path_add(path, scene, &frame);
    tl_frame_free(&frame);
    if (status != TL_OK) return status;
  }
  return TL_OK;
}

static TlStatus parse_point(const char *option, const char *text, TlVec3 *point) {
  double p[3];
  const TlParam param = {option, TL_P_VEC3, 0, "m", NULL, 0, 0, NULL, "", NULL};
  TL_TRY(tl_context(tl_param_parse(&param, p, text), "--%s", option));
  *point = tl_vec3(p[0], p[1], p[2]);
  return TL_OK;
}

/* "30,2.5": one number, if more are not needed, or two. */
static TlStatus parse_numbers(const char *option, const char *text, bool both, double value[2]) {
  const char *rest = text, *const wanted = both ? "two numbers" : "a number or two";
  int n = 0;
  while (rest && n < 2) {
    const char *comma = strchr(rest, ',');
    char *piece = tl_format("%.*s", comma ? (int)(comma - rest) : (int)strlen(rest), rest);
    if (!piece) return TL_ENOMEM;
    TlStatus status = tl_parse_real(piece, &value[n++]);
    tl_free(piece);
    if (status != TL_OK) break;
    rest = comma ? comma + 1 : NULL;
  }
  if (!rest && (n == 2 || !both)) return TL_OK;
  return tl_fail(TL_EUSAGE, "--%s=%s: wants %s, by a comma", option, text, wanted);
}

/* --view; else square to a cut, a little from above. side[2]: azimuth and elevation, deg. */
static TlStatus choose_side(const TlRenderStage *v, const TlRenderOptions *o, bool *given,
                            double side[2]) {
  *given = v->view || o->cut;
  side[0] = atan2(o->cut_normal.y, o->cut_normal.x) * TL_DEG;
  side[1] = 6;
  if (!v->view) return TL_OK;
  if (v->from || v->at) return tl_fail(TL_EUSAGE, "--view and --from exclude each other");
  TL_TRY(parse_numbers("view", v->view, true, side));
  if (fabs(side[1]) <= 90) return TL_OK;
  return tl_fail(TL_EUSAGE, "--view: %g degrees above the horizon; -90 to 90", side[1]);
}

static TlStatus choose_camera(const TlRenderStage *v, const TlScene *scene,
                              const TlRenderOptions *o, const TlRenderPath *path, bool close,
                              TlCamera *camera) {
  int width = (int)v->width, height = (int)v->height;
  bool aside;
  double side[2];
  TL_TRY(choose_side(v, o, &aside, side));
  bool above = aside && fabs(side[1]) == 90;
  double fov_deg = v->fov_deg > 0 ? v->fov_deg : above ? 1 : 32;
  if (!v->from && !v->at && aside)
    return tl_camera_from_side(scene, path, side[0], side[1], fov_deg, width, height, camera);
  if (!v->from && !v->at)
    return tl_camera_automatic(scene, path, close, fov_deg, width, height, camera);
  if (!v->from || !v->at) return tl_fail(TL_EUSAGE, "--from and --at go together");
  TlVec3 from, at;
  TL_TRY(parse_point("from", v->from, &from));
  TL_TRY(parse_point("at", v->at, &at));
  if (tl_norm(tl_sub(at, from)) == 0) return tl_fail(TL_EUSAGE, "--from and --at are one point");
  *camera = tl_camera_look(from, at, fov_deg, width, height);
  return TL_OK;
}

typedef struct Job {
  const TlStageCall *call;
  const TlRenderStage *values;
  const char *run;
  TlScene scene;
  int64_t *frames, count;
  TlFrame before; /* --since, where it is needed */
  TlRenderPath path;
  TlDepartures departures;
  TlTrajectories trajectories;
  TlSheet sheet; /* nets, where they are drawn */
  TlRenderOptions options;
  TlCamera camera;
} Job;

static TlStatus picture(Job *job, const TlFrame *frame, const char *path) {
  TlCamera camera = job->camera;
  if (job->values->zoom == 1) {
    TlRenderPath near = {.bare = job->values->bare};
    TlStatus status = tl_render_path_add(&near, &job->scene, frame);
    if (status == TL_OK)
      status =
          choose_camera(job->values, &job->scene, &job->options, &near, near.count > 0, &camera);
    tl_render_path_free(&near);
    TL_TRY(status);
  }
  TlImage image;
  TL_TRY(tl_render_frame(&job->scene, frame, &camera, &job->options, &image));
  TlStatus status = tl_image_write(&image, path, job->call->overwrite);
  tl_image_free(&image);
  return status;
}

static TlStatus chains_of(const Job *job, int64_t index, TlFrame *frame, TlChainDrawing *chains) {
  TlPacking packing;
  TL_TRY(tl_packing_read(job->run, &job->scene, index, frame, &packing));
  TlStatus status = tl_chain_drawing(&packing, job->options.high, job->options.chain_m, chains);
  tl_packing_free(&packing);
  return status;
}

static TlStatus values_of(const Job *job, const TlFrame *frame, double **value) {
  bool rotation = job->options.colour == TL_COLOUR_ROTATION;
  return tl_values_since(&job->scene, rotation ? TL_VALUE_ROTATION : TL_VALUE_STRAIN, &job->before,
                         frame, value);
}

static bool takes_values(const Job *job) {
  return job->options.colour == TL_COLOUR_ROTATION || job->options.colour == TL_COLOUR_STRAIN;
}

/* What is drawn beside the grains of this frame, fresh memory. */
static TlStatus tubes_of(const Job *job, const TlFrame *frame, TlTraceTube **tube, int64_t *count) {
  const double FRACTION = 0.35; /* bonds are thinner than the knots of the net */
  size_t capacity = 0;
  for (int64_t k = 0; job->trajectories.until && k < job->count; k++)
    if (job->frames[k] == frame->index) *count = job->trajectories.until[k];
  TL_TRY(TL_RESERVE(*tube, capacity, (size_t)*count));
  if (*count > 0) memcpy(*tube, job->trajectories.tube, (size_t)*count * sizeof **tube);
  return tl_sheet_tubes(&job->sheet, &job->scene, frame, FRACTION, tl_colour_of_net(), tube,
                        &capacity, count);
}

static TlStatus render_one(Job *job, int64_t index, const char *path) {
  TlFrame frame = {0};
  TlTraceTube *tube = NULL;
  TlChainDrawing chains = {0};
  double *value = NULL;
  TlStatus status = job->values->chains ? chains_of(job, index, &frame, &chains)
                                        : tl_results_read_frame(job->run, index, &frame);
  if (status == TL_OK && takes_values(job)) status = values_of(job, &frame, &value);
  job->options.value = value;
  job->options.tubes = 0;
  if (status == TL_OK) status = tubes_of(job, &frame, &tube, &job->options.tubes);
  job->options.tube = tube;
  job->options.chains = job->values->chains ? &chains : NULL;
  if (status == TL_OK) status = picture(job, &frame, path);
  job->options.tube = NULL;
  tl_free(tube);
  tl_chain_drawing_free(&chains);
  tl_free(value);
  tl_frame_free(&frame);
  return status;
}

static TlStatus render_all(Job *job) {
  TL_TRY(tl_dir_make(job->call->output));
  TlProgress progress = tl_progress_start("rendering", job->count);
  TlStatus status = TL_OK;
  for (int64_t k = 0; k < job->count && status == TL_OK; k++) {
    char *path = tl_format("%s/frame_%06lld.png", job->call->output, (long long)job->frames[k]);
    status = path ? render_one(job, job->frames[k], path) : TL_ENOMEM;
    tl_free(path);
    tl_progress(&progress, k + 1);
  }
  tl_progress_end(&progress);
  return status;
}

/* A number of the run's frames, or the one that the word stands for. */
static TlStatus pick_frame(const Job *job, const char *option, const char *text, const char *word,
                           int64_t worth, int64_t *index) {
  *index = worth;
  if (strcmp(text, word) == 0) return TL_OK;
  if (tl_parse_int(text, index) != TL_OK)
    return tl_fail(TL_EUSAGE, "--%s=%s: is neither a frame's number nor %s", option, text, word);
  for (int64_t k = 0; k < job->count; k++)
    if (job->frames[k] == *index) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: there is no frame %lld; it has %lld, from %lld to %lld", job->run,
                 (long long)*index, (long long)job->count, (long long)job->frames[0],
                 (long long)job->frames[job->count - 1]);
}

static TlStatus report(const Job *job, int64_t pictures) {
  TlReport *r = job->call->report;
  TlVec3 at = tl_axpy(job->camera.from, job->camera.focus_m, job->camera.forward);
  char text[2][96];
  snprintf(text[0], sizeof text[0], "%.6g,%.6g,%.6g", job->camera.from.x, job->camera.from.y,
           job->camera.from.z);
  snprintf(text[1], sizeof text[1], "%.6g,%.6g,%.6g", at.x, at.y, at.z);
  TL_TRY(tl_report_int(r, "pictures", pictures, ""));
  TL_TRY(tl_report_text(r, "output", job->call->output));
  TL_TRY(tl_report_text(r, "camera_from", text[0]));
  return tl_report_text(r, "camera_at", text[1]);
}

/* ---- what colours and cuts are counted from ---- */

/* Of the run's last frame, so that all its pictures have the same. */
static TlStatus range_of_values(Job *job, const TlFrame *last) {
  double *value, end = 0;
  TL_TRY(values_of(job, last, &value));
  TlStatus status = tl_values_end(value, last->count, &end);
  job->options.high = tl_render_round_up(end);
  tl_free(value);
  return status;
}

static TlStatus range_of_chains(Job *job, int64_t last) {
  TlFrame frame;
  TlPacking packing;
  double force = 0;
  TL_TRY(tl_packing_read(job->run, &job->scene, last, &frame, &packing));
  TlStatus status = tl_chain_force(&packing, &force);
  job->options.high = tl_render_round_up(force);
  job->options.chain_m = tl_chain_thickness(&packing);
  tl_packing_free(&packing);
  tl_frame_free(&frame);
  return status;
}

static TlStatus choose_cut(Job *job, const TlFrame *last) {
  TlRenderOptions *o = &job->options;
  const char *cut = job->values->cut;
  double number[2] = {0, 0};
  o->cut_depth_m = job->values->cut_depth_m;
  if (!cut && o->cut_depth_m > 0) return tl_fail(TL_EUSAGE, "--cut-depth-m goes with --cut");
  if (!cut) return TL_OK;
  o->cut = true;
  o->cut_point_m = job->path.last;
  if (strcmp(cut, "band") == 0)
    return tl_context(tl_values_band_view(&job->scene, &job->before, last, &o->cut_normal),
                      "--cut=band (or give degrees)");
  TL_TRY(parse_numbers("cut", cut, false, number));
  double azimuth = number[0] / TL_DEG;
  o->cut_normal = tl_vec3(cos(azimuth), sin(azimuth), 0);
  o->cut_point_m = tl_axpy(o->cut_point_m, number[1], o->cut_normal);
  return TL_OK;
}

static TlStatus choose_range(Job *job, const TlFrame *last) {
  if (takes_values(job)) TL_TRY(range_of_values(job, last));
  if (job->values->chains) TL_TRY(range_of_chains(job, last->index));
  tl_render_range(&job->path, &job->scene, &job->options);
  double high = job->values->colour_high;
  if (!(high > 0)) return TL_OK;
  if (!(high > job->options.low))
    return tl_fail(TL_EUSAGE, "--colour-high=%g: the colours begin at %g", high, job->options.low);
  job->options.high = high;
  return TL_OK;
}

enum { LINE_PIXELS = 3 };

static TlStatus choose_trajectories(Job *job) {
  const TlRenderStage *v = job->values;
  if (!v->trajectories) return TL_OK;
  if (v->chains) return tl_fail(TL_EUSAGE, "--trajectories and --chains exclude each other");
  double pixel_m = 2 * job->camera.focus_m * job->camera.tan_y / (double)v->height;
  TlRenderOptions speeds = {.colour = TL_COLOUR_SPEED};
  tl_render_range(&job->path, &job->scene, &speeds);
  bool same = job->options.colour == TL_COLOUR_SPEED; /* then with --colour-high, if given */
  TL_TRY(tl_trajectories_read(job->run, job->frames, job->count, LINE_PIXELS * pixel_m,
                              same ? job->options.low : speeds.low,
                              same ? job->options.high : speeds.high, &job->trajectories));
  return TL_OK;
}

static TlStatus find_nets(Job *job) {
  TlFrame first;
  if (job->values->bare || job->values->chains) return TL_OK; /* nets are not drawn */
  TL_TRY(tl_results_read_frame(job->run, job->frames[0], &first));
  TlStatus status = tl_sheet_open(&first, &job->sheet);
  tl_frame_free(&first);
  return status;
}

/* Whether the picture is a map: on a terrain, from straight above, its upper end the north. */
static TlStatus choose_north(Job *job) {
  bool given;
  double side[2];
  TL_TRY(choose_side(job->values, &job->options, &given, side));
  job->options.north_up = job->scene.has_terrain && given && side[1] == 90 && side[0] == -90;
  return TL_OK;
}

static TlStatus choose_all(Job *job) {
  TlFrame last;
  const TlRenderStage *v = job->values;
  if (takes_values(job) || (v->cut && strcmp(v->cut, "band") == 0)) {
    TL_TRY(pick_frame(job, "since", v->since, "first", job->frames[0], &job->options.since));
    TL_TRY(tl_results_read_frame(job->run, job->options.since, &job->before));
  }
  TL_TRY(tl_results_read_frame(job->run, job->frames[job->count - 1], &last));
  TlStatus status = choose_range(job, &last);
  if (status == TL_OK) status = choose_cut(job, &last);
  tl_frame_free(&last);
  TL_TRY(status);
  TL_TRY(choose_north(job));
  TL_TRY(choose_camera(job->values, &job->scene, &job->options, &job->path, false, &job->camera));
  return choose_trajectories(job);
}

static TlStatus render(Job *job) {
  const TlRenderStage *v = job->values;
  TL_TRY(tl_results_read_scene(job->run, &job->scene));
  TL_TRY(tl_departures_read(job->run, &job->departures));
  TL_TRY(tl_results_frames(job->run, &job->frames, &job->count));
  if (job->count == 0) return tl_fail(TL_EINPUT, "%s: the run has no frame yet", job->run);
  TL_TRY(read_path(job->run, &job->scene, job->frames, job->count, &job->path));
  job->options =
      (TlRenderOptions){.width = (int)v->width,
                        .height = (int)v->height,
                        .colour = v->chains ? TL_COLOUR_FORCE : (TlRenderColour)v->colour,
                        .smooth = v->smooth,
                        .captions = v->captions,
                        .folder = job->run,
                        .departures = &job->departures,
                        .blocks = tl_scene_is_ensemble(&job->scene),
                        .enlarge = v->enlarge,
                        .bare = v->bare};
  if (job->options.blocks) TL_TRY(tl_run_not_started(job->run, &job->options.not_started));
  TL_TRY(find_nets(job));
  TL_TRY(choose_all(job));
  if (strcmp(v->frame, "all") == 0) {
    TL_TRY(render_all(job));
    return report(job, job->count);
  }
  int64_t index;
  TL_TRY(tl_claim_output(job->call->output, "-o", job->call->overwrite || job->call->dry_run));
  TL_TRY(pick_frame(job, "frame", v->frame, "last", job->frames[job->count - 1], &index));
  TL_TRY(render_one(job, index, job->call->output));
  return report(job, 1);
}

TlStatus tl_stage_render(const TlStageCall *call, const TlRenderStage *v) {
  if (!v->plots && strcmp(v->frame, "all") != 0) TL_TRY(tl_image_check_name(call->output));
  if (v->plots) return tl_render_plots(call->input[0], v->csv, call->output, call->overwrite);
  if (v->csv) return tl_fail(TL_EUSAGE, "--csv goes with --plots");
  Job job = {.call = call, .values = v, .run = call->input[0], .path = {.bare = v->bare}};
  TlStatus status = render(&job);
  tl_scene_free(&job.scene);
  tl_frame_free(&job.before);
  tl_departures_free(&job.departures);
  tl_free(job.frames);
  tl_render_path_free(&job.path);
  tl_trajectories_free(&job.trajectories);
  tl_sheet_free(&job.sheet);
  return status;
}
