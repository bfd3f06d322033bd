#include "run/ensemble.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/bodies.h"

#include <math.h>

enum { STREAM_HEAP = 7201, TRIES = 64 };

typedef struct Ball {
  TlVec3 centre;
  double radius_m, volume_m3;
} Ball;

/* The height at which the ball touches the ground, or one of those that are there, from above, and how
 * far that is above the ground alone; false: no terrain there. */
static bool set_down(const TlPlace *place, const Ball *there, int64_t count, Ball *ball,
                     double *above_m) {
  double gap = place->setup->release.clearance_m, lift;
  TlVec3 *x = &ball->centre;
  if (!tl_terrain_height(place->terrain, x->x, x->y, &x->z, NULL) ||
      !tl_ground_lift(place->terrain, *x, ball->radius_m, gap, &lift))
    return false;
  double ground = x->z += lift;
  for (int64_t i = 0; i < count; i++) {
    double apart = there[i].radius_m + ball->radius_m + gap,
           aside = hypot(there[i].centre.x - x->x, there[i].centre.y - x->y);
    if (aside < apart) x->z = fmax(x->z, there[i].centre.z + sqrt(apart * apart - aside * aside));
  }
  *above_m = x->z - ground;
  return true;
}

/* Of the places tried around that of the release, which comes last, the first on the ground, or else
 * the one that lies least above it. */
static TlStatus add_ball(const TlPlace *place, int64_t number, TlVec3 middle, double within,
                         const Ball *there, int64_t count, Ball *ball) {
  const TlSetup *s = place->setup;
  double least = INFINITY, above;
  Ball best = *ball;
  for (int64_t t = count > 0 ? 1 : TRIES; t <= TRIES && least > 0; t++) {
    uint64_t index = 2 * (uint64_t)(number * TRIES + t - 1), seed = (uint64_t)s->seed;
    double r = within * sqrt(tl_random_uniform(seed, STREAM_HEAP, index)),
           angle = 2 * M_PI * tl_random_uniform(seed, STREAM_HEAP, index + 1);
    ball->centre = middle;
    if (t < TRIES) ball->centre = tl_vec3(middle.x + r * cos(angle), middle.y + r * sin(angle), 0);
    if (!tl_ensemble_in_area(s, place->terrain, ball->centre.x, ball->centre.y)) continue;
    if (!set_down(place, there, count, ball, &above) || !(above < least)) continue;
    least = above;
    best = *ball;
  }
  if (isinf(least))
    return tl_study_fail(
        place->study, TL_EINPUT, "release",
        "release %lld at x = %.10g, y = %.10g m lies at the border of the terrain, "
        "where its blocks find no ground",
        (long long)(number / s->ensemble.blocks_together), middle.x, middle.y);
  *ball = best;
  return TL_OK;
}

static TlStatus heap(const TlPlace *place, int64_t release, TlBodySetup *body, Ball *ball) {
  const TlSetup *s = place->setup;
  int64_t count = s->ensemble.blocks_together, first = release * count;
  double volume = 0, within = s->ensemble.together_within_m;
  TlVec3 middle = tl_vec3_of(body[first].position_m);
  for (int64_t k = 0; k < count; k++) {
    tl_placed_size(place, first + k, &ball[k].radius_m, &ball[k].volume_m3);
    volume += ball[k].volume_m3;
  }
  if (!(within > 0)) within = cbrt(volume);
  for (int64_t k = 0; k < count; k++) {
    TlBodySetup *b = &body[first + k];
    TL_TRY(add_ball(place, first + k, middle, within, ball, k, &ball[k]));
    b->position_m[0] = ball[k].centre.x;
    b->position_m[1] = ball[k].centre.y;
    b->position_m[2] = ball[k].centre.z + s->release.above_ground_m;
    b->above_ground_m = -1;
  }
  return TL_OK;
}

TlStatus tl_ensemble_heap(TlRun *run) {
  TlSetup *setup = &run->model->setup;
  const TlEnsembleSetup *e = &setup->ensemble;
  TlPlace place = tl_run_place(run);
  Ball *ball;
  if (e->blocks_together == 1 || e->from == TL_FROM_BODIES) return TL_OK;
  TL_TRY(TL_NEW(ball, (size_t)e->blocks_together));
  TlStatus status = TL_OK;
  for (int64_t r = 0; status == TL_OK && r < e->count; r++) {
    place.terrain = tl_run_ground(run, tl_ensemble_ground(setup, r));
    status = heap(&place, r, setup->bodies.items, ball);
  }
  tl_free(ball);
  return status;
}
