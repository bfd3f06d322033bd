#include "post/render_trace.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { STACK = 96, STEPS = 400 };

/* ---- the tree: halves of the bodies along the longest side of their centres' box ---- */

typedef struct Item {
  double key;
  int32_t body;
} Item;

static int by_key(const void *a, const void *b) {
  const Item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return (x->body > y->body) - (x->body < y->body);
}

static double component(TlVec3 v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static int longest_axis(const TlTracer *t, const Item *items, int64_t count) {
  int best = 0;
  double widest = -1;
  for (int a = 0; a < 3; a++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
      double x = component(t->bodies[items[i].body].centre, a);
      low = fmin(low, x);
      high = fmax(high, x);
    }
    if (high - low > widest) {
      widest = high - low;
      best = a;
    }
  }
  return best;
}

static void leaf_box(TlTraceNode *node, const TlTraceBody *b) {
  for (int a = 0; a < 3; a++) {
    double c = component(b->centre, a);
    node->low[a] = nextafterf((float)(c - b->radius_m), -INFINITY);
    node->high[a] = nextafterf((float)(c + b->radius_m), INFINITY);
  }
}

static int32_t build(TlTracer *t, Item *items, int64_t count) {
  int32_t index = (int32_t)t->node_count++;
  TlTraceNode *node = &t->nodes[index];
  if (count == 1) {
    node->left = -items[0].body - 1;
    leaf_box(node, &t->bodies[items[0].body]);
    return index;
  }
  int axis = longest_axis(t, items, count);
  for (int64_t i = 0; i < count; i++)
    items[i].key = component(t->bodies[items[i].body].centre, axis);
  qsort(items, (size_t)count, sizeof *items, by_key);
  node->left = build(t, items, count / 2);
  node->right = build(t, items + count / 2, count - count / 2);
  const TlTraceNode *l = &t->nodes[node->left], *r = &t->nodes[node->right];
  for (int a = 0; a < 3; a++) {
    node->low[a] = fminf(l->low[a], r->low[a]);
    node->high[a] = fmaxf(l->high[a], r->high[a]);
  }
  return index;
}

/* ---- bodies ---- */

/* How far before the plane; without a cut: in it. */
static double before_plane(const TlTraceChoice *c, TlVec3 p) {
  return c->cut ? tl_dot(c->cut_normal, tl_sub(p, c->cut_point_m)) : 0;
}

static bool too_deep(const TlTraceChoice *c, TlVec3 middle) {
  return c->cut_depth_m > 0 && before_plane(c, middle) < -c->cut_depth_m;
}

/* The plane in the body's frame when it goes through the ball; false: nothing is left. */
static bool keep_behind(const TlTraceChoice *c, TlTraceBody *b) {
  if (!c->cut) return true;
  double before = before_plane(c, b->centre);
  b->cut = fabs(before) < b->radius_m;
  b->cut_normal = tl_mat_tvec(b->rotation, c->cut_normal);
  b->cut_m = -before / b->scale;
  return before < b->radius_m;
}

static bool shown(const TlTraceChoice *c, const TlBodyRow *row) {
  return !(row->flags & c->hidden) && !(c->no_grains && !(row->flags & TL_ROW_NO_GRAIN));
}

static TlStatus add_grains(TlTracer *t, const TlFrame *frame, const TlTraceChoice *c) {
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    if (!shown(c, row) || (!(row->flags & TL_ROW_GUIDED) && too_deep(c, row->position_m))) continue;
    const TlAvatar *a = tl_scene_avatar(t->scene, row->avatar_id);
    if (!a)
      return tl_fail(TL_EINPUT, "frame %lld: body %lld refers to avatar %lld, which the run lacks",
                     (long long)frame->index, (long long)row->id, (long long)row->avatar_id);
    double steep = a->gradient_max > 1 ? a->gradient_max : 1;
    TlTraceBody *body = &t->bodies[t->body_count];
    *body = (TlTraceBody){.avatar = a,
                          .centre = row->position_m,
                          .rotation = tl_quat_matrix(row->rotation),
                          .scale = row->scale,
                          .radius_m = row->scale * a->radius_m,
                          .step = 0.95 / steep,
                          .detail_m = a->spacing_m,
                          .row = i};
    t->body_count += keep_behind(c, body);
  }
  return TL_OK;
}

/* Any turn that takes z to the axis. */
static TlMat3 along(TlVec3 axis) {
  TlVec3 u = tl_unit(tl_cross(fabs(axis.z) < 0.9 ? tl_vec3(0, 0, 1) : tl_vec3(0, 1, 0), axis));
  TlVec3 v = tl_cross(axis, u);
  return (TlMat3){{{u.x, v.x, axis.x}, {u.y, v.y, axis.y}, {u.z, v.z, axis.z}}};
}

static void add_tubes(TlTracer *t, const TlTraceChoice *c) {
  for (int64_t i = 0; i < c->tube_count; i++) {
    const TlTraceTube *tube = &c->tubes[i];
    TlVec3 span = tl_sub(tube->to, tube->from), middle = tl_axpy(tube->from, 0.5, span);
    double length = tl_norm(span);
    if (before_plane(c, middle) > 0 || too_deep(c, middle)) continue;
    t->bodies[t->body_count++] =
        (TlTraceBody){.centre = middle,
                      .rotation = along(length > 0 ? tl_unit(span) : tl_vec3(0, 0, 1)),
                      .scale = 1,
                      .radius_m = 0.5 * length + 1.01 * tube->radius_m, /* rays begin outside */
                      .step = 0.95,
                      .detail_m = 0.2 * tube->radius_m,
                      .half_m = 0.5 * length,
                      .thick_m = tube->radius_m,
                      .row = i};
  }
}

static TlStatus add_bodies(TlTracer *t, const TlFrame *frame, const TlTraceChoice *c) {
  TL_TRY(TL_NEW(t->bodies, (size_t)(frame->count + c->tube_count)));
  TL_TRY(add_grains(t, frame, c));
  add_tubes(t, c);
  return TL_OK;
}

/* Of the whole body, unscaled body frame. */
static double whole_phi(const TlTraceBody *b, TlVec3 q) {
  if (b->avatar) return tl_avatar_phi(b->avatar, q, NULL);
  double beyond = fmax(0, fabs(q.z) - b->half_m);
  return sqrt(q.x * q.x + q.y * q.y + beyond * beyond) - b->thick_m;
}

static double before_cut(const TlTraceBody *b, TlVec3 q) {
  return tl_dot(b->cut_normal, q) - b->cut_m;
}

static double body_phi(const TlTraceBody *b, TlVec3 q) {
  double phi = whole_phi(b, q);
  return b->cut ? fmax(phi, before_cut(b, q)) : phi;
}

static TlVec3 in_body(const TlTraceBody *b, TlVec3 p) {
  return tl_scale(1 / b->scale, tl_mat_tvec(b->rotation, tl_sub(p, b->centre)));
}

static TlStatus build_tree(TlTracer *t) {
  if (t->body_count == 0) return TL_OK;
  Item *items;
  TL_TRY(TL_NEW(t->nodes, 2 * (size_t)t->body_count));
  TL_TRY(TL_NEW(items, (size_t)t->body_count));
  for (int64_t i = 0; i < t->body_count; i++) items[i].body = (int32_t)i;
  build(t, items, t->body_count);
  tl_free(items);
  const TlTraceNode *root = &t->nodes[0];
  t->low = tl_vec3((double)root->low[0], (double)root->low[1], (double)root->low[2]);
  t->high = tl_vec3((double)root->high[0], (double)root->high[1], (double)root->high[2]);
  return TL_OK;
}

TlStatus tl_tracer_make(TlTracer *t, const TlScene *scene, const TlFrame *frame,
                        const TlTraceChoice *choice) {
  static const TlTraceChoice all = {0};
  *t = (TlTracer){.scene = scene, .has_ground = scene->has_terrain};
  TlStatus status = add_bodies(t, frame, choice ? choice : &all);
  if (status == TL_OK) status = build_tree(t);
  if (status == TL_OK && t->has_ground) status = tl_ground_tracer_make(&t->ground, &scene->terrain);
  if (status == TL_OK) status = tl_wall_tracer_make(&t->walls, scene, frame, t->low, t->high);
  if (status != TL_OK) tl_tracer_free(t);
  return status;
}

void tl_tracer_free(TlTracer *t) {
  tl_free(t->bodies);
  tl_free(t->nodes);
  tl_ground_tracer_free(&t->ground);
  tl_wall_tracer_free(&t->walls);
  *t = (TlTracer){0};
}

/* ---- a ray through the tree ---- */

typedef struct TreeRay {
  double from[3], inverse[3];
} TreeRay;

static TreeRay tree_ray(TlVec3 from, TlVec3 d) {
  return (TreeRay){{from.x, from.y, from.z}, {1 / d.x, 1 / d.y, 1 / d.z}};
}

/* Entry into the node's box grown by margin; negative: missed. Plain comparisons: fmin and fmax are
 * calls, and a NaN (a ray that runs in a face) must leave t0 and t1 as they are. */
static double box_entry(const TlTraceNode *node, const TreeRay *r, double t_max, double margin) {
  double t0 = 0, t1 = t_max;
  for (int a = 0; a < 3; a++) {
    double x = ((double)node->low[a] - margin - r->from[a]) * r->inverse[a],
           y = ((double)node->high[a] + margin - r->from[a]) * r->inverse[a];
    double near = x < y ? x : y, far = x < y ? y : x;
    if (near > t0) t0 = near;
    if (far < t1) t1 = far;
  }
  return t0 <= t1 ? t0 : -1;
}

/* The ray in the body's unscaled frame, clipped to the ball grown by margin; t in body lengths. */
typedef struct BodyRay {
  TlVec3 from, direction;
  double t0, t1;
} BodyRay;

static bool body_ray(const TlTraceBody *b, TlVec3 from, TlVec3 d, double t_max, double margin,
                     BodyRay *r) {
  TlVec3 away = tl_sub(from, b->centre);
  double along = -tl_dot(away, d), reach = b->radius_m + margin;
  double half2 = reach * reach - tl_norm2(tl_axpy(away, along, d));
  if (half2 <= 0) return false;
  double half = sqrt(half2);
  r->t0 = fmax(0, along - half) / b->scale;
  r->t1 = fmin(t_max, along + half) / b->scale;
  if (r->t0 >= r->t1) return false;
  r->from = tl_scale(1 / b->scale, tl_mat_tvec(b->rotation, away));
  r->direction = tl_mat_tvec(b->rotation, d);
  return true;
}

static double bisect(const TlTraceBody *b, const BodyRay *r, double outside, double inside) {
  for (int i = 0; i < 40; i++) {
    double middle = 0.5 * (outside + inside);
    if (body_phi(b, tl_axpy(r->from, middle, r->direction)) > 0)
      outside = middle;
    else
      inside = middle;
  }
  return 0.5 * (outside + inside);
}

/* First change of phi from positive to not positive; negative when there is none. */
static double meet_body(const TlTraceBody *b, TlVec3 from, TlVec3 d, double t_max) {
  BodyRay r;
  if (!body_ray(b, from, d, t_max, 0, &r)) return -1;
  const double least = 0.02 * b->detail_m;
  double before = -1, t = r.t0;
  for (int i = 0; i < STEPS && t <= r.t1; i++) {
    double phi = body_phi(b, tl_axpy(r.from, t, r.direction));
    if (phi <= 0 && before >= 0) return b->scale * bisect(b, &r, before, t);
    if (phi > 0) before = t;
    t += fmax(least, b->step * fabs(phi));
  }
  return -1;
}

/* The depth that the cut bares: 0 where the body's own surface was met. */
static double depth_within(const TlTraceBody *b, TlVec3 point) {
  if (!b->cut) return 0;
  TlVec3 q = in_body(b, point);
  double phi = whole_phi(b, q);
  return phi < before_cut(b, q) ? -b->scale * phi : 0;
}

/* Normal of the trilinear phi over +-0.7 cells: its own gradient jumps at the cells' faces. */
static TlVec3 body_normal(const TlTraceBody *b, TlVec3 point) {
  TlVec3 p = in_body(b, point);
  double h = 0.7 * b->detail_m, g[3];
  for (int a = 0; a < 3; a++) {
    TlVec3 e = tl_vec3(a == 0 ? h : 0, a == 1 ? h : 0, a == 2 ? h : 0);
    g[a] = body_phi(b, tl_add(p, e)) - body_phi(b, tl_sub(p, e));
  }
  return tl_unit(tl_mat_vec(b->rotation, tl_vec3(g[0], g[1], g[2])));
}

static void trace_grains(const TlTracer *t, TlVec3 from, TlVec3 d, TlHit *hit) {
  if (t->body_count == 0) return;
  TreeRay r = tree_ray(from, d);
  int32_t stack[STACK];
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const TlTraceNode *node = &t->nodes[stack[--depth]];
    if (box_entry(node, &r, hit->t, 0) < 0) continue;
    if (node->left < 0) {
      int64_t body = -node->left - 1;
      double s = meet_body(&t->bodies[body], from, d, hit->t);
      if (s < 0 || s >= hit->t) continue;
      *hit = (TlHit){.kind = TL_HIT_GRAIN, .t = s, .body = body};
      continue;
    }
    double l = box_entry(&t->nodes[node->left], &r, hit->t, 0),
           q = box_entry(&t->nodes[node->right], &r, hit->t, 0);
    int32_t near = l <= q ? node->left : node->right, far = l <= q ? node->right : node->left;
    if (fmax(l, q) >= 0) stack[depth++] = far; /* the nearer one is taken next */
    if (fmin(l, q) >= 0) stack[depth++] = near;
  }
}

static void trace_planes(const TlTracer *t, TlVec3 from, TlVec3 d, TlHit *hit) {
  double reach = 0.6 * tl_norm(tl_sub(t->high, t->low));
  for (int64_t k = 0; k < t->scene->plane_count; k++) {
    const TlPlane *p = &t->scene->planes[k];
    double slope = tl_dot(d, p->normal), gap = tl_dot(tl_sub(from, p->point_m), p->normal);
    if (slope >= 0 || gap <= 0) continue;
    double s = -gap / slope;
    if (s >= hit->t) continue;
    TlVec3 at = tl_axpy(from, s, d);
    bool floor = p->normal.z > 0.5; /* floors run on, walls end near the grains */
    double more = floor ? 8 * reach : reach;
    if (at.x < t->low.x - more || at.x > t->high.x + more || at.y < t->low.y - more ||
        at.y > t->high.y + more || (!floor && at.z > t->high.z + 0.2 * reach))
      continue;
    *hit = (TlHit){.kind = TL_HIT_PLANE, .t = s, .normal = p->normal, .plane = k};
  }
}

static void trace_walls(const TlTracer *t, TlVec3 from, TlVec3 d, TlHit *hit) {
  TlWallHit h;
  if (!tl_wall_trace(&t->walls, from, d, hit->t, &h)) return;
  *hit = (TlHit){
      .kind = TL_HIT_PART, .t = h.t, .normal = h.normal, .part = h.part, .u = h.u, .v = h.v};
}

TlHit tl_trace(const TlTracer *t, TlVec3 from, TlVec3 d, double t_max) {
  TlHit hit = {.kind = TL_HIT_NONE, .t = t_max};
  TlGroundHit ground; /* first: what lies behind it need not be marched */
  if (t->has_ground && tl_ground_trace(&t->ground, from, d, hit.t, &ground))
    hit = (TlHit){
        .kind = ground.wall ? TL_HIT_WALL : TL_HIT_GROUND, .t = ground.t, .normal = ground.normal};
  trace_planes(t, from, d, &hit);
  trace_walls(t, from, d, &hit);
  trace_grains(t, from, d, &hit);
  hit.point = tl_axpy(from, hit.t, d);
  if (hit.kind == TL_HIT_GRAIN) {
    hit.normal = body_normal(&t->bodies[hit.body], hit.point);
    hit.within_m = depth_within(&t->bodies[hit.body], hit.point);
  }
  return hit;
}

/* ---- light ---- */

/* 1 - how much of the sun this grain hides: from the least phi over distance along the ray. */
static double light_past(const TlTraceBody *b, TlVec3 from, TlVec3 d, double softness) {
  BodyRay r;
  double margin = softness * (tl_norm(tl_sub(b->centre, from)) + b->radius_m);
  if (!body_ray(b, from, d, INFINITY, margin, &r)) return 1;
  double light = 1, t = r.t0;
  const double least = 0.05 * b->detail_m;
  for (int i = 0; i < STEPS && t <= r.t1; i++) {
    double phi = body_phi(b, tl_axpy(r.from, t, r.direction));
    if (phi <= 0) return 0;
    light = fmin(light, phi / (softness * t + 1e-9 * b->radius_m));
    t += fmax(least, b->step * phi);
  }
  return light * light * (3 - 2 * light);
}

double tl_trace_light(const TlTracer *t, TlVec3 from, TlVec3 d, double softness) {
  TlGroundHit ground;
  if (t->has_ground && tl_ground_trace(&t->ground, from, d, INFINITY, &ground)) return 0;
  if (tl_wall_shades(&t->walls, from, d)) return 0;
  if (t->body_count == 0) return 1;
  TreeRay r = tree_ray(from, d);
  int32_t stack[STACK];
  int depth = 0;
  double light = 1, margin = softness * tl_norm(tl_sub(t->high, t->low));
  stack[depth++] = 0;
  while (depth > 0 && light > 0) {
    const TlTraceNode *node = &t->nodes[stack[--depth]];
    if (box_entry(node, &r, INFINITY, margin) < 0) continue;
    if (node->left < 0) {
      light = fmin(light, light_past(&t->bodies[-node->left - 1], from, d, softness));
      continue;
    }
    stack[depth++] = node->right;
    stack[depth++] = node->left;
  }
  return light;
}

double tl_trace_grain_distance(const TlTracer *t, TlVec3 p, double range) {
  if (t->body_count == 0) return range;
  const double at[3] = {p.x, p.y, p.z};
  int32_t stack[STACK];
  int depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const TlTraceNode *node = &t->nodes[stack[--depth]];
    double gap2 = 0;
    for (int a = 0; a < 3; a++) {
      double below = (double)node->low[a] - at[a], above = at[a] - (double)node->high[a];
      double gap = below > above ? below : above; /* plain comparisons: see box_entry */
      if (gap > 0) gap2 += gap * gap;
    }
    if (gap2 > 0 && gap2 >= range * range) continue;
    if (node->left >= 0) {
      stack[depth++] = node->right;
      stack[depth++] = node->left;
      continue;
    }
    const TlTraceBody *b = &t->bodies[-node->left - 1];
    double phi = b->scale * body_phi(b, in_body(b, p));
    if (phi < range) range = phi;
  }
  return range;
}
