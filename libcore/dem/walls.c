#include "dem/narrow.h"
#include "dem/rest.h"
#include "dem/shapes.h"

#include <math.h>

enum { MOST_CORRECTIONS = 8 };

/* Arm of a node at the present pose; a closed-form sphere's contact lies against the normal. */
static TlVec3 arm_of(const TlBodies *b, int64_t i, const TlPoint *point) {
  const TlAvatar *avatar = b->shape[i]->avatar;
  if (!avatar) return tl_scale(-b->radius[i], point->n);
  const float *p = &avatar->node_m[3 * (point->key / 2)];
  return tl_quat_rotate(b->rotation[i], tl_scale(b->scale[i], tl_vec3(p[0], p[1], p[2])));
}

/* How much deeper than at present (or than the surface) the deepest node ends; <= 0: not at all. */
static double added_depth(const TlBodies *b, int64_t i, const TlBoundary *boundary,
                          const TlTwist *t, double step_s, TlPoint *deepest, TlVec3 *arm) {
  TlVec3 x = tl_axpy(b->position[i], step_s, t->v);
  TlQuat q =
      tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(tl_scale(step_s, t->w)), b->rotation[i]));
  if (!tl_narrow_deepest(b, i, x, q, boundary, 0, deepest)) return 0;
  *arm = arm_of(b, i, deepest);
  double now;
  TlVec3 n;
  if (!boundary->kind->phi(boundary->data, tl_add(b->position[i], *arm), &now, &n)) return 0;
  return fmin(now, 0) - deepest->gap;
}

/* One impulse at the deepest node; false when none was needed. The lift never turns an approach
 * into a separation, so kinetic energy cannot rise. */
static bool correct_once(const TlBodies *b, int64_t i, const TlBoundary *boundary, double step_s,
                         double slop, const TlDynamics *d) {
  TlPoint deepest;
  TlContact c = {.a = (int32_t)i, .b = -1};
  double added = added_depth(b, i, boundary, &d->twist[i], step_s, &deepest, &c.ra);
  if (!(added > 0.1 * slop * b->radius[i])) return false;
  c.n = deepest.n;
  tl_contact_prepare(&c, d);
  double lift = fmin(added / step_s, -tl_contact_un(&c, d->twist));
  if (!(lift > 0)) return false;
  tl_contact_apply(&c, d, tl_scale(lift / c.knn, c.n));
  return true;
}

void tl_walls_correct(const TlBodies *b, const TlBoundary *boundary, int boundary_count,
                      double step_s, double slop, const TlDynamics *d) {
#pragma omp parallel for schedule(dynamic, 16) if (b->owned > 64)
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & TL_BODY_FROZEN) continue;
    bool again = true;
    for (int pass = 0; again && pass < MOST_CORRECTIONS; pass++) {
      again = false;
      for (int k = 0; k < boundary_count; k++)
        again |= correct_once(b, i, &boundary[k], step_s, slop, d);
    }
  }
}
