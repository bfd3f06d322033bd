#include "dem/contact.h"

#include <math.h>

/* -r~ S r~ added to k, column by column: (S (r x e)) x r. */
static void add_rotation_part(TlSym3 *k, TlVec3 r, TlSym3 s) {
  TlVec3 c0 = tl_cross(tl_sym_vec(s, tl_vec3(0, r.z, -r.y)), r),
         c1 = tl_cross(tl_sym_vec(s, tl_vec3(-r.z, 0, r.x)), r),
         c2 = tl_cross(tl_sym_vec(s, tl_vec3(r.y, -r.x, 0)), r);
  k->xx += c0.x;
  k->yy += c1.y;
  k->zz += c2.z;
  k->xy += 0.5 * (c0.y + c1.x);
  k->xz += 0.5 * (c0.z + c2.x);
  k->yz += 0.5 * (c1.z + c2.y);
}

static void tangents(TlContact *c) {
  TlVec3 n = c->n;
  /* the axis least along n keeps the cross product well conditioned */
  TlVec3 axis = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? tl_vec3(1, 0, 0)
                : fabs(n.y) <= fabs(n.z)                         ? tl_vec3(0, 1, 0)
                                                                 : tl_vec3(0, 0, 1);
  c->t1 = tl_unit(tl_cross(n, axis));
  c->t2 = tl_cross(n, c->t1);
  TlVec3 k1 = tl_sym_vec(c->k, c->t1), k2 = tl_sym_vec(c->k, c->t2);
  double a = tl_dot(c->t1, k1), b = tl_dot(c->t1, k2), d = tl_dot(c->t2, k2);
  double inverse = 1 / (a * d - b * b);
  c->t11 = d * inverse;
  c->t12 = -b * inverse;
  c->t22 = a * inverse;
  c->slide = 2 / (a + d + sqrt((a - d) * (a - d) + 4 * b * b));
}

void tl_contact_prepare(TlContact *c, const TlDynamics *d) {
  double m = d->inverse_mass[c->a] + (c->b < 0 ? 0 : d->inverse_mass[c->b]);
  c->ran = tl_cross(c->ra, c->n);
  c->rbn = tl_cross(c->rb, c->n);
  c->wall_n = tl_dot(c->wall, c->n);
  c->k = (TlSym3){.xx = m, .yy = m, .zz = m};
  add_rotation_part(&c->k, c->ra, d->inverse_inertia[c->a]);
  if (c->b >= 0) add_rotation_part(&c->k, c->rb, d->inverse_inertia[c->b]);
  c->k_inverse = tl_sym_inverse(c->k);
  c->knn = tl_dot(c->n, tl_sym_vec(c->k, c->n));
  tangents(c);
}

static void add_exactly(TlVec3 *sum, TlVec3 *lost, TlVec3 change) {
  TlVec3 y = tl_sub(change, *lost), t = tl_add(*sum, y);
  *lost = tl_sub(tl_sub(t, *sum), y);
  *sum = t;
}

static void kick(TlTwist *twist, double inverse_mass, const TlSym3 *inverse_inertia, TlVec3 r,
                 TlVec3 impulse) {
  if (inverse_mass == 0) return; /* pairs of one colour may share a fixed body: never write it */
  add_exactly(&twist->v, &twist->v_lost, tl_scale(inverse_mass, impulse));
  add_exactly(&twist->w, &twist->w_lost, tl_sym_vec(*inverse_inertia, tl_cross(r, impulse)));
  twist->hit += 1;
}

void tl_contact_apply(const TlContact *c, const TlDynamics *d, TlVec3 impulse) {
  kick(&d->twist[c->a], d->inverse_mass[c->a], &d->inverse_inertia[c->a], c->ra, impulse);
  if (c->b >= 0)
    kick(&d->twist[c->b], d->inverse_mass[c->b], &d->inverse_inertia[c->b], c->rb,
         tl_scale(-1, impulse));
}

static void islands_to_bodies(const TlGroup *g, const double *value) {
  for (int64_t i = 0; i < g->body_count; i++)
    g->body_value[i] = g->body_island[i] < 0 ? INFINITY : value[g->body_island[i]];
}

static int bodies_to_islands(const TlGroup *g, double *value) {
  int changed = 0;
  for (int64_t i = 0; i < g->body_count; i++) {
    int32_t island = g->body_island[i];
    if (island < 0 || !(g->body_value[i] < value[island])) continue;
    value[island] = g->body_value[i];
    changed = 1;
  }
  return changed;
}

TlStatus tl_group_least(const TlGroup *g, double *value) {
  if (!g->sync) return TL_OK;
  for (int changed = 1; changed;) {
    islands_to_bodies(g, value);
    TL_TRY(tl_sync_forward(g->sync, g->body_value, sizeof *g->body_value));
    changed = bodies_to_islands(g, value);
    TL_TRY(tl_sync_any(g->sync, &changed));
  }
  return TL_OK;
}
