#include "post/render_walls.h"

#include "base/mem.h"

#include <math.h>

static const double VEIL = 0.07, RIM = 0.45; /* what a container's near side and its rim hide */

TlStatus tl_wall_tracer_make(TlWallTracer *w, const TlScene *scene, const TlFrame *frame,
                             TlVec3 low, TlVec3 high) {
  *w = (TlWallTracer){.scene = scene, .low = low, .high = high};
  TL_TRY(TL_NEW(w->place, (size_t)scene->part_count));
  for (int64_t i = 0; i < scene->part_count; i++)
    w->place[i] = tl_scene_place(scene, &scene->parts[i], frame);
  return TL_OK;
}

void tl_wall_tracer_free(TlWallTracer *w) {
  tl_free(w->place);
  *w = (TlWallTracer){0};
}

/* ---- in the part's frame ---- */

typedef struct PartRay {
  TlVec3 p, d;
} PartRay;

/* Where the ray is within the solid; normal: of the side it comes in by. */
typedef struct Span {
  double in, out;
  TlVec3 normal;
} Span;

static void cut(Span *s, double in, double out, TlVec3 normal) {
  if (in > s->in) {
    s->in = in;
    s->normal = normal;
  }
  if (out < s->out) s->out = out;
}

/* Between two parallel faces at +-half along an axis. */
static void cut_slab(Span *s, double p, double d, double half, TlVec3 axis) {
  if (d == 0) {
    if (fabs(p) > half) s->out = -INFINITY;
    return;
  }
  double side = d > 0 ? -1 : 1;
  cut(s, (side * half - p) / d, (-side * half - p) / d, tl_scale(side, axis));
}

/* Roots of the ray with the endless cylinder; false: it passes by. */
static bool round_roots(const PartRay *r, double radius, double *in, double *out) {
  double a = r->d.x * r->d.x + r->d.y * r->d.y, b = r->p.x * r->d.x + r->p.y * r->d.y;
  double c = r->p.x * r->p.x + r->p.y * r->p.y - radius * radius, root = b * b - a * c;
  if (!(a > 0) || !(root > 0)) return false;
  *in = (-b - sqrt(root)) / a;
  *out = (-b + sqrt(root)) / a;
  return true;
}

static Span span_of(const TlWallPart *part, const PartRay *r) {
  const double *size = part->size_m;
  Span s = {-INFINITY, INFINITY, {0, 0, 1}};
  if (part->kind == TL_PART_BOX) {
    cut_slab(&s, r->p.x, r->d.x, 0.5 * size[0], tl_vec3(1, 0, 0));
    cut_slab(&s, r->p.y, r->d.y, 0.5 * size[1], tl_vec3(0, 1, 0));
    cut_slab(&s, r->p.z, r->d.z, 0.5 * size[2], tl_vec3(0, 0, 1));
    return s;
  }
  double in, out;
  cut_slab(&s, r->p.z, r->d.z, 0.5 * size[1], tl_vec3(0, 0, 1));
  if (round_roots(r, size[0], &in, &out))
    cut(&s, in, out, tl_unit(tl_vec3(r->p.x + in * r->d.x, r->p.y + in * r->d.y, 0)));
  else if (hypot(r->p.x, r->p.y) > size[0] || r->d.x != 0 || r->d.y != 0)
    s.out = -INFINITY;
  return s;
}

static bool meets_solid(const TlWallPart *part, const PartRay *r, double t_max, TlWallHit *hit) {
  Span s = span_of(part, r);
  if (!(s.in > 0) || s.in >= s.out || s.in >= t_max) return false;
  TlVec3 q = tl_axpy(r->p, s.in, r->d), n = s.normal;
  hit->t = s.in;
  hit->normal = n;
  bool side = part->kind == TL_PART_CYLINDER && n.z == 0;
  hit->u = side ? atan2(q.y, q.x) * part->size_m[0] : fabs(n.x) > 0.5 ? q.y : q.x;
  hit->v = fabs(n.z) > 0.5 ? q.y : q.z;
  return true;
}

/* ---- a container's surfaces, seen from its inside or not ---- */

/* rim: distance to the surface's border. */
typedef struct Sheet {
  double t, rim;
  TlVec3 at;
} Sheet;

/* The inner face of a plane or a slab: z = level, bounded by a rectangle and, with a radius, a
 * circle. front: the ray comes from the inside. */
static bool meets_face(const TlWallPart *part, const PartRay *r, bool front, Sheet *s) {
  const double *size = part->size_m;
  bool lid = part->kind == TL_PART_CYLINDER;
  double level = part->kind == TL_PART_PLANE ? 0 : 0.5 * size[lid ? 1 : 2];
  double round = lid ? size[0] : part->kind == TL_PART_PLANE ? size[2] : 0;
  if (r->d.z == 0 || front != (r->d.z < 0)) return false;
  s->t = (level - r->p.z) / r->d.z;
  s->at = tl_axpy(r->p, s->t, r->d);
  s->rim = INFINITY;
  if (!lid) s->rim = fmin(0.5 * size[0] - fabs(s->at.x), 0.5 * size[1] - fabs(s->at.y));
  if (round > 0) s->rim = fmin(s->rim, round - hypot(s->at.x, s->at.y));
  return s->t > 0 && s->rim >= 0;
}

static bool meets_tube(const TlWallPart *part, const PartRay *r, bool front, Sheet *s) {
  double in, out;
  if (!round_roots(r, part->size_m[0], &in, &out)) return false;
  s->t = front ? out : in;
  s->at = tl_axpy(r->p, s->t, r->d);
  s->rim = 0.5 * part->size_m[1] - fabs(s->at.z);
  return s->t > 0 && s->rim >= 0;
}

static bool is_round(const TlWallPart *part) {
  return part->kind == TL_PART_TUBE || part->kind == TL_PART_RING;
}

static bool meets_sheet(const TlWallPart *part, const PartRay *r, bool front, Sheet *s) {
  return is_round(part) ? meets_tube(part, r, front, s) : meets_face(part, r, front, s);
}

static bool meets_inside(const TlWallPart *part, const PartRay *r, double t_max, TlWallHit *hit) {
  Sheet s;
  if (!meets_sheet(part, r, true, &s) || s.t >= t_max) return false;
  hit->t = s.t;
  hit->u = s.at.x;
  hit->v = s.at.y;
  hit->normal = tl_vec3(0, 0, 1);
  if (is_round(part)) {
    hit->u = atan2(s.at.y, s.at.x) * part->size_m[0];
    hit->v = s.at.z;
    hit->normal = tl_unit(tl_vec3(-s.at.x, -s.at.y, 0));
  }
  return true;
}

/* ---- a plane without end, drawn as the study's planes are ---- */

static bool meets_plane(const TlWallTracer *w, const PartRay *r, TlVec3 from, TlVec3 d,
                        TlVec3 normal, double t_max, TlWallHit *hit) {
  if (r->d.z >= 0 || r->p.z <= 0) return false;
  double t = -r->p.z / r->d.z, reach = 0.6 * tl_norm(tl_sub(w->high, w->low));
  if (t >= t_max) return false;
  TlVec3 at = tl_axpy(from, t, d);
  bool floor = normal.z > 0.5;
  double more = floor ? 8 * reach : reach;
  if (at.x < w->low.x - more || at.x > w->high.x + more || at.y < w->low.y - more ||
      at.y > w->high.y + more || (!floor && at.z > w->high.z + 0.2 * reach))
    return false;
  *hit = (TlWallHit){t, {0, 0, 1}, r->p.x + t * r->d.x, r->p.y + t * r->d.y, 0};
  return true;
}

/* ---- all of them ---- */

static PartRay part_ray(const TlWallTracer *w, int64_t i, TlVec3 from, TlVec3 d) {
  const TlWallPart *part = &w->scene->parts[i];
  return (PartRay){tl_part_point(part, &w->place[i], from),
                   tl_part_direction(part, &w->place[i], d)};
}

static bool meets(const TlWallTracer *w, int64_t i, TlVec3 from, TlVec3 d, double t_max,
                  TlWallHit *hit) {
  const TlWallPart *part = &w->scene->parts[i];
  PartRay r = part_ray(w, i, from, d);
  if (part->inside) return meets_inside(part, &r, t_max, hit);
  if (part->kind != TL_PART_PLANE) return meets_solid(part, &r, t_max, hit);
  TlVec3 normal = tl_part_direction_back(part, &w->place[i], tl_vec3(0, 0, 1));
  return meets_plane(w, &r, from, d, normal, t_max, hit);
}

bool tl_wall_trace(const TlWallTracer *w, TlVec3 from, TlVec3 d, double t_max, TlWallHit *hit) {
  bool met = false;
  for (int64_t i = 0; i < w->scene->part_count; i++) {
    TlWallHit h;
    if (w->place[i].absent || !meets(w, i, from, d, t_max, &h)) continue;
    t_max = h.t;
    h.part = i;
    h.normal = tl_part_direction_back(&w->scene->parts[i], &w->place[i], h.normal);
    *hit = h;
    met = true;
  }
  return met;
}

bool tl_wall_shades(const TlWallTracer *w, TlVec3 from, TlVec3 d) {
  for (int64_t i = 0; i < w->scene->part_count; i++) {
    const TlWallPart *part = &w->scene->parts[i];
    if (w->place[i].absent || part->inside || part->kind == TL_PART_PLANE) continue;
    PartRay r = part_ray(w, i, from, d);
    TlWallHit h;
    if (meets_solid(part, &r, INFINITY, &h)) return true;
  }
  return false;
}

double tl_wall_veil(const TlWallTracer *w, TlVec3 from, TlVec3 d, double t_max, double pixel) {
  double left = 1;
  for (int64_t i = 0; i < w->scene->part_count; i++) {
    const TlWallPart *part = &w->scene->parts[i];
    if (w->place[i].absent || !part->inside) continue;
    PartRay r = part_ray(w, i, from, d);
    Sheet s;
    if (!meets_sheet(part, &r, false, &s) || s.t >= t_max) continue;
    left *= 1 - (s.rim < 2.5 * pixel * s.t ? RIM : VEIL);
  }
  return left;
}
