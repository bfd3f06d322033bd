#include "contact/descent.h"

#include "model/place_shape.h"
#include "model/shapes.h"

#include <math.h>

static const double FLAT = 0.3, SHARP = 4; /* curvatures lie within FLAT/r and SHARP/cell */
static const double TRUST = 0.25;          /* of the smaller radius: longest step of a search */
static const double STALE = 2;    /* cells of travel after which curvatures are taken anew */
static const double AGREE = 0.97; /* cosine likewise */
static const double FACING = 0.3; /* least slope of either surface towards the other */
enum { ROUNDS = 16, HALVINGS = 5 };

/* ---- one field ---- */

TlSmooth tl_smooth_of(const TlColliders *c, int64_t i) {
  const TlShape *s = c->shape[i];
  if (s->avatar)
    return (TlSmooth){.kind = TL_SMOOTH_SPLINE, .spline = &s->place->spline, .scale = c->scale[i]};
  return (TlSmooth){.kind = TL_SMOOTH_SPHERE, .radius_m = s->radius_m * c->scale[i]};
}

static double spline_phi(const TlSmooth *f, TlVec3 x, TlVec3 *gradient, TlSym3 *hessian) {
  double phi = f->scale * tl_spline_phi(f->spline, tl_scale(1 / f->scale, x), gradient, hessian);
  if (hessian)
    for (int k = 0; k < 6; k++) (&hessian->xx)[k] /= f->scale;
  return phi;
}

static double sphere_phi(const TlSmooth *f, TlVec3 x, TlVec3 *gradient, TlSym3 *hessian) {
  double far = tl_norm(x);
  TlVec3 g = far > 0 ? tl_scale(1 / far, x) : tl_vec3(0, 0, 1);
  *gradient = g;
  if (hessian) {
    double c = 1 / tl_max(far, 1e-3 * f->radius_m);
    *hessian = (TlSym3){.xx = c * (1 - g.x * g.x),
                        .yy = c * (1 - g.y * g.y),
                        .zz = c * (1 - g.z * g.z),
                        .xy = -c * g.x * g.y,
                        .xz = -c * g.x * g.z,
                        .yz = -c * g.y * g.z};
  }
  return far - f->radius_m;
}

double tl_smooth_phi(const TlSmooth *f, TlVec3 x, TlVec3 *gradient, TlSym3 *hessian) {
  if (f->kind == TL_SMOOTH_SPLINE) return spline_phi(f, x, gradient, hessian);
  if (f->kind == TL_SMOOTH_SPHERE) return sphere_phi(f, x, gradient, hessian);
  *gradient = f->normal;
  if (hessian) *hessian = (TlSym3){0};
  return tl_dot(f->normal, x) - f->distance_m;
}

/* ---- both at one point ---- */

TlPlaceLook tl_look_at(TlSmoothPair *p, TlVec3 x, TlSym3 *hessian) {
  TlVec3 ga, gb;
  TlSym3 hb;
  double a = tl_smooth_phi(&p->field[0], x, &ga, hessian);
  double b =
      tl_smooth_phi(&p->field[1], tl_add(tl_mat_vec(p->r, x), p->t), &gb, hessian ? &hb : NULL);
  gb = tl_mat_tvec(p->r, gb);
  p->lookups += 2;
  if (hessian) { /* R^T H R by columns: H of a direction d of a is H (R d) in b */
    TlVec3 c[3];
    for (int k = 0; k < 3; k++)
      c[k] = tl_mat_tvec(p->r, tl_sym_vec(hb, tl_vec3(p->r.m[0][k], p->r.m[1][k], p->r.m[2][k])));
    hessian->xx += c[0].x, hessian->yy += c[1].y, hessian->zz += c[2].z;
    hessian->xy += c[0].y, hessian->xz += c[0].z, hessian->yz += c[1].z;
  }
  if (isnan(a + b)) p->broken = true;
  TlVec3 n = tl_unit(tl_sub(gb, ga));
  double down = -tl_dot(ga, n), up = tl_dot(gb, n);
  return (TlPlaceLook){
      x, n, tl_add(ga, gb), a + b, (a - b) / tl_max(down + up, 0.5), tl_min(down, up)};
}

/* Curvatures of F across n. */
static void take_curvature(const TlSmoothPair *p, const TlSym3 *h, TlVec3 n, TlKeptPlace *place) {
  TlVec3 u, v;
  tl_tangents(n, &u, &v);
  TlVec3 hu = tl_sym_vec(*h, u);
  place->u = u, place->v = v, place->travel = 0;
  place->bend[0] = tl_dot(u, hu);
  place->bend[1] = tl_dot(v, hu);
  place->bend[2] = tl_dot(v, tl_sym_vec(*h, v));
  tl_bound_curvatures(place->bend, FLAT / p->size, SHARP / p->cell);
}

/* ---- one place ---- */

typedef struct Step {
  TlVec3 move;
  double gain; /* fall of F that the parabola promises */
} Step;

static Step newton(const TlKeptPlace *place, const TlPlaceLook *look) {
  const double *h = place->bend;
  double gu = tl_dot(look->sum, place->u), gv = tl_dot(look->sum, place->v);
  double inverse = 1 / (h[0] * h[2] - h[1] * h[1]);
  double su = (h[1] * gv - h[2] * gu) * inverse, sv = (h[1] * gu - h[0] * gv) * inverse;
  return (Step){tl_add(tl_scale(su, place->u), tl_scale(sv, place->v)), -0.5 * (su * gu + sv * gv)};
}

TlVec3 tl_first_step(const TlSmoothPair *p, const TlPlaceLook *look, const TlSym3 *hessian) {
  TlKeptPlace place;
  take_curvature(p, hessian, look->n, &place);
  return newton(&place, look).move;
}

bool tl_descend(TlSmoothPair *p, TlKeptPlace *place, bool fresh, const TlBeside *known) {
  TlPlaceLook best = {.f = INFINITY};
  Step step = {{0, 0, 0}, INFINITY};
  double fraction = 1, trust = TRUST * p->size;
  TlVec3 x = place->x;
  for (int round = 0, cuts = 0; round < ROUNDS; round++) {
    TlSym3 h;
    bool stale = fresh || round > 0 || place->travel > STALE * p->cell;
    TlPlaceLook look = tl_look_at(p, x, stale ? &h : NULL);
    if (!stale && tl_dot(look.n, tl_cross(place->u, place->v)) < AGREE) {
      stale = true;
      look = tl_look_at(p, x, &h);
    }
    if (look.f > best.f + p->tolerance && cuts < HALVINGS) { /* too far */
      cuts++;
      fraction *= 0.4;
      x = tl_axpy(best.x, fraction, step.move);
      continue;
    }
    if (look.f > best.f + p->tolerance) {
      x = tl_axpy(best.x, best.centre, best.n);
      break;
    }
    if (stale) take_curvature(p, &h, look.n, place);
    best = look;
    cuts = 0;
    fraction = 1;
    step = newton(place, &look);
    double length = tl_norm(step.move);
    bool done = step.gain < p->tolerance;
    if (length > trust) step.move = tl_scale(trust / length, step.move);
    place->travel += tl_min(length, trust);
    step.move = tl_axpy(step.move, look.centre, look.n);
    x = tl_add(look.x, step.move);
    if (known && tl_places_beside(known->place, known->count, -1, x, known->near)) return false;
    if (done) break;
  }
  place->x = x;
  place->n = best.n;
  p->settled = step.gain < p->tolerance;
  place->gap = best.f - (p->settled ? step.gain : 0);
  return best.facing > FACING;
}
