#include "shape/apart.h"

#include <math.h>

double tl_placed_radius(const TlPlaced *p) {
  return p->scale * (p->ball_m > 0 ? p->ball_m : p->avatar->radius_m);
}

int32_t tl_placed_points(const TlPlaced *p) {
  return p->ball_m > 0 ? 1 : p->avatar->node_count;
}

TlVec3 tl_placed_point(const TlPlaced *p, int32_t i, double *beyond) {
  *beyond = p->scale * p->ball_m;
  if (p->ball_m > 0) return p->position;
  const float *node = p->avatar->node_m + 3 * (int64_t)i;
  return tl_axpy(p->position, p->scale,
                 tl_mat_vec(p->rotation, tl_vec3(node[0], node[1], node[2])));
}

double tl_placed_phi(const TlPlaced *p, TlVec3 x) {
  TlVec3 q = tl_mat_tvec(p->rotation, tl_sub(x, p->position));
  if (p->ball_m > 0) return tl_norm(q) - p->scale * p->ball_m;
  return p->scale * tl_avatar_phi(p->avatar, tl_scale(1 / p->scale, q), NULL);
}

double tl_placed_margin(const TlPlaced *p) {
  if (p->ball_m > 0) return 0;
  return 0.5 * p->scale * sqrt(p->avatar->area_m2 / p->avatar->node_count);
}

/* Points of a against phi of b. */
static bool clear_of(const TlPlaced *a, const TlPlaced *b, double gap) {
  double reach = tl_placed_radius(b) + gap + tl_placed_margin(a), beyond;
  for (int32_t i = 0; i < tl_placed_points(a); i++) {
    TlVec3 x = tl_placed_point(a, i, &beyond);
    double far = reach + beyond;
    if (tl_norm2(tl_sub(x, b->position)) >= far * far) continue;
    if (tl_placed_phi(b, x) < gap + tl_placed_margin(a) + beyond) return false;
  }
  return true;
}

bool tl_placed_apart(const TlPlaced *a, const TlPlaced *b, double gap) {
  double far = tl_placed_radius(a) + tl_placed_radius(b) + gap;
  if (tl_norm2(tl_sub(a->position, b->position)) >= far * far) return true;
  if (a->ball_m > 0 && b->ball_m > 0) return false;
  if (tl_placed_phi(a, b->position) < 0 || tl_placed_phi(b, a->position) < 0) return false;
  return clear_of(a, b, gap) && clear_of(b, a, gap);
}

void tl_placed_extents(const TlPlaced *p, TlVec3 *low, TlVec3 *high) {
  double beyond;
  *low = tl_vec3(INFINITY, INFINITY, INFINITY);
  *high = tl_scale(-1, *low);
  for (int32_t i = 0; i < tl_placed_points(p); i++) {
    TlVec3 d = tl_sub(tl_placed_point(p, i, &beyond), p->position);
    *low =
        tl_vec3(fmin(low->x, d.x - beyond), fmin(low->y, d.y - beyond), fmin(low->z, d.z - beyond));
    *high = tl_vec3(fmax(high->x, d.x + beyond), fmax(high->y, d.y + beyond),
                    fmax(high->z, d.z + beyond));
  }
}
