/* talus-render: pictures of a run's frames, and plots of its measures. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/report.h"
#include "conf/cli.h"
#include "post/render.h"
#include "post/render_plots.h"
#include "store/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Values {
  char *frame, *from, *at, *csv;
  int colour, zoom;
  int64_t width, height;
  double fov_deg;
  bool plots, smooth, captions, bare;
} Values;

#define P(key, type, member, unit, def, min, max, choices, help, arg)                              \
  { key, type, offsetof(Values, member), unit, def, min, max, choices, help, arg }

static const TlParam params[] = {
    P("frame", TL_P_TEXT, frame, "", "last", 0, 0, NULL,
      "which frame: a number, last, or all (then -o names a folder)", "N|last|all"),
    P("colour", TL_P_CHOICE, colour, "", "speed", 0, 0, "speed|size|id|height",
      "what the grains' colours say", NULL),
    P("zoom", TL_P_CHOICE, zoom, "", "path", 0, 0, "path|grains",
      "frame the grains' whole path and the ground about it, or the grains of each frame", NULL),
    P("width", TL_P_INT, width, "pixels", "1280", 64, 16384, NULL, "width of the picture", NULL),
    P("height", TL_P_INT, height, "pixels", "800", 64, 16384, NULL, "height of the picture", NULL),
    P("from", TL_P_TEXT, from, "m", "", 0, 0, NULL,
      "camera position in the run's frame (with --at); found automatically when not given",
      "X,Y,Z"),
    P("at", TL_P_TEXT, at, "m", "", 0, 0, NULL, "point the camera looks at", "X,Y,Z"),
    P("fov-deg", TL_P_REAL, fov_deg, "deg", "32", 1, 150, NULL,
      "field of view over the picture's height", NULL),
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

static TlStatus choose_camera(const Values *v, const TlScene *scene, const TlRenderPath *path,
                              bool close, TlCamera *camera) {
  int width = (int)v->width, height = (int)v->height;
  if (!v->from && !v->at)
    return tl_camera_automatic(scene, path, close, v->fov_deg, width, height, camera);
  if (!v->from || !v->at) return tl_fail(TL_EUSAGE, "--from and --at go together");
  TlVec3 from, at;
  TL_TRY(parse_point("from", v->from, &from));
  TL_TRY(parse_point("at", v->at, &at));
  if (tl_norm(tl_sub(at, from)) == 0) return tl_fail(TL_EUSAGE, "--from and --at are one point");
  *camera = tl_camera_look(from, at, v->fov_deg, width, height);
  return TL_OK;
}

typedef struct Job {
  const TlCall *call;
  const Values *values;
  const char *run;
  TlScene scene;
  int64_t *frames, count;
  TlRenderPath path;
  TlRenderOptions options;
  TlCamera camera;
} Job;

static TlStatus picture(Job *job, const TlFrame *frame, const char *path) {
  TlCamera camera = job->camera;
  if (job->values->zoom == 1) {
    TlRenderPath near = {0};
    TlStatus status = tl_render_path_add(&near, &job->scene, frame);
    if (status == TL_OK)
      status = choose_camera(job->values, &job->scene, &near, near.count > 0, &camera);
    tl_render_path_free(&near);
    TL_TRY(status);
  }
  TlImage image;
  TL_TRY(tl_render_frame(&job->scene, frame, &camera, &job->options, &image));
  TlStatus status = tl_image_write_png(&image, path, job->call->overwrite);
  tl_image_free(&image);
  return status;
}

static TlStatus render_one(Job *job, int64_t index, const char *path) {
  TlFrame frame;
  TL_TRY(tl_results_read_frame(job->run, index, &frame));
  TlStatus status = picture(job, &frame, path);
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

static TlStatus pick_frame(const Job *job, int64_t *index) {
  const char *text = job->values->frame;
  *index = job->frames[job->count - 1];
  if (strcmp(text, "last") == 0) return TL_OK;
  TL_TRY(tl_context(tl_parse_int(text, index), "--frame (a number, last or all)"));
  for (int64_t k = 0; k < job->count; k++)
    if (job->frames[k] == *index) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: there is no frame %lld; it has %lld, from %lld to %lld", job->run,
                 (long long)*index, (long long)job->count, (long long)job->frames[0],
                 (long long)job->frames[job->count - 1]);
}

static TlStatus report(const Job *job, int64_t pictures) {
  TlReport r = {0};
  TlStatus status = tl_report_int(&r, "pictures", pictures, "");
  if (status == TL_OK) status = tl_report_text(&r, "output", job->call->output);
  TlVec3 at = tl_axpy(job->camera.from, job->camera.focus_m, job->camera.forward);
  char text[2][96];
  snprintf(text[0], sizeof text[0], "%.6g,%.6g,%.6g", job->camera.from.x, job->camera.from.y,
           job->camera.from.z);
  snprintf(text[1], sizeof text[1], "%.6g,%.6g,%.6g", at.x, at.y, at.z);
  if (status == TL_OK) status = tl_report_text(&r, "camera_from", text[0]);
  if (status == TL_OK) status = tl_report_text(&r, "camera_at", text[1]);
  if (status == TL_OK) status = tl_report_print(&r, job->call->json);
  tl_report_free(&r);
  return status;
}

static TlStatus render(Job *job) {
  const Values *v = job->values;
  TL_TRY(tl_results_read_scene(job->run, &job->scene));
  TL_TRY(tl_results_frames(job->run, &job->frames, &job->count));
  if (job->count == 0) return tl_fail(TL_EINPUT, "%s: the run has no frame yet", job->run);
  TL_TRY(read_path(job->run, &job->scene, job->frames, job->count, &job->path));
  TL_TRY(choose_camera(v, &job->scene, &job->path, false, &job->camera));
  job->options = (TlRenderOptions){.width = (int)v->width,
                                   .height = (int)v->height,
                                   .colour = (TlRenderColour)v->colour,
                                   .smooth = v->smooth,
                                   .captions = v->captions,
                                   .bare = v->bare};
  tl_render_range(&job->path, &job->scene, &job->options);
  if (strcmp(v->frame, "all") == 0) {
    TL_TRY(render_all(job));
    return report(job, job->count);
  }
  int64_t index;
  TL_TRY(pick_frame(job, &index));
  TL_TRY(render_one(job, index, job->call->output));
  return report(job, 1);
}

static TlStatus run(const TlCall *call) {
  const Values *v = call->values;
  if (v->plots) return tl_render_plots(call->argv[0], v->csv, call->output, call->overwrite);
  if (v->csv) return tl_fail(TL_EUSAGE, "--csv goes with --plots");
  Job job = {.call = call, .values = v, .run = call->argv[0]};
  TlStatus status = render(&job);
  tl_scene_free(&job.scene);
  tl_free(job.frames);
  tl_render_path_free(&job.path);
  return status;
}

static const TlTool tool = {
    .name = "talus-render",
    .purpose = "Draw pictures of a run's frames, or plots of its measures",
    .arguments = "RUN",
    .description =
        "RUN is a folder of results. The grains are drawn as the level sets that the solver uses,\n"
        "the terrain as its heightfield with contour lines, by marching rays on the CPU: no\n"
        "display is needed. The camera finds its place by itself: at three quarters from the side\n"
        "to which the grains move. The scale bar holds in the middle of the picture's depth.\n"
        "Colours keep their meaning from frame to frame.\n"
        "\n"
        "With --plots: PNG plots of RUN/history.csv over time, each column in a panel of its own\n"
        "and the energies together, drawn by gnuplot.",
    .example = "talus-render run --frame=last -o last.png\n"
               "talus-render run --frame=all --colour=size -o pictures\n"
               "talus-render run --plots -o pictures",
    .least_arguments = 1,
    .most_arguments = 1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .values_size = sizeof(Values),
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
