/* Pictures of a stored run for docs/: the frames next to given times, with one camera. */
#ifndef TL_TESTS_VALIDATION_PICTURES_H
#define TL_TESTS_VALIDATION_PICTURES_H

#include "base/mem.h"
#include "judge/judge.h"
#include "post/render.h"

typedef struct Gallery {
  const char *folder; /* of the results */
  TlVec3 from, at;    /* camera; the same point twice: found by the path */
  TlRenderColour colour;
  int width, height;
} Gallery;

static inline void picture_of(const TlScene *scene, const Gallery *g, int64_t index,
                              const TlCamera *camera, const TlRenderOptions *o, const char *name) {
  TlFrame frame;
  TlImage image;
  JUDGE_OK(tl_results_read_frame(g->folder, index, &frame));
  JUDGE_OK(tl_render_frame(scene, &frame, camera, o, &image));
  JUDGE_OK(tl_image_write_png(&image, judge_path(name), true));
  tl_image_free(&image);
  tl_frame_free(&frame);
}

/* names[k]: file of the frame at fraction[k] of the run, 0 the first and 1 the last. */
static inline void pictures(const Gallery *g, int count, const double *fraction,
                            const char *const *names) {
  TlScene scene;
  TlRenderPath path = {0};
  TlCamera camera;
  int64_t *frames, n;
  JUDGE_OK(tl_results_read_scene(g->folder, &scene));
  JUDGE_OK(tl_results_frames(g->folder, &frames, &n));
  for (int64_t k = 0; k < n; k += n / 16 + 1) {
    TlFrame frame;
    JUDGE_OK(tl_results_read_frame(g->folder, frames[k], &frame));
    JUDGE_OK(tl_render_path_add(&path, &scene, &frame));
    tl_frame_free(&frame);
  }
  TlRenderOptions o = {.width = g->width,
                       .height = g->height,
                       .colour = g->colour,
                       .smooth = true,
                       .captions = true};
  tl_render_range(&path, &scene, &o);
  if (tl_norm(tl_sub(g->at, g->from)) > 0)
    camera = tl_camera_look(g->from, g->at, 32, o.width, o.height);
  else
    JUDGE_OK(tl_camera_automatic(&scene, &path, false, 32, o.width, o.height, &camera));
  for (int k = 0; k < count; k++)
    picture_of(&scene, g, frames[(int64_t)(fraction[k] * (double)(n - 1) + 0.5)], &camera, &o,
               names[k]);
  tl_render_path_free(&path);
  tl_free(frames);
  tl_scene_free(&scene);
}

#endif
