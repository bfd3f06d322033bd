/* What a net does while a run goes on: the force on its clamped spheres, its longest bond, and
 * which grains pass it, through its meshes or round its edge. One rank. */
#ifndef TL_TESTS_VALIDATION_BARRIER_H
#define TL_TESTS_VALIDATION_BARRIER_H

#include "judge/judge.h"

#include "base/mem.h"
#include "run/run.h"

#include <math.h>

/* Of the grains, spin included: spheres under a resting grain show one step's spring pull. */
static inline double barrier_grains_kinetic(const TlBodies *b) {
  double sum = 0;
  for (int64_t i = 0; i < b->owned; i++)
    if (!(b->flags[i] & TL_BODY_NET))
      sum += 0.5 * b->mass[i] * tl_norm2(b->velocity[i]) +
             0.5 * tl_dot(tl_bodies_spin(b, i), b->momentum[i]);
  return sum;
}

typedef struct Barrier {
  const TlRun *run;
  int64_t *at; /* body index of each of the first net's spheres; owned */
  double longest;
} Barrier;

static inline void barrier_open(Barrier *b, const TlRun *run) {
  *b = (Barrier){.run = run};
  JUDGE_OK(TL_NEW(b->at, (size_t)tl_net_spheres(&run->model->nets.net[0])));
}

static inline void barrier_close(Barrier *b) {
  tl_free(b->at);
}

static inline void barrier_index(Barrier *b) {
  const TlBodies *x = &b->run->state->dem.bodies;
  for (int64_t i = 0; i < x->owned; i++)
    if (x->flags[i] & TL_BODY_NET) b->at[x->id[i] - b->run->model->nets.net[0].first_id] = i;
}

/* Of the bonds on the clamped spheres; their damping, a small share, is left out. Notes the longest
 * bond. */
static inline TlVec3 barrier_bonds(Barrier *b) {
  const TlBodies *x = &b->run->state->dem.bodies;
  const TlNet *net = &b->run->model->nets.net[0];
  TlVec3 sum = {0, 0, 0};
  barrier_index(b);
  for (size_t k = 0; k < x->pairs.of[TL_BONDS].count; k++) {
    const TlBond *t = &tl_bonds(&x->pairs)[k];
    int64_t low = t->low - net->first_id, high = t->high - net->first_id;
    TlVec3 d = tl_sub(x->position[b->at[low]], x->position[b->at[high]]);
    double length = tl_norm(d), stretch = length - tl_net_rest_length(net, low, high);
    TlVec3 f = tl_axpy(tl_scale(-net->normal_N_m * stretch, tl_unit(d)), -net->tangential_N_m,
                       t->displacement);
    if (x->flags[b->at[low]] & TL_BODY_FROZEN) sum = tl_add(sum, f);
    if (x->flags[b->at[high]] & TL_BODY_FROZEN) sum = tl_sub(sum, f);
    b->longest = fmax(b->longest, length);
  }
  return sum;
}

/* Of the grains on the clamped spheres in the last step. */
static inline TlVec3 barrier_hits(const Barrier *b) {
  const TlNet *net = &b->run->model->nets.net[0];
  int64_t spheres = tl_net_spheres(net), n;
  TlContactRow *row;
  TlVec3 sum = {0, 0, 0};
  JUDGE_OK(tl_step_contacts(b->run->model->dem, &b->run->state->dem, b->run->work, &row, &n));
  for (int64_t i = 0; i < n; i++)
    for (int side = 0; side < 2; side++) {
      int64_t number = (side ? row[i].high : row[i].low) - net->first_id;
      if (number < 0 || number >= spheres) continue;
      if (b->run->state->dem.bodies.flags[b->at[number]] & TL_BODY_FROZEN)
        sum = tl_axpy(sum, side ? -1 : 1, row[i].impulse_N_s);
    }
  tl_free(row);
  return tl_scale(1 / b->run->model->setup.time.dt_s, sum);
}

/* What the hooks carry. */
static inline TlVec3 barrier_force(Barrier *b) {
  TlVec3 bonds = barrier_bonds(b);
  return tl_add(bonds, barrier_hits(b));
}

/* Radius of the largest ball that fits between three spheres of a mesh none of whose bonds is
 * longer than length (the circle round three points no farther apart than this is no larger than
 * that of the triangle of equal sides, or has two of them for its diameter). */
static inline double barrier_opening(const TlNet *net, double length) {
  return length / sqrt(3) - net->radius_m;
}

typedef enum Side { BEFORE, BEYOND, ROUND } Side;

/* Where a ball is: by the net's sphere next to it and the sheet's normal there; ROUND: beyond, and
 * next to the rim. Call barrier_index first. */
static inline Side barrier_side(const Barrier *b, TlVec3 p, double radius) {
  const TlNet *net = &b->run->model->nets.net[0];
  const TlVec3 *x = b->run->state->dem.bodies.position;
  int64_t rows = net->rows, columns = net->columns, best = 0;
  double least = INFINITY;
  for (int64_t i = 0; i < rows * columns; i++) { /* the first layer stands for all */
    double d = tl_norm2(tl_sub(p, x[b->at[i]]));
    if (d < least) {
      least = d;
      best = i;
    }
  }
  int64_t r = best / columns, c = best % columns;
  int64_t up = r + 1 < rows ? best + columns : best, down = r > 0 ? best - columns : best,
          right = c + 1 < columns ? best + 1 : best, left = c > 0 ? best - 1 : best;
  TlVec3 along = tl_sub(x[b->at[right]], x[b->at[left]]),
         across = tl_sub(x[b->at[up]], x[b->at[down]]);
  TlVec3 off = tl_sub(p, x[b->at[best]]), n = tl_unit(tl_cross(along, across));
  if (tl_dot(off, n) < radius + net->radius_m) return BEFORE;
  return r + 1 == rows || c == 0 || c + 1 == columns ? ROUND : BEYOND;
}

#endif
