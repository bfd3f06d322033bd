#include "shape/nodes.h"

#include "base/mem.h"
#include "shape/mesh.h"

#include <math.h>
#include <string.h>

enum { RELAXATIONS = 4 };

typedef struct Sample {
  TlVec3 p, n;
  double area, d2; /* d2: to the nearest node chosen so far */
} Sample;

bool tl_nodes_project(const TlAvatar *a, TlVec3 *p) {
  double h = a->spacing_m;
  TlVec3 x = *p, g;
  for (int i = 0; i < 8; i++) {
    double f = tl_avatar_phi(a, x, &g), slope2 = tl_norm2(g);
    if (fabs(f) < 1e-4 * h) {
      *p = x;
      return true;
    }
    if (slope2 < 1e-4) return false;
    double step = -f / slope2, limit = 0.5 * h / sqrt(slope2);
    x = tl_axpy(x, step > limit ? limit : step < -limit ? -limit : step, g);
  }
  /* Newton may cycle over a kink between cells: bisect along the gradient at p. */
  tl_avatar_phi(a, *p, &g);
  TlVec3 n = tl_unit(g), low = tl_axpy(*p, -0.9 * h, n), high = tl_axpy(*p, 0.9 * h, n);
  if (!(tl_avatar_phi(a, low, NULL) < 0 && tl_avatar_phi(a, high, NULL) > 0)) return false;
  for (int i = 0; i < 24; i++) {
    TlVec3 middle = tl_scale(0.5, tl_add(low, high));
    if (tl_avatar_phi(a, middle, NULL) < 0)
      low = middle;
    else
      high = middle;
  }
  *p = tl_scale(0.5, tl_add(low, high));
  return true;
}

/* ---- samples ---- */

static TlStatus make_samples(const TlAvatar *a, const TlMesh *mesh, Sample **samples,
                             int64_t *count) {
  TL_TRY(TL_NEW(*samples, mesh->triangle_count));
  int64_t n = 0;
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    const int32_t *v = mesh->triangle + 3 * t;
    TlVec3 p = tl_mesh_vertex(mesh, v[0]), q = tl_mesh_vertex(mesh, v[1]),
           r = tl_mesh_vertex(mesh, v[2]);
    TlVec3 cross = tl_cross(tl_sub(q, p), tl_sub(r, p));
    Sample s = {.p = tl_scale(1.0 / 3, tl_add(p, tl_add(q, r))), .area = 0.5 * tl_norm(cross)};
    if (!(s.area > 0) || !tl_nodes_project(a, &s.p)) continue;
    s.n = tl_unit(cross);
    (*samples)[n++] = s;
  }
  *count = n;
  return TL_OK;
}

/* ---- farthest-point thinning ---- */

static int64_t farthest(const Sample *s, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++)
    if (s[i].d2 > s[best].d2) best = i;
  return best;
}

/* The first node is the sample farthest from the centre of mass; each next the one farthest from
 * all nodes so far. */
static void thin(Sample *s, int64_t n, int32_t count, Sample *nodes) {
  for (int64_t i = 0; i < n; i++) s[i].d2 = tl_norm2(s[i].p);
  int64_t next = farthest(s, n);
  for (int64_t i = 0; i < n; i++) s[i].d2 = INFINITY;
  for (int32_t k = 0; k < count; k++) {
    nodes[k] = s[next];
    TlVec3 p = s[next].p;
    for (int64_t i = 0; i < n; i++) {
      double d2 = tl_norm2(tl_sub(s[i].p, p));
      if (d2 < s[i].d2) s[i].d2 = d2;
    }
    next = farthest(s, n);
  }
}

/* ---- bins over the nodes, to find the nearest ---- */

typedef struct Bins {
  double size;
  TlVec3 low;
  int64_t n[3];
  int32_t *start, *item;
} Bins;

static int64_t bin_of(const Bins *b, double x, double low, int axis) {
  int64_t i = (int64_t)floor((x - low) / b->size);
  return i < 0 ? 0 : i >= b->n[axis] ? b->n[axis] - 1 : i;
}

static int64_t bin_at(const Bins *b, TlVec3 p) {
  return (bin_of(b, p.z, b->low.z, 2) * b->n[1] + bin_of(b, p.y, b->low.y, 1)) * b->n[0] +
         bin_of(b, p.x, b->low.x, 0);
}

static TlStatus bins_make(Bins *b, const Sample *nodes, int32_t count, double size) {
  TlVec3 low = nodes[0].p, high = low;
  for (int32_t i = 1; i < count; i++) {
    TlVec3 p = nodes[i].p;
    low = tl_vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = tl_vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  *b = (Bins){.size = size, .low = low};
  double span[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
  for (int a = 0; a < 3; a++) b->n[a] = (int64_t)(span[a] / size) + 1;
  int64_t bins = b->n[0] * b->n[1] * b->n[2];
  TL_TRY(TL_NEW(b->start, (size_t)bins + 2));
  TL_TRY(TL_NEW(b->item, (size_t)count));
  for (int32_t i = 0; i < count; i++) b->start[bin_at(b, nodes[i].p) + 2]++;
  for (int64_t i = 0; i < bins; i++) b->start[i + 2] += b->start[i + 1];
  for (int32_t i = 0; i < count; i++) b->item[b->start[bin_at(b, nodes[i].p) + 1]++] = i;
  return TL_OK;
}

static void bins_free(Bins *b) {
  tl_free(b->start);
  tl_free(b->item);
}

/* Nearest node; one that faces the other way counts as two bins farther. */
static int32_t nearest(const Bins *b, const Sample *nodes, const Sample *s) {
  double best = INFINITY;
  int32_t found = -1;
  int64_t c[3] = {bin_of(b, s->p.x, b->low.x, 0), bin_of(b, s->p.y, b->low.y, 1),
                  bin_of(b, s->p.z, b->low.z, 2)};
  for (int64_t k = c[2] - 1; k <= c[2] + 1; k++)
    for (int64_t j = c[1] - 1; j <= c[1] + 1; j++)
      for (int64_t i = c[0] - 1; i <= c[0] + 1; i++) {
        if (i < 0 || j < 0 || k < 0 || i >= b->n[0] || j >= b->n[1] || k >= b->n[2]) continue;
        int64_t bin = (k * b->n[1] + j) * b->n[0] + i;
        for (int32_t m = b->start[bin]; m < b->start[bin + 1]; m++) {
          const Sample *node = &nodes[b->item[m]];
          double d2 = tl_norm2(tl_sub(s->p, node->p));
          if (tl_dot(s->n, node->n) < 0) d2 += 4 * b->size * b->size;
          if (d2 < best || (d2 == best && b->item[m] < found)) best = d2, found = b->item[m];
        }
      }
  return found;
}

/* ---- relaxation and areas ---- */

/* Sum position, normal and area of each node's own samples into cells. */
static TlStatus gather(const Sample *s, int64_t n, const Sample *nodes, int32_t count, double size,
                       Sample *cells) {
  Bins bins;
  TlStatus status = bins_make(&bins, nodes, count, size);
  memset(cells, 0, (size_t)count * sizeof *cells);
  for (int64_t i = 0; status == TL_OK && i < n; i++) {
    int32_t k = nearest(&bins, nodes, &s[i]);
    if (k < 0) continue;
    cells[k].p = tl_axpy(cells[k].p, s[i].area, s[i].p);
    cells[k].n = tl_axpy(cells[k].n, s[i].area, s[i].n);
    cells[k].area += s[i].area;
  }
  bins_free(&bins);
  return status;
}

/* Lloyd: each node to the middle of its samples, back on the surface; it stays where that fails. */
static void relax(const TlAvatar *a, Sample *nodes, const Sample *cells, int32_t count) {
  for (int32_t k = 0; k < count; k++) {
    if (!(cells[k].area > 0)) continue;
    TlVec3 p = tl_scale(1 / cells[k].area, cells[k].p);
    TlVec3 old = nodes[k].p;
    if (!tl_nodes_project(a, &p)) continue;
    nodes[k].p = p;
    nodes[k].n = tl_norm2(cells[k].n) > 0 ? tl_unit(cells[k].n) : nodes[k].n;
    TlVec3 g;
    tl_avatar_phi(a, p, &g);
    if (tl_dot(g, nodes[k].n) < 0) nodes[k].p = old; /* it came out on the other side */
  }
}

static TlStatus even_out(const TlAvatar *a, const Sample *s, int64_t n, Sample *nodes,
                         int32_t count, double size) {
  Sample *cells = NULL;
  TL_TRY(TL_NEW(cells, (size_t)count));
  TlStatus status = TL_OK;
  for (int round = 0; status == TL_OK && round < RELAXATIONS; round++) {
    status = gather(s, n, nodes, count, size, cells);
    if (status == TL_OK) relax(a, nodes, cells, count);
  }
  if (status == TL_OK) status = gather(s, n, nodes, count, size, cells);
  for (int32_t k = 0; status == TL_OK && k < count; k++) nodes[k].area = cells[k].area;
  tl_free(cells);
  return status;
}

/* Nodes with no sample of their own are dropped; areas are scaled to the avatar's. */
static TlStatus store(TlAvatar *a, const Sample *nodes, int32_t count) {
  TL_TRY(TL_NEW(a->node_m, 3 * (size_t)count));
  TL_TRY(TL_NEW(a->node_area_m2, (size_t)count));
  double total = 0;
  for (int32_t k = 0; k < count; k++) total += nodes[k].area;
  a->node_count = 0;
  for (int32_t k = 0; k < count; k++) {
    if (!(nodes[k].area > 0)) continue;
    float *p = a->node_m + 3 * (int64_t)a->node_count;
    p[0] = (float)nodes[k].p.x;
    p[1] = (float)nodes[k].p.y;
    p[2] = (float)nodes[k].p.z;
    a->node_area_m2[a->node_count++] = (float)(nodes[k].area * a->area_m2 / total);
  }
  return TL_OK;
}

static void extents(TlAvatar *a, const TlMesh *mesh) {
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  double far2 = 0, node2 = 0;
  for (int32_t i = 0; i < a->node_count; i++) {
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
      double x = a->node_m[3 * i + k];
      r2 += x * x;
      low[k] = fmin(low[k], x);
      high[k] = fmax(high[k], x);
    }
    node2 = fmax(node2, r2);
  }
  for (size_t i = 0; i < mesh->vertex_count; i++)
    far2 = fmax(far2, tl_norm2(tl_mesh_vertex(mesh, (int32_t)i)));
  /* Between its crossings of cell edges the trilinear surface bulges by less than 0.1 cell where it
   * is smooth enough to be resolved; a sphere of the nodes alone does not bound it. */
  a->radius_m = fmax(sqrt(far2) + 0.1 * a->spacing_m, sqrt(node2) * (1 + 1e-6));
  double e[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2 - i; j++)
      if (e[j] < e[j + 1]) {
        double swap = e[j];
        e[j] = e[j + 1];
        e[j + 1] = swap;
      }
  memcpy(a->axes_m, e, sizeof e);
}

TlStatus tl_nodes_extents(TlAvatar *a) {
  TlMesh mesh;
  TL_TRY(tl_mesh_from_avatar(a, &mesh));
  extents(a, &mesh);
  tl_mesh_free(&mesh);
  return TL_OK;
}

static int32_t node_target(const TlAvatar *a, const TlNodeOptions *o) {
  if (o->count > 0) return o->count;
  double s = o->spacing_m > 0 ? o->spacing_m : fmax(a->spacing_m, 0.1 * tl_avatar_diameter_m(a));
  return (int32_t)fmin(1e6, ceil(a->area_m2 / (0.8660254 * s * s))); /* hexagons */
}

TlStatus tl_nodes_place(TlAvatar *a, const TlNodeOptions *options) {
  TlMesh mesh;
  Sample *samples = NULL, *nodes = NULL;
  int64_t n = 0;
  int32_t count = node_target(a, options);
  TL_TRY(tl_mesh_from_avatar(a, &mesh));
  TlStatus status = make_samples(a, &mesh, &samples, &n);
  if (status == TL_OK && count < 4)
    status = tl_fail(TL_EINPUT, "%d surface nodes are too few: 4 at least", count);
  if (status == TL_OK && count > n / 4)
    status = tl_fail(TL_EINPUT, "%d surface nodes are too many for this grid: %d at most", count,
                     (int)(n / 4));
  if (status == TL_OK) status = TL_NEW(nodes, (size_t)count);
  if (status == TL_OK) {
    thin(samples, n, count, nodes);
    /* every sample lies within the last thinning distance of a node */
    double reach = sqrt(samples[farthest(samples, n)].d2);
    status = even_out(a, samples, n, nodes, count, fmax(1.5 * reach, 0.5 * a->spacing_m));
  }
  if (status == TL_OK) status = store(a, nodes, count);
  if (status == TL_OK) extents(a, &mesh);
  tl_free(samples);
  tl_free(nodes);
  tl_mesh_free(&mesh);
  return status;
}
