/* Clay that sticks to a grain, and what the curvature flow (talus-avatars --curvature-steps) takes
 * off it: Tan 2022 Fig. 2.13 on a grain whose clean shape is known. An ellipsoid of half axes 18,
 * 14, 11 voxels with 24 balls of radius 1.2 to 3 voxels half sunk into it, as bright as the grain,
 * blurred, noise of 6 grey levels; the whole is one label. The flow is given 0 to 200 steps of 0.1
 * voxel^2; a bump of radius r is gone after about r^2/4, and so are edges of that radius.
 */
#include "judge/judge.h"
#include "score/score.h"

#include "base/mem.h"
#include "base/random.h"
#include "io/image.h"
#include "shape/drlse.h"
#include "shape/mass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NX = 58, NY = 50, NZ = 44, BALLS = 24, RUNS = 4, ZOOM = 6 };
static const int32_t run_steps[RUNS] = {0, 20, 60, 200};
static const double half[3] = {18, 14, 11};

typedef struct Scene {
  TlVec3 ball[BALLS];
  double radius[BALLS];
  TlVolume grey, labels;
  ScoreIso iso; /* boxes and levels */
} Scene;

static TlVec3 own_frame(TlVec3 x) {
  TlMat3 r = tl_quat_matrix(tl_quat_unit((TlQuat){0.98, 0.05, -0.08, 0.15}));
  return tl_mat_tvec(r, tl_sub(x, tl_vec3(0.5 * NX - 0.3, 0.5 * NY - 0.6, 0.5 * NZ - 0.4)));
}

/* Distance to the clean grain, good to some per cent near it (f/|grad f|). */
static double clean(TlVec3 x) {
  TlVec3 p = own_frame(x);
  TlVec3 q = tl_vec3(p.x / half[0], p.y / half[1], p.z / half[2]),
         g = tl_vec3(q.x / half[0], q.y / half[1], q.z / half[2]);
  double k0 = tl_norm(q), k1 = tl_norm(g);
  return k1 > 1e-6 ? k0 * (k0 - 1) / k1 : -half[2];
}

static double soiled(const Scene *s, TlVec3 x) {
  double d = clean(x);
  TlVec3 p = own_frame(x);
  for (int b = 0; b < BALLS; b++) d = fmin(d, tl_norm(tl_sub(p, s->ball[b])) - s->radius[b]);
  return d;
}

static double normal_number(TlRandom *r) {
  double u = tl_random_next(r), v = tl_random_next(r);
  return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

static TlVec3 place(int64_t i) {
  return tl_vec3((double)(i % NX), (double)(i / NX % NY), (double)(i / NX / NY));
}

static void make_scene(Scene *s) {
  TlRandom random = {2213, 1, 0};
  for (int b = 0; b < BALLS; b++) {
    TlVec3 d =
        tl_unit(tl_vec3(normal_number(&random), normal_number(&random), normal_number(&random)));
    double r = 1 / sqrt(d.x * d.x / (half[0] * half[0]) + d.y * d.y / (half[1] * half[1]) +
                        d.z * d.z / (half[2] * half[2]));
    s->ball[b] = tl_scale(r, d);
    s->radius[b] = 1.2 + 1.8 * tl_random_next(&random);
  }
  JUDGE_OK(tl_volume_new(&s->grey, TL_F32, NX, NY, NZ));
  JUDGE_OK(tl_volume_like(&s->labels, &s->grey, TL_U32));
  for (int64_t i = 0; i < tl_volume_count(&s->grey); i++) {
    double g = 90 + 35 * erfc(soiled(s, place(i)) / (0.75 * sqrt(2)));
    s->labels.u32[i] = g > 125; /* the label a noise-free half level would give */
    s->grey.f32[i] = (float)(g + 6 * normal_number(&random));
  }
  JUDGE_OK(score_iso_open(&s->grey, &s->labels, &s->iso));
}

typedef struct Run {
  TlPhiGrid grid;
  int64_t corner[3];
  TlDrlseReport report;
  double volume, rms, clay, lost; /* rms off the clean grain; voxels of clay, of grain given up */
} Run;

static double phi_at(const Run *r, TlVec3 x) {
  TlVec3 corner = tl_vec3((double)r->corner[0], (double)r->corner[1], (double)r->corner[2]);
  return tl_grid_cubic(&r->grid, tl_sub(x, corner), NULL);
}

static void measure(const Scene *s, Run *r) {
  double square = 0;
  int64_t near = 0;
  TlMass mass;
  JUDGE_OK(tl_mass_properties(&r->grid, &mass));
  r->volume = mass.volume;
  for (int64_t i = 0; i < tl_volume_count(&s->grey); i++) {
    double phi = phi_at(r, place(i)), d = clean(place(i));
    if (fabs(phi) < 0.5) square += (d - phi) * (d - phi), near++;
    r->clay += phi < 0 && d > 0.5;
    r->lost += phi > 0 && d < -0.5;
  }
  r->rms = sqrt(square / (double)near);
}

static void run(const Scene *s, int32_t steps, Run *r) {
  TlDrlseOptions o = tl_drlse_defaults();
  o.curvature_steps = steps;
  *r = (Run){0};
  const TlGrainPart part = {&s->grey, &s->labels, {0}, {NX, NY, NZ}};
  JUDGE_OK(
      tl_drlse_grain(&part, 1, s->iso.boxes, &s->iso.levels, &o, &r->grid, r->corner, &r->report));
  measure(s, r);
}

static void put(TlImage *image, int x, int y, int red, int green, int blue) {
  uint8_t *p = image->rgb + 3 * ((int64_t)y * image->width + x);
  p[0] = (uint8_t)red, p[1] = (uint8_t)green, p[2] = (uint8_t)blue;
}

/* The middle layer: the grey stack, the outline without the flow (red) and after it (yellow). */
static void draw(const Scene *s, const Run *before, const Run *after, TlImage *image, int panel) {
  int left = panel % 2 * (NX * ZOOM + 4), top = panel / 2 * (NY * ZOOM + 4);
  for (int y = 0; y < NY * ZOOM; y++)
    for (int x = 0; x < NX * ZOOM; x++) {
      TlVec3 p = tl_vec3((x + 0.5) / ZOOM - 0.5, (y + 0.5) / ZOOM - 0.5, NZ / 2);
      double grey = s->grey.f32[tl_volume_at(&s->grey, x / ZOOM, y / ZOOM, NZ / 2)];
      int shade = (int)fmin(255, fmax(0, 255 * (grey - 60) / 140));
      put(image, left + x, top + y, shade, shade, shade);
      if (fabs(phi_at(before, p)) < 0.5 / ZOOM) put(image, left + x, top + y, 220, 30, 30);
      if (fabs(phi_at(after, p)) < 0.7 / ZOOM && after != before)
        put(image, left + x, top + y, 255, 220, 0);
    }
}

int main(int argc, char **argv) {
  Scene s = {0};
  Run r[RUNS];
  TlImage image;
  judge_open("clay", argc, argv);
  make_scene(&s);
  JUDGE_OK(tl_image_new(&image, 2 * NX * ZOOM + 4, 2 * NY * ZOOM + 4));
  double restored = 0, best = INFINITY;
  for (int k = 0; k < RUNS; k++) {
    run(&s, run_steps[k], &r[k]);
    draw(&s, &r[0], &r[k], &image, k);
    restored = fmax(restored, fabs(r[k].volume / r[0].volume - 1));
    if (k > 0) best = fmin(best, r[k].rms);
    judge_note("%d steps: the flow took %.2f%% of the volume before it was restored; surface off "
               "the clean grain by %.3f voxel rms, %.0f voxels of clay left, %.0f of the grain "
               "given up.",
               (int)run_steps[k], 100 * r[k].report.curvature_volume, r[k].rms, r[k].clay,
               r[k].lost);
  }
  JUDGE_OK(tl_image_write_png(&image, judge_path("clay.png"), true));
  judge_at_most(JUDGE_CORRECT, "clay_volume_restored", 100 * restored, "%", 0.1);
  judge_at_most(JUDGE_GOAL, "clay_surface_to_none", best / r[0].rms, "1", 1);
  judge_at_most(JUDGE_GOAL, "clay_left_60", r[2].clay / r[0].clay, "1", 0.5);
  for (int k = 0; k < RUNS; k++) tl_free(r[k].grid.phi);
  tl_image_free(&image);
  score_iso_close(&s.iso);
  tl_volume_free(&s.grey);
  tl_volume_free(&s.labels);
  return judge_close();
}
