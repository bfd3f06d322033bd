#include "run/assembly_kinds.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/bodies.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Streams of the random numbers. */
enum { STREAM_DRAW = 101, STREAM_TURN = 102 };

typedef struct Draw {
  int64_t row, body; /* row of the selection; own body */
} Draw;

typedef struct Dealer {
  const TlStudyShapes *shapes;
  TlBodies *bodies;
  const Draw *draw;
  int64_t count, next, row, first;
  double *radius_m; /* [count] of bodies from `first` on; NULL: not wanted */
} Dealer;

/* More cells than this is a slip of a unit, not a study. */
#define MOST_CELLS 1e12

TlStatus tl_lattice_plan(const TlPlace *place, TlLattice *lattice) {
  const TlReleaseSetup *r = &place->setup->release;
  TlLattice l = {.place = place};
  l.radius = place->setup->grains.grain_scale * place->selection->radius_m;
  l.side = 2 * l.radius * r->spacing;
  for (int a = 0; a < 3; a++) {
    double cells = floor((r->high_m[a] - r->low_m[a]) / l.side * (1 + 1e-12));
    l.n[a] = cells > 0 ? (int64_t)fmin(cells, 1e9) : 0;
  }
  if (r->layers > 0) l.n[2] = r->layers;
  *lattice = l;
  if ((double)l.n[0] * (double)l.n[1] * (double)l.n[2] <= MOST_CELLS) return TL_OK;
  return tl_study_fail(place->study, TL_EINPUT, "release.high_m",
                       "the box holds %lld x %lld x %lld cells of %g m side; are the units right?",
                       (long long)l.n[0], (long long)l.n[1], (long long)l.n[2], l.side);
}

bool tl_inside_polygon(const TlStudyList *polygon, double x, double y) {
  const TlCorner *c = polygon->items;
  bool inside = polygon->count == 0;
  for (int64_t i = 0, j = polygon->count - 1; i < polygon->count; j = i++)
    if ((c[i].y_m > y) != (c[j].y_m > y) &&
        x < (c[j].x_m - c[i].x_m) * (y - c[i].y_m) / (c[j].y_m - c[i].y_m) + c[i].x_m)
      inside = !inside;
  return inside;
}

/* Of all but the terrain, which the lattice follows. */
static bool clear_of_boundaries(const TlLattice *l, TlVec3 p) {
  for (int i = 0; i < l->place->boundary_count; i++) {
    const TlBoundary *b = &l->place->boundaries[i];
    double phi;
    TlVec3 n;
    if (b->kind->phi == tl_boundary_terrain.phi || !b->kind->phi(b->data, p, &phi, &n)) continue;
    if (phi < l->radius * (1 - 1e-9)) return false;
  }
  return true;
}

/* The whole grain in the upright cylinder inscribed in the box. */
static bool inside_round(const TlLattice *l, TlVec3 p) {
  const TlReleaseSetup *r = &l->place->setup->release;
  double x = r->high_m[0] - r->low_m[0], y = r->high_m[1] - r->low_m[1];
  return !r->round || hypot(p.x - 0.5 * (r->low_m[0] + r->high_m[0]),
                            p.y - 0.5 * (r->low_m[1] + r->high_m[1])) <=
                          0.5 * fmin(x, y) - l->radius * (1 - 1e-9);
}

static TlVec3 jitter_of(const TlLattice *l, int64_t g) {
  double u[3];
  for (int a = 0; a < 3; a++)
    u[a] = 2 * tl_random_uniform((uint64_t)l->place->setup->seed, l->jitter_stream,
                                 3 * (uint64_t)g + (uint64_t)a) -
           1;
  return tl_scale(l->jitter_m, tl_vec3(u[0], u[1], u[2]));
}

bool tl_lattice_cell(const TlLattice *l, int64_t g, TlVec3 *p) {
  const TlReleaseSetup *r = &l->place->setup->release;
  const TlTerrain *terrain = l->place->terrain;
  int64_t i = g % l->n[0], j = g / l->n[0] % l->n[1], k = g / l->n[0] / l->n[1];
  double lift = 0, ground;
  *p = tl_vec3(r->low_m[0] + l->shift_m[0] + ((double)i + 0.5) * l->side,
               r->low_m[1] + l->shift_m[1] + ((double)j + 0.5) * l->side,
               r->low_m[2] + l->shift_m[2] + ((double)k + 0.5) * l->side);
  if (l->jitter_m > 0) *p = tl_add(*p, jitter_of(l, g));
  if (!tl_inside_polygon(&r->polygon, p->x, p->y) || !inside_round(l, *p)) return false;
  if (terrain && r->layers > 0) {
    if (!tl_terrain_height(terrain, p->x, p->y, &ground, NULL)) return false;
    p->z = ground + l->radius;
    if (!tl_ground_lift(terrain, *p, l->radius, r->clearance_m, &lift)) return false;
    p->z += lift + r->above_ground_m + (double)k * l->side;
  } else if (terrain) {
    if (!tl_ground_lift(terrain, *p, l->radius, r->clearance_m, &lift) || lift > 0) return false;
  }
  return clear_of_boundaries(l, *p);
}

TlQuat tl_random_turn(uint64_t seed, uint64_t stream, uint64_t index) {
  TlQuat q = {0};
  for (uint64_t i = 8 * index; !(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z > 1e-6); i++)
    q = (TlQuat){tl_random_normal(seed, stream, i), tl_random_normal(seed, stream, i + 1),
                 tl_random_normal(seed, stream, i + 2), tl_random_normal(seed, stream, i + 3)};
  return tl_quat_unit(q);
}

TlStatus tl_lattice_add(const TlLattice *l, TlVec3 middle, int64_t id, TlBodies *bodies) {
  const TlSetup *setup = l->place->setup;
  int64_t i;
  TL_TRY(tl_bodies_add(bodies, id, 0, &i));
  bodies->colliders.scale[bodies->first[i]] = setup->grains.grain_scale;
  bodies->position[i] = middle;
  bodies->rotation[i] = tl_random_turn((uint64_t)setup->seed, STREAM_TURN, (uint64_t)id);
  bodies->velocity[i] = tl_vec3_of(setup->release.velocity_m_s);
  return TL_OK;
}

/* ---- a count ---- */

static bool filled(const TlLattice *l, int64_t g, TlVec3 *middle) {
  int64_t columns = l->n[0] * l->n[1];
  return (!l->most || g / columns < l->most[g % columns]) && tl_lattice_cell(l, g, middle);
}

/* The columns of one rank. */
typedef struct Columns {
  const TlLattice *lattice;
  int64_t first, count;
  int64_t *cells; /* that a grain may have, of each; owned */
} Columns;

/* Places of columns in an order in which every beginning lies evenly over the plan: the fractional
 * part of i a + j b with the powers of the plastic number (Roberts' R2 sequence), times 2^64. No
 * two columns of a box (at most 1e9 along a side) share a place. */
static uint64_t place_of(const TlLattice *l, int64_t column) {
  uint64_t i = (uint64_t)(column % l->n[0]), j = (uint64_t)(column / l->n[0]);
  return i * 0xC13FA9A902A6328Fu + j * 0x91E10DA5C79E7B1Du;
}

/* Over all ranks: grains when each column has at most `layers`. */
static TlStatus held(const Columns *c, int64_t layers, int64_t *grains) {
  *grains = 0;
  for (int64_t i = 0; i < c->count; i++) *grains += c->cells[i] < layers ? c->cells[i] : layers;
  return tl_comm_sum_int(c->lattice->place->comm, grains, 1);
}

/* Over all ranks: columns with more than `layers` cells whose place is at most `last`. */
static TlStatus columns_up_to(const Columns *c, int64_t layers, uint64_t last, int64_t *columns) {
  *columns = 0;
  for (int64_t i = 0; i < c->count; i++)
    *columns += c->cells[i] > layers && place_of(c->lattice, c->first + i) <= last;
  return tl_comm_sum_int(c->lattice->place->comm, columns, 1);
}

/* The most layers that `count` grains fill in every column, and the last place of a column that has
 * one grain more; *more is false when none has. Both by bisection. */
static TlStatus find_layers(const Columns *c, int64_t count, int64_t *layers, uint64_t *last,
                            bool *more) {
  int64_t low = 0, high = c->lattice->n[2], grains, columns;
  while (low < high) {
    int64_t middle = low + (high - low + 1) / 2;
    TL_TRY(held(c, middle, &grains));
    if (grains <= count)
      low = middle;
    else
      high = middle - 1;
  }
  TL_TRY(held(c, low, &grains));
  *layers = low;
  *last = 0;
  *more = grains < count;
  for (int bit = 63; bit >= 0; bit--) { /* the least place with enough columns up to it */
    uint64_t below = *last + ((uint64_t)1 << bit) - 1;
    TL_TRY(columns_up_to(c, low, below, &columns));
    if (columns < count - grains) *last = below + 1;
  }
  return TL_OK;
}

/* How far up a column is filled with `grains` grains. */
static int64_t height_of(const TlLattice *l, int64_t column, int64_t grains) {
  TlVec3 p;
  int64_t k = 0;
  for (; grains > 0; k++) grains -= tl_lattice_cell(l, k * l->n[0] * l->n[1] + column, &p);
  return k;
}

static TlStatus fill_columns(Columns *c, int64_t count, int64_t *most) {
  const TlLattice *l = c->lattice;
  int64_t layers, columns = l->n[0] * l->n[1];
  uint64_t last;
  bool more;
  TlVec3 p;
  for (int64_t i = 0; i < c->count; i++)
    for (int64_t k = 0; k < l->n[2]; k++)
      c->cells[i] += tl_lattice_cell(l, k * columns + c->first + i, &p);
  TL_TRY(find_layers(c, count, &layers, &last, &more));
  for (int64_t i = 0; i < c->count; i++) {
    int64_t column = c->first + i, grains = c->cells[i] < layers ? c->cells[i] : layers;
    if (more && c->cells[i] > layers && place_of(l, column) <= last) grains++;
    most[column] = height_of(l, column, grains);
  }
  for (int64_t from = 0; from < columns; from += 1 << 20) {
    int64_t n = columns - from < 1 << 20 ? columns - from : 1 << 20;
    TL_TRY(tl_comm_sum_int(l->place->comm, most + from, (int)n));
  }
  return TL_OK;
}

/* Collective: l->most for this count. */
static TlStatus level(TlLattice *l, int64_t count) {
  TlComm *comm = l->place->comm;
  int64_t columns = l->n[0] * l->n[1], me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  Columns c = {.lattice = l, .first = columns * me / ranks};
  c.count = columns * (me + 1) / ranks - c.first;
  int64_t *most = NULL;
  TlStatus status = TL_NEW(most, (size_t)columns);
  if (status == TL_OK) status = TL_NEW(c.cells, (size_t)c.count);
  status = tl_comm_agree(comm, status);
  if (status == TL_OK) status = fill_columns(&c, count, most);
  tl_free(c.cells);
  l->most = most;
  return status;
}

/* ---- filling ---- */

/* Bodies with ids [low, high) out of the cells [begin, end), whose first filled cell has this id.
 */
static TlStatus fill_cells(const TlLattice *l, int64_t begin, int64_t end, int64_t id, int64_t low,
                           int64_t high, TlBodies *bodies) {
  TlVec3 p;
  for (int64_t g = begin; g < end && id < high; g++) {
    if (!filled(l, g, &p) || id++ < low) continue;
    TL_TRY(tl_lattice_add(l, p, id - 1, bodies));
  }
  return TL_OK;
}

/* Ranks count equal parts of the cells but fill equal parts of the ids: a count below the cells
 * fills the lower parts alone. counts: filled cells of each part. */
static TlStatus fill_ids(const TlLattice *l, const int64_t *counts, int64_t cells, int64_t grains,
                         TlBodies *bodies) {
  int64_t me = tl_comm_rank(l->place->comm), ranks = tl_comm_size(l->place->comm), id = 0;
  int64_t low = grains * me / ranks, high = grains * (me + 1) / ranks;
  for (int64_t r = 0; r < ranks; id += counts[r++])
    if (id < high && id + counts[r] > low)
      TL_TRY(fill_cells(l, cells * r / ranks, cells * (r + 1) / ranks, id, low, high, bodies));
  return TL_OK;
}

static int compare_draw(const void *a, const void *b) {
  const Draw *x = a, *y = b;
  if (x->row != y->row) return x->row < y->row ? -1 : 1;
  return x->body < y->body ? -1 : x->body > y->body;
}

static TlStatus deal(void *context, const TlGrainRow *row) {
  Dealer *d = context;
  for (; d->next < d->count && d->draw[d->next].row == d->row; d->next++) {
    TlColliders *c = &d->bodies->colliders;
    int64_t body = d->draw[d->next].body, i = d->bodies->first[body];
    TlGrainRow drawn = tl_study_shapes_stand_in(d->shapes, row, &c->scale[i]);
    c->avatar_id[i] = drawn.id;
    c->material[i] = tl_material_of_avatar(d->shapes->setup, row->id);
    if (d->radius_m) d->radius_m[body - d->first] = c->scale[i] * drawn.radius_m;
  }
  d->row++;
  return TL_OK;
}

/* Draws sorted by row, then one walk through the rows. */
TlStatus tl_lattice_draw(const TlPlace *place, TlBodies *bodies, int64_t first, double *radius_m) {
  Dealer d = {.shapes = place->shapes,
              .bodies = bodies,
              .count = bodies->owned - first,
              .first = first,
              .radius_m = radius_m};
  Draw *draw;
  if (d.count == 0) return TL_OK;
  TL_TRY(TL_NEW(draw, (size_t)d.count));
  for (int64_t i = 0; i < d.count; i++) {
    double u = tl_random_uniform((uint64_t)place->setup->seed, STREAM_DRAW,
                                 (uint64_t)bodies->id[first + i]);
    draw[i] = (Draw){(int64_t)(u * (double)place->selection->count), first + i};
  }
  qsort(draw, (size_t)d.count, sizeof *draw, compare_draw);
  d.draw = draw;
  d.row = draw[0].row;
  TlStatus status = tl_selection_walk(place->selection, d.row, draw[d.count - 1].row + 1, deal, &d);
  tl_free(draw);
  return status;
}

static int64_t count_filled(const TlLattice *l, int64_t begin, int64_t end) {
  int64_t count = 0;
  TlVec3 p;
  for (int64_t g = begin; g < end; g++) count += filled(l, g, &p);
  return count;
}

/* Filled cells of each rank's part of the cells. */
static TlStatus count_parts(const TlLattice *l, int64_t *counts, int64_t *all) {
  TlComm *comm = l->place->comm;
  int64_t cells = l->n[0] * l->n[1] * l->n[2], me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  int64_t mine = count_filled(l, cells * me / ranks, cells * (me + 1) / ranks);
  *all = 0;
  TL_TRY(tl_comm_gather_all(comm, &mine, counts, sizeof mine));
  for (int64_t r = 0; r < ranks; r++) *all += counts[r];
  return TL_OK;
}

static TlStatus check_count(const TlLattice *l, int64_t all) {
  const TlReleaseSetup *r = &l->place->setup->release;
  if (all == 0)
    return tl_study_fail(l->place->study, TL_EINPUT, "release.high_m",
                         "no cell of %g m side (spacing %g times the largest grain's %g m) fits "
                         "in the box (or its cylinder), the polygon and above the ground",
                         l->side, r->spacing, 2 * l->radius);
  if (r->count > all)
    return tl_study_fail(l->place->study, TL_EINPUT, "release.count",
                         "%lld grains do not fit: there are %lld cells of %g m side",
                         (long long)r->count, (long long)all, l->side);
  return TL_OK;
}

/* ---- bodies ---- */

/* How deep two lie in each other, by the points of either in the other. */
static double depth_of(const TlPlaced *a, const TlPlaced *b) {
  double far = tl_placed_radius(a) + tl_placed_radius(b), depth = 0, beyond;
  double between = tl_norm(tl_sub(a->position, b->position));
  if (between >= far) return 0;
  if (a->ball_m > 0 && b->ball_m > 0) return far - between;
  for (int side = 0; side < 2; side++) {
    const TlPlaced *of = side ? b : a, *in = side ? a : b;
    double reach = tl_placed_radius(in);
    for (int32_t i = 0; i < tl_placed_points(of); i++) {
      TlVec3 x = tl_placed_point(of, i, &beyond);
      if (tl_norm(tl_sub(x, in->position)) < reach + beyond)
        depth = fmax(depth, beyond - tl_placed_phi(in, x));
    }
  }
  return depth;
}

/* Of this rank's grains the one with the least id that lies in a body by more than a twentieth of its radius. */
static TlStatus find_overlap(const TlPlace *place, TlObstacles *o, const TlBodies *b,
                             int64_t *grain, int64_t *part) {
  const TlColliders *c = &b->colliders;
  double largest = place->setup->grains.grain_scale * place->selection->radius_m;
  *grain = -1;
  for (int64_t i = 0; i < b->owned; i++) {
    TlPlaced p = {.position = b->position[i], .rotation = tl_quat_matrix(b->rotation[i])};
    if (*grain >= 0 && b->id[i] > b->id[*grain]) continue;
    for (int64_t k = 0; k < o->count; k++) {
      if (tl_norm(tl_sub(p.position, o->part[k].position)) >=
          largest + tl_placed_radius(&o->part[k]))
        continue;
      p.avatar = tl_avatars_get(&o->avatars, c->avatar_id[b->first[i]]);
      if (!p.avatar) return TL_EINPUT;
      p.ball_m = tl_study_shapes_ball(place->shapes, c->avatar_id[b->first[i]]);
      p.scale = c->scale[b->first[i]];
      if (depth_of(&p, &o->part[k]) <= 0.05 * tl_placed_radius(&p)) continue;
      *grain = i;
      *part = k;
      break;
    }
  }
  return TL_OK;
}

static TlStatus check_bodies(const TlPlace *place, const TlBodies *b) {
  const TlBodySetup *setup = place->setup->bodies.items;
  TlObstacles o;
  int64_t grain = -1, part = 0;
  char path[48];
  if (place->setup->bodies.count == 0) return TL_OK;
  TlStatus status = tl_obstacles_open(&o, place);
  if (status == TL_OK) status = find_overlap(place, &o, b, &grain, &part);
  int64_t body = grain >= 0 ? o.body[part] : 0;
  tl_obstacles_close(&o);
  if (status != TL_OK || grain < 0) return status;
  snprintf(path, sizeof path, "bodies.%lld.position_m", (long long)body);
  TlVec3 x = b->position[grain];
  return tl_study_fail(
      place->study, TL_EINPUT, path,
      "grain %lld of release.assembly: lattice, at x = %g, y = %g, z = %g m, lies "
      "in body %lld%s%s%s at the start: move the body or the box from release.low_m "
      "to release.high_m, or write release.assembly: drawn, which keeps clear of "
      "bodies",
      (long long)b->id[grain], x.x, x.y, x.z, (long long)body, setup[body].name ? " (" : "",
      setup[body].name ? setup[body].name : "", setup[body].name ? ")" : "");
}

TlStatus tl_lattice_make(const TlPlace *place, TlBodies *bodies) {
  TlLattice l;
  TL_TRY(tl_lattice_plan(place, &l));
  TlComm *comm = place->comm;
  int64_t *counts, all, most = place->setup->release.count;
  TL_TRY(tl_comm_agree(comm, TL_NEW(counts, (size_t)tl_comm_size(comm))));
  TlStatus status = count_parts(&l, counts, &all);
  if (status == TL_OK) status = check_count(&l, all);
  if (status == TL_OK && most > 0 && most < all) {
    status = level(&l, most);
    if (status == TL_OK) status = count_parts(&l, counts, &all);
  }
  if (status == TL_OK) status = fill_ids(&l, counts, l.n[0] * l.n[1] * l.n[2], all, bodies);
  if (status == TL_OK) status = tl_lattice_draw(place, bodies, 0, NULL);
  if (status == TL_OK) status = check_bodies(place, bodies);
  tl_free(l.most);
  tl_free(counts);
  return tl_comm_agree(comm, status);
}
