/* A grain's body against its true surface and moments (score.h). */
#include "num/sort.h"
#include "score/score.h"

#include "base/mem.h"
#include "shape/from_mesh.h"
#include "shape/grain_stack.h"
#include "shape/mesh.h"
#include "shape/reinit.h"

#include <math.h>
#include <stdlib.h>

/* ---- an avatar in the stack's index coordinates ---- */

typedef struct Placed {
  const TlAvatar *avatar;
  double voxel_m;
  TlMat3 turn;  /* body -> scan */
  TlAvatar own; /* an iso-surface's: its grid alone */
} Placed;

static double placed_phi(const void *context, TlVec3 x) {
  const Placed *p = context;
  TlVec3 scan = tl_sub(tl_scale(p->voxel_m, x), p->avatar->scan_centroid_m);
  return tl_avatar_phi(p->avatar, tl_mat_tvec(p->turn, scan), NULL) / p->voxel_m;
}

static TlStatus take_vertices(const Placed *p, ScoreBody *body) {
  TlMesh mesh;
  TL_TRY(tl_mesh_from_avatar(p->avatar, &mesh));
  TlStatus status = TL_NEW(body->points, mesh.vertex_count);
  if (status == TL_OK) body->point_count = (int64_t)mesh.vertex_count;
  for (int64_t i = 0; i < body->point_count; i++) {
    TlVec3 scan =
        tl_add(tl_mat_vec(p->turn, tl_mesh_vertex(&mesh, (int32_t)i)), p->avatar->scan_centroid_m);
    body->points[i] = tl_scale(1 / p->voxel_m, scan);
  }
  tl_mesh_free(&mesh);
  return status;
}

TlStatus score_body_of_avatar(const TlAvatar *avatar, double voxel_m, ScoreBody *body) {
  *body = (ScoreBody){0};
  Placed *p;
  TL_TRY(TL_NEW(p, 1));
  *p = (Placed){avatar, voxel_m, tl_quat_matrix(avatar->scan_rotation)};
  double cube = voxel_m * voxel_m * voxel_m, fifth = cube * voxel_m * voxel_m;
  body->volume = avatar->volume_m3 / cube;
  body->centroid = tl_scale(1 / voxel_m, avatar->scan_centroid_m);
  body->principal[0] = avatar->inertia_m5.x / fifth;
  body->principal[1] = avatar->inertia_m5.y / fifth;
  body->principal[2] = avatar->inertia_m5.z / fifth;
  body->phi = placed_phi;
  body->context = p;
  TlStatus status = take_vertices(p, body);
  if (status != TL_OK) score_body_free(body);
  return status;
}

void score_body_free(ScoreBody *body) {
  if (body->phi == placed_phi) {
    Placed *p = (Placed *)body->context;
    tl_avatar_free(&p->own);
    tl_free(p);
  }
  tl_free(body->points);
  *body = (ScoreBody){0};
}

/* ---- the peers' body ---- */

enum { ISO_MARGIN = 3 };

TlStatus score_iso_open(const TlVolume *grey, const TlVolume *labels, ScoreIso *iso) {
  TlLayers from, shade;
  tl_layers_of(labels, &from);
  tl_layers_of(grey, &shade);
  const TlGrainStack stack = {.labels = &from, .grey = &shade, .at_once = 16};
  uint32_t most;
  *iso = (ScoreIso){.grey = grey, .labels = labels};
  TL_TRY(tl_grain_stack_boxes(&stack, &iso->boxes, &most));
  TlStatus status = tl_grain_stack_levels(&stack, &iso->levels);
  if (status != TL_OK) score_iso_close(iso);
  return status;
}

void score_iso_close(ScoreIso *iso) {
  tl_free(iso->boxes);
  *iso = (ScoreIso){0};
}

/* The grain's own grey: mean over voxels whose neighbours two away along the axes are its, too. */
static double own_grey(const ScoreIso *iso, uint32_t label) {
  const TlLabelBox *b = &iso->boxes[label];
  const TlVolume *l = iso->labels;
  int64_t step[3] = {1, l->nx, l->nx * l->ny}, n = 0;
  double sum = 0;
  for (int64_t z = b->low[2] + 2; z <= b->high[2] - 2; z++)
    for (int64_t y = b->low[1] + 2; y <= b->high[1] - 2; y++)
      for (int64_t x = b->low[0] + 2; x <= b->high[0] - 2; x++) {
        int64_t at = tl_volume_at(l, x, y, z);
        bool core = l->u32[at] == label;
        for (int a = 0; a < 3; a++)
          core = core && l->u32[at - 2 * step[a]] == label && l->u32[at + 2 * step[a]] == label;
        if (core) sum += iso->grey->f32[at], n++;
      }
  return n > 0 ? sum / (double)n : iso->levels.grain_level;
}

static TlStatus iso_grid(const ScoreIso *iso, uint32_t label, TlAvatar *own) {
  const TlLabelBox *box = &iso->boxes[label];
  const TlVolume *l = iso->labels;
  const double full = own_grey(iso, label), level = 0.5 * (iso->levels.void_level + full);
  TlPhiGrid grid = {.nx = (int32_t)(box->high[0] - box->low[0]) + 1 + 2 * ISO_MARGIN,
                    .ny = (int32_t)(box->high[1] - box->low[1]) + 1 + 2 * ISO_MARGIN,
                    .nz = (int32_t)(box->high[2] - box->low[2]) + 1 + 2 * ISO_MARGIN};
  TL_TRY(TL_NEW(grid.phi, (size_t)tl_grid_count(&grid)));
  for (int64_t i = 0; i < tl_grid_count(&grid); i++) {
    int64_t x = box->low[0] - ISO_MARGIN + i % grid.nx,
            y = box->low[1] - ISO_MARGIN + i / grid.nx % grid.ny,
            z = box->low[2] - ISO_MARGIN + i / grid.nx / grid.ny;
    double grey = iso->levels.void_level;
    if (x >= 0 && y >= 0 && z >= 0 && x < l->nx && y < l->ny && z < l->nz) {
      int64_t at = tl_volume_at(l, x, y, z);
      if (l->u32[at] == 0 || l->u32[at] == label) grey = iso->grey->f32[at];
    }
    grid.phi[i] = (float)((level - grey) / (full - iso->levels.void_level));
  }
  *own = (TlAvatar){.nx = grid.nx, .ny = grid.ny, .nz = grid.nz, .spacing_m = 1, .phi = grid.phi};
  own->origin_m = tl_vec3((double)(box->low[0] - ISO_MARGIN), (double)(box->low[1] - ISO_MARGIN),
                          (double)(box->low[2] - ISO_MARGIN));
  return tl_grid_one_piece(&grid, NULL, NULL);
}

static TlStatus iso_moments(const TlMesh *mesh, ScoreBody *body) {
  TlTriangles t = {0};
  TlStatus status = TL_OK;
  for (size_t i = 0; status == TL_OK && i < mesh->vertex_count; i++)
    status = tl_triangles_add_vertex(&t, tl_mesh_vertex(mesh, (int32_t)i));
  for (size_t i = 0; status == TL_OK && i < mesh->triangle_count; i++) {
    const int32_t *c = mesh->triangle + 3 * i;
    status = tl_triangles_add(&t, c[0], c[1], c[2]);
  }
  if (status == TL_OK) {
    TlPolyhedron solid = tl_polyhedron(&t);
    TlMat3 axes;
    body->volume = solid.volume;
    body->centroid = solid.centroid;
    tl_sym_eigen(solid.inertia, body->principal, &axes);
  }
  tl_triangles_free(&t);
  return status;
}

TlStatus score_body_of_iso(const ScoreIso *iso, uint32_t label, ScoreBody *body) {
  Placed *p;
  TlMesh mesh = {0};
  *body = (ScoreBody){0};
  TL_TRY(TL_NEW(p, 1));
  *p = (Placed){&p->own, 1, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0}};
  body->phi = placed_phi;
  body->context = p;
  TlStatus status = iso_grid(iso, label, &p->own);
  if (status == TL_OK) status = take_vertices(p, body);
  if (status == TL_OK) status = tl_mesh_from_avatar(&p->own, &mesh);
  if (status == TL_OK) status = iso_moments(&mesh, body);
  tl_mesh_free(&mesh);
  if (status != TL_OK) score_body_free(body);
  return status;
}

/* ---- distances ---- */

/* Smallest |t| with phi(p + t n) = 0, looked for both ways in steps of a tenth of a voxel. */
static double along_normal(const ScoreBody *body, ScorePoint p) {
  const double step = 0.1;
  double start = body->phi(body->context, p.at), last[2] = {start, start};
  for (double t = step; t <= SCORE_REACH + 1e-9; t += step)
    for (int side = 0; side < 2; side++) {
      double sign = side ? -1 : 1;
      double value = body->phi(body->context, tl_axpy(p.at, sign * t, p.normal));
      if ((value < 0) != (last[side] < 0)) {
        double low = t - step, high = t; /* phi is nearly linear in so short a step */
        for (int i = 0; i < 30; i++) {
          double middle = 0.5 * (low + high);
          value = body->phi(body->context, tl_axpy(p.at, sign * middle, p.normal));
          if ((value < 0) == (last[side] < 0))
            low = middle;
          else
            high = middle;
        }
        return 0.5 * (low + high);
      }
      last[side] = value;
    }
  return SCORE_REACH;
}

static double to_nearest(const ScoreBody *body, TlVec3 p) {
  double least = SCORE_REACH * SCORE_REACH;
  for (int64_t i = 0; i < body->point_count; i++)
    least = fmin(least, tl_norm2(tl_sub(body->points[i], p)));
  return sqrt(least);
}

static double to_tangent_plane(const ScorePoint *points, int64_t count, TlVec3 q) {
  double least = INFINITY, distance = SCORE_REACH;
  for (int64_t i = 0; i < count; i++) {
    TlVec3 d = tl_sub(q, points[i].at);
    double d2 = tl_norm2(d);
    if (d2 >= least) continue;
    least = d2;
    distance = fabs(tl_dot(d, points[i].normal));
  }
  return distance;
}

static void surface_errors(const ScorePoint *points, int64_t count, const ScoreBody *body,
                           ScoreErrors *e) {
  double out = 0, back = 0;
  for (int64_t i = 0; i < count; i++) {
    double d = along_normal(body, points[i]);
    if (d > SCORE_NORMAL_REACH) d = fmin(d, to_nearest(body, points[i].at));
    out += d;
    e->hausdorff = fmax(e->hausdorff, d);
  }
  for (int64_t i = 0; i < body->point_count; i++) {
    double d = to_tangent_plane(points, count, body->points[i]);
    back += d;
    e->hausdorff = fmax(e->hausdorff, d);
  }
  e->surface = 0.5 * (out / (double)count + back / (double)body->point_count);
}

ScoreErrors score_body(const ScorePhantom *phantom, uint32_t label, const ScoreBody *body) {
  const ScoreGrain *g = &phantom->grains[label - 1];
  ScoreErrors e = {.volume = fabs(body->volume / g->volume - 1),
                   .centroid = tl_norm(tl_sub(body->centroid, g->centroid))};
  for (int k = 0; k < 3; k++)
    e.inertia = fmax(e.inertia, fabs(body->principal[k] / g->principal[k] - 1));
  int64_t first = phantom->first[label], count = phantom->first[label + 1] - first;
  surface_errors(phantom->points + first, count, body, &e);
  return e;
}

static double median(const ScoreErrors *errors, int64_t count) {
  double *h = malloc((size_t)count * sizeof *h), m;
  if (!h) return NAN;
  for (int64_t i = 0; i < count; i++) h[i] = errors[i].hausdorff;
  qsort(h, (size_t)count, sizeof *h, tl_by_real);
  m = 0.5 * (h[(count - 1) / 2] + h[count / 2]);
  free(h);
  return m;
}

ScoreErrors score_mean(const ScoreErrors *errors, int64_t count) {
  ScoreErrors m = {0};
  for (int64_t i = 0; i < count; i++) {
    m.volume += errors[i].volume;
    m.centroid += errors[i].centroid;
    m.inertia += errors[i].inertia;
    m.surface += errors[i].surface;
  }
  double n = (double)count; /* 0/0 is NaN: never within a goal */
  return (ScoreErrors){m.volume / n, m.centroid / n, m.inertia / n, m.surface / n,
                       count ? median(errors, count) : NAN};
}
