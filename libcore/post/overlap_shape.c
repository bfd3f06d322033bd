#include "post/overlap_shape.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "conf/yaml_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the diagonal of a cell of edge 1: no point of the cell is farther from its middle. */
static const double HALF_DIAGONAL = 0.8660254037844386;
/* Most that the mean of a cell's corners may lie off the distance of its middle, in cells. */
static const double FIELD_ERROR = 0.3;
/* Second differences, in cells, that count as equal: of a grid with edges, of a radius of five cells; of any other one,
 * all that it has. */
static const double SHARP_BEND = 0.2, SMOOTH_BEND = 1;
/* A grid has edges where more than this fraction of its nodes beside the surface have a second difference above 0.8 cells:
 * a cube of five cells a radius 11%, grains of a scan 0.1% at most. */
static const double EDGE_BEND = 0.8, EDGE_FRACTION = 0.01;

/* ---- the field ---- */

/* Value at t in [0, 1] between the second and the third of four equidistant values, and its slopes:
 * along the line, and with the two derivatives that each value comes with.
 *
 * Without the weights this is Catmull-Rom's cubic: the straight line between the two plus a parabola
 * whose second difference goes over linearly from that of the first three values to that of the last
 * three. Where one of them is large, for an edge of the grain lies on that side, the other one counts
 * for more (weights of WENO, Jiang and Shu 1996; second differences below `small` count as equal):
 * the plain cubic would make a face bulge beside its edges by a quarter of a cell. Where there are no such edges the
 * weights would only flatten what is round: a block of six cells a radius with rounded edges lay 0.1% of it
 * below its formula's surface in the mean. */
typedef struct Cubic {
  double value, along, beside[2];
} Cubic;

static Cubic between(const Cubic v[4], double t, double small) {
  double left = v[0].value - 2 * v[1].value + v[2].value,
         right = v[1].value - 2 * v[2].value + v[3].value;
  double l = small * small + left * left, r = small * small + right * right;
  double wl = (1 - t) * r * r, wr = t * l * l, sum = wl + wr;
  double bend = (wl * left + wr * right) / sum, half = 0.5 * t * (t - 1);
  double bend_left = (wl + 4 * t * l * left * (right - bend)) / sum,
         bend_right = (wr + 4 * (1 - t) * r * right * (left - bend)) / sum,
         bend_t = (l * l * (right - bend) - r * r * (left - bend)) / sum;
  Cubic c = {.value = v[1].value + t * (v[2].value - v[1].value) + half * bend,
             .along = v[2].value - v[1].value + (t - 0.5) * bend + half * bend_t};
  for (int k = 0; k < 2; k++) {
    double dl = v[0].beside[k] - 2 * v[1].beside[k] + v[2].beside[k],
           dr = v[1].beside[k] - 2 * v[2].beside[k] + v[3].beside[k];
    c.beside[k] = v[1].beside[k] + t * (v[2].beside[k] - v[1].beside[k]) +
                  half * (bend_left * dl + bend_right * dr);
  }
  return c;
}

/* The value alone. */
static inline double value_between(double v0, double v1, double v2, double v3, double t,
                                   double small) {
  double left = v0 - 2 * v1 + v2, right = v1 - 2 * v2 + v3;
  double l = small * small + left * left, r = small * small + right * right;
  double wl = (1 - t) * r * r, wr = t * l * l;
  return v1 + t * (v2 - v1) + 0.5 * t * (t - 1) * ((wl * left + wr * right) / (wl + wr));
}

/* Beyond the grid: the distance to its box more, which is what the avatar's own look-up adds. */
static double tricubic(const TlOverlapShape *shape, TlVec3 p, TlVec3 *gradient) {
  const TlAvatar *a = shape->avatar;
  const double h = a->spacing_m, x[3] = {p.x, p.y, p.z},
               origin[3] = {a->origin_m.x, a->origin_m.y, a->origin_m.z};
  const int64_t n[3] = {a->nx, a->ny, a->nz}, stride[3] = {1, n[0], n[0] * n[1]};
  double t[3], out[3];
  int64_t at[3][4];
  for (int k = 0; k < 3; k++) {
    double s = (x[k] - origin[k]) / h, c = fmin(fmax(s, 0), (double)(n[k] - 1));
    int64_t cell = (int64_t)c;
    if (cell > n[k] - 2) cell = n[k] - 2;
    out[k] = s - c;
    t[k] = c - (double)cell;
    for (int m = 0; m < 4; m++) {
      int64_t i = cell - 1 + m;
      at[k][m] = stride[k] * (i < 0 ? 0 : i > n[k] - 1 ? n[k] - 1 : i);
    }
  }
  const double small = shape->bend_m;
  TlVec3 beyond = tl_vec3(out[0], out[1], out[2]);
  double far = tl_norm(beyond);
  if (!gradient) {
    double z[4];
    for (int l = 0; l < 4; l++) {
      double y[4];
      for (int j = 0; j < 4; j++) {
        const float *f = a->phi + at[2][l] + at[1][j];
        y[j] = value_between(f[at[0][0]], f[at[0][1]], f[at[0][2]], f[at[0][3]], t[0], small);
      }
      z[l] = value_between(y[0], y[1], y[2], y[3], t[1], small);
    }
    return value_between(z[0], z[1], z[2], z[3], t[2], small) + far * h;
  }
  Cubic layer[4];
  for (int l = 0; l < 4; l++) {
    Cubic line[4];
    for (int j = 0; j < 4; j++) {
      const float *f = a->phi + at[2][l] + at[1][j];
      Cubic v[4] = {{.value = f[at[0][0]]},
                    {.value = f[at[0][1]]},
                    {.value = f[at[0][2]]},
                    {.value = f[at[0][3]]}};
      line[j] = between(v, t[0], small);
      line[j].beside[0] = line[j].along; /* by x */
      line[j].beside[1] = 0;
    }
    layer[l] = between(line, t[1], small);
    layer[l].beside[1] = layer[l].along; /* by y */
  }
  Cubic all = between(layer, t[2], small);
  *gradient =
      far > 0 ? tl_unit(beyond) : tl_scale(1 / h, tl_vec3(all.beside[0], all.beside[1], all.along));
  return all.value + far * h;
}

double tl_overlap_shape_phi(const TlOverlapShape *s, TlVec3 p, TlVec3 *gradient) {
  if (s->form == TL_OVERLAP_GRID) return tricubic(s, p, gradient);
  if (s->form == TL_OVERLAP_BALL) {
    double far = tl_norm(p);
    if (gradient) *gradient = far > 0 ? tl_scale(1 / far, p) : tl_vec3(0, 0, 1);
    return far - s->radius_m;
  }
  double least = INFINITY;
  for (int i = 0; i < s->parts; i++) {
    TlVec3 g;
    double phi = tl_convex_distance(&s->part[i], p, &g);
    if (phi >= least) continue;
    least = phi;
    if (gradient) *gradient = g;
  }
  return least;
}

double tl_overlap_radius(const TlOverlapBody *body) {
  return 0.5 * body->row->scale * tl_avatar_diameter_m(body->shape->avatar);
}

TlConvex tl_overlap_part(const TlOverlapBody *b, int part, TlVec3 from) {
  return tl_convex_placed(&b->shape->part[part], b->row->scale, b->turn,
                          tl_sub(b->row->position_m, from));
}

/* ---- exact forms ---- */

static bool equal(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static double number(const TlYamlNode *shape, const char *key) {
  const TlYamlNode *node = tl_yaml_find(shape, key);
  return node && node->kind == TL_YAML_SCALAR ? strtod(node->text, NULL) : 0;
}

static TlVec3 extents(const TlYamlNode *shape) {
  const TlYamlNode *node = tl_yaml_find(shape, "size_m");
  if (!node || node->kind != TL_YAML_LIST || node->count != 3) return tl_vec3(0, 0, 0);
  const TlYamlNode *x = node->children;
  if (!x[0].text || !x[1].text || !x[2].text) return tl_vec3(0, 0, 0);
  return tl_vec3(strtod(x[0].text, NULL), strtod(x[1].text, NULL), strtod(x[2].text, NULL));
}

/* Are these the avatar's volume and moments? The latter about the axes that sizes are given in. */
static bool has_mass(const TlAvatar *a, double volume, TlVec3 moments) {
  TlMat3 given = tl_quat_matrix(a->scan_rotation);
  TlSym3 of_avatar = tl_sym_rotated_diagonal(given, a->inertia_m5);
  return equal(a->volume_m3, volume) && equal(of_avatar.xx, moments.x) &&
         equal(of_avatar.yy, moments.y) && equal(of_avatar.zz, moments.z);
}

/* Parts in the axes that sizes are given in; false: the avatar is another body. */
static bool parts_of(const TlYamlNode *shape, const char *kind, TlOverlapShape *s) {
  const TlAvatar *a = s->avatar;
  if (strcmp(kind, "box") == 0) {
    TlVec3 e = extents(shape);
    double v = e.x * e.y * e.z;
    s->parts = 1;
    s->part[0] = tl_convex_box(tl_scale(0.5, e));
    return v > 0 && has_mass(a, v,
                             tl_scale(v / 12, tl_vec3(e.y * e.y + e.z * e.z, e.x * e.x + e.z * e.z,
                                                      e.x * e.x + e.y * e.y)));
  }
  double l = number(shape, "length_m"), w = number(shape, "width_m");
  if (strcmp(kind, "tetrahedron") == 0) {
    double v = l * l * l / (6 * sqrt(2)), moment = v * l * l / 20;
    s->parts = 1;
    s->part[0] = tl_convex_tetrahedron(l);
    return v > 0 && has_mass(a, v, tl_vec3(moment, moment, moment));
  }
  /* a cross: three bars of length l and thickness w less two of the cube that all share */
  double bar = l * w * w, cube = w * w * w, v = 3 * bar - 2 * cube;
  double moment = bar * w * w / 6 + bar * (l * l + w * w) / 6 - cube * w * w / 3;
  s->parts = 3;
  for (int k = 0; k < 3; k++)
    s->part[k] =
        tl_convex_box(tl_scale(0.5, tl_vec3(k == 0 ? l : w, k == 1 ? l : w, k == 2 ? l : w)));
  return l > w && w > 0 && has_mass(a, v, tl_vec3(moment, moment, moment));
}

static void find_form(const TlYamlNode *shapes, TlOverlapShape *s) {
  const TlAvatar *a = s->avatar;
  if (tl_avatar_is_ball(a, &s->radius_m)) {
    s->form = TL_OVERLAP_BALL;
    return;
  }
  int64_t index = -1 - a->id; /* shape i of the study's list has the avatar id -1 - i */
  if (!shapes || shapes->kind != TL_YAML_LIST || index < 0 || index >= (int64_t)shapes->count)
    return;
  const TlYamlNode *shape = &shapes->children[index];
  const TlYamlNode *kind = shape->kind == TL_YAML_MAP ? tl_yaml_find(shape, "kind") : NULL;
  if (!kind || kind->kind != TL_YAML_SCALAR ||
      (strcmp(kind->text, "box") != 0 && strcmp(kind->text, "tetrahedron") != 0 &&
       strcmp(kind->text, "cross") != 0))
    return;
  if (!parts_of(shape, kind->text, s)) {
    tl_log_warn("the study calls shape %lld a %s, but the avatar in run.h5 has another volume or "
                "other moments: its overlap is measured by its grid",
                (long long)index, kind->text);
    return;
  }
  s->form = TL_OVERLAP_CONVEX;
  TlMat3 given = tl_quat_matrix(tl_quat_conj(a->scan_rotation));
  for (int k = 0; k < s->parts; k++)
    s->part[k] = tl_convex_placed(&s->part[k], 1, given, tl_vec3(0, 0, 0));
}

/* ---- where samples lie ---- */

static double largest_bend(const TlAvatar *a, const float *f) {
  const int64_t stride[3] = {1, a->nx, a->nx * a->ny};
  double most = 0;
  for (int k = 0; k < 3; k++)
    most = fmax(most, fabs((double)f[-stride[k]] - 2 * (double)f[0] + f[stride[k]]));
  return most / a->spacing_m;
}

static void find_bend(TlOverlapShape *s) {
  const TlAvatar *a = s->avatar;
  int64_t nodes = 0, bent = 0;
  for (int64_t k = 1; k + 1 < a->nz; k++)
    for (int64_t j = 1; j + 1 < a->ny; j++)
      for (int64_t i = 1; i + 1 < a->nx; i++) {
        const float *f = a->phi + (k * a->ny + j) * a->nx + i;
        if (!(fabs(*f) <= 1.5 * a->spacing_m)) continue;
        nodes++;
        bent += largest_bend(a, f) > EDGE_BEND;
      }
  bool sharp = (double)bent > EDGE_FRACTION * (double)nodes;
  s->bend_m = (sharp ? SHARP_BEND : SMOOTH_BEND) * a->spacing_m;
}

/* Seeds on a cubic lattice of distance d within half a diagonal of a surface are sqrt 3 / d^2 of
 * them for a unit of its area. */
static TlStatus find_cells(TlOverlapShape *s) {
  const TlAvatar *a = s->avatar;
  const double h = a->spacing_m, reach = (HALF_DIAGONAL + FIELD_ERROR) * h;
  const int64_t row = a->nx, layer = row * a->ny;
  size_t capacity = 0;
  int64_t nodes = a->node_count > 100 ? a->node_count : 100;
  s->sample_m = fmin(h, sqrt(sqrt(3) * a->area_m2 / (double)(TL_OVERLAP_DENSER * nodes)));
  for (int64_t k = 0; k + 1 < a->nz; k++)
    for (int64_t j = 0; j + 1 < a->ny; j++)
      for (int64_t i = 0; i + 1 < a->nx; i++) {
        const float *f = a->phi + k * layer + j * row + i;
        double middle = 0.125 * ((double)f[0] + f[1] + f[row] + f[row + 1] + f[layer] +
                                 f[layer + 1] + f[layer + row] + f[layer + row + 1]);
        if (!(fabs(middle) <= reach)) continue;
        TL_TRY(TL_RESERVE(s->cell, capacity, (size_t)s->cell_count + 1));
        s->cell[s->cell_count++] = k * layer + j * row + i;
      }
  return TL_OK;
}

static TlStatus look_over(TlOverlapShape *s) {
  find_bend(s);
  return find_cells(s);
}

TlStatus tl_overlap_shape_of_grid(const TlAvatar *avatar, TlOverlapShape *shape) {
  *shape = (TlOverlapShape){.avatar = avatar};
  return look_over(shape);
}

static TlStatus look_over_all(void *shapes, int64_t begin, int64_t end, int64_t block, int thread) {
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) TL_TRY(look_over((TlOverlapShape *)shapes + i));
  return TL_OK;
}

TlStatus tl_overlap_shapes(const TlScene *scene, TlOverlapShape **shapes) {
  TlYamlNode study = {0};
  const char *text = scene->study ? scene->study : "";
  *shapes = NULL;
  TlStatus status = tl_yaml_parse("the study in run.h5", text, strlen(text), &study);
  if (status == TL_OK) status = TL_NEW(*shapes, (size_t)scene->avatar_count);
  for (int64_t i = 0; i < scene->avatar_count && status == TL_OK; i++) {
    (*shapes)[i].avatar = &scene->avatars[i];
    find_form(study.kind == TL_YAML_MAP ? tl_yaml_find(&study, "shapes") : NULL, &(*shapes)[i]);
  }
  if (status == TL_OK) status = tl_par_blocks(scene->avatar_count, 1, look_over_all, *shapes);
  tl_yaml_free(&study);
  if (status != TL_OK) {
    tl_overlap_shapes_free(*shapes, *shapes ? scene->avatar_count : 0);
    *shapes = NULL;
  }
  return status;
}

void tl_overlap_shapes_free(TlOverlapShape *shapes, int64_t count) {
  for (int64_t i = 0; i < count; i++) tl_free(shapes[i].cell);
  tl_free(shapes);
}
