#include "shape/triangle_tree.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { LEAF = 4, DEEPEST = 64 };

typedef struct TlTriangleBox {
  TlVec3 low, high;
  int32_t first, count; /* of order, in a leaf; count 0: an inner box */
  int32_t right;        /* the left one follows */
} Box;

/* ---- making the tree ---- */

static TlVec3 least(TlVec3 a, TlVec3 b) {
  return tl_vec3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}
static TlVec3 most(TlVec3 a, TlVec3 b) {
  return tl_vec3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

typedef struct Item {
  TlVec3 low, high;
  double key;
  int32_t triangle;
} Item;

static int compare_items(const void *x, const void *y) {
  const Item *a = x, *b = y;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

static Box box_of(const Item *item, int64_t count) {
  Box box = {.low = item[0].low, .high = item[0].high};
  for (int64_t i = 1; i < count; i++) {
    box.low = least(box.low, item[i].low);
    box.high = most(box.high, item[i].high);
  }
  return box;
}

static double along(TlVec3 v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* Halves by the middles along the longest side; order[] takes the triangles of the leaves. */
static void split(TlTriangleTree *tree, Item *item, int64_t count, int32_t first) {
  int64_t at = tree->boxes++;
  Box box = box_of(item, count);
  if (count <= LEAF) {
    box.first = first;
    box.count = (int32_t)count;
    for (int64_t i = 0; i < count; i++) tree->order[first + i] = item[i].triangle;
    tree->box[at] = box;
    return;
  }
  TlVec3 side = tl_sub(box.high, box.low);
  int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  for (int64_t i = 0; i < count; i++)
    item[i].key = along(item[i].low, axis) + along(item[i].high, axis);
  qsort(item, (size_t)count, sizeof *item, compare_items);
  split(tree, item, count / 2, first);
  box.right = (int32_t)tree->boxes;
  split(tree, item + count / 2, count - count / 2, first + (int32_t)(count / 2));
  tree->box[at] = box;
}

static TlStatus make_boxes(TlTriangleTree *tree) {
  const TlTriangles *m = tree->mesh;
  Item *item;
  TL_TRY(TL_NEW(tree->order, (size_t)m->triangles));
  TL_TRY(TL_NEW(tree->box, 2 * (size_t)m->triangles));
  TL_TRY(TL_NEW(item, (size_t)m->triangles));
  for (int64_t t = 0; t < m->triangles; t++) {
    TlVec3 a = tl_triangles_corner(m, t, 0), b = tl_triangles_corner(m, t, 1),
           c = tl_triangles_corner(m, t, 2);
    item[t] = (Item){least(a, least(b, c)), most(a, most(b, c)), 0, (int32_t)t};
  }
  split(tree, item, m->triangles, 0);
  tl_free(item);
  return TL_OK;
}

/* ---- normals ---- */

static TlVec3 facet_normal(const TlTriangles *m, int64_t t) {
  TlVec3 a = tl_triangles_corner(m, t, 0);
  TlVec3 n =
      tl_cross(tl_sub(tl_triangles_corner(m, t, 1), a), tl_sub(tl_triangles_corner(m, t, 2), a));
  double length = tl_norm(n);
  return length > 0 ? tl_scale(1 / length, n) : tl_vec3(0, 0, 0);
}

static double angle_at(const TlTriangles *m, int64_t t, int k) {
  TlVec3 v = tl_triangles_corner(m, t, k);
  TlVec3 a = tl_sub(tl_triangles_corner(m, t, (k + 1) % 3), v),
         b = tl_sub(tl_triangles_corner(m, t, (k + 2) % 3), v);
  return atan2(tl_norm(tl_cross(a, b)), tl_dot(a, b));
}

typedef struct Edge {
  int32_t low, high;
  int32_t corner;
} Edge;

static int compare_edges(const void *x, const void *y) {
  const Edge *a = x, *b = y;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->corner < b->corner ? -1 : a->corner > b->corner;
}

static TlStatus make_edge_normals(TlTriangleTree *tree) {
  const TlTriangles *m = tree->mesh;
  int64_t count = 3 * m->triangles;
  Edge *edge;
  TL_TRY(TL_NEW(tree->edge_normal, (size_t)count));
  TL_TRY(TL_NEW(edge, (size_t)count));
  for (int64_t c = 0; c < count; c++) {
    int32_t a = m->corner[c], b = m->corner[c % 3 == 2 ? c - 2 : c + 1];
    edge[c] = (Edge){a < b ? a : b, a < b ? b : a, (int32_t)c};
  }
  qsort(edge, (size_t)count, sizeof *edge, compare_edges);
  for (int64_t i = 0; i < count; i += 2) {
    TlVec3 sum =
        tl_add(facet_normal(m, edge[i].corner / 3), facet_normal(m, edge[i + 1].corner / 3));
    tree->edge_normal[edge[i].corner] = tree->edge_normal[edge[i + 1].corner] = sum;
  }
  tl_free(edge);
  return TL_OK;
}

static TlStatus make_vertex_normals(TlTriangleTree *tree) {
  const TlTriangles *m = tree->mesh;
  TL_TRY(TL_NEW(tree->vertex_normal, (size_t)m->vertices));
  for (int64_t t = 0; t < m->triangles; t++) {
    TlVec3 n = facet_normal(m, t);
    for (int k = 0; k < 3; k++) {
      TlVec3 *sum = &tree->vertex_normal[m->corner[3 * t + k]];
      *sum = tl_axpy(*sum, angle_at(m, t, k), n);
    }
  }
  return TL_OK;
}

TlStatus tl_triangle_tree_make(TlTriangleTree *tree, const TlTriangles *mesh) {
  *tree = (TlTriangleTree){.mesh = mesh};
  TlStatus status = make_boxes(tree);
  if (status == TL_OK) status = make_edge_normals(tree);
  if (status == TL_OK) status = make_vertex_normals(tree);
  if (status != TL_OK) tl_triangle_tree_free(tree);
  return status;
}

void tl_triangle_tree_free(TlTriangleTree *tree) {
  tl_free(tree->box);
  tl_free(tree->order);
  tl_free(tree->vertex_normal);
  tl_free(tree->edge_normal);
  *tree = (TlTriangleTree){0};
}

/* ---- asking ---- */

static double box_distance2(const Box *b, TlVec3 p) {
  double x = fmax(fmax(b->low.x - p.x, p.x - b->high.x), 0),
         y = fmax(fmax(b->low.y - p.y, p.y - b->high.y), 0),
         z = fmax(fmax(b->low.z - p.z, p.z - b->high.z), 0);
  return x * x + y * y + z * z;
}

typedef struct Nearest {
  TlTrianglePoint at;
  double d2;
  int32_t triangle;
} Nearest;

static void look_at_leaf(const TlTriangleTree *tree, const Box *box, TlVec3 p, Nearest *best) {
  const TlTriangles *m = tree->mesh;
  for (int32_t i = 0; i < box->count; i++) {
    int32_t t = tree->order[box->first + i];
    Nearest n = {.at = tl_triangle_nearest(p, tl_triangles_corner(m, t, 0),
                                           tl_triangles_corner(m, t, 1),
                                           tl_triangles_corner(m, t, 2)),
                 .triangle = t};
    n.d2 = tl_norm2(tl_sub(p, n.at.p));
    if (n.d2 < best->d2) *best = n;
  }
}

static Nearest find_nearest(const TlTriangleTree *tree, TlVec3 p) {
  int32_t stack[DEEPEST];
  int depth = 0;
  Nearest best = {.d2 = INFINITY};
  stack[depth++] = 0;
  while (depth > 0) {
    int32_t at = stack[--depth];
    const Box *box = &tree->box[at];
    if (box_distance2(box, p) >= best.d2) continue;
    if (box->count > 0) {
      look_at_leaf(tree, box, p, &best);
      continue;
    }
    int32_t left = at + 1, right = box->right; /* the nearer one is looked at first */
    bool swap = box_distance2(&tree->box[left], p) > box_distance2(&tree->box[right], p);
    stack[depth++] = swap ? left : right;
    stack[depth++] = swap ? right : left;
  }
  return best;
}

static TlVec3 normal_at(const TlTriangleTree *tree, const Nearest *n) {
  int64_t corner = 3 * (int64_t)n->triangle + n->at.k;
  if (n->at.part == TL_ON_VERTEX) return tree->vertex_normal[tree->mesh->corner[corner]];
  return n->at.part == TL_ON_EDGE ? tree->edge_normal[corner]
                                  : facet_normal(tree->mesh, n->triangle);
}

double tl_triangle_tree_distance(const TlTriangleTree *tree, TlVec3 p, TlVec3 *nearest) {
  Nearest n = find_nearest(tree, p);
  if (nearest) *nearest = n.at.p;
  double side = tl_dot(tl_sub(p, n.at.p), normal_at(tree, &n));
  return side < 0 ? -sqrt(n.d2) : sqrt(n.d2);
}

double tl_triangles_winding(const TlTriangles *m, TlVec3 p) {
  double sum = 0;
  for (int64_t t = 0; t < m->triangles; t++) {
    TlVec3 a = tl_sub(tl_triangles_corner(m, t, 0), p), b = tl_sub(tl_triangles_corner(m, t, 1), p),
           c = tl_sub(tl_triangles_corner(m, t, 2), p);
    double la = tl_norm(a), lb = tl_norm(b), lc = tl_norm(c);
    double above = tl_dot(a, tl_cross(b, c));
    double below = la * lb * lc + tl_dot(a, b) * lc + tl_dot(b, c) * la + tl_dot(c, a) * lb;
    sum += 2 * atan2(above, below);
  }
  return sum / (4 * M_PI);
}
