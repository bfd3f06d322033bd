#include "post/render.h"

#include "base/log.h"
#include "base/mem.h"
#include "post/ink.h"
#include "post/render_colour.h"
#include "post/render_trace.h"

#include <math.h>

#define DEGREE 0.017453292519943295

typedef struct Shading {
  const TlTracer *tracer;
  const TlFrame *frame;
  const TlCamera *camera;
  const TlRenderOptions *options;
  TlVec3 to_sun;
  double occlusion_m; /* reach of the ambient occlusion: about a grain */
  double contour_m, low_m, high_m, height_origin_m;
  double pixel;    /* angle between two rays, rad */
  double extent_m; /* of the scene, for the haze */
} Shading;

/* ---- colour ranges ---- */

double tl_render_round_up(double x) {
  if (!(x > 0)) return 1;
  double step = tl_ink_nice(x / 4);
  return step * ceil(x / step - 1e-9);
}

void tl_render_range(const TlRenderPath *path, const TlScene *scene, TlRenderOptions *o) {
  double origin = scene->has_terrain ? scene->terrain.origin[2] : 0;
  if (o->colour >= TL_COLOUR_ROTATION) return;
  o->low = 0;
  o->high = 1;
  if (o->colour == TL_COLOUR_SPEED) o->high = tl_render_round_up(path->speed_max_m_s);
  if (o->colour == TL_COLOUR_SIZE) {
    o->low = path->size_min_m;
    o->high = path->size_max_m;
  }
  if (o->colour == TL_COLOUR_HEIGHT) {
    o->low = path->height_min_m + origin;
    o->high = path->height_max_m + origin;
  }
  if (!(o->high > o->low)) o->high = o->low + 1e-9 + 0.01 * fabs(o->low);
}

static TlVec3 grain_colour(const Shading *s, const TlTraceBody *body) {
  const TlRenderOptions *o = s->options;
  if (!body->avatar) return (o->chains ? o->chains->tube : o->tube)[body->row].colour;
  const TlBodyRow *row = &s->frame->rows[body->row];
  double value = 0;
  if (row->flags & TL_ROW_NET) return tl_colour_of_net();
  if (row->flags & TL_ROW_NO_GRAIN) return tl_colour_from_srgb(120, 120, 124);
  switch (o->colour) {
  case TL_COLOUR_ID:
    return tl_colour_of_id((uint64_t)row->id);
  case TL_COLOUR_AGGREGATE:
    if (row->aggregate < 0) return tl_colour_from_srgb(226, 230, 235);
    return tl_colour_of_id((uint64_t)row->aggregate);
  case TL_COLOUR_SPEED:
    value = tl_norm(row->velocity_m_s);
    break;
  case TL_COLOUR_SIZE:
    value = row->scale * tl_avatar_diameter_m(body->avatar);
    break;
  case TL_COLOUR_HEIGHT:
    value = row->position_m.z + s->height_origin_m;
    break;
  case TL_COLOUR_ROTATION:
  case TL_COLOUR_STRAIN:
    value = o->value[body->row];
    if (isnan(value)) return tl_colour_from_srgb(150, 150, 150);
    break;
  case TL_COLOUR_FORCE: /* grains are not drawn */
    break;
  }
  return tl_colour_map((value - o->low) / (o->high - o->low));
}

/* ---- surfaces ---- */

/* Darkens where a level lies within a line's width; fades out where lines would run together. */
static double line_at(double value, double step, double footprint, double width) {
  double off = fabs(value / step - floor(value / step + 0.5)) * step;
  double cover = fmin(1, fmax(0, (0.5 * width * footprint - off) / footprint + 0.5));
  return cover * fmin(1, fmax(0, 0.25 * step / footprint - 1));
}

static TlVec3 ground_colour(const Shading *s, const TlHit *hit, TlVec3 direction) {
  double slope = acos(fmin(1, hit->normal.z)) / DEGREE;
  double z = hit->point.z, part = (z - s->low_m) / fmax(1e-12, s->high_m - s->low_m);
  TlVec3 c = tl_colour_of_ground(slope, part);
  /* change of height from one pixel to the next */
  double facing = fmax(0.05, -tl_dot(direction, hit->normal));
  double footprint = hit->t * s->pixel * fmax(sin(slope * DEGREE), 0.02) / facing;
  double level = z + s->height_origin_m;
  double line = fmax(0.16 * line_at(level, s->contour_m, footprint, 1.2),
                     0.34 * line_at(level, 5 * s->contour_m, footprint, 1.6));
  return tl_scale(1 - line, c);
}

/* Floors and walls carry a square grid, so that their slope and distance can be read. */
static TlVec3 plane_colour(const Shading *s, const TlHit *hit) {
  TlVec3 n = hit->normal,
         u = tl_unit(tl_cross(fabs(n.z) < 0.9 ? tl_vec3(0, 0, 1) : tl_vec3(0, 1, 0), n));
  TlVec3 v = tl_cross(n, u);
  double step = tl_ink_nice(s->extent_m / 8), footprint = hit->t * s->pixel * 1.5;
  double line = fmax(line_at(tl_dot(hit->point, u), step, footprint, 1),
                     line_at(tl_dot(hit->point, v), step, footprint, 1));
  return tl_scale(1 - 0.25 * line, tl_colour_from_srgb(196, 194, 188));
}

/* A grain that is cut through has a dark line where its section ends; what lies behind the section
 * is dimmed. */
static TlVec3 section_colour(const Shading *s, const TlHit *hit, TlVec3 albedo) {
  if (!s->options->cut || s->options->chains) return albedo;
  if (!(hit->within_m > 0)) return tl_scale(0.5, albedo);
  return tl_scale(hit->within_m > 2.5 * hit->t * s->pixel ? 1 : 0.3, albedo);
}

/* Walls carry a grid that moves with them; obstacles are darker. */
static TlVec3 wall_colour(const Shading *s, const TlHit *hit) {
  bool inside = s->tracer->scene->parts[hit->part].inside;
  double step = tl_ink_nice(s->extent_m / 12), footprint = hit->t * s->pixel * 1.5;
  double line = fmax(line_at(hit->u, step, footprint, 1), line_at(hit->v, step, footprint, 1));
  TlVec3 c = inside ? tl_colour_from_srgb(190, 198, 204) : tl_colour_from_srgb(142, 150, 158);
  return tl_scale(1 - 0.25 * line, c);
}

/* How much of the sky is left: grains (by their phi) and ground near the point along its normal. */
static double openness(const Shading *s, TlVec3 p, TlVec3 n) {
  double dark = 0, weight = 0.5;
  for (int k = 1; k <= 4; k++, weight *= 0.62) {
    double reach = s->occlusion_m * k / 4;
    TlVec3 q = tl_axpy(p, reach, n);
    double gap = tl_trace_grain_distance(s->tracer, q, reach), z;
    if (s->tracer->has_ground && tl_terrain_height(s->tracer->ground.terrain, q.x, q.y, &z, NULL))
      gap = fmin(gap, q.z - z);
    dark += weight * fmax(0, reach - fmax(gap, 0)) / reach;
  }
  return fmax(0, 1 - 0.8 * dark);
}

static TlVec3 times(TlVec3 a, TlVec3 b) {
  return tl_vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static TlVec3 lit(const Shading *s, const TlHit *hit, TlVec3 albedo, TlVec3 direction) {
  TlVec3 sun = tl_vec3(2.15, 2.02, 1.80), sky = tl_vec3(0.46, 0.54, 0.68),
         bounce = tl_vec3(0.36, 0.33, 0.29);
  double away = 1e-4 * hit->t + 1e-3 * s->occlusion_m;
  TlVec3 start = tl_axpy(hit->point, away, hit->normal);
  double cosine = tl_dot(hit->normal, s->to_sun), direct = 0;
  if (cosine > 0 && hit->kind == TL_HIT_WALL)
    direct = cosine; /* the steps of the outline would stripe the wall with their shadows */
  else if (cosine > 0)
    direct = cosine * tl_trace_light(s->tracer, start, s->to_sun, 0.03);
  double open = hit->kind == TL_HIT_WALL ? 1 : openness(s, start, hit->normal);
  double up = 0.5 + 0.5 * hit->normal.z;
  TlVec3 light = tl_axpy(tl_scale(open * up, sky), direct, sun);
  light = tl_axpy(light, open * (1 - up), bounce);
  TlVec3 c = tl_scale(0.62, times(albedo, light));
  if (hit->kind == TL_HIT_GRAIN && direct > 0) { /* a faint gloss shows the grains' facets */
    TlVec3 half = tl_unit(tl_sub(s->to_sun, direction));
    c = tl_axpy(c, 0.10 * direct * pow(fmax(0, tl_dot(half, hit->normal)), 24), tl_vec3(1, 1, 1));
  }
  return c;
}

static TlVec3 sky_colour(TlVec3 d) {
  double t = fmin(1, fmax(0, 1.6 * d.z + 0.1));
  TlVec3 low = tl_colour_from_srgb(222, 230, 238), high = tl_colour_from_srgb(128, 166, 208);
  return tl_axpy(tl_scale(1 - t, low), t, high);
}

static TlVec3 hit_colour(const Shading *s, const TlHit *hit, TlVec3 d) {
  TlVec3 albedo = tl_colour_from_srgb(132, 122, 110); /* the block's side walls */
  switch (hit->kind) {
  case TL_HIT_NONE:
    return sky_colour(d);
  case TL_HIT_GRAIN:
    albedo = section_colour(s, hit, grain_colour(s, &s->tracer->bodies[hit->body]));
    break;
  case TL_HIT_GROUND:
    albedo = ground_colour(s, hit, d);
    break;
  case TL_HIT_PLANE:
    albedo = plane_colour(s, hit);
    break;
  case TL_HIT_PART:
    albedo = wall_colour(s, hit);
    break;
  case TL_HIT_WALL:
    break;
  }
  TlVec3 c = lit(s, hit, albedo, d);
  double beyond = fmax(0, hit->t - s->camera->focus_m) / s->extent_m;
  double haze = 1 - exp(-0.12 * beyond * beyond);
  if (hit->kind == TL_HIT_PLANE) haze = 1 - exp(-0.35 * beyond * beyond);
  return tl_axpy(tl_scale(1 - haze, c), haze, sky_colour(tl_vec3(d.x, d.y, 0)));
}

static TlVec3 ray_colour(const Shading *s, TlVec3 d) {
  TlHit hit = tl_trace(s->tracer, s->camera->from, d, INFINITY);
  TlVec3 c = hit_colour(s, &hit, d), glass = tl_colour_from_srgb(112, 122, 130);
  double left = tl_wall_veil(&s->tracer->walls, s->camera->from, d, hit.t, s->pixel);
  return tl_axpy(tl_scale(left, c), 1 - left, glass);
}

static void draw_row(const Shading *s, int y, TlImage *image) {
  const int n = s->options->smooth ? 2 : 1;
  for (int x = 0; x < image->width; x++) {
    double sum[3] = {0, 0, 0};
    uint8_t rgb[3];
    for (int k = 0; k < n * n; k++) { /* the mean of display bytes: bright edges stay smooth */
      double px = x + (k % n + 0.5) / n, py = y + (k / n + 0.5) / n;
      TlVec3 d = tl_camera_ray(s->camera, px, py, image->width, image->height);
      tl_colour_to_bytes(ray_colour(s, d), rgb);
      for (int c = 0; c < 3; c++) sum[c] += rgb[c];
    }
    uint8_t *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    for (int c = 0; c < 3; c++) out[c] = (uint8_t)(sum[c] / (n * n) + 0.5);
  }
}

/* ---- the frame ---- */

/* From behind the camera's left shoulder, 40 degrees high. */
static TlVec3 sun_direction(const TlCamera *c) {
  TlVec3 back = tl_vec3(-c->forward.x, -c->forward.y, 0), side = tl_vec3(c->right.x, c->right.y, 0);
  TlVec3 flat = tl_unit(tl_axpy(tl_scale(0.45, tl_unit(back)), -0.9, side));
  return tl_unit(tl_axpy(tl_scale(0.77, flat), 0.64, tl_vec3(0, 0, 1)));
}

static void ground_range(const TlTerrain *t, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int64_t i = 0; i < t->nx * t->ny; i++) {
    *low = fmin(*low, (double)t->height_m[i]);
    *high = fmax(*high, (double)t->height_m[i]);
  }
}

static Shading prepare(const TlTracer *tracer, const TlFrame *frame, const TlCamera *camera,
                       const TlRenderOptions *o) {
  Shading s = {.tracer = tracer, .frame = frame, .camera = camera, .options = o};
  s.to_sun = sun_direction(camera);
  s.pixel = 2 * camera->tan_y / (o->height * (o->smooth ? 2 : 1));
  s.extent_m = 2 * camera->focus_m * fmax(camera->tan_x, camera->tan_y);
  for (int64_t i = 0; i < tracer->body_count; i++)
    s.occlusion_m += 1.2 * tracer->bodies[i].radius_m / (double)tracer->body_count;
  if (tracer->body_count == 0) s.occlusion_m = 0.01 * s.extent_m;
  if (tracer->has_ground) {
    ground_range(&tracer->scene->terrain, &s.low_m, &s.high_m);
    s.height_origin_m = tracer->scene->terrain.origin[2];
    s.contour_m = tl_ink_nice(fmax(1e-9, (s.high_m - s.low_m) / 30));
  }
  return s;
}

static TlTraceChoice choice_of(const TlRenderOptions *o) {
  TlTraceChoice c = {.hidden = o->bare ? TL_ROW_NET | TL_ROW_GUIDED : 0,
                     .cut = o->cut,
                     .cut_point_m = o->cut_point_m,
                     .cut_normal = o->cut_normal,
                     .cut_depth_m = o->cut_depth_m,
                     .tubes = o->tube,
                     .tube_count = o->tubes};
  if (!o->chains) return c;
  c.hidden |= TL_ROW_NET;
  c.no_grains = true;
  c.tubes = o->chains->tube;
  c.tube_count = o->chains->count;
  return c;
}

/* The frame as it is drawn, with rows of its own. */
static TlStatus enlarged(const TlFrame *frame, double times, TlFrame *drawn) {
  *drawn = *frame;
  TL_TRY(TL_NEW(drawn->rows, (size_t)frame->count));
  for (int64_t i = 0; i < frame->count; i++) {
    drawn->rows[i] = frame->rows[i];
    if (!(frame->rows[i].flags & TL_ROW_NO_GRAIN)) drawn->rows[i].scale *= times;
  }
  return TL_OK;
}

TlStatus tl_render_frame(const TlScene *scene, const TlFrame *frame, const TlCamera *camera,
                         const TlRenderOptions *options, TlImage *image) {
  TlTracer tracer;
  TlTraceChoice choice = choice_of(options);
  TlFrame drawn;
  TL_TRY(enlarged(frame, options->enlarge > 0 ? options->enlarge : 1, &drawn));
  TlStatus status = tl_tracer_make(&tracer, scene, &drawn, &choice);
  tl_free(drawn.rows);
  TL_TRY(status);
  status = tl_image_new(image, options->width, options->height);
  if (status == TL_OK) {
    Shading s = prepare(&tracer, frame, camera, options);
#pragma omp parallel for schedule(dynamic, 4)
    for (int y = 0; y < image->height; y++) draw_row(&s, y, image);
    if (options->captions) status = tl_render_captions(image, scene, frame, camera, options);
    if (status != TL_OK) tl_image_free(image);
  }
  tl_tracer_free(&tracer);
  return status;
}
