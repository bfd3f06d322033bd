#include "post/report_skin.h"

#include "base/mem.h"
#include "post/surface.h"
#include "shape/spline.h"

#include <math.h>
#include <string.h>

typedef struct Grid {
  const TlAvatar *avatar;
  const TlSpline *spline; /* of its phi; NULL: of a grid that is unpacked */
  int32_t n[3];
  double h;
  TlVec3 origin;
  float *phi;      /* owned */
  uint8_t *inside; /* owned */
  int32_t
      *vertex; /* number of a cell's vertex, cells counted as their low corner; -1: none; owned */
  int32_t count;
} Grid;

static int64_t points_of(const Grid *g) {
  return (int64_t)g->n[0] * g->n[1] * g->n[2];
}

static void free_grid(Grid *g) {
  tl_free(g->phi);
  tl_free(g->inside);
  tl_free(g->vertex);
}

static TlStatus sample(const TlAvatar *a, const TlSpline *spline, int32_t cells, Grid *g) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int32_t i = 0; i < a->node_count; i++)
    for (int c = 0; c < 3; c++) {
      low[c] = fmin(low[c], (double)a->node_m[3 * i + c]);
      high[c] = fmax(high[c], (double)a->node_m[3 * i + c]);
    }
  *g = (Grid){.avatar = a, .spline = spline, .h = fmin(a->axes_m[0], 3.5 * a->axes_m[2]) / cells};
  double first[3];
  for (int c = 0; c < 3; c++) {
    g->n[c] = (int32_t)ceil((high[c] - low[c]) / g->h) + 4;
    first[c] = 0.5 * (low[c] + high[c] - g->h * (g->n[c] - 1));
  }
  g->origin = tl_vec3(first[0], first[1], first[2]);
  TL_TRY(TL_NEW(g->phi, (size_t)points_of(g)));
  TL_TRY(TL_NEW(g->inside, (size_t)points_of(g)));
  TL_TRY(TL_NEW(g->vertex, (size_t)points_of(g)));
  int64_t at = 0;
  for (int32_t k = 0; k < g->n[2]; k++)
    for (int32_t j = 0; j < g->n[1]; j++)
      for (int32_t i = 0; i < g->n[0]; i++, at++) {
        bool rim =
            i == 0 || j == 0 || k == 0 || i == g->n[0] - 1 || j == g->n[1] - 1 || k == g->n[2] - 1;
        TlVec3 p = tl_add(g->origin, tl_vec3(g->h * i, g->h * j, g->h * k));
        g->phi[at] = (float)tl_spline_phi(spline, p, NULL, NULL);
        g->inside[at] = !rim && g->phi[at] < 0;
      }
  return TL_OK;
}

/* ---- one sheet a vertex ---- */

static int64_t point_at(const Grid *g, int64_t corner, int c) {
  return corner + (c & 1) + (c >> 1 & 1) * (int64_t)g->n[0] + (c >> 2) * (int64_t)g->n[0] * g->n[1];
}

/* Of the corners of a cell inside (or outside): does a walk along edges reach all from one? */
static bool connected(unsigned set) {
  unsigned reached = set & (~set + 1), before = 0;
  while (reached != before) {
    before = reached;
    for (int c = 0; c < 8; c++)
      if (reached >> c & 1) reached |= set & (1u << (c ^ 1) | 1u << (c ^ 2) | 1u << (c ^ 4));
  }
  return reached == set;
}

/* Two corners of a face inside, the other two outside, crosswise. */
static bool crossed(unsigned set) {
  for (int axis = 0; axis < 3; axis++) {
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3;
    for (int side = 0; side < 2; side++) {
      int o = side << axis;
      unsigned a = set >> o & 1, b = set >> (o + u) & 1, c = set >> (o + v) & 1,
               d = set >> (o + u + v) & 1;
      if (a == d && b == c && a != b) return true;
    }
  }
  return false;
}

static unsigned corners_of(const Grid *g, int64_t corner) {
  unsigned set = 0;
  for (int c = 0; c < 8; c++) set |= (unsigned)g->inside[point_at(g, corner, c)] << c;
  return set;
}

/* Brings in the corner outside whose phi is least, until no cell is crossed by two sheets. Points
 * only ever come in, so this ends; the rim stays outside: a cell there has a layer of points beyond
 * it that are far out, and phi chooses others. */
static TlStatus mend(Grid *g) {
  bool changed = true;
  for (int round = 0; changed && round < 64; round++) {
    changed = false;
    for (int32_t k = 0; k + 1 < g->n[2]; k++)
      for (int32_t j = 0; j + 1 < g->n[1]; j++)
        for (int32_t i = 0; i + 1 < g->n[0]; i++) {
          int64_t corner = ((int64_t)k * g->n[1] + j) * g->n[0] + i;
          unsigned set = corners_of(g, corner);
          if (set == 0 || set == 255) continue;
          if (connected(set) && connected(~set & 255) && !crossed(set)) continue;
          int64_t best = -1;
          for (int c = 0; c < 8; c++) {
            int64_t p = point_at(g, corner, c);
            if (!g->inside[p] && (best < 0 || g->phi[p] < g->phi[best])) best = p;
          }
          g->inside[best] = 1;
          changed = true;
        }
  }
  return changed ? tl_fail(TL_EINPUT, "the surface passes through itself on %d x %d x %d points",
                           g->n[0], g->n[1], g->n[2])
                 : TL_OK;
}

/* ---- vertices ---- */

/* Mean of the points where phi = 0 on the cell's edges, then on to phi = 0 along the gradient, not
 * farther than the cell's side. */
static TlVec3 vertex_of(const Grid *g, int64_t corner, TlVec3 low) {
  TlVec3 sum = {0, 0, 0};
  int count = 0;
  for (int c = 0; c < 8; c++)
    for (int axis = 0; axis < 3; axis++) {
      if (c >> axis & 1) continue;
      int64_t a = point_at(g, corner, c), b = point_at(g, corner, c | 1 << axis);
      if (g->inside[a] == g->inside[b]) continue;
      double fa = g->phi[a], fb = g->phi[b], t = (fa < 0) != (fb < 0) ? fa / (fa - fb) : 0.5;
      double x[3] = {c & 1, c >> 1 & 1, c >> 2};
      x[axis] = t;
      sum = tl_add(sum, tl_vec3(x[0], x[1], x[2]));
      count++;
    }
  TlVec3 start = tl_axpy(low, g->h / count, sum), p = start;
  for (int round = 0; round < 4; round++) {
    TlVec3 gradient;
    double phi = tl_spline_phi(g->spline, p, &gradient, NULL), steep = tl_norm2(gradient);
    if (!(steep > 0.01)) break;
    p = tl_axpy(p, -phi / steep, gradient);
  }
  return tl_norm(tl_sub(p, start)) < g->h ? p : start;
}

/* Cells in order of their low corner; mesh gets the vertices only. */
static TlStatus make_vertices(Grid *g, TlMesh *mesh) {
  for (int pass = 0; pass < 2; pass++) {
    g->count = 0;
    memset(g->vertex, 0xff, (size_t)points_of(g) * sizeof *g->vertex);
    for (int32_t k = 0; k + 1 < g->n[2]; k++)
      for (int32_t j = 0; j + 1 < g->n[1]; j++)
        for (int32_t i = 0; i + 1 < g->n[0]; i++) {
          int64_t corner = ((int64_t)k * g->n[1] + j) * g->n[0] + i;
          unsigned set = corners_of(g, corner);
          if (set == 0 || set == 255) continue;
          int32_t at = g->count++;
          g->vertex[corner] = at;
          if (pass == 0) continue;
          TlVec3 low = tl_add(g->origin, tl_vec3(g->h * i, g->h * j, g->h * k));
          TlVec3 p = g->spline ? vertex_of(g, corner, low) : low;
          float *v = mesh->vertex_m + 3 * (size_t)at;
          v[0] = (float)p.x, v[1] = (float)p.y, v[2] = (float)p.z;
        }
    if (pass == 1) break;
    if (g->count == 0) return tl_fail(TL_EINPUT, "no surface on %d points", g->n[0]);
    TL_TRY(TL_NEW(mesh->vertex_m, 3 * (size_t)g->count));
    mesh->vertex_count = (size_t)g->count;
  }
  return TL_OK;
}

/* ---- triangles: the format, as report/mesh.js has it ---- */

static int64_t apart2(const int32_t *place, int32_t a, int32_t b) {
  int64_t sum = 0;
  for (int c = 0; c < 3; c++) {
    int64_t d = place[3 * (int64_t)a + c] - place[3 * (int64_t)b + c];
    sum += d * d;
  }
  return sum;
}

/* Squares in order of the grid edge's low end, then x, y, z. Round an edge along `axis` lie the
 * cells at the low end and one back along the next axis (u) and the one after (v); seen from the
 * side where the edge comes out of the grain they are 0, -u, -u-v, -v when its low end is inside.
 * The shorter diagonal parts the square, the one from its first corner when both are equal. place:
 * steps of each vertex, whole numbers, so that browser and library choose alike. */
static TlStatus make_triangles(const Grid *g, const int32_t *place, TlMesh *mesh) {
  const int64_t stride[3] = {1, g->n[0], (int64_t)g->n[0] * g->n[1]};
  for (int32_t k = 1; k + 1 < g->n[2]; k++)
    for (int32_t j = 1; j + 1 < g->n[1]; j++)
      for (int32_t i = 1; i + 1 < g->n[0]; i++)
        for (int axis = 0; axis < 3; axis++) {
          int64_t p = ((int64_t)k * g->n[1] + j) * g->n[0] + i;
          int64_t u = stride[(axis + 1) % 3], v = stride[(axis + 2) % 3];
          if (g->inside[p] == g->inside[p + stride[axis]]) continue;
          int32_t c[4] = {g->vertex[p], g->vertex[p - u], g->vertex[p - u - v], g->vertex[p - v]};
          if (!g->inside[p]) {
            int32_t swap = c[1];
            c[1] = c[3];
            c[3] = swap;
          }
          int turn = apart2(place, c[1], c[3]) < apart2(place, c[0], c[2]);
          TL_TRY(
              TL_RESERVE(mesh->triangle, mesh->triangle_capacity, 3 * (mesh->triangle_count + 2)));
          int32_t *t = mesh->triangle + 3 * mesh->triangle_count;
          for (int half = 0; half < 2; half++)
            for (int corner = 0; corner < 3; corner++)
              t[3 * half + corner] = c[(turn + 2 * half + corner) % 4];
          mesh->triangle_count += 2;
        }
  return TL_OK;
}

/* ---- packing ---- */

static int step_in_cell(double x, double low, double h) {
  double s = floor((x - low) / h * TL_SKIN_STEPS + 0.5 * TL_SKIN_STEPS + 0.5);
  return s < 0 ? 0 : s > 2 * TL_SKIN_STEPS - 1 ? 2 * TL_SKIN_STEPS - 1 : (int)s;
}

/* The place of each vertex in its cell, and in steps from the grid's corner. */
static void place_vertices(const Grid *g, const TlMesh *mesh, uint8_t *in_cell, int32_t *place) {
  const double origin[3] = {g->origin.x, g->origin.y, g->origin.z};
  for (int64_t p = 0; p < points_of(g); p++) {
    int32_t v = g->vertex[p];
    if (v < 0) continue;
    const int64_t cell[3] = {p % g->n[0], p / g->n[0] % g->n[1], p / g->n[0] / g->n[1]};
    for (int c = 0; c < 3; c++) {
      if (mesh)
        in_cell[3 * v + c] = (uint8_t)step_in_cell(mesh->vertex_m[3 * v + c],
                                                   origin[c] + g->h * (double)cell[c], g->h);
      place[3 * v + c] = (int32_t)(cell[c] * TL_SKIN_STEPS) + in_cell[3 * v + c];
    }
  }
}

static TlStatus pack(Grid *g, TlMesh *mesh, TlSkin *skin) {
  int32_t *place;
  double shift;
  TL_TRY(make_vertices(g, mesh));
  TL_TRY(TL_NEW(place, 3 * (size_t)g->count));
  TlStatus status = TL_NEW(skin->place, 3 * (size_t)g->count);
  if (status == TL_OK) {
    place_vertices(g, mesh, skin->place, place);
    status = make_triangles(g, place, mesh);
  }
  if (status == TL_OK) status = tl_surface_match_volume(mesh, g->avatar->volume_m3, 4, &shift);
  if (status == TL_OK) place_vertices(g, mesh, skin->place, place);
  tl_free(place);
  return status;
}

static TlStatus make(const TlAvatar *avatar, const TlSpline *spline, int32_t cells, TlSkin *skin) {
  Grid g;
  TlMesh mesh = {0};
  *skin = (TlSkin){0};
  TlStatus status = sample(avatar, spline, cells, &g);
  /* the grid is read back as floats: work on what is read back */
  g.h = (float)g.h;
  g.origin = tl_vec3((float)g.origin.x, (float)g.origin.y, (float)g.origin.z);
  if (status == TL_OK) status = mend(&g);
  if (status == TL_OK) status = pack(&g, &mesh, skin);
  if (status == TL_OK) status = TL_NEW(skin->bits, (size_t)(points_of(&g) + 7) / 8);
  for (int64_t i = 0; status == TL_OK && i < points_of(&g); i++)
    skin->bits[i >> 3] |= (uint8_t)(g.inside[i] << (i & 7));
  for (int c = 0; c < 3; c++) skin->n[c] = g.n[c];
  skin->cell_m = (float)g.h;
  skin->origin_m[0] = (float)g.origin.x;
  skin->origin_m[1] = (float)g.origin.y;
  skin->origin_m[2] = (float)g.origin.z;
  skin->vertices = g.count;
  tl_mesh_free(&mesh);
  free_grid(&g);
  if (status != TL_OK) tl_skin_free(skin);
  return tl_context(status, "grain %lld, on %d cells", (long long)avatar->id, cells);
}

TlStatus tl_skin_make(const TlAvatar *avatar, int32_t cells, TlSkin *skin) {
  TlSpline spline;
  TL_TRY(tl_spline_make(avatar, &spline));
  TlStatus status = make(avatar, &spline, cells, skin);
  tl_spline_free(&spline);
  return status;
}

void tl_skin_free(TlSkin *skin) {
  tl_free(skin->bits);
  tl_free(skin->place);
  *skin = (TlSkin){0};
}

/* ---- and back ---- */

static TlStatus unpack(const TlSkin *skin, Grid *g, TlMesh *mesh) {
  int32_t *place;
  TL_TRY(TL_NEW(g->inside, (size_t)points_of(g)));
  TL_TRY(TL_NEW(g->vertex, (size_t)points_of(g)));
  for (int64_t i = 0; i < points_of(g); i++) g->inside[i] = skin->bits[i >> 3] >> (i & 7) & 1;
  TL_TRY(make_vertices(g, mesh));
  TL_TRY(TL_NEW(place, 3 * (size_t)g->count));
  place_vertices(g, NULL, skin->place, place);
  for (int64_t i = 0; i < 3 * (int64_t)g->count; i++)
    mesh->vertex_m[i] =
        skin->origin_m[i % 3] + skin->cell_m * ((float)place[i] / TL_SKIN_STEPS - 0.5f);
  TlStatus status = make_triangles(g, place, mesh);
  tl_free(place);
  return status;
}

/* rms of phi over the mesh, by three points a triangle (exact for squares of linear fields). */
static double rms_m(const TlSpline *spline, const TlMesh *mesh) {
  double sum = 0, area = 0;
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    TlVec3 p[3];
    for (size_t c = 0; c < 3; c++) p[c] = tl_mesh_vertex(mesh, mesh->triangle[3 * t + c]);
    double part = tl_norm(tl_cross(tl_sub(p[1], p[0]), tl_sub(p[2], p[0]))) / 3;
    for (size_t c = 0; c < 3; c++) {
      double phi = tl_spline_phi(spline, tl_scale(0.5, tl_add(p[c], p[(c + 1) % 3])), NULL, NULL);
      sum += part * phi * phi;
      area += part;
    }
  }
  return area > 0 ? sqrt(sum / area) : 0;
}

static TlStatus make_with_error(const TlAvatar *a, const TlSpline *spline, int32_t cells,
                                TlSkin *skin, double *error) {
  TlMesh mesh;
  TL_TRY(make(a, spline, cells, skin));
  TlStatus status = tl_skin_mesh(skin, &mesh);
  if (status != TL_OK) {
    tl_skin_free(skin);
    return status;
  }
  *error = rms_m(spline, &mesh) / (0.5 * tl_avatar_diameter_m(a));
  tl_mesh_free(&mesh);
  return TL_OK;
}

static TlStatus make_within(const TlAvatar *avatar, const TlSpline *spline, int32_t cells,
                            int32_t most, double most_error, TlSkin *skin, double *error) {
  static const double WORTH =
      0.8; /* what must be left at most of the distance, if it stays above */
  TL_TRY(make_with_error(avatar, spline, cells, skin, error));
  double first = *error;
  for (cells += (cells + 2) / 3; *error > most_error && cells <= most; cells += (cells + 2) / 3) {
    TlSkin finer;
    double left;
    TlStatus status = make_with_error(avatar, spline, cells, &finer, &left);
    if (status != TL_OK) tl_skin_free(skin);
    TL_TRY(status);
    bool better = left <= most_error || left < fmin(*error, WORTH * first);
    tl_skin_free(better ? skin : &finer);
    if (!better) continue;
    *skin = finer;
    *error = left;
  }
  return TL_OK;
}

TlStatus tl_skin_make_within(const TlAvatar *avatar, int32_t cells, int32_t most, double most_error,
                             TlSkin *skin, double *error) {
  TlSpline spline;
  TL_TRY(tl_spline_make(avatar, &spline));
  TlStatus status = make_within(avatar, &spline, cells, most, most_error, skin, error);
  tl_spline_free(&spline);
  return status;
}

TlStatus tl_skin_mesh(const TlSkin *skin, TlMesh *mesh) {
  Grid g = {.n = {skin->n[0], skin->n[1], skin->n[2]}, .h = skin->cell_m};
  *mesh = (TlMesh){0};
  TlStatus status = unpack(skin, &g, mesh);
  free_grid(&g);
  if (status != TL_OK) tl_mesh_free(mesh);
  return status;
}
