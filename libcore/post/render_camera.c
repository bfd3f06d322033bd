#include "post/render_camera.h"

#include "base/mem.h"

#include <math.h>

#define DEGREE 0.017453292519943295

TlCamera tl_camera_look(TlVec3 from, TlVec3 at, double fov_deg, int width, int height) {
  TlCamera c = {.from = from, .focus_m = tl_norm(tl_sub(at, from))};
  c.forward = tl_unit(tl_sub(at, from));
  TlVec3 z = fabs(c.forward.z) > 0.9999 ? tl_vec3(0, 1, 0) : tl_vec3(0, 0, 1);
  c.right = tl_unit(tl_cross(c.forward, z));
  c.up = tl_cross(c.right, c.forward);
  c.tan_y = tan(0.5 * DEGREE * fov_deg);
  c.tan_x = c.tan_y * width / height;
  return c;
}

TlVec3 tl_camera_ray(const TlCamera *c, double x, double y, int width, int height) {
  double u = (2 * x / width - 1) * c->tan_x, v = (1 - 2 * y / height) * c->tan_y;
  return tl_unit(tl_axpy(tl_axpy(c->forward, u, c->right), v, c->up));
}

bool tl_camera_project(const TlCamera *c, TlVec3 p, int width, int height, double *x, double *y) {
  TlVec3 d = tl_sub(p, c->from);
  double depth = tl_dot(d, c->forward);
  if (depth <= 0) return false;
  *x = 0.5 * width * (1 + tl_dot(d, c->right) / (depth * c->tan_x));
  *y = 0.5 * height * (1 - tl_dot(d, c->up) / (depth * c->tan_y));
  return true;
}

/* ---- the grains' path ---- */

static void widen(double value, double *low, double *high, bool first) {
  *low = first ? value : fmin(*low, value);
  *high = first ? value : fmax(*high, value);
}

static TlStatus add_point(TlRenderPath *list, TlVec3 p) {
  TL_TRY(TL_RESERVE(list->points, list->capacity, list->count + 1));
  list->points[list->count++] = p;
  return TL_OK;
}

TlStatus tl_render_path_add(TlRenderPath *path, const TlScene *scene, const TlFrame *frame) {
  TlVec3 sum = {0, 0, 0};
  int64_t inside = 0, stride = frame->count / 400 + 1;
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *avatar = tl_scene_avatar(scene, row->avatar_id);
    if (!avatar)
      return tl_fail(TL_EINPUT, "frame %lld: body %lld refers to avatar %lld, which the run lacks",
                     (long long)frame->index, (long long)row->id, (long long)row->avatar_id);
    if (row->flags & TL_ROW_OUTSIDE) continue;
    if (row->flags & TL_ROW_NO_GRAIN) { /* stays in view, and says nothing of the grains */
      bool seen = !path->bare || row->flags & TL_ROW_FIXED;
      if (i % stride == 0 && seen) TL_TRY(add_point(path, row->position_m));
      continue;
    }
    bool first = path->frames == 0 && inside == 0;
    double size = row->scale * tl_avatar_diameter_m(avatar), unused = 0;
    widen(size, &path->size_min_m, &path->size_max_m, first);
    widen(row->position_m.z, &path->height_min_m, &path->height_max_m, first);
    widen(tl_norm(row->velocity_m_s), &unused, &path->speed_max_m_s, first);
    path->largest_m = fmax(path->largest_m, row->scale * avatar->radius_m);
    sum = tl_add(sum, row->position_m);
    inside++;
    if (i % stride != 0) continue;
    TL_TRY(add_point(path, row->position_m));
  }
  if (inside == 0) return TL_OK;
  path->last = tl_scale(1 / (double)inside, sum);
  if (path->frames++ == 0) path->first = path->last;
  return TL_OK;
}

void tl_render_path_free(TlRenderPath *path) {
  tl_free(path->points);
  *path = (TlRenderPath){0};
}

/* ---- finding a place ---- */

typedef struct Bounds {
  TlVec3 low, high;
} Bounds;

static Bounds bounds_of(const TlVec3 *points, size_t count) {
  Bounds b = {points[0], points[0]};
  for (size_t i = 1; i < count; i++) {
    b.low =
        tl_vec3(fmin(b.low.x, points[i].x), fmin(b.low.y, points[i].y), fmin(b.low.z, points[i].z));
    b.high = tl_vec3(fmax(b.high.x, points[i].x), fmax(b.high.y, points[i].y),
                     fmax(b.high.z, points[i].z));
  }
  return b;
}

/* Ground points of a box (inflated path, or the whole terrain). */
static TlStatus add_ground(TlRenderPath *list, const TlTerrain *t, double x0, double x1, double y0,
                           double y1) {
  enum { N = 16 };
  for (int j = 0; j <= N; j++)
    for (int i = 0; i <= N; i++) {
      TlVec3 p = {x0 + (x1 - x0) * i / N, y0 + (y1 - y0) * j / N, 0};
      if (tl_terrain_height(t, p.x, p.y, &p.z, NULL)) TL_TRY(add_point(list, p));
    }
  return TL_OK;
}

static TlStatus subject(const TlScene *scene, const TlRenderPath *path, bool close,
                        TlRenderPath *list) {
  double r = path->largest_m;
  for (size_t i = 0; i < path->count; i++)
    for (int k = -1; k <= 1; k += 2) {
      TL_TRY(add_point(list, tl_axpy(path->points[i], k * r, tl_vec3(1, 0, 0))));
      TL_TRY(add_point(list, tl_axpy(path->points[i], k * r, tl_vec3(0, 1, 0))));
      TL_TRY(add_point(list, tl_axpy(path->points[i], k * r, tl_vec3(0, 0, 1))));
    }
  if (!scene->has_terrain) return TL_OK;
  const TlTerrain *t = &scene->terrain;
  double east = t->x0_m + (double)(t->nx - 1) * t->cell_m,
         north = t->y0_m + (double)(t->ny - 1) * t->cell_m;
  if (list->count == 0) return add_ground(list, t, t->x0_m, east, t->y0_m, north);
  if (close) return TL_OK;
  Bounds b = bounds_of(list->points, list->count);
  double margin = 0.06 * fmax(b.high.x - b.low.x, b.high.y - b.low.y) + 2 * r;
  return add_ground(list, t, fmax(t->x0_m, b.low.x - margin), fmin(east, b.high.x + margin),
                    fmax(t->y0_m, b.low.y - margin), fmin(north, b.high.y + margin));
}

/* Mean downhill direction about the subject. */
static TlVec3 fall_line(const TlTerrain *t, Bounds b) {
  enum { N = 12 };
  TlVec3 sum = {0, 0, 0}, n;
  double z;
  for (int k = 0; k < N * N; k++)
    if (tl_terrain_height(t, b.low.x + (b.high.x - b.low.x) * (k % N + 0.5) / N,
                          b.low.y + (b.high.y - b.low.y) * (k / N + 0.5) / N, &z, &n))
      sum = tl_add(sum, tl_vec3(n.x, n.y, 0));
  return sum;
}

static TlVec3 downslope(const TlScene *scene, const TlRenderPath *path, Bounds b) {
  TlVec3 d = tl_sub(path->last, path->first);
  d.z = 0;
  double extent = tl_norm(tl_sub(b.high, b.low));
  if (tl_norm(d) < 0.1 * extent) d = tl_vec3(0, 0, 0);
  if (tl_norm(d) == 0 && scene->has_terrain) d = fall_line(&scene->terrain, b);
  return tl_norm(d) > 1e-9 ? tl_unit(d) : tl_unit(tl_vec3(-0.4, -1, 0));
}

/* Least distance along `back` from `at` at which every point is inside the frame's middle part. */
static double fit_distance(const TlRenderPath *list, const TlCamera *c, TlVec3 at) {
  double distance = 0;
  const double part_x = 0.94, part_y = 0.76; /* title and legend keep the rest */
  for (size_t i = 0; i < list->count; i++) {
    TlVec3 d = tl_sub(list->points[i], at);
    double depth = tl_dot(d, c->forward);
    distance = fmax(distance, fabs(tl_dot(d, c->right)) / (part_x * c->tan_x) - depth);
    distance = fmax(distance, fabs(tl_dot(d, c->up)) / (part_y * c->tan_y) - depth);
  }
  return distance;
}

/* Moves the aim so that what is seen lies in the middle of the frame. */
static TlVec3 recentre(const TlRenderPath *list, const TlCamera *c, TlVec3 at, int width,
                       int height) {
  double x, y, x0 = 1e30, x1 = -1e30, y0 = 1e30, y1 = -1e30;
  for (size_t i = 0; i < list->count; i++) {
    if (!tl_camera_project(c, list->points[i], width, height, &x, &y)) continue;
    x0 = fmin(x0, x), x1 = fmax(x1, x), y0 = fmin(y0, y), y1 = fmax(y1, y);
  }
  double u = ((x0 + x1) / width - 1) * c->tan_x * c->focus_m;
  double v = (1 - (y0 + y1) / height) * c->tan_y * c->focus_m;
  return tl_axpy(tl_axpy(at, u, c->right), v, c->up);
}

static TlCamera fit(const TlRenderPath *list, TlVec3 at, TlVec3 back, double fov, int width,
                    int height) {
  TlCamera c = {0};
  for (int i = 0; i < 6; i++) {
    c = tl_camera_look(tl_add(at, back), at, fov, width, height);
    double distance = fmax(fit_distance(list, &c, at), 1e-9);
    c = tl_camera_look(tl_axpy(at, distance, back), at, fov, width, height);
    if (i < 5) at = recentre(list, &c, at, width, height);
  }
  return c;
}

/* Nothing of the ground between the camera and this point. */
static bool sees(const TlScene *scene, const TlCamera *c, TlVec3 p) {
  if (!scene->has_terrain) return true;
  TlVec3 d = tl_sub(c->from, p);
  for (int k = 1; k <= 200; k++) {
    TlVec3 q = tl_axpy(p, k / 200.0, d);
    double z;
    if (tl_terrain_height(&scene->terrain, q.x, q.y, &z, NULL) && q.z < z - 0.002 * tl_norm(d))
      return false;
  }
  return true;
}

static double part_seen(const TlScene *scene, const TlRenderPath *path, const TlCamera *c) {
  int64_t seen = 0, looked = 0;
  for (size_t i = 0; i < path->count; i += path->count / 100 + 1) {
    looked++;
    seen += sees(scene, c, path->points[i]);
  }
  return looked ? (double)seen / (double)looked : 1;
}

/* The subject's points, of which there is at least one. */
static TlStatus points_of(const TlScene *scene, const TlRenderPath *path, bool close,
                          TlRenderPath *list) {
  TlStatus status = subject(scene, path, close, list);
  if (status == TL_OK && list->count == 0)
    status = tl_fail(TL_EINPUT, "the run has neither grains nor ground to look at");
  return status;
}

/* To a camera that stands at this elevation in a horizontal direction. */
static TlVec3 back_to(TlVec3 flat, double elevation_deg) {
  return tl_axpy(tl_scale(cos(DEGREE * elevation_deg), flat), sin(DEGREE * elevation_deg),
                 tl_vec3(0, 0, 1));
}

TlStatus tl_camera_automatic(const TlScene *scene, const TlRenderPath *path, bool close,
                             double fov_deg, int width, int height, TlCamera *camera) {
  TlRenderPath list = {0};
  TlStatus status = points_of(scene, path, close, &list);
  if (status == TL_OK) {
    Bounds b = bounds_of(list.points, list.count);
    TlVec3 down = downslope(scene, path, b), side = tl_vec3(-down.y, down.x, 0);
    TlVec3 at = tl_scale(0.5, tl_add(b.low, b.high));
    for (double elevation = 30; elevation <= 75; elevation += 9) {
      TlVec3 flat = tl_unit(tl_axpy(tl_scale(0.80, down), 0.60, side));
      *camera = fit(&list, at, back_to(flat, elevation), fov_deg, width, height);
      if (part_seen(scene, path, camera) > 0.97) break;
    }
  }
  tl_render_path_free(&list);
  return status;
}

TlStatus tl_camera_from_side(const TlScene *scene, const TlRenderPath *path, double azimuth_deg,
                             double elevation_deg, double fov_deg, int width, int height,
                             TlCamera *camera) {
  TlRenderPath list = {0};
  TlStatus status = points_of(scene, path, true, &list);
  if (status == TL_OK) {
    Bounds b = bounds_of(list.points, list.count);
    TlVec3 flat = tl_vec3(cos(DEGREE * azimuth_deg), sin(DEGREE * azimuth_deg), 0);
    *camera = fit(&list, tl_scale(0.5, tl_add(b.low, b.high)), back_to(flat, elevation_deg),
                  fov_deg, width, height);
  }
  tl_render_path_free(&list);
  return status;
}
