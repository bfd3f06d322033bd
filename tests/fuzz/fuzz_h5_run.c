/* run.h5 of a results folder; what is read is looked up as the measures do. */
#include "fuzz/fuzz.h"

#include "store/results.h"

#include <math.h>

static void look_up(const TlScene *s) {
  TlVec3 n;
  double phi;
  TlFrame frame = {.step = 7};
  for (int k = 0; k < 50; k++) {
    TlVec3 p = tl_vec3(10 * sin(k), 10 * cos(k), k - 25);
    if (s->has_terrain) (void)tl_terrain_phi(&s->terrain, p, &phi, &n);
    for (int64_t i = 0; i < s->avatar_count && i < 10; i++)
      phi = tl_avatar_phi(&s->avatars[i], tl_scale(s->avatars[i].spacing_m, p), &n);
    for (int64_t i = 0; i < s->part_count && i < 10; i++) {
      TlPlacement place = tl_scene_place(s, &s->parts[i], &frame);
      phi = tl_part_phi(&s->parts[i], &place, p);
    }
  }
}

TL_FUZZ(h5_run) {
  TlScene scene;
  (void)tl_fuzz_file("run.h5", bytes, size);
  TlStatus status = tl_results_read_scene(tl_fuzz_folder(), &scene);
  tl_fuzz_done(status);
  if (status != TL_OK) return;
  look_up(&scene);
  (void)tl_scene_avatar(&scene, 5);
  tl_scene_free(&scene);
}
