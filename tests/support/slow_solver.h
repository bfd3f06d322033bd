/* A slow solver of problems of one step, which shares nothing with the fast one but the rows: accelerated projected
 * gradients over all rows at once, in sparse form. */
#ifndef TL_TESTS_SLOW_SOLVER_H
#define TL_TESTS_SLOW_SOLVER_H

#include "base/mem.h"
#include "solve/nonsmooth_solve.h"

#include <math.h>
#include <string.h>

typedef enum SlowSet { SLOW_HALF, SLOW_DISC, SLOW_SEGMENT, SLOW_FACE } SlowSet;

/* u = j.(v_a, w_a) - ... : jacobians of a row on its two bodies. */
typedef struct SlowRow {
  TlVec3 la, aa, ab; /* u = la.(va - vb) + aa.wa - ab.wb */
  double rhs, sigma, step;
  int32_t a, b;
} SlowRow;

/* Rows [first, first + count) that are projected together. */
typedef struct SlowBlock {
  int32_t first, count, patch;
  SlowSet set;
} SlowBlock;

typedef struct Slow {
  const TlNsProblem *q;
  SlowRow *row;
  SlowBlock *block;
  double *lambda, *ahead, *old;
  TlNsBody *body; /* velocities at these impulses */
  int32_t *start; /* of each patch its first row */
  int32_t rows, blocks;
  double reach_m;
} Slow;

static inline double slow_diagonal(const Slow *s, const SlowRow *r) {
  const TlNsBody *a = &s->q->body[r->a], *b = &s->q->body[r->b];
  return (a->inverse_mass + b->inverse_mass) * tl_norm2(r->la) +
         tl_dot(r->aa, tl_sym_vec(a->inverse_inertia, r->aa)) +
         tl_dot(r->ab, tl_sym_vec(b->inverse_inertia, r->ab)) + r->sigma;
}

static inline void slow_add_row(Slow *s, const TlNsPatch *p, TlVec3 la, TlVec3 aa, TlVec3 ab,
                                double rhs, double sigma) {
  s->row[s->rows++] =
      (SlowRow){.la = la, .aa = aa, .ab = ab, .rhs = rhs, .sigma = sigma, .a = p->a, .b = p->b};
}

static inline void slow_add_block(Slow *s, int32_t count, int32_t patch, SlowSet set) {
  s->block[s->blocks++] = (SlowBlock){s->rows - count, count, patch, set};
}

/* reach_m: of the bodies. */
static inline TlStatus slow_make(Slow *s, const TlNsProblem *q, double reach_m) {
  size_t most = (size_t)(q->points + 6 * q->patches + 1);
  *s = (Slow){.q = q, .reach_m = reach_m};
  TL_TRY(TL_NEW(s->row, most));
  TL_TRY(TL_NEW(s->block, most));
  TL_TRY(TL_NEW(s->lambda, most));
  TL_TRY(TL_NEW(s->ahead, most));
  TL_TRY(TL_NEW(s->old, most));
  TL_TRY(TL_NEW(s->body, (size_t)q->bodies));
  TL_TRY(TL_NEW(s->start, (size_t)q->patches + 1));
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    s->start[i] = s->rows;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlNsArm *m = &q->arm[k];
      slow_add_row(s, p, m->n, m->ran, m->rbn, q->point[k].rhs + m->wall_n, q->point[k].sigma);
      slow_add_block(s, 1, i, SLOW_HALF);
    }
    slow_add_row(s, p, p->t1, tl_cross(p->ra, p->t1), tl_cross(p->rb, p->t1), p->wall[1], 0);
    slow_add_row(s, p, p->t2, tl_cross(p->ra, p->t2), tl_cross(p->rb, p->t2), p->wall[2], 0);
    bool face = p->resist >= 0 && q->resist[p->resist].spread > 0;
    if (!face) slow_add_block(s, 2, i, SLOW_DISC);
    if (p->resist < 0) continue;
    slow_add_row(s, p, (TlVec3){0, 0, 0}, p->n, p->n, 0, 0);
    slow_add_block(s, face ? 3 : 1, i, face ? SLOW_FACE : SLOW_SEGMENT);
    slow_add_row(s, p, (TlVec3){0, 0, 0}, p->t1, p->t1, 0, 0);
    slow_add_row(s, p, (TlVec3){0, 0, 0}, p->t2, p->t2, 0, 0);
    slow_add_block(s, 2, i, SLOW_DISC);
  }
  for (int32_t i = 0; i < s->blocks; i++) { /* one step for the rows of a disc */
    double most_k = 0;
    const SlowBlock *b = &s->block[i];
    int32_t disc = b->count > 1 ? 2 : 1;
    for (int32_t k = b->first; k < b->first + disc; k++)
      most_k = fmax(most_k, slow_diagonal(s, &s->row[k]));
    for (int32_t k = b->first; k < b->first + disc; k++) s->row[k].step = 1 / most_k;
    if (b->count > disc) {
      SlowRow *turn = &s->row[b->first + disc];
      turn->step = 1 / slow_diagonal(s, turn);
    }
  }
  return TL_OK;
}

static inline void slow_free(Slow *s) {
  tl_free(s->row);
  tl_free(s->block);
  tl_free(s->lambda);
  tl_free(s->ahead);
  tl_free(s->old);
  tl_free(s->body);
  tl_free(s->start);
}

/* Velocities at these impulses, from those before any. */
static inline void slow_move(const Slow *s, const double *lambda, bool from_rest) {
  for (int32_t i = 0; i < s->q->bodies; i++) {
    s->body[i] = s->q->body[i];
    if (from_rest) s->body[i].v = s->body[i].w = (TlVec3){0, 0, 0};
  }
  for (int32_t k = 0; k < s->rows; k++) {
    const SlowRow *r = &s->row[k];
    TlNsBody *a = &s->body[r->a], *b = &s->body[r->b];
    double l = lambda[k];
    a->v = tl_axpy(a->v, l * a->inverse_mass, r->la);
    b->v = tl_axpy(b->v, -l * b->inverse_mass, r->la);
    a->w = tl_axpy(a->w, l, tl_sym_vec(a->inverse_inertia, r->aa));
    b->w = tl_axpy(b->w, -l, tl_sym_vec(b->inverse_inertia, r->ab));
  }
}

static inline double slow_velocity(const Slow *s, const SlowRow *r) {
  const TlNsBody *a = &s->body[r->a], *b = &s->body[r->b];
  return tl_dot(r->la, tl_sub(a->v, b->v)) + tl_dot(r->aa, a->w) - tl_dot(r->ab, b->w);
}

/* Normal impulses of a block's patch: their sum, and that with their distances from the centre of force. */
typedef struct SlowLoad {
  double borne, spread;
} SlowLoad;

static inline SlowLoad slow_load(const Slow *s, const SlowBlock *b, const double *lambda) {
  const TlNsPatch *p = &s->q->patch[b->patch];
  SlowLoad load = {0, 0};
  for (int32_t k = 0; k < p->count; k++) {
    double normal = lambda[s->start[b->patch] + k];
    load.borne += normal;
    load.spread += normal * s->q->point[p->first + k].arm;
  }
  return load;
}

/* Bound of a disc or segment. */
static inline double slow_bound(const Slow *s, const SlowBlock *b, const double *lambda) {
  const TlNsPatch *p = &s->q->patch[b->patch];
  double borne = slow_load(s, b, lambda).borne;
  if (b->first == s->start[b->patch] + p->count) return p->friction * borne;
  const TlNsResist *r = &s->q->resist[p->resist];
  return (b->set == SLOW_SEGMENT ? r->twisting : r->rolling) * borne;
}

/* What a face of largest friction `most` can bear, seen from outside: its farthest reach along a direction at this angle
 * between across (0) and about the normal (pi/2), and the place there. */
static inline double slow_face_reach(double most, double angle) {
  double c = cos(angle), s = sin(angle);
  return most * (TL_NS_CONE * fmax(c, s) + (1 - TL_NS_CONE));
}

/* side: fraction of across in the double cone's part, 1 below pi/4, 0 above, and any between at it. */
static inline void slow_face_place(double most, double angle, double side, double *across,
                                   double *about) {
  *across = most * ((1 - TL_NS_CONE) * cos(angle) + TL_NS_CONE * side);
  *about = most * ((1 - TL_NS_CONE) * sin(angle) + TL_NS_CONE * (1 - side));
}

static inline bool slow_face_holds(double most, double across, double about) {
  double cone = TL_NS_CONE * most, middle = 0.25 * M_PI;
  double low = atan2(about, across - cone), high = atan2(about - cone, across);
  double angles[3] = {fmin(middle, fmax(0, low)), fmax(middle, fmin(2 * middle, high)), middle};
  for (int k = 0; k < 3; k++)
    if (cos(angles[k]) * across + sin(angles[k]) * about > slow_face_reach(most, angles[k]))
      return false;
  return true;
}

/* The nearest impulses that a face can bear, each row weighed by its step: the change, so weighed, lies along the normal
 * of the surface, whose angle is found by halving. */
static inline void slow_project_face(const Slow *s, const SlowBlock *b, double *lambda) {
  enum { HALVINGS = 60 };
  const TlNsPatch *p = &s->q->patch[b->patch];
  SlowLoad load = slow_load(s, b, lambda);
  double *l = &lambda[b->first], most = p->friction * load.borne, turn = 0;
  if (most > 0) turn = load.spread / load.borne + s->q->resist[p->resist].twisting / p->friction;
  double across = hypot(l[0], l[1]), about = turn > 0 ? fabs(l[2]) / turn : 0;
  if (turn > 0 && slow_face_holds(most, across, about)) return;
  double weigh[2] = {1 / s->row[b->first].step, turn * turn / s->row[b->first + 2].step};
  double low = 0, high = 0.5 * M_PI, to[2], side[2] = {1, 0};
  if (!(turn > 0)) high = 0;
  for (int k = 0; k < HALVINGS; k++) {
    double angle = 0.5 * (low + high);
    slow_face_place(most, angle, angle < 0.25 * M_PI, &to[0], &to[1]);
    bool beyond =
        weigh[0] * (across - to[0]) * sin(angle) > weigh[1] * (about - to[1]) * cos(angle);
    *(beyond ? &high : &low) = angle;
  }
  double angle = 0.5 * (low + high);
  if (fabs(angle - 0.25 * M_PI) < 1e-9) /* on the flat part between both */
    for (int k = 0; k < HALVINGS; k++) {
      double middle = 0.5 * (side[0] + side[1]);
      slow_face_place(most, angle, middle, &to[0], &to[1]);
      bool more = weigh[0] * (across - to[0]) > weigh[1] * (about - to[1]);
      side[more ? 1 : 0] = middle;
    }
  else
    side[0] = angle < 0.25 * M_PI;
  slow_face_place(most, angle, side[0], &to[0], &to[1]);
  double keep = across > 0 ? fmin(1, to[0] / across) : 0;
  if (!(turn > 0)) keep = across > most ? most / across : 1;
  l[0] *= keep;
  l[1] *= keep;
  l[2] = turn > 0 && about > 0 ? l[2] * fmin(1, to[1] / about) : 0;
}

static inline void slow_project(const Slow *s, const SlowBlock *b, double *lambda) {
  double *l = &lambda[b->first];
  if (b->set == SLOW_HALF) { /* no adhesion here */
    l[0] = fmax(l[0], 0);
    return;
  }
  if (b->set == SLOW_FACE) {
    slow_project_face(s, b, lambda);
    return;
  }
  double most = slow_bound(s, b, lambda), size = b->count == 2 ? hypot(l[0], l[1]) : fabs(l[0]);
  double keep = size > most ? most / size : 1;
  for (int32_t k = 0; k < b->count; k++) l[k] *= keep;
}

/* Largest change that a projected step of one block makes, as a velocity: 0 at a solution. */
static inline double slow_residual(const Slow *s, double *lambda) {
  double most = 0;
  slow_move(s, lambda, false);
  for (int32_t i = 0; i < s->blocks; i++) {
    const SlowBlock *b = &s->block[i];
    double kept[3];
    for (int32_t k = 0; k < b->count; k++) {
      const SlowRow *r = &s->row[b->first + k];
      kept[k] = lambda[b->first + k];
      lambda[b->first + k] -= r->step * (slow_velocity(s, r) + r->sigma * kept[k] - r->rhs);
    }
    slow_project(s, b, lambda);
    for (int32_t k = 0; k < b->count; k++) {
      const SlowRow *r = &s->row[b->first + k];
      bool turns = !(tl_norm2(r->la) > 0); /* a spin counts by the speed that it is at reach_m */
      double change = fabs(lambda[b->first + k] - kept[k]) / r->step;
      most = fmax(most, turns ? s->reach_m * change : change);
      lambda[b->first + k] = kept[k];
    }
  }
  return most;
}

/* Largest eigenvalue of D^(1/2) W D^(1/2). */
static inline double slow_largest(Slow *s) {
  double value = 1;
  for (int32_t k = 0; k < s->rows; k++) s->ahead[k] = 1 + 0.01 * (k % 7);
  for (int it = 0; it < 200; it++) {
    double norm = 0;
    for (int32_t k = 0; k < s->rows; k++) s->old[k] = s->ahead[k] * sqrt(s->row[k].step);
    slow_move(s, s->old, true);
    for (int32_t k = 0; k < s->rows; k++) {
      const SlowRow *r = &s->row[k];
      s->ahead[k] = sqrt(r->step) * (slow_velocity(s, r) + r->sigma * s->old[k]);
      norm += s->ahead[k] * s->ahead[k];
    }
    value = sqrt(norm);
    for (int32_t k = 0; k < s->rows; k++) s->ahead[k] /= value;
  }
  return 1.05 * value;
}

/* Nesterov's steps, begun anew where they turn against the last one. Gives the residual. */
static inline double slow_solve(Slow *s, double wanted) {
  enum { MOST = 400000 };
  double theta = 1, over = 1 / slow_largest(s);
  memset(s->lambda, 0, (size_t)s->rows * sizeof *s->lambda);
  memset(s->ahead, 0, (size_t)s->rows * sizeof *s->ahead);
  for (int it = 0; it < MOST; it++) {
    if (it % 200 == 0 && slow_residual(s, s->lambda) <= wanted) break;
    memcpy(s->old, s->lambda, (size_t)s->rows * sizeof *s->old);
    slow_move(s, s->ahead, false);
    for (int32_t k = 0; k < s->rows; k++) {
      const SlowRow *r = &s->row[k];
      s->lambda[k] =
          s->ahead[k] - over * r->step * (slow_velocity(s, r) + r->sigma * s->ahead[k] - r->rhs);
    }
    for (int32_t i = 0; i < s->blocks; i++) slow_project(s, &s->block[i], s->lambda);
    double against = 0;
    for (int32_t k = 0; k < s->rows; k++)
      against += (s->ahead[k] - s->lambda[k]) * (s->lambda[k] - s->old[k]) / s->row[k].step;
    double next = against > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * theta * theta));
    double push = against > 0 ? 0 : (theta - 1) / next;
    for (int32_t k = 0; k < s->rows; k++)
      s->ahead[k] = s->lambda[k] + push * (s->lambda[k] - s->old[k]);
    theta = next;
  }
  return slow_residual(s, s->lambda);
}

/* The fast solver's impulses in the slow one's order. */
static inline void slow_take(const TlNsProblem *q, double *lambda) {
  int32_t at = 0;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    for (int32_t k = 0; k < p->count; k++) lambda[at++] = q->point[p->first + k].lambda;
    lambda[at++] = p->lambda[0];
    lambda[at++] = p->lambda[1];
    for (int k = 0; p->resist >= 0 && k < 3; k++) lambda[at++] = q->resist[p->resist].lambda[k];
  }
}

#endif
