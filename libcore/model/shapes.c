#include "model/shapes.h"

#include "base/mem.h"
#include "model/elements.h"
#include "model/place_shape.h"
#include "model/shape_shared.h"
#include "shape/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_NODES = 8 }; /* measured best between 4 and 16 */

void tl_shape_free(TlShape *shape) {
  if (!shape) return;
  if (shape->borrowed) {
    if (shape->place) tl_elements_free(shape->place->elements);
    tl_free(shape->place);
    tl_free(shape->ground);
  } else {
    tl_free(shape->node);
    tl_ground_shape_free(shape->ground);
    tl_free(shape->node_index);
    tl_free(shape->sphere);
    tl_place_shape_free(shape->place);
  }
  tl_free(shape);
}

void tl_shapes_free(TlShapes *shapes) {
  for (size_t i = 0; i < shapes->count; i++) tl_shape_unshare(shapes->shared, shapes->shape[i]);
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

/* ---- elements of their surfaces ---- */

/* Two convex grains of grids have patches, two polyhedra their faces (contact/search.h): elements are for
 * all other pairs of shapes with nodes, and for curved grains on terrain and on edges of walls. */
static bool wants_elements(const TlShapes *shapes) {
  bool smooth = false, faces = false;
  for (size_t i = 0; i < shapes->count; i++) {
    const TlPlaceShape *place = shapes->shape[i]->place;
    if (place->part) faces = true;
    if (shapes->shape[i]->avatar && !place->part) smooth = true;
    if (!place->part && !place->convex) return true;
  }
  return smooth && (faces || shapes->ground || shapes->edged);
}

static TlStatus add_elements(TlShapes *shapes) {
  if (!shapes->surface || !shapes->places) return TL_OK;
  if (!shapes->elements) shapes->elements = wants_elements(shapes);
  for (int wait = 0; wait < 2; wait++) /* first those that no other rank makes now */
    for (size_t i = 0; shapes->elements && i < shapes->count; i++) {
      TlShape *shape = shapes->shape[i];
      if (shape->place->elements || !(shape->avatar || shape->place->part)) continue;
      TL_TRY(tl_context(tl_elements_share(shapes->shared, wait, shape), "avatar %lld",
                        (long long)shape->id));
    }
  return TL_OK;
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
  TlVec3 c = tl_scale(0.5, tl_add(low, high));
  TlNodeSphere s = {(float)c.x, (float)c.y, (float)c.z, 0, .first = first, .count = count};
  double radius = 0;
  for (int32_t i = first; i < first + count; i++)
    radius = fmax(radius, tl_norm(tl_sub(items[i].p, tl_sphere_centre(&s))));
  s.radius = (float)(radius * (1 + 1e-6)); /* rounding to float never shortens it */
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

static int32_t sphere_number(int32_t count) {
  if (count <= LEAF_NODES) return 1;
  return 1 + sphere_number(count / 2) + sphere_number(count - count / 2);
}

static TlStatus build_tree(TlShape *shape, const TlVec3 *node, int32_t n) {
  Item *items;
  shape->node_count = n;
  TL_TRY(TL_NEW(shape->node_index, (size_t)n));
  TL_TRY(TL_NEW(shape->sphere, (size_t)sphere_number(n)));
  TL_TRY(TL_NEW(items, (size_t)n));
  for (int32_t i = 0; i < n; i++) items[i] = (Item){node[i], i};
  split(shape, items, 0, n);
  for (int32_t i = 0; i < n; i++) shape->node_index[i] = items[i].index;
  tl_free(items);
  return TL_OK;
}

TlStatus tl_shape_of_points(TlShape **shape, TlVec3 *node, int32_t count) {
  TlStatus status = TL_NEW(*shape, 1);
  if (status == TL_OK) {
    (*shape)->node = node;
    return build_tree(*shape, node, count);
  }
  tl_free(node);
  return status;
}

static TlStatus avatar_tree(TlShape *shape, const TlAvatar *avatar) {
  TlVec3 *node;
  int32_t corners = shape->place && shape->place->part ? shape->place->part->corner_count : 0;
  TL_TRY(TL_NEW(shape->node, (size_t)corners));
  for (int32_t i = 0; i < corners; i++) shape->node[i] = shape->place->part->corner[i];
  TL_TRY(TL_NEW(node, (size_t)avatar->node_count + (size_t)corners));
  for (int32_t i = 0; i < avatar->node_count + corners; i++) node[i] = tl_shape_node(shape, i);
  TlStatus status = build_tree(shape, node, avatar->node_count + corners);
  tl_free(node);
  return status;
}

static TlStatus closed_tree(TlShape *shape) {
  if (!shape->closed->nodes) return TL_OK;
  int32_t n = shape->closed->nodes(shape->size, NULL);
  TL_TRY(TL_NEW(shape->node, (size_t)n));
  shape->closed->nodes(shape->size, shape->node);
  return build_tree(shape, shape->node, n);
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

/* Pruning trusts how steep phi can be, gaps how steep it is at the surface. The first is measured
 * here, not believed: a steeper phi (an import, say) makes the bounds wider and the search slower,
 * never wrong; past MOST_STEEP, or when the slope at the nodes is not near 1 on average, phi is no
 * distance and the avatar is refused. */
static const double MOST_STEEP = 3, LEAST_SLOPE = 0.6, MOST_SLOPE = 1.4;

/* Across a cell to either side: at an edge that lies on grid planes the slope within the one cell
 * that a node falls in is anything from 0 to 1.4, this one 0.7. */
static double slope_at(const TlAvatar *a, TlVec3 p) {
  double h = a->spacing_m, g[3];
  for (int k = 0; k < 3; k++) {
    TlVec3 e = tl_vec3(k == 0 ? h : 0, k == 1 ? h : 0, k == 2 ? h : 0);
    g[k] = (tl_avatar_phi(a, tl_add(p, e), NULL) - tl_avatar_phi(a, tl_sub(p, e), NULL)) / (2 * h);
  }
  return tl_norm(tl_vec3(g[0], g[1], g[2]));
}

static TlStatus check_slope(const TlAvatar *a, double *steepest) {
  double sum = 0;
  for (int32_t i = 0; i < a->node_count; i++) {
    const float *p = &a->node_m[3 * (int64_t)i];
    sum += slope_at(a, tl_vec3(p[0], p[1], p[2]));
  }
  double mean = sum / a->node_count;
  *steepest = tl_avatar_measure_gradient(a);
  if (mean >= LEAST_SLOPE && mean <= MOST_SLOPE && *steepest <= MOST_STEEP) return TL_OK;
  return tl_fail(
      TL_EINPUT,
      "phi is no signed distance (slope %.2f at the surface on average, %.2f at most; it "
      "should be 1): build the avatar again from its surface",
      mean, *steepest);
}

/* ---- balls between nodes ---- */

static void nearer_node(const TlShape *shape, int32_t i, TlVec3 p, double *least) {
  const TlNodeSphere *s = &shape->sphere[i];
  if (tl_norm(tl_sub(p, tl_sphere_centre(s))) - s->radius >= *least) return;
  if (!s->leaf) {
    int32_t a = i + 1, b = shape->sphere[a].next;
    bool first = tl_norm2(tl_sub(p, tl_sphere_centre(&shape->sphere[a]))) <=
                 tl_norm2(tl_sub(p, tl_sphere_centre(&shape->sphere[b])));
    nearer_node(shape, first ? a : b, p, least);
    nearer_node(shape, first ? b : a, p, least);
    return;
  }
  for (int32_t k = s->first; k < s->first + s->count; k++)
    *least = tl_min(*least, tl_norm(tl_sub(p, tl_shape_node(shape, shape->node_index[k]))));
}

/* A ball about a grid point, of radius phi there, touches; how far is it from the nearest node? A
 * larger one that touches at the same place holds it and is nearer. Of balls of one to two cells,
 * and a tenth of a cell for those about no grid point. */
static void measure_deficit(TlShape *shape) {
  const TlAvatar *a = shape->avatar;
  double h = a->spacing_m, most = 0;
  for (int32_t k = 0; k < a->nz; k++)
    for (int32_t j = 0; j < a->ny; j++)
      for (int32_t i = 0; i < a->nx; i++) {
        double phi = a->phi[((int64_t)k * a->ny + j) * a->nx + i], least = INFINITY;
        if (!(phi > h && phi < 2 * h)) continue;
        nearer_node(shape, 0, tl_axpy(a->origin_m, h, tl_vec3(i, j, k)), &least);
        most = tl_max(most, least - phi);
      }
  shape->node_deficit = most + 0.1 * h;
}

/* All but its elements, which depend on the other shapes. */
static TlStatus make_shape(const TlShapes *shapes, int64_t id, const TlAvatar *avatar,
                           TlShape **out) {
  double steepest;
  TL_TRY(tl_avatar_check(avatar));
  TL_TRY(check_slope(avatar, &steepest));
  double lipschitz = fmax(1, steepest) * (1 + 1e-6);
  TlShape *shape;
  TL_TRY(TL_NEW(shape, 1));
  *shape = (TlShape){.id = id,
                     .avatar = avatar,
                     .radius_m = avatar->radius_m,
                     .volume_m3 = avatar->volume_m3,
                     .inertia_m5 = avatar->inertia_m5,
                     .phi_min_face = least_on_faces(avatar),
                     .lipschitz = lipschitz,
                     .lipschitz_out = sqrt(1 + lipschitz * lipschitz),
                     .node_spacing = sqrt(avatar->area_m2 / avatar->node_count)};
  TlStatus status = TL_OK;
  if (shapes->places) status = tl_place_shape_new(&shape->place, shape);
  if (status == TL_OK) status = avatar_tree(shape, avatar);
  if (status == TL_OK && shape->place) status = tl_place_shape_finish(shape->place, shape);
  if (status == TL_OK && shapes->balls) measure_deficit(shape);
  if (status == TL_OK && shapes->ground) status = tl_ground_shape_new(&shape->ground, shape);
  if (status != TL_OK) tl_shape_free(shape);
  if (status == TL_OK) *out = shape;
  return status;
}

static TlStatus add_avatar(TlShapes *shapes, int64_t id, const TlAvatar *avatar, bool wait) {
  TlShape *shape = NULL;
  TL_TRY(check_new(shapes, id));
  TL_TRY(tl_context(tl_shape_share(shapes, id, avatar, wait, make_shape, &shape), "avatar %lld",
                    (long long)id));
  if (!shape) return TL_OK;
  if (shapes->balls && shape->node_deficit == 0)
    measure_deficit(shape); /* made before there were balls */
  TlStatus status = insert(shapes, shape);
  if (status != TL_OK) tl_shape_unshare(shapes->shared, shape);
  return status == TL_OK ? add_elements(shapes) : status;
}

TlStatus tl_shapes_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar) {
  return add_avatar(shapes, id, avatar, true);
}

TlStatus tl_shapes_try_add(TlShapes *shapes, int64_t id, const TlAvatar *avatar) {
  return add_avatar(shapes, id, avatar, false);
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
                     .lipschitz = 1,
                     .lipschitz_out = 1,
                     .phi_min_face = INFINITY}; /* no grid: no face */
  for (int i = 0; i < kind->size_count; i++) shape->size[i] = size[i];
  TlStatus status = closed_tree(shape);
  if (shape->node_count > 0) shape->node_spacing = sqrt(mass.area_m2 / shape->node_count);
  if (status == TL_OK && shapes->places) status = tl_place_shape_new(&shape->place, shape);
  if (status == TL_OK && shapes->ground && shape->node_count > 0)
    status = tl_ground_shape_new(&shape->ground, shape);
  if (status == TL_OK) status = insert(shapes, shape);
  if (status != TL_OK) tl_shape_free(shape);
  if (status == TL_OK) status = add_elements(shapes);
  if (status != TL_OK || !kind->alone || shapes->balls) return status;
  shapes->balls = true;
  for (size_t i = 0; i < shapes->count; i++)
    if (shapes->shape[i]->avatar) measure_deficit(shapes->shape[i]);
  return TL_OK;
}

double tl_shape_phi(const TlShape *shape, TlVec3 p, TlVec3 *gradient) {
  if (shape->avatar) return tl_avatar_phi(shape->avatar, p, gradient);
  return shape->closed->phi(shape->size, p, gradient);
}

static double beyond(double s, double limit) {
  return s < 0 ? -s : s > limit ? s - limit : 0;
}

/* Distance of p from the box of the grid. */
static double box_distance(const TlAvatar *a, TlVec3 p) {
  double h = a->spacing_m;
  TlVec3 q = tl_sub(p, a->origin_m);
  double x = beyond(q.x, h * (a->nx - 1)), y = beyond(q.y, h * (a->ny - 1)),
         z = beyond(q.z, h * (a->nz - 1));
  return sqrt(x * x + y * y + z * z);
}

/* With q within r of p, c(.) the nearest point of the box, d the distance of p from it:
 * - phi(q) >= phi(p) - L_out r whatever the place, as long as the segment pq lies where phi >= 0;
 * - p in the box: the segment to q stays there, or leaves it by a face where phi >= face;
 * - p outside: q in the box is no farther than r - d from a face; q outside is no nearer than d -
 * r. Where the segment meets phi < 0 these bounds are negative, and no limit of ours is. Upwards: a
 * segment that starts inside the grain climbs only after it left it. */
static TlPhiRange range_of(const TlShape *shape, double phi, double d, double r) {
  double l = shape->lipschitz, face = shape->phi_min_face, clear = d - r + face;
  double low = phi - shape->lipschitz_out * r;
  double other = d > r ? clear : d > 0 ? face - l * (r - d) : (phi < face ? phi : face) - l * r;
  return (TlPhiRange){low > other ? low : other, (phi > 0 ? phi : 0) + shape->lipschitz_out * r};
}

TlPhiRange tl_shape_range_of(const TlShape *shape, TlVec3 p, double phi, double r) {
  if (!shape->avatar) return (TlPhiRange){phi - r, phi + r};
  return range_of(shape, phi, box_distance(shape->avatar, p), r);
}

TlPhiRange tl_shape_phi_range(const TlShape *shape, TlVec3 p, double r) {
  if (!shape->avatar)
    return tl_shape_range_of(shape, p, shape->closed->phi(shape->size, p, NULL), r);
  double d = box_distance(shape->avatar, p), clear = d - r + shape->phi_min_face;
  if (clear > shape->radius_m) return (TlPhiRange){clear, INFINITY}; /* far: save the lookup */
  return range_of(shape, tl_avatar_phi(shape->avatar, p, NULL), d, r);
}
