#include "post/report_playback.h"

#include "base/mem.h"
#include "base/par.h"
#include "num/sort.h"
#include "post/export_walls.h"
#include "post/ink.h"
#include "post/net_bonds.h"
#include "post/render.h"
#include "post/report_skin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUND_SAMPLES = 40000, MOST_CELLS = 48 };

/* ---- surfaces ---- */

typedef struct Skins {
  const TlPlayback *how;
  TlSkin *skin; /* [levels * shapes] */
} Skins;

/* A grain that has no surface on a coarse grid gets a finer one; so does, at the finest level, one
 * whose mesh is too far from its level set. */
static TlStatus make_skins(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  Skins *s = context;
  int64_t shapes = s->how->scene->avatar_count;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) {
    const TlAvatar *a = &s->how->scene->avatars[i % shapes];
    int32_t cells = s->how->cells[i / shapes];
    TlStatus status;
    do {
      double error;
      status =
          i < shapes && s->how->most_error > 0
              ? tl_skin_make_within(a, cells, MOST_CELLS, s->how->most_error, &s->skin[i], &error)
              : tl_skin_make(a, cells, &s->skin[i]);
      cells += 2;
    } while (status == TL_EINPUT && cells < MOST_CELLS);
    TL_TRY(status);
  }
  return TL_OK;
}

typedef struct SkinHead {
  int32_t n[3], vertices;
  float cell_m, origin_m[3];
} SkinHead;

static TlStatus pack_skins(const TlSkin *skin, int64_t count, TlReportData *data) {
  size_t bits = 0, vertices = 0;
  SkinHead *head = NULL;
  uint8_t *sign = NULL, *point = NULL;
  for (int64_t i = 0; i < count; i++) {
    bits += ((size_t)skin[i].n[0] * (size_t)skin[i].n[1] * (size_t)skin[i].n[2] + 7) / 8;
    vertices += (size_t)skin[i].vertices;
  }
  TlStatus status = TL_NEW(head, (size_t)count);
  if (status == TL_OK) status = TL_NEW(sign, bits);
  if (status == TL_OK) status = TL_NEW(point, 3 * vertices);
  size_t b = 0, v = 0;
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    const TlSkin *s = &skin[i];
    size_t n = ((size_t)s->n[0] * (size_t)s->n[1] * (size_t)s->n[2] + 7) / 8;
    head[i] = (SkinHead){{s->n[0], s->n[1], s->n[2]},
                         s->vertices,
                         s->cell_m,
                         {s->origin_m[0], s->origin_m[1], s->origin_m[2]}};
    memcpy(sign + b, s->bits, n);
    b += n;
    for (int32_t k = 0; k < s->vertices; k++, v++)
      for (size_t c = 0; c < 3; c++) point[c * vertices + v] = s->place[3 * k + (int32_t)c];
  }
  if (status == TL_OK) status = tl_data_add(data, "skin", head, (size_t)count * sizeof *head);
  if (status == TL_OK) status = tl_data_add(data, "sign", sign, bits);
  if (status == TL_OK) status = tl_data_add(data, "point", point, 3 * vertices);
  tl_free(head);
  tl_free(sign);
  tl_free(point);
  return status;
}

static TlStatus add_skins(const TlPlayback *how, TlReportData *data) {
  int64_t count = TL_PLAYBACK_LEVELS * how->scene->avatar_count;
  Skins s = {.how = how};
  TL_TRY(TL_NEW(s.skin, (size_t)count));
  TlStatus status = tl_par_blocks(count, 4, make_skins, &s);
  if (status == TL_OK) status = pack_skins(s.skin, count, data);
  for (int64_t i = 0; i < count; i++) tl_skin_free(&s.skin[i]);
  tl_free(s.skin);
  return status;
}

/* ---- bodies ---- */

static TlStatus add_bodies(const TlPlayback *how, TlReportData *data) {
  const TlReportMotion *m = how->motion;
  size_t n = (size_t)m->bodies, shapes = (size_t)how->scene->avatar_count;
  float *scale = NULL, *size = NULL;
  double *id = NULL;
  TlStatus status = TL_NEW(scale, n);
  if (status == TL_OK) status = TL_NEW(size, 2 * shapes);
  if (status == TL_OK) status = TL_NEW(id, n);
  for (size_t b = 0; status == TL_OK && b < n; b++) {
    scale[b] = (float)m->scale[b];
    id[b] = (double)m->id[b];
  }
  for (size_t i = 0; status == TL_OK && i < shapes; i++) {
    size[2 * i] = (float)tl_avatar_diameter_m(&how->scene->avatars[i]);
    size[2 * i + 1] = (float)how->scene->avatars[i].radius_m;
  }
  if (status == TL_OK) status = tl_data_add(data, "scale", scale, n * sizeof *scale);
  if (status == TL_OK) status = tl_data_add(data, "shape", m->shape, n * sizeof *m->shape);
  if (status == TL_OK) status = tl_data_add(data, "flags", m->flags, n * sizeof *m->flags);
  if (status == TL_OK) status = tl_data_add(data, "size", size, 2 * shapes * sizeof *size);
  if (status == TL_OK) status = tl_data_add(data, "id", id, n * sizeof *id);
  tl_free(scale);
  tl_free(size);
  tl_free(id);
  return status;
}

/* ---- ground ---- */

static TlStatus add_ground(const TlPlayback *how, TlHtml *head, TlReportData *data) {
  const TlTerrain *t = &how->scene->terrain;
  const TlMapRegion r = tl_map_region(how->scene, how->motion);
  TlVec3 from = tl_report_motion_steps(how->motion, how->scene).low_m;
  int64_t i0 = (int64_t)floor((r.x0 - t->x0_m) / t->cell_m + 1e-6),
          i1 = (int64_t)ceil((r.x1 - t->x0_m) / t->cell_m - 1e-6),
          j0 = (int64_t)floor((r.y0 - t->y0_m) / t->cell_m + 1e-6),
          j1 = (int64_t)ceil((r.y1 - t->y0_m) / t->cell_m - 1e-6);
  int64_t every = (int64_t)ceil(sqrt((double)((i1 - i0 + 1) * (j1 - j0 + 1)) / GROUND_SAMPLES));
  int64_t nx = (i1 - i0) / every + 1, ny = (j1 - j0) / every + 1;
  double low = INFINITY, high = -INFINITY;
  int32_t *q = NULL;
  uint8_t *planes = NULL;
  for (int64_t i = 0; i < nx * ny; i++) {
    double z = t->height_m[(j0 + i / nx * every) * t->nx + i0 + i % nx * every];
    low = fmin(low, z);
    high = fmax(high, z);
  }
  double step = fmax((high - low) / 65000, 1e-9);
  TlStatus status = TL_NEW(q, (size_t)(nx * ny));
  if (status == TL_OK) status = TL_NEW(planes, 2 * (size_t)(nx * ny));
  for (int64_t i = 0; status == TL_OK && i < nx * ny; i++) {
    double z = t->height_m[(j0 + i / nx * every) * t->nx + i0 + i % nx * every];
    q[i] = isfinite(z) ? (int32_t)lround((z - low) / step) : 65535;
    int32_t west = i % nx ? q[i - 1] : 0, south = i >= nx ? q[i - nx] : 0;
    int32_t both = i % nx && i >= nx ? q[i - nx - 1] : 0;
    uint32_t d = (uint32_t)(q[i] - (west + south - both));
    planes[i] = (uint8_t)d;
    planes[nx * ny + i] = (uint8_t)(d >> 8);
  }
  if (status == TL_OK) status = tl_data_add(data, "ground", planes, 2 * (size_t)(nx * ny));
  tl_free(q);
  tl_free(planes);
  TL_TRY(status);
  tl_html(head, ",\"ground\":{\"nx\":%lld,\"ny\":%lld,\"cell\":%.17g,\"x0\":%.9g,\"y0\":%.9g,",
          (long long)nx, (long long)ny, (double)every * t->cell_m,
          t->x0_m + (double)i0 * t->cell_m - from.x, t->y0_m + (double)j0 * t->cell_m - from.y);
  tl_html(head, "\"low\":%.9g,\"step\":%.17g,\"level\":%.9g,\"contour\":%.9g,\"every\":%lld,",
          low - from.z, step, from.z + t->origin[2], tl_ink_nice(fmax(1e-9, (high - low) / 30)),
          (long long)every);
  tl_html(head, "\"drapes\":[");
  const TlMapGrid *g = how->grid;
  const struct {
    const char *key, *label, *unit;
    const double *value;
    double high;
  } drape[] = {
      {"seen", "largest speed seen", " m/s", g ? g->speed_m_s : NULL, g ? g->largest_speed_m_s : 0},
      {"seenenergy", "largest kinetic energy", " kJ", g ? g->energy_kJ : NULL,
       g ? g->largest_energy_kJ : 0},
      {"seenjump", "largest jump height", " m", g ? g->jump_m : NULL, g ? g->largest_jump_m : 0},
      {"passed", "grains that passed", "", g ? g->passed : NULL, g ? g->most_passed : 0}};
  const char *comma = "";
  for (size_t k = 0; k < sizeof drape / sizeof *drape; k++) {
    if (!drape[k].value) continue;
    size_t n = (size_t)(g->nx * g->ny);
    char text[40];
    uint8_t *bytes;
    TL_TRY(TL_NEW(bytes, n));
    for (size_t i = 0; i < n; i++)
      if (drape[k].value[i] > 0 && drape[k].high > 0)
        bytes[i] = (uint8_t)(1 + lround(254 * drape[k].value[i] / drape[k].high));
    status = tl_data_add(data, drape[k].key, bytes, n);
    tl_free(bytes);
    TL_TRY(status);
    tl_html_value(text, drape[k].high);
    tl_html(head,
            "%s{\"key\":\"%s\",\"label\":\"%s, 0 to %s%s\",\"nx\":%lld,\"ny\":%lld,"
            "\"x0\":%.9g,\"y0\":%.9g,\"cell\":%.9g}",
            comma, drape[k].key, drape[k].label, text, drape[k].unit, (long long)g->nx,
            (long long)g->ny, g->x0_m, g->y0_m, g->cell_m);
    comma = ",";
  }
  tl_html(head, "]},\"origin\":[%.9g,%.9g,%.9g]", t->origin[0], t->origin[1], t->origin[2]);
  return TL_OK;
}

/* ---- walls ---- */

static bool is_driven(const TlDrive *d) {
  return d->rows > 0 || tl_norm(d->velocity_m_s) > 0 || tl_norm(d->spin_rad_s) > 0 ||
         d->from_s > 0 || d->until_s > 0;
}

/* Nine numbers of the turn, row by row, three of the displacement, one whether it is there; places from
 * `low`, as the grains have them. */
static void drive_row(const TlScene *scene, const TlWallPart *part, const TlReportMotion *m,
                      int64_t f, TlVec3 low, float *row) {
  TlFrame at = {.step = llround(m->time_s[f] / scene->step_s)};
  TlPlacement place = tl_scene_place(scene, part, &at);
  TlVec3 o = tl_sub(tl_placed(&place, low), low);
  for (int c = 0; c < 9; c++) row[c] = (float)place.turn.m[c / 3][c % 3];
  row[9] = (float)o.x, row[10] = (float)o.y, row[11] = (float)o.z;
  row[12] = !place.absent;
}

static TlStatus add_drives(const TlPlayback *how, TlVec3 low, int64_t driven, TlReportData *data) {
  const TlScene *scene = how->scene;
  const TlReportMotion *m = how->motion;
  float *row;
  int64_t k = 0;
  if (driven == 0) return TL_OK;
  TL_TRY(TL_NEW(row, 13 * (size_t)(driven * m->frames)));
  for (int64_t i = 0; i < scene->part_count; i++)
    if (is_driven(&scene->parts[i].drive))
      for (int64_t f = 0; f < m->frames; f++)
        drive_row(scene, &scene->parts[i], m, f, low, row + 13 * k++);
  TlStatus status =
      tl_data_add(data, "walldrive", row, 13 * (size_t)(driven * m->frames) * sizeof *row);
  tl_free(row);
  return status;
}

static TlStatus put_walls(const TlPlayback *how, const TlWallMesh *mesh, TlVec3 low, double extent,
                          TlHtml *head, TlReportData *data) {
  const TlScene *scene = how->scene;
  float *place = NULL;
  uint32_t *index = NULL;
  int64_t driven = 0, parts = 0;
  TlStatus status = TL_NEW(place, 3 * (size_t)mesh->points);
  if (status == TL_OK) status = TL_NEW(index, 3 * (size_t)mesh->triangles);
  const double from[3] = {low.x, low.y, low.z};
  for (int64_t i = 0; status == TL_OK && i < 3 * mesh->points; i++)
    place[i] = (float)(mesh->point[i] - from[i % 3]);
  for (int64_t i = 0; status == TL_OK && i < 3 * mesh->triangles; i++)
    index[i] = (uint32_t)mesh->corner[i];
  if (status == TL_OK)
    status = tl_data_add(data, "wallplace", place, 3 * (size_t)mesh->points * sizeof *place);
  if (status == TL_OK)
    status = tl_data_add(data, "wallindex", index, 3 * (size_t)mesh->triangles * sizeof *index);
  tl_free(place);
  tl_free(index);
  TL_TRY(status);
  tl_html(head, ",\"walls\":{\"grid\":%.9g,\"parts\":[", tl_ink_nice(extent / 10));
  for (int64_t t = 0; t < mesh->triangles;) {
    int32_t part = mesh->part[t];
    int64_t first = t;
    while (t < mesh->triangles && mesh->part[t] == part) t++;
    bool wall = part < scene->part_count;
    bool moves = wall && is_driven(&scene->parts[part].drive);
    bool glass = wall && scene->parts[part].inside, /* a container; its faces are no planes here */
        plane = !glass && (!wall || scene->parts[part].kind == TL_PART_PLANE);
    tl_html(head, "%s{\"first\":%lld,\"count\":%lld,\"glass\":%s,\"plane\":%s,\"driven\":%lld}",
            parts++ ? "," : "", (long long)(3 * first), (long long)(3 * (t - first)),
            glass ? "true" : "false", plane ? "true" : "false", moves ? (long long)driven : -1LL);
    driven += moves;
  }
  tl_html(head, "],\"driven\":%s}", driven > 0 ? "true" : "false");
  return add_drives(how, low, driven, data);
}

/* Walls where they are at rest; planes without end about the grains of all frames. */
static TlStatus add_walls(const TlPlayback *how, TlVec3 low, TlVec3 high, TlHtml *head,
                          TlReportData *data) {
  TlScene rest = *how->scene;
  TlWallMesh mesh;
  TL_TRY(TL_NEW(rest.parts, (size_t)rest.part_count));
  for (int64_t i = 0; i < rest.part_count; i++) {
    rest.parts[i] = how->scene->parts[i];
    rest.parts[i].drive = (TlDrive){0};
  }
  TlStatus status = tl_walls_mesh(&rest, &(TlFrame){0}, low, high, &mesh);
  tl_free(rest.parts);
  TL_TRY(status);
  status = put_walls(how, &mesh, low, tl_norm(tl_sub(high, low)), head, data);
  tl_walls_mesh_free(&mesh);
  return status;
}

/* ---- bonds of nets ---- */

static TlStatus add_bonds(const TlPlayback *how, TlHtml *head, TlReportData *data) {
  const TlReportMotion *m = how->motion;
  TlVec3 *place;
  int64_t count = 0, bonds = 0;
  uint32_t *bond = NULL;
  TL_TRY(TL_NEW(place, (size_t)m->bodies));
  for (int64_t b = 0; b < m->bodies; b++)
    if (m->flags[b] & TL_ROW_NET) place[count++] = m->place_m[tl_report_motion_at(m, b, 0)];
  TlStatus status = tl_net_bonds(place, count, &bond, &bonds);
  if (status == TL_OK && bonds > 0)
    status = tl_data_add(data, "bond", bond, 2 * (size_t)bonds * sizeof *bond);
  tl_html(head, ",\"bonds\":%s", bonds > 0 ? "true" : "false");
  tl_free(bond);
  tl_free(place);
  return status;
}

/* ---- colours ---- */

static void put_field(TlHtml *head, const TlPlaybackField *f, double low) {
  tl_html(head, "{\"key\":");
  tl_html_json(head, f->key);
  tl_html(head, ",\"label\":");
  tl_html_json(head, f->label);
  tl_html(head, ",\"unit\":");
  tl_html_json(head, f->unit);
  tl_html(head, ",\"note\":");
  tl_html_json(head, f->note ? f->note : "");
  tl_html(head, ",\"high\":%.17g,\"colourLow\":%.9g,\"colourHigh\":%.9g},", f->high, low,
          tl_render_round_up(f->shown > 0 ? f->shown : f->high));
}

/* What 99 of a hundred values of grains in frames stay below, so that one moment's peak does not
 * make all else dark; 0 where memory is out, for the largest. */
static double usual_end(const TlReportMotion *m, const double *value) {
  double *some = tl_calloc((size_t)(m->bodies * m->frames), sizeof *some), end = 0;
  int64_t n = 0;
  for (int64_t i = 0; some && i < m->bodies * m->frames; i++)
    if (m->there[i] && tl_report_motion_grain(m, i / m->frames)) some[n++] = value[i];
  if (n > 0) {
    qsort(some, (size_t)n, sizeof *some, tl_by_real);
    end = some[(int64_t)(0.99 * (double)(n - 1))];
  }
  tl_free(some);
  return end;
}

/* Values of a field, and largest of them. */
static TlStatus add_field(const TlPlayback *how, const TlPlaybackField *f, TlReportData *data) {
  size_t n = (size_t)(how->motion->bodies * how->motion->frames);
  uint8_t *bytes;
  TL_TRY(TL_NEW(bytes, n));
  for (size_t i = 0; i < n; i++)
    if (isfinite(f->value[i]))
      bytes[i] = (uint8_t)(1 + lround(254 * sqrt(fmin(1, fmax(0, f->value[i] / f->high)))));
  TlStatus status = tl_data_add_series(data, f->key, bytes, n);
  tl_free(bytes);
  return status;
}

static TlStatus add_fields(const TlPlayback *how, TlHtml *head, TlReportData *data) {
  const TlReportMotion *m = how->motion;
  double low = INFINITY, high = 0;
  for (int64_t b = 0; b < m->bodies; b++) {
    if (!tl_report_motion_grain(m, b)) continue;
    double d = m->scale[b] * tl_avatar_diameter_m(&how->scene->avatars[m->shape[b]]);
    low = fmin(low, d);
    high = fmax(high, d);
  }
  if (!(high > low)) low = 0.5 * high;
  tl_html(head, ",\"fields\":[");
  for (int k = 0; k < 2; k++) {
    if (how->speeds && (k == 0) != how->forces_first)
      put_field(head,
                &(TlPlaybackField){"speed", "speed", "m/s", "of the centre", NULL,
                                   m->largest_speed_m_s, usual_end(m, m->speed_m_s)},
                0);
    if (m->force_N && (k == 1) != how->forces_first)
      put_field(head,
                &(TlPlaybackField){"force", "contact force", "N",
                                   "sum of the sizes of the forces on the grain, of one step", NULL,
                                   m->largest_force_N, usual_end(m, m->force_N)},
                0);
  }
  static const struct {
    double below_m, factor;
    const char *unit;
  } shown[] = {{1e-3, 1e6, "µm"}, {0.5, 1e3, "mm"}, {INFINITY, 1, "m"}};
  int k = 0;
  while (!(high < shown[k].below_m)) k++;
  tl_html(head,
          "{\"key\":\"size\",\"label\":\"diameter\",\"unit\":\"%s\",\"note\":"
          "\"sphere of equal volume\",\"factor\":%g,\"colourLow\":%.9g,\"colourHigh\":%.9g},",
          shown[k].unit, shown[k].factor, shown[k].factor * low,
          high > 0 ? shown[k].factor * high : 1);
  for (int i = 0; i < how->fields; i++) {
    put_field(head, &how->field[i], 0);
    TL_TRY(add_field(how, &how->field[i], data));
  }
  tl_html(head, "{\"key\":\"id\",\"label\":\"grain by grain\",\"unit\":\"\",\"note\":\"\","
                "\"colourLow\":0,\"colourHigh\":1}]");
  return TL_OK;
}

/* ---- all ---- */

static void put_vector(TlHtml *head, const char *name, TlVec3 v) {
  tl_html(head, "\"%s\":[%.17g,%.17g,%.17g]", name, v.x, v.y, v.z);
}

TlStatus tl_playback_pack(const TlPlayback *how, TlHtml *head, TlReportData *data) {
  const TlReportMotion *m = how->motion;
  TlReportMotionSteps steps = tl_report_motion_steps(m, how->scene);
  TlVec3 high = steps.low_m;
  *data = (TlReportData){0};
  for (int64_t i = 0; i < m->bodies * m->frames; i++) {
    TlVec3 p = m->place_m[i];
    high = tl_vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  double extent = tl_norm(tl_sub(high, steps.low_m));
  tl_html(head, "{\"version\":1,\"label\":");
  tl_html_json(head, how->label);
  tl_html(head, ",\"moment\":");
  tl_html_json(head, how->moment ? how->moment : "");
  tl_html(
      head,
      ",\"bodies\":%lld,\"frames\":%lld,\"turning\":%lld,\"shapes\":%lld,\"levels\":%d,"
      "\"turnSteps\":%d,\"stride\":%lld,\"paths\":%s,\"compass\":%s,\"extent\":%.9g,\"digits\":%d,",
      (long long)m->bodies, (long long)m->frames, (long long)m->turning,
      (long long)how->scene->avatar_count, TL_PLAYBACK_LEVELS, TL_TURN_STEPS,
      (long long)how->stride, how->paths ? "true" : "false",
      how->scene->has_terrain ? "true" : "false", extent,
      (int)fmax(0, fmin(9, 3 - floor(log10(fmax(extent, 1e-9))))));
  tl_html(head, "\"place\":{\"step\":%.17g,", steps.step_m);
  put_vector(head, "low", steps.low_m);
  tl_html(head, "},\"camera\":{\"fov\":%.9g,", how->fov_deg);
  put_vector(head, "from", how->camera.from);
  tl_html(head, ",");
  put_vector(head, "at", tl_axpy(how->camera.from, how->camera.focus_m, how->camera.forward));
  tl_html(head, "},\"time\":[");
  for (int64_t f = 0; f < m->frames; f++) tl_html(head, "%s%.9g", f ? "," : "", m->time_s[f]);
  tl_html(head, "]");
  TL_TRY(tl_report_motion_pack(m, &steps, data));
  TL_TRY(add_bodies(how, data));
  TL_TRY(add_skins(how, data));
  if (how->scene->has_terrain) TL_TRY(add_ground(how, head, data));
  if (tl_walls_any(how->scene)) TL_TRY(add_walls(how, steps.low_m, high, head, data));
  TL_TRY(add_bonds(how, head, data));
  TL_TRY(add_fields(how, head, data));
  tl_html(head, ",\"sections\":");
  tl_data_table(data, head);
  tl_html(head, "}");
  return head->status;
}
