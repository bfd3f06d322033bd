#include "solve/contact.h"

#include "solve/share.h"

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

static double total_inverse_mass(const TlContact *c, const TlDynamics *d) {
  return d->inverse_mass[c->a] + (c->b < 0 ? 0 : d->inverse_mass[c->b]);
}

void tl_contact_prepare(TlContact *c, const TlDynamics *d) {
  c->ran = tl_cross(c->ra, c->n);
  c->wall_n = tl_dot(c->wall, c->n);
  c->knn = total_inverse_mass(c, d) +
           tl_dot(c->ran, tl_sym_vec(d->inverse_inertia[c->a], c->ran)); /* n.Kn */
  c->rbn = (TlVec3){0, 0, 0};
  if (c->b >= 0) {
    c->rbn = tl_cross(c->rb, c->n);
    c->knn += tl_dot(c->rbn, tl_sym_vec(d->inverse_inertia[c->b], c->rbn));
  }
  c->k.xx = c->slide = 0;
}

void tl_contact_fill_matrix(TlContact *c, const TlDynamics *d) {
  double m = total_inverse_mass(c, d);
  c->k = (TlSym3){.xx = m, .yy = m, .zz = m};
  add_rotation_part(&c->k, c->ra, d->inverse_inertia[c->a]);
  if (c->b >= 0) add_rotation_part(&c->k, c->rb, d->inverse_inertia[c->b]);
  c->k_inverse = tl_sym_inverse(c->k);
}

/* K in (t1, t2): what body's spin adds to t1.K t1, t1.K t2, t2.K t2. */
static void add_tangent_part(const TlContact *c, TlVec3 r, const TlSym3 *s, double k[3]) {
  TlVec3 w1 = tl_cross(r, c->t1), w2 = tl_cross(r, c->t2), s1 = tl_sym_vec(*s, w1);
  k[0] += tl_dot(w1, s1);
  k[1] += tl_dot(w2, s1);
  k[2] += tl_dot(w2, tl_sym_vec(*s, w2));
}

void tl_contact_fill_tangents(TlContact *c, const TlDynamics *d) {
  TlVec3 n = c->n;
  c->t1 = tl_across(n);
  c->t2 = tl_cross(n, c->t1);
  double m = total_inverse_mass(c, d), k[3] = {m, 0, m};
  add_tangent_part(c, c->ra, &d->inverse_inertia[c->a], k);
  if (c->b >= 0) add_tangent_part(c, c->rb, &d->inverse_inertia[c->b], k);
  double inverse = 1 / (k[0] * k[2] - k[1] * k[1]), between = k[0] - k[2];
  c->t11 = k[2] * inverse;
  c->t12 = -k[1] * inverse;
  c->t22 = k[0] * inverse;
  c->slide = 2 / (k[0] + k[2] + sqrt(between * between + 4 * k[1] * k[1]));
}

static void add_exactly(TlVec3 *sum, TlVec3 *lost, TlVec3 change) {
  TlVec3 y = tl_sub(change, *lost), t = tl_add(*sum, y);
  *lost = tl_sub(tl_sub(t, *sum), y);
  *sum = t;
}

static void kick(TlTwist *twist, double inverse_mass, const TlSym3 *inverse_inertia, TlVec3 r,
                 TlVec3 impulse) {
  if (inverse_mass == 0) return; /* cells of one phase may share a fixed body: never write it */
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

TlStatus tl_group_least_begin(const TlGroup *g, const double *value) {
  return g->share ? tl_sync_least_begin(tl_share_sync(g->share), value, g->islands) : TL_OK;
}

TlStatus tl_group_least_end(const TlGroup *g, double *value) {
  return g->share ? tl_sync_least_end(tl_share_sync(g->share), value, g->islands) : TL_OK;
}

TlStatus tl_group_least(const TlGroup *g, double *value) {
  return g->share ? tl_sync_least(tl_share_sync(g->share), value, g->islands) : TL_OK;
}

TlStatus tl_group_any(const TlGroup *g, int *flag) {
  return g->share ? tl_sync_any(tl_share_sync(g->share), flag) : TL_OK;
}

TlStatus tl_group_share(const TlGroup *g, TlTwist *twist) {
  return g->share ? tl_share_spread(g->share, twist, sizeof *twist) : TL_OK;
}

int64_t tl_group_count(const TlGroup *g, const double *value) {
  int64_t count = 0;
  for (int32_t i = 0; i < g->islands; i++)
    count += value[i] < 0 && (!g->share || g->counts_here[i]);
  return count;
}
