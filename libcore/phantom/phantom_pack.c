#include "phantom/phantom_shape.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS_GROWING = 170, SWEEPS_SETTLING = 130, SWEEPS_A_LIST = 8 };

typedef struct Push {
  TlVec3 shift[2], turn[2]; /* of the pair's first and second grain */
  double depth;
  int touches;
} Push;

typedef struct Pair {
  int64_t grain[2];
  TlVec3 image; /* added to the second's position: which periodic image is meant */
} Pair;

typedef struct Packing {
  const TlPhantomBox *box;
  const TlPhantomShape *shapes;
  TlPhantomPose *poses;
  int64_t count;
  double scale; /* of all grains at this sweep */
  struct Pair *pairs;
  Push *pushes;
  size_t pair_count, pair_capacity, push_capacity;
} Packing;

static double nearest_image(double d, double period) {
  return d - period * floor(d / period + 0.5);
}

/* Image of b nearest to a, as what to add to b's position. */
static TlVec3 image_of(const TlPhantomBox *box, TlVec3 a, TlVec3 b) {
  TlVec3 d = tl_sub(b, a), image = {0, 0, 0};
  if (box->cylinder_radius <= 0) {
    image.x = nearest_image(d.x, box->size[0]) - d.x;
    image.y = nearest_image(d.y, box->size[1]) - d.y;
  }
  image.z = nearest_image(d.z, box->size[2]) - d.z;
  return image;
}

/* ---- neighbours: cells of the largest diameter, lists with a margin, rebuilt every few sweeps */

typedef struct Cells {
  int n[3];
  int64_t *first, *next; /* linked lists by cell, in descending grain order */
} Cells;

static int cell_along(const Packing *p, const Cells *cells, int axis, double x) {
  int n = cells->n[axis], c = (int)floor(x / p->box->size[axis] * n);
  return c < 0 ? 0 : c >= n ? n - 1 : c;
}

static TlStatus cells_make(const Packing *p, double widest, Cells *cells) {
  for (int a = 0; a < 3; a++) {
    double n = floor(p->box->size[a] / widest);
    cells->n[a] = n < 3 ? 1 : n > 256 ? 256 : (int)n; /* below 3 a cell would meet itself twice */
  }
  size_t all = (size_t)cells->n[0] * (size_t)cells->n[1] * (size_t)cells->n[2];
  TL_TRY(TL_NEW(cells->first, all));
  TlStatus status = TL_NEW(cells->next, (size_t)p->count);
  if (status != TL_OK) {
    tl_free(cells->first);
    return status;
  }
  for (size_t c = 0; c < all; c++) cells->first[c] = -1;
  for (int64_t i = 0; i < p->count; i++) {
    TlVec3 at = p->poses[i].position;
    int x = cell_along(p, cells, 0, at.x), y = cell_along(p, cells, 1, at.y),
        z = cell_along(p, cells, 2, at.z);
    int64_t c = ((int64_t)z * cells->n[1] + y) * cells->n[0] + x;
    cells->next[i] = cells->first[c];
    cells->first[c] = i;
  }
  return TL_OK;
}

/* Large grains of a small box may meet at several images at once: a pair for each. */
static TlStatus pairs_of_two(Packing *p, int64_t i, int64_t j, double reach) {
  TlVec3 nearest = image_of(p->box, p->poses[i].position, p->poses[j].position);
  TlVec3 d = tl_sub(p->poses[j].position, p->poses[i].position);
  const double *size = p->box->size;
  int side = p->box->cylinder_radius > 0 ? 0 : 1;
  for (int k = 0; k < 27; k++) {
    int x = k % 3 - 1, y = k / 3 % 3 - 1, z = k / 9 - 1;
    if (abs(x) > side || abs(y) > side) continue;
    TlVec3 image = tl_add(nearest, tl_vec3(x * size[0], y * size[1], z * size[2]));
    if (tl_norm2(tl_add(d, image)) > reach * reach) continue;
    TL_TRY(TL_RESERVE(p->pairs, p->pair_capacity, p->pair_count + 1));
    p->pairs[p->pair_count++] = (Pair){{i, j}, image};
  }
  return TL_OK;
}

static TlStatus pairs_of_cell(Packing *p, const Cells *cells, int64_t i, int64_t cell,
                              double margin) {
  for (int64_t j = cells->first[cell]; j > i; j = cells->next[j]) {
    double reach = p->scale * (p->shapes[i].radius + p->shapes[j].radius) + margin;
    TL_TRY(pairs_of_two(p, i, j, reach));
  }
  return TL_OK;
}

static TlStatus pairs_of_grain(Packing *p, const Cells *cells, int64_t i, double margin) {
  TlVec3 at = p->poses[i].position;
  int c[3] = {cell_along(p, cells, 0, at.x), cell_along(p, cells, 1, at.y),
              cell_along(p, cells, 2, at.z)};
  int low[3], high[3];
  for (int a = 0; a < 3; a++) {
    low[a] = cells->n[a] == 1 ? 0 : -1;
    high[a] = cells->n[a] == 1 ? 0 : 1;
  }
  for (int dz = low[2]; dz <= high[2]; dz++)
    for (int dy = low[1]; dy <= high[1]; dy++)
      for (int dx = low[0]; dx <= high[0]; dx++) {
        int x = (c[0] + dx + cells->n[0]) % cells->n[0],
            y = (c[1] + dy + cells->n[1]) % cells->n[1],
            z = (c[2] + dz + cells->n[2]) % cells->n[2];
        int64_t cell = ((int64_t)z * cells->n[1] + y) * cells->n[0] + x;
        TL_TRY(pairs_of_cell(p, cells, i, cell, margin));
      }
  return TL_OK;
}

static double wrap(double x, double period) {
  return x - period * floor(x / period);
}

static void wrap_all(Packing *p) {
  for (int64_t i = 0; i < p->count; i++) {
    TlVec3 *at = &p->poses[i].position;
    if (p->box->cylinder_radius <= 0) {
      at->x = wrap(at->x, p->box->size[0]);
      at->y = wrap(at->y, p->box->size[1]);
    }
    at->z = wrap(at->z, p->box->size[2]);
  }
}

static TlStatus find_pairs(Packing *p, double margin) {
  wrap_all(p);
  double largest = 0;
  for (int64_t i = 0; i < p->count; i++) largest = fmax(largest, p->shapes[i].radius);
  Cells cells;
  TL_TRY(cells_make(p, 2 * p->scale * largest + margin, &cells));
  p->pair_count = 0;
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < p->count && status == TL_OK; i++)
    status = pairs_of_grain(p, &cells, i, margin);
  tl_free(cells.first);
  tl_free(cells.next);
  if (status == TL_OK) status = TL_RESERVE(p->pushes, p->push_capacity, p->pair_count);
  return status;
}

/* ---- pushing a pair apart ---- */

static TlVec3 node_at(const TlPhantomShape *s, int k) {
  return tl_vec3((double)s->node_x[k], (double)s->node_y[k], (double)s->node_z[k]);
}

/* The nodes of a in b's unscaled body frame; in vectors, since most of them are then dropped. */
static void nodes_in_other(const Packing *p, int64_t a, int64_t b, TlVec3 apart, float x[],
                           float y[], float z[]) {
  const TlPhantomShape *sa = &p->shapes[a];
  TlMat3 rb = tl_quat_matrix(p->poses[b].rotation);
  TlMat3 m = tl_quat_matrix(tl_quat_mul(tl_quat_conj(p->poses[b].rotation), p->poses[a].rotation));
  TlVec3 off = tl_scale(1 / p->scale, tl_mat_tvec(rb, apart));
  float r[3][3], o[3] = {(float)off.x, (float)off.y, (float)off.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r[i][j] = (float)m.m[i][j];
  for (int k = 0; k < TL_PHANTOM_NODES; k++) {
    float u = sa->node_x[k], v = sa->node_y[k], w = sa->node_z[k];
    x[k] = r[0][0] * u + r[0][1] * v + r[0][2] * w - o[0];
    y[k] = r[1][0] * u + r[1][1] * v + r[1][2] * w - o[1];
    z[k] = r[2][0] * u + r[2][1] * v + r[2][2] * w - o[2];
  }
}

/* No node of a can be inside b: phi is 1-Lipschitz, so its value at a's centre tells. */
static bool surely_apart(const Packing *p, int64_t a, int64_t b, TlVec3 apart) {
  TlVec3 d = tl_scale(-1 / p->scale, tl_mat_tvec(tl_quat_matrix(p->poses[b].rotation), apart));
  float x = (float)d.x, y = (float)d.y, z = (float)d.z, phi;
  tl_phantom_shape_phi(&p->shapes[b], 1, &x, &y, &z, &phi);
  return (double)phi > p->shapes[a].radius;
}

/* Deepest node of grain a in grain b, voxels (> 0: overlap), and its place in b's unscaled body
 * frame. apart: from a's centre to b's. */
static double deepest_node(const Packing *p, int64_t a, int64_t b, TlVec3 apart, int *node,
                           TlVec3 *in_b) {
  float x[TL_PHANTOM_NODES], y[TL_PHANTOM_NODES], z[TL_PHANTOM_NODES], phi[TL_PHANTOM_BATCH];
  int index[TL_PHANTOM_NODES], n = 0;
  nodes_in_other(p, a, b, apart, x, y, z);
  float r2 = (float)(p->shapes[b].radius * p->shapes[b].radius);
  for (int k = 0; k < p->shapes[a].node_count; k++) {
    if (x[k] * x[k] + y[k] * y[k] + z[k] * z[k] > r2) continue;
    index[n] = k;
    x[n] = x[k];
    y[n] = y[k];
    z[n++] = z[k];
  }
  double deepest = 0;
  for (int from = 0; from < n; from += TL_PHANTOM_BATCH) {
    int count = n - from < TL_PHANTOM_BATCH ? n - from : TL_PHANTOM_BATCH;
    tl_phantom_shape_phi(&p->shapes[b], count, x + from, y + from, z + from, phi);
    for (int i = 0; i < count; i++) {
      if (-(double)phi[i] <= deepest) continue;
      deepest = -(double)phi[i];
      *node = index[from + i];
      *in_b = tl_vec3((double)x[from + i], (double)y[from + i], (double)z[from + i]);
    }
  }
  return deepest * p->scale;
}

static double mass(const TlPhantomShape *shape) {
  return shape->diameter * shape->diameter * shape->diameter;
}
/* Of the sphere of equal volume: only weighs how a push is shared. */
static double inertia(const TlPhantomShape *shape) {
  return 0.1 * mass(shape) * shape->diameter * shape->diameter;
}

/* Moves that undo depth at the contact, shared by inverse masses; n pushes grain b away from a. */
static void undo_overlap(const Packing *p, int64_t a, int64_t b, TlVec3 arm_a, TlVec3 arm_b,
                         TlVec3 n, double depth, int sign, Push *push) {
  const TlPhantomShape *sa = &p->shapes[a], *sb = &p->shapes[b];
  TlVec3 ta = tl_cross(arm_a, n), tb = tl_cross(arm_b, n);
  double wa = 1 / mass(sa) + tl_norm2(ta) / inertia(sa);
  double wb = 1 / mass(sb) + tl_norm2(tb) / inertia(sb);
  double lambda = depth / (wa + wb);
  int first = sign > 0 ? 0 : 1, second = 1 - first;
  push->shift[first] = tl_axpy(push->shift[first], -lambda / mass(sa), n);
  push->turn[first] = tl_axpy(push->turn[first], -lambda / inertia(sa), ta);
  push->shift[second] = tl_axpy(push->shift[second], lambda / mass(sb), n);
  push->turn[second] = tl_axpy(push->turn[second], lambda / inertia(sb), tb);
  push->depth = fmax(push->depth, depth);
  push->touches++;
}

/* Node of a in b; sign -1 when the pair is (b, a). */
static void push_by_nodes(const Packing *p, int64_t a, int64_t b, TlVec3 apart, int sign,
                          Push *push) {
  int node = 0;
  TlVec3 in_b = {0, 0, 0};
  double depth = deepest_node(p, a, b, apart, &node, &in_b);
  if (depth <= 0) return;
  TlVec3 arm =
      tl_scale(p->scale, tl_quat_rotate(p->poses[a].rotation, node_at(&p->shapes[a], node)));
  TlVec3 out_of_b =
      tl_quat_rotate(p->poses[b].rotation, tl_phantom_shape_normal(&p->shapes[b], in_b));
  /* A grain deep inside another is held there by normals to both sides: by the centres instead. */
  if (depth > 0.2 * p->scale * fmin(p->shapes[a].diameter, p->shapes[b].diameter) &&
      tl_norm(apart) > 0)
    out_of_b = tl_scale(-1, tl_unit(apart));
  undo_overlap(p, a, b, arm, tl_sub(arm, apart), tl_scale(-1, out_of_b), depth, sign, push);
}

static void push_pair(const Packing *p, size_t k) {
  int64_t i = p->pairs[k].grain[0], j = p->pairs[k].grain[1];
  Push *push = &p->pushes[k];
  memset(push, 0, sizeof *push);
  TlVec3 other = tl_add(p->poses[j].position, p->pairs[k].image);
  TlVec3 apart = tl_sub(other, p->poses[i].position);
  double r = p->scale * (p->shapes[i].radius + p->shapes[j].radius);
  if (tl_norm2(apart) > r * r) return;
  if (surely_apart(p, i, j, apart) || surely_apart(p, j, i, tl_scale(-1, apart))) return;
  push_by_nodes(p, i, j, apart, 1, push);
  push_by_nodes(p, j, i, tl_scale(-1, apart), -1, push);
}

/* The cylinder's wall pushes the outermost node inwards. */
static double push_wall(const Packing *p, int64_t i, TlVec3 *shift, TlVec3 *turn) {
  const TlPhantomShape *s = &p->shapes[i];
  TlVec3 c = p->poses[i].position;
  double cx = c.x - 0.5 * p->box->size[0], cy = c.y - 0.5 * p->box->size[1];
  double wall = p->box->cylinder_radius;
  if (hypot(cx, cy) + p->scale * s->radius < wall) return 0;
  TlMat3 rotation = tl_quat_matrix(p->poses[i].rotation);
  double farthest = wall;
  TlVec3 arm = {0, 0, 0}, n = {0, 0, 0};
  for (int k = 0; k < s->node_count; k++) {
    TlVec3 r = tl_mat_vec(rotation, tl_scale(p->scale, node_at(s, k)));
    double x = cx + r.x, y = cy + r.y, rho = hypot(x, y);
    if (rho <= farthest) continue;
    farthest = rho;
    arm = r;
    n = tl_vec3(-x / rho, -y / rho, 0);
  }
  double depth = farthest - wall;
  if (depth <= 0) return 0;
  TlVec3 t = tl_cross(arm, n);
  double lambda = depth / (1 / mass(s) + tl_norm2(t) / inertia(s));
  *shift = tl_axpy(*shift, lambda / mass(s), n);
  *turn = tl_axpy(*turn, lambda / inertia(s), t);
  return depth;
}

typedef struct Move {
  TlVec3 shift, turn;
  int touches;
} Move;

static void gather(const Packing *p, Move *moves) {
  memset(moves, 0, (size_t)p->count * sizeof *moves);
  for (size_t k = 0; k < p->pair_count; k++) {
    const Push *push = &p->pushes[k];
    for (int side = 0; side < 2 && push->touches; side++) {
      Move *m = &moves[p->pairs[k].grain[side]];
      m->shift = tl_add(m->shift, push->shift[side]);
      m->turn = tl_add(m->turn, push->turn[side]);
      m->touches += push->touches;
    }
  }
}

static void apply(Packing *p, int64_t i, Move m) {
  /* Jacobi: each contact undoes its overlap alone, so a grain with many takes a fraction of the sum */
  double fraction_of_sum = 1.2 / (1 + 0.25 * m.touches);
  TlPhantomPose *pose = &p->poses[i];
  pose->position = tl_axpy(pose->position, fraction_of_sum, m.shift);
  TlVec3 turn = tl_scale(fraction_of_sum, m.turn);
  double angle = tl_norm(turn);
  if (angle > 0.1) turn = tl_scale(0.1 / angle, turn);
  pose->rotation = tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(turn), pose->rotation));
}

static double sweep(Packing *p, Move *moves) {
#pragma omp parallel for schedule(dynamic, 16)
  for (size_t k = 0; k < p->pair_count; k++) push_pair(p, k);
  gather(p, moves);
  double deepest = 0;
  for (size_t k = 0; k < p->pair_count; k++) deepest = fmax(deepest, p->pushes[k].depth);
  for (int64_t i = 0; i < p->count; i++) {
    if (p->box->cylinder_radius > 0) {
      double depth = push_wall(p, i, &moves[i].shift, &moves[i].turn);
      deepest = fmax(deepest, depth);
      moves[i].touches += depth > 0;
    }
    apply(p, i, moves[i]);
  }
  return deepest;
}

static void place_at_random(Packing *p, uint64_t seed) {
  TlRandom random = {seed, 0x9ac4, 0};
  for (int64_t i = 0; i < p->count; i++) {
    TlVec3 at;
    double wall = p->box->cylinder_radius, cx = 0.5 * p->box->size[0], cy = 0.5 * p->box->size[1];
    do {
      at.x = p->box->size[0] * tl_random_next(&random);
      at.y = p->box->size[1] * tl_random_next(&random);
      at.z = p->box->size[2] * tl_random_next(&random);
    } while (wall > 0 && hypot(at.x - cx, at.y - cy) > wall - 0.5 * p->shapes[i].diameter);
    p->poses[i].position = at;
    TlQuat q = {tl_random_next_normal(&random), tl_random_next_normal(&random),
                tl_random_next_normal(&random), tl_random_next_normal(&random)};
    p->poses[i].rotation = tl_quat_unit(q);
  }
}

static TlStatus relax(Packing *p, Move *moves, double *deepest) {
  const int sweeps = SWEEPS_GROWING + SWEEPS_SETTLING;
  double margin = 0;
  for (int64_t i = 0; i < p->count; i++) margin += 0.15 * p->shapes[i].diameter / (double)p->count;
  TlProgress progress = tl_progress_start("packing", sweeps);
  TlStatus status = TL_OK;
  for (int s = 0; s < sweeps && status == TL_OK; s++) {
    p->scale = s < SWEEPS_GROWING ? 0.4 + 0.6 * (s + 1) / SWEEPS_GROWING : 1;
    if (s % SWEEPS_A_LIST == 0) status = find_pairs(p, margin);
    if (status == TL_OK) *deepest = sweep(p, moves);
    tl_progress(&progress, s + 1);
  }
  tl_progress_end(&progress);
  return status;
}

TlStatus tl_phantom_pack(const TlPhantomBox *box, const TlPhantomShape *shapes, int64_t count,
                         uint64_t seed, TlPhantomPose *poses, double *deepest) {
  Packing p = {.box = box, .shapes = shapes, .poses = poses, .count = count};
  Move *moves;
  TL_TRY(TL_NEW(moves, (size_t)count));
  place_at_random(&p, seed);
  TlStatus status = relax(&p, moves, deepest);
  tl_free(moves);
  tl_free(p.pairs);
  tl_free(p.pushes);
  return status;
}
