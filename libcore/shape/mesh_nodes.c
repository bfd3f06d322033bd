#include "shape/nodes.h"

#include "base/mem.h"
#include "shape/solid.h"

#include <math.h>

enum { SAMPLES_A_NODE = 40, ROUNDS = 3 };

/* A point of the surface with the area it speaks for and its facet's normal. */
typedef struct Sample {
  TlVec3 p, n;
  double area, d2; /* d2: to its nearest node so far */
  int32_t node;
} Sample;

typedef struct Node {
  TlVec3 p, n;
  bool fixed; /* sharp: it stays, and both sides of an edge count as near */
} Node;

typedef struct Placing {
  const TlTriangleTree *tree;
  const TlTriangles *mesh;
  Sample *sample;
  int64_t samples;
  Node *node;
  int32_t count, wanted;
} Placing;

/* ---- samples: the middles of small triangles, n^2 a facet ---- */

static int64_t cuts_of(const TlTriangles *m, int64_t t, double area) {
  double whole = tl_triangles_area_of(m, t);
  return whole > 0 ? (int64_t)ceil(sqrt(whole / area)) : 0;
}

static void sample_facet(Placing *w, int64_t t, int64_t n) {
  TlVec3 a = tl_triangles_corner(w->mesh, t, 0),
         u = tl_scale(1.0 / (double)n, tl_sub(tl_triangles_corner(w->mesh, t, 1), a)),
         v = tl_scale(1.0 / (double)n, tl_sub(tl_triangles_corner(w->mesh, t, 2), a));
  TlVec3 cross = tl_cross(u, v), normal = tl_unit(cross);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < 2 * (n - i) - 1; j++) { /* upright ones and those between */
      double third = j % 2 ? 2.0 / 3 : 1.0 / 3;
      TlVec3 p = tl_axpy(tl_axpy(a, (double)i + third, u), (double)(j / 2) + third, v);
      w->sample[w->samples++] =
          (Sample){.p = p, .n = normal, .area = 0.5 * tl_norm(cross), .d2 = INFINITY};
    }
}

static TlStatus make_samples(Placing *w, double area) {
  double each = area / (SAMPLES_A_NODE * (double)w->wanted);
  int64_t count = 0;
  for (int64_t t = 0; t < w->mesh->triangles; t++) {
    int64_t n = cuts_of(w->mesh, t, each);
    count += n * n;
  }
  TL_TRY(TL_NEW(w->sample, (size_t)count));
  for (int64_t t = 0; t < w->mesh->triangles; t++) {
    int64_t n = cuts_of(w->mesh, t, each);
    if (n > 0) sample_facet(w, t, n);
  }
  return TL_OK;
}

/* ---- choosing ---- */

/* A thin plate's other side is not near. */
static double distance2(const Node *node, const Sample *s) {
  if (!node->fixed && tl_dot(node->n, s->n) < -0.2) return INFINITY;
  return tl_norm2(tl_sub(node->p, s->p));
}

static void add_node(Placing *w, Node node) {
  int32_t at = w->count++;
  w->node[at] = node;
  for (int64_t i = 0; i < w->samples; i++) {
    Sample *s = &w->sample[i];
    double d2 = distance2(&w->node[at], s);
    if (d2 < s->d2) s->d2 = d2, s->node = at;
  }
}

static bool is_clear(const Placing *w, TlVec3 p, double least) {
  for (int32_t i = 0; i < w->count; i++)
    if (tl_norm2(tl_sub(w->node[i].p, p)) < least * least) return false;
  return true;
}

/* Facets on both sides of the edge at corner c turn by more than the angle: the sum of two unit
 * normals is 2 cos(half the angle). */
static bool is_sharp(const Placing *w, int64_t c, double half_cosine) {
  return tl_norm(w->tree->edge_normal[c]) < 2 * half_cosine;
}

/* Sharp edges that meet in each vertex; each edge is seen from both sides. */
static TlStatus count_sharp(const Placing *w, double half_cosine, int32_t **sharp) {
  TL_TRY(TL_NEW(*sharp, (size_t)w->mesh->vertices));
  for (int64_t c = 0; c < 3 * w->mesh->triangles; c++)
    if (is_sharp(w, c, half_cosine)) (*sharp)[w->mesh->corner[c]]++;
  return TL_OK;
}

static Node fixed_node(TlVec3 p, TlVec3 n) {
  return (Node){.p = p, .n = tl_unit(n), .fixed = true};
}

/* Where three or more sharp edges meet. */
static void take_corners(Placing *w, const int32_t *sharp, double step) {
  for (int64_t v = 0; v < w->mesh->vertices && w->count < w->wanted / 2; v++)
    if (sharp[v] >= 3 && is_clear(w, w->mesh->vertex[v], 0.3 * step))
      add_node(w, fixed_node(w->mesh->vertex[v], w->tree->vertex_normal[v]));
}

/* Points along sharp edges, evenly where an edge is long; no closer to others than 0.7 steps. */
static void take_edges(Placing *w, double half_cosine, double step) {
  const TlTriangles *m = w->mesh;
  for (int64_t c = 0; c < 3 * m->triangles; c++) {
    TlVec3 a = m->vertex[m->corner[c]], b = m->vertex[m->corner[c % 3 == 2 ? c - 2 : c + 1]];
    if (m->corner[c] > m->corner[c % 3 == 2 ? c - 2 : c + 1] || !is_sharp(w, c, half_cosine))
      continue;
    int64_t n = (int64_t)rint(tl_norm(tl_sub(b, a)) / step);
    if (n < 1) n = 1;
    for (int64_t i = 0; i <= n && w->count < w->wanted / 2; i++) {
      TlVec3 p = tl_axpy(a, (double)i / (double)n, tl_sub(b, a));
      if (is_clear(w, p, 0.7 * step)) add_node(w, fixed_node(p, w->tree->edge_normal[c]));
    }
  }
}

static void take_farthest(Placing *w) {
  while (w->count < w->wanted) {
    int64_t best = 0;
    for (int64_t i = 1; i < w->samples; i++)
      if (w->sample[i].d2 > w->sample[best].d2) best = i;
    add_node(w, (Node){.p = w->sample[best].p, .n = w->sample[best].n});
  }
}

/* ---- evening out ---- */

static void assign(Placing *w) {
  for (int64_t i = 0; i < w->samples; i++) {
    Sample *s = &w->sample[i];
    s->d2 = INFINITY;
    for (int32_t k = 0; k < w->count; k++) {
      double d2 = distance2(&w->node[k], s);
      if (d2 < s->d2) s->d2 = d2, s->node = k;
    }
  }
}

/* Each free node to the one of its samples that is nearest to their middle (Lloyd 1982). */
static TlStatus relax(Placing *w) {
  TlVec3 *middle;
  double *weight;
  TL_TRY(TL_NEW(middle, (size_t)w->count));
  TlStatus status = TL_NEW(weight, (size_t)w->count);
  for (int64_t i = 0; status == TL_OK && i < w->samples; i++) {
    const Sample *s = &w->sample[i];
    middle[s->node] = tl_axpy(middle[s->node], s->area, s->p);
    weight[s->node] += s->area;
  }
  for (int32_t k = 0; status == TL_OK && k < w->count; k++) {
    if (weight[k] > 0) middle[k] = tl_scale(1 / weight[k], middle[k]);
    weight[k] = INFINITY; /* from here: the nearest sample's distance */
  }
  for (int64_t i = 0; status == TL_OK && i < w->samples; i++) {
    const Sample *s = &w->sample[i];
    double d2 = tl_norm2(tl_sub(s->p, middle[s->node]));
    if (w->node[s->node].fixed || d2 >= weight[s->node]) continue;
    weight[s->node] = d2;
    w->node[s->node] = (Node){.p = s->p, .n = s->n};
  }
  tl_free(middle);
  tl_free(weight);
  if (status == TL_OK) assign(w);
  return status;
}

/* ---- onto the grid ---- */

/* A sharp vertex lies up to a cell outside the trilinear zero set, where phi's gradient may lead
 * nowhere: then along the mesh's own normal. */
static TlStatus project(const TlAvatar *a, const Node *node, TlVec3 *p) {
  double h = a->spacing_m, in = -2 * h, out = 2 * h;
  *p = node->p;
  if (tl_nodes_project(a, p) && tl_norm(tl_sub(*p, node->p)) < 2 * h) return TL_OK;
  while (in > -8 * h && !(tl_avatar_phi(a, tl_axpy(node->p, in, node->n), NULL) < 0)) in -= h;
  if (!(tl_avatar_phi(a, tl_axpy(node->p, in, node->n), NULL) < 0) ||
      !(tl_avatar_phi(a, tl_axpy(node->p, out, node->n), NULL) > 0))
    return tl_fail(TL_EINPUT,
                   "the grid does not hold the surface at (%.4g, %.4g, %.4g) m of the principal "
                   "frame; a finer spacing is wanted",
                   node->p.x, node->p.y, node->p.z);
  for (int i = 0; i < 40; i++) {
    double middle = 0.5 * (in + out);
    if (tl_avatar_phi(a, tl_axpy(node->p, middle, node->n), NULL) < 0)
      in = middle;
    else
      out = middle;
  }
  *p = tl_axpy(node->p, in, node->n);
  return TL_OK;
}

static TlStatus store(const Placing *w, TlAvatar *a) {
  TL_TRY(tl_solid_reserve_nodes(a, w->count));
  for (int64_t i = 0; i < w->samples; i++)
    a->node_area_m2[w->sample[i].node] += (float)w->sample[i].area;
  for (int32_t k = 0; k < w->count; k++) {
    TlVec3 p;
    TL_TRY(project(a, &w->node[k], &p));
    float *to = a->node_m + 3 * (int64_t)k;
    to[0] = (float)p.x, to[1] = (float)p.y, to[2] = (float)p.z;
  }
  a->node_count = w->count;
  return tl_nodes_extents(a);
}

static TlStatus place(Placing *w, double sharp_deg, TlAvatar *a) {
  double step = sqrt(a->area_m2 / w->wanted);
  double half_cosine = cos(0.5 * sharp_deg * M_PI / 180);
  int32_t *sharp = NULL;
  TL_TRY(TL_NEW(w->node, (size_t)w->wanted));
  TL_TRY(make_samples(w, a->area_m2));
  TL_TRY(count_sharp(w, half_cosine, &sharp));
  take_corners(w, sharp, step);
  tl_free(sharp);
  take_edges(w, half_cosine, step);
  take_farthest(w);
  for (int i = 0; i < ROUNDS; i++) TL_TRY(relax(w));
  return store(w, a);
}

TlStatus tl_mesh_nodes_place(const TlTriangleTree *tree, int32_t count, double sharp_deg,
                             TlAvatar *avatar) {
  double step = tl_solid_node_step(avatar, 0);
  Placing w = {.tree = tree, .mesh = tree->mesh};
  w.wanted = count > 0 ? count : (int32_t)rint(avatar->area_m2 / (step * step));
  if (w.wanted < 4) return tl_fail(TL_EUSAGE, "%d nodes make no sense", w.wanted);
  TlStatus status = place(&w, sharp_deg, avatar);
  tl_free(w.sample);
  tl_free(w.node);
  return status;
}
