#include "base/par.h"
#include "contact/ground.h"
#include "solve/rest.h"
#include "model/shapes.h"

#include <math.h>

enum { MOST_CORRECTIONS = 8, BODY_NS = 1000 };

typedef struct WallPoses { /* one boundary at the step's start and at its end */
  const TlBoundary *start, *end;
  const TlNearWall *near; /* NULL: none */
} WallPoses;

/* Where the point of collider i that ends deepest is now, as an arm of its body, and its gap there (INFINITY: over nothing).
 * A node is the same place of the body; points that follow the contact (a rolling cylinder's) are
 * its deepest place at either pose. */
static double gap_now(const TlBodies *b, int64_t i, const TlBoundary *boundary, TlVec3 end,
                      const TlPoint *deepest, TlVec3 *arm) {
  const TlColliders *c = &b->colliders;
  const TlShape *shape = c->shape[i];
  TlPoint point = {.gap = INFINITY};
  if (shape->node_count == 0) {
    *arm = tl_sub(deepest->p, end);
    tl_narrow_deepest(c, i, c->position[i], c->rotation[i], boundary, INFINITY, &point);
    return point.gap;
  }
  TlVec3 node = tl_scale(c->scale[i], tl_shape_node(shape, deepest->key / 2));
  *arm = tl_quat_rotate(c->rotation[i], node);
  bool there = tl_boundary_within(boundary, tl_add(c->position[i], *arm), 0, &point.gap, &point.n);
  if (c->posed) *arm = tl_add(*arm, tl_collider_arm(b, i));
  return there ? point.gap : INFINITY;
}

/* How much deeper than at present (or than the surface) the deepest node of collider i ends; <= 0:
 * not at all. */
static double added_depth(const TlBodies *b, int64_t i, const WallPoses *w, const TlTwist *t,
                          double step_s, TlPoint *deepest, TlVec3 *arm) {
  int32_t body = b->colliders.body[i];
  TlVec3 centre = tl_axpy(b->position[body], step_s, t->v), x = centre;
  TlQuat q =
      tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(tl_scale(step_s, t->w)), b->rotation[body]));
  tl_collider_place(b, i, &x, &q);
  bool deep = w->end->kind->relief
                  ? tl_ground_deepest(&b->colliders, i, x, q, w->end, 0, deepest)
                  : tl_near_deepest(w->near, &b->colliders, i, x, q, w->end, 0, deepest);
  if (!deep) return 0;
  double now = gap_now(b, i, w->start, centre, deepest, arm);
  return now < INFINITY ? fmin(now, 0) - deepest->gap : 0;
}

/* An impulse along n, and with it Coulomb's friction: what stops the point along the boundary, or
 * as much of it as the cone allows. Without it a grain that rocks as it slides lost up to a tenth
 * of its friction: it comes down on its next node harder than one step's weight. Work of the
 * boundary.
 */
static double push(const TlBodies *b, const WallPoses *w, const TlMaterials *m, double impulse,
                   TlContact *c, const TlDynamics *d) {
  TlVec3 at = tl_add(b->position[c->a], c->ra);
  tl_contact_apply(c, d, tl_scale(impulse, c->n));
  TlVec3 u = tl_contact_velocity(c, d->twist), slip = tl_axpy(u, -tl_dot(u, c->n), c->n);
  int32_t law =
      tl_pair_law(m, b->colliders.material[c->part_a], tl_boundary_material(w->start, at));
  double mu = tl_slip_friction(&m->law[law], b->slid[c->a]), speed = tl_norm(slip);
  if (!(mu > 0 && speed > 0)) return impulse * c->wall_n;
  TlVec3 t = tl_scale(-1 / speed, slip), rt = tl_cross(c->ra, t);
  double ktt = d->inverse_mass[c->a] + tl_dot(rt, tl_sym_vec(d->inverse_inertia[c->a], rt));
  double most = fmin(mu * impulse, speed / ktt);
  tl_contact_apply(c, d, tl_scale(most, t));
  return impulse * c->wall_n + most * tl_dot(t, c->wall);
}

/* One impulse at the deepest node of collider i; false when none was needed. The lift never turns an approach
 * into a separation, so kinetic energy cannot rise. */
static bool correct_once(const TlBodies *b, int64_t i, const WallPoses *w, double step_s,
                         double slop, const TlMaterials *m, const TlDynamics *d, double *work) {
  TlPoint deepest;
  TlContact c = {.a = b->colliders.body[i], .b = -1, .part_a = (int32_t)i};
  double added = added_depth(b, i, w, &d->twist[c.a], step_s, &deepest, &c.ra);
  if (!(added > 0.1 * slop * b->colliders.radius[i])) return false;
  c.n = deepest.n;
  c.wall = tl_boundary_surface_velocity(w->start, tl_add(b->position[c.a], c.ra), c.n);
  tl_contact_prepare(&c, d);
  double lift = fmin(added / step_s, -tl_contact_un(&c, d->twist));
  if (!(lift > 0)) return false;
  *work += push(b, w, m, lift / c.knn, &c, d);
  return true;
}

/* Work of the boundaries on the body. */
static double correct_body(const TlBodies *b, int64_t body, const TlNear *near,
                           const TlWallsStep *step, const TlDynamics *d) {
  double work = 0;
  bool again = true;
  int64_t first = b->first[body], parts = tl_bodies_parts(b, body);
  for (int pass = 0; again && pass < MOST_CORRECTIONS; pass++) {
    again = false;
    for (int64_t i = first; i < first + parts; i++)
      for (int k = 0; k < step->count; k++) {
        bool listed = near && !step->end[k].drive; /* lists are of walls that stand */
        WallPoses poses = {&step->start[k], &step->end[k],
                           listed ? *tl_near_wall(near, i, k) : NULL};
        again |= correct_once(b, i, &poses, step->step_s, step->slop, step->materials, d, &work);
      }
  }
  return work;
}

void tl_walls_correct(const TlBodies *b, const TlNear *near, const TlWallsStep *step,
                      const TlDynamics *d, double *work) {
#pragma omp parallel for schedule(dynamic, 16) if (tl_par_pays(b->owned, BODY_NS))
  for (int64_t i = 0; i < b->owned; i++)
    work[i] = b->flags[i] & TL_BODY_FROZEN || b->asleep[i] ? 0 : correct_body(b, i, near, step, d);
}
