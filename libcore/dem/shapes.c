#include "dem/shapes.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_NODES = 8 }; /* measured best between 4 and 16 */

static void shape_free(TlShape *shape) {
  if (!shape) return;
  tl_free(shape->node);
  tl_free(shape->node_index);
  tl_free(shape->sphere);
  tl_free(shape);
}

void tl_shapes_free(TlShapes *shapes) {
  for (size_t i = 0; i < shapes->count; i++) shape_free(shapes->shape[i]);
  tl_free(shapes->shape);
  *shapes = (TlShapes){0};
}

static size_t place_of(const TlShapes *shapes, int64_t id) {
  size_t first = 0, last = shapes->count;
  while (first < last) {
    size_t mid = first + (last - first) / 2;
    if (shapes->shape[mid]->id < id)
      first = mid + 1;
    else
      last = mid;
  }
  return first;
}

const TlShape *tl_shapes_find(const TlShapes *shapes, int64_t id) {
  size_t at = place_of(shapes, id);
  return at < shapes->count && shapes->shape[at]->id == id ? shapes->shape[at] : NULL;
}

static TlStatus insert(TlShapes *shapes, TlShape *shape) {
  size_t at = place_of(shapes, shape->id);
  TL_TRY(TL_RESERVE(shapes->shape, shapes->capacity, shapes->count + 1));
  memmove(&shapes->shape[at + 1], &shapes->shape[at], (shapes->count - at) * sizeof *shapes->shape);
  shapes->shape[at] = shape;
  shapes->count++;
  return TL_OK;
}

static TlVec3 avatar_node(const TlAvatar *avatar, int64_t i) {
  const float *p = &avatar->node_m[3 * i];
  return tl_vec3(p[0], p[1], p[2]);
}

TlVec3 tl_shape_node(const TlShape *shape, int64_t node) {
  return shape->avatar ? avatar_node(shape->avatar, node) : shape->node[node];
}

/* ---- tree ---- */

typedef struct Item {
  TlVec3 p;
  int32_t index;
} Item;

static int compare_axis(const Item *a, const Item *b, int axis) {
  const double *x = &a->p.x, *y = &b->p.x;
  if (x[axis] != y[axis]) return x[axis] < y[axis] ? -1 : 1;
  return a->index < b->index ? -1 : a->index > b->index;
}
static int compare_x(const void *a, const void *b) {
  return compare_axis(a, b, 0);
}
static int compare_y(const void *a, const void *b) {
  return compare_axis(a, b, 1);
}
static int compare_z(const void *a, const void *b) {
  return compare_axis(a, b, 2);
}

static TlNodeSphere bound(const Item *items, int32_t first, int32_t count, int *axis) {
  TlVec3 low = items[first].p, high = low;
  for (int32_t i = first + 1; i < first + count; i++) {
    TlVec3 p = items[i].p;
    low = tl_vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = tl_vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  TlNodeSphere s = {.centre = tl_scale(0.5, tl_add(low, high)), .first = first, .count = count};
  for (int32_t i = first; i < first + count; i++)
    s.radius = fmax(s.radius, tl_norm(tl_sub(items[i].p, s.centre)));
  s.radius *= 1 + 1e-12;
  TlVec3 d = tl_sub(high, low);
  *axis = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
  return s;
}

static void split(TlShape *shape, Item *items, int32_t first, int32_t count) {
  static int (*const compare[3])(const void *, const void *) = {compare_x, compare_y, compare_z};
  int axis;
  int32_t me = shape->sphere_count++;
  shape->sphere[me] = bound(items, first, count, &axis);
  shape->sphere[me].leaf = count <= LEAF_NODES;
  if (!shape->sphere[me].leaf) {
    qsort(items + first, (size_t)count, sizeof *items, compare[axis]);
    split(shape, items, first, count / 2);
    split(shape, items, first + count / 2, count - count / 2);
  }
  shape->sphere[me].next = shape->sphere_count;
}

static void plant(TlShape *shape, Item *items) {
  split(shape, items, 0, shape->node_count);
  for (int32_t i = 0; i < shape->node_count; i++) {
    shape->node[i] = items[i].p;
    shape->node_index[i] = items[i].index;
  }
}

static TlStatus build_tree(TlShape *shape, const TlVec3 *node, int32_t n) {
  Item *items;
  shape->node_count = n;
  TL_TRY(TL_NEW(shape->node, (size_t)n));
  TL_TRY(TL_NEW(shape->node_index, (size_t)n));
  TL_TRY(TL_NEW(shape->sphere, (size_t)n + 1));
  TL_TRY(TL_NEW(items, (size_t)n));
  for (int32_t i = 0; i < n; i++) items[i] = (Item){node[i], i};
  plant(shape, items);
  tl_free(items);
  return TL_OK;
}

static TlStatus avatar_tree(TlShape *shape, const TlAvatar *avatar) {
  TlVec3 *node;
  TL_TRY(TL_NEW(node, (size_t)avatar->node_count));
  for (int32_t i = 0; i < avatar->node_count; i++) node[i] = avatar_node(avatar, i);
  TlStatus status = build_tree(shape, node, avatar->node_count);
  tl_free(node);
  return status;
}

/* Nodes get the numbers of the tree's order, so that keys find them again. */
static TlStatus closed_tree(TlShape *shape) {
  if (!shape->closed->nodes) return TL_OK;
  int32_t n = shape->closed->nodes(shape->size, NULL);
  TlVec3 *node;
  TL_TRY(TL_NEW(node, (size_t)n));
  shape->closed->nodes(shape->size, node);
  TlStatus status = build_tree(shape, node, n);
  for (int32_t i = 0; status == TL_OK && i < n; i++) shape->node_index[i] = i;
  tl_free(node);
  return status;
}

static double least_on_faces(const TlAvatar *a) {
  double least = INFINITY;
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++) {
        bool face =
            i == 0 || j == 0 || k == 0 || i == a->nx - 1 || j == a->ny - 1 || k == a->nz - 1;
        if (face) least = fmin(least, a->phi[((int64_t)k * a->ny + j) * a->nx + i]);
      }
  return least;
}

static TlStatus check_new(const TlShapes *shapes, int64_t id) {
  if (!tl_shapes_find(shapes, id)) return TL_OK;
  return tl_fail(TL_EINPUT, "avatar %lld is there already", (long long)id);
}

TlStatus tl_shapes_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar) {
  TL_TRY(check_new(shapes, id));
  TL_TRY(tl_context(tl_avatar_check(avatar), "avatar %lld", (long long)id));
  TlShape *shape;
  TL_TRY(TL_NEW(shape, 1));
  *shape = (TlShape){.id = id,
                     .avatar = avatar,
                     .radius_m = avatar->radius_m,
                     .volume_m3 = avatar->volume_m3,
                     .inertia_m5 = avatar->inertia_m5,
                     .phi_min_face = least_on_faces(avatar),
                     .lipschitz = fmax(1, avatar->gradient_max) * (1 + 1e-9),
                     .node_spacing = sqrt(avatar->area_m2 / avatar->node_count)};
  TlStatus status = avatar_tree(shape, avatar);
  if (status == TL_OK) status = insert(shapes, shape);
  if (status != TL_OK) shape_free(shape);
  return status;
}

TlStatus tl_shapes_add_closed(TlShapes *shapes, int64_t id, const TlClosedKind *kind,
                              const double *size) {
  TL_TRY(check_new(shapes, id));
  TL_TRY(tl_context(tl_closed_check(kind, size), "avatar %lld", (long long)id));
  TlClosedMass mass = kind->mass(size);
  TlShape *shape;
  TL_TRY(TL_NEW(shape, 1));
  *shape = (TlShape){.id = id,
                     .closed = kind,
                     .radius_m = kind->radius(size),
                     .volume_m3 = mass.volume_m3,
                     .inertia_m5 = mass.inertia_m5,
                     .lipschitz = 1};
  for (int i = 0; i < kind->size_count; i++) shape->size[i] = size[i];
  TlStatus status = closed_tree(shape);
  if (shape->node_count > 0) shape->node_spacing = sqrt(mass.area_m2 / shape->node_count);
  if (status == TL_OK) status = insert(shapes, shape);
  if (status != TL_OK) shape_free(shape);
  return status;
}

double tl_shape_phi(const TlShape *shape, TlVec3 p, TlVec3 *gradient) {
  if (shape->avatar) return tl_avatar_phi(shape->avatar, p, gradient);
  return shape->closed->phi(shape->size, p, gradient);
}

/* Distance of p from the box of the grid. */
static double box_distance(const TlAvatar *a, TlVec3 p) {
  double h = a->spacing_m;
  TlVec3 q = tl_sub(p, a->origin_m);
  double x = fmax(fmax(-q.x, q.x - h * (a->nx - 1)), 0),
         y = fmax(fmax(-q.y, q.y - h * (a->ny - 1)), 0),
         z = fmax(fmax(-q.z, q.z - h * (a->nz - 1)), 0);
  return sqrt(x * x + y * y + z * z);
}

/* With q within r of p and c(.) the nearest point of the box: c is 1-Lipschitz, so
 * |phi(c(q)) - phi(c(p))| <= L r, and never under the least value on the faces when q is outside;
 * the distance from the box changes by r at most. */
TlPhiRange tl_shape_phi_range(const TlShape *shape, TlVec3 p, double r) {
  double l = shape->lipschitz;
  if (!shape->avatar) {
    double phi = shape->closed->phi(shape->size, p, NULL);
    return (TlPhiRange){phi - r, phi + r};
  }
  double d = box_distance(shape->avatar, p), clear = d - r + shape->phi_min_face;
  if (clear > shape->radius_m) return (TlPhiRange){clear, INFINITY}; /* far: save the lookup */
  double phi = tl_avatar_phi(shape->avatar, p, NULL);
  double low = d > r ? fmax(clear, phi - (1 + l) * r) : phi - d - l * r;
  return (TlPhiRange){low, phi + (1 + l) * r};
}
