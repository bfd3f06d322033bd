/* Problems of one step, made by the method from 32 scenes, against a slow solver that shares nothing with
 * the fast one but the rows: accelerated projected gradients over all rows at once, in sparse form, to a
 * residual of 1e-8 of the velocity that gravity gives in a step. */

#include "support/materials.h"
#include "support/placed.h"
#include "support/problem.h"
#include "support/problem_file.h"

#include "base/file.h"
#include "base/par.h"
#include "run/step_problems.h"
#include "solve/islands.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SPHERE = 1, BOX = 2, SMALL = 3 };
static const double R = 0.01, G = 9.81;
static const TlVec3 NONE = {0, 0, 0};

/* ---- scenes ---- */

typedef struct Lab {
  TlSolverConfig config;
  TlBoundaryPlane plane[5];
  TlBoundary boundary[5];
  int planes;
  Stepper *solver;
  TlBodies bodies;
} Lab;

static void lab_plane(Lab *lab, TlVec3 point, TlVec3 normal) {
  int i = lab->planes++;
  lab->plane[i] = (TlBoundaryPlane){point, normal};
  lab->boundary[i] = (TlBoundary){.kind = &tl_boundary_plane, .data = &lab->plane[i]};
}

/* `count` bodies that fell into a box, after some steps: some still move, some rest. */
static void lab_make(Lab *lab, bool boxes, double friction, uint64_t seed, int count, int steps) {
  static const double box[3] = {0.016, 0.014, 0.012};
  memset(lab, 0, sizeof *lab);
  tl_par_set_threads(1);
  lab->config = tl_test_nonsmooth();
  lab->config.step_s = 1e-3;
  lab->config.gravity_m_s2 = tl_vec3(0, 0, -G);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, friction, friction);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, restitution, 0);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, rolling, friction > 0 ? 0.1 : 0);
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.young_Pa, 1e7);
  lab_plane(lab, NONE, tl_vec3(0, 0, 1));
  lab_plane(lab, tl_vec3(-2.5 * R, 0, 0), tl_vec3(1, 0, 0));
  lab_plane(lab, tl_vec3(2.5 * R, 0, 0), tl_vec3(-1, 0, 0));
  lab_plane(lab, tl_vec3(0, -2.5 * R, 0), tl_vec3(0, 1, 0));
  lab_plane(lab, tl_vec3(0, 2.5 * R, 0), tl_vec3(0, -1, 0));
  CK_OK(stepper_new(&lab->solver, &lab->config, (TlAvatarSource){0}, lab->boundary, lab->planes,
                    NULL));
  CK_OK(stepper_add_sphere(lab->solver, SPHERE, R));
  CK_OK(stepper_add_sphere(lab->solver, SMALL, 0.6 * R));
  CK_OK(stepper_add_closed(lab->solver, BOX, &tl_closed_box, box));
  for (int k = 0; k < count; k++) {
    uint64_t at = 4 * (uint64_t)k;
    double x = tl_random_uniform(seed, 1, at), y = tl_random_uniform(seed, 1, at + 1);
    TlVec3 turn = tl_vec3(0.3 * tl_random_uniform(seed, 1, at + 2),
                          0.2 * tl_random_uniform(seed, 1, at + 3), x);
    tl_test_put(&lab->bodies,
                boxes   ? BOX
                : k % 3 ? SPHERE
                        : SMALL,
                tl_vec3(R * (1.2 * (2 * (k % 2) - 1) + 0.2 * x),
                        R * (1.2 * (2 * (k / 2 % 2) - 1) + 0.2 * y), R * (1.1 + 2.3 * (k / 4))),
                boxes ? tl_quat_from_rotation(turn) : (TlQuat){1, 0, 0, 0}, NONE);
  }
  for (int k = 0; k < steps; k++) CK_OK(stepper_step(lab->solver, &lab->bodies, NULL));
}

static void lab_free(Lab *lab) {
  stepper_free(lab->solver);
  tl_bodies_free(&lab->bodies);
}

/* ---- the slow solver ---- */

typedef enum Set { HALF, DISC, SEGMENT } Set;

/* u = j.(v_a, w_a) - ... : jacobians of a row on its two bodies. */
typedef struct Row {
  TlVec3 la, aa, ab; /* u = la.(va - vb) + aa.wa - ab.wb */
  double rhs, sigma, step;
  int32_t a, b;
} Row;

/* Rows [first, first + count) that are projected together. */
typedef struct Block {
  int32_t first, count, patch;
  Set set;
} Block;

typedef struct Slow {
  const TlNsProblem *q;
  Row *row;
  Block *block;
  double *lambda, *ahead, *old;
  TlNsBody *body; /* velocities at these impulses */
  int32_t *start; /* of each patch its first row */
  int32_t rows, blocks;
} Slow;

static double diagonal(const Slow *s, const Row *r) {
  const TlNsBody *a = &s->q->body[r->a], *b = &s->q->body[r->b];
  return (a->inverse_mass + b->inverse_mass) * tl_norm2(r->la) +
         tl_dot(r->aa, tl_sym_vec(a->inverse_inertia, r->aa)) +
         tl_dot(r->ab, tl_sym_vec(b->inverse_inertia, r->ab)) + r->sigma;
}

static void add_row(Slow *s, const TlNsPatch *p, TlVec3 la, TlVec3 aa, TlVec3 ab, double rhs,
                    double sigma) {
  s->row[s->rows++] =
      (Row){.la = la, .aa = aa, .ab = ab, .rhs = rhs, .sigma = sigma, .a = p->a, .b = p->b};
}

static void add_block(Slow *s, int32_t count, int32_t patch, Set set) {
  s->block[s->blocks++] = (Block){s->rows - count, count, patch, set};
}

static void slow_make(Slow *s, const TlNsProblem *q) {
  size_t most = (size_t)(q->points + 6 * q->patches + 1);
  *s = (Slow){.q = q};
  CK_OK(TL_NEW(s->row, most));
  CK_OK(TL_NEW(s->block, most));
  CK_OK(TL_NEW(s->lambda, most));
  CK_OK(TL_NEW(s->ahead, most));
  CK_OK(TL_NEW(s->old, most));
  CK_OK(TL_NEW(s->body, (size_t)q->bodies));
  CK_OK(TL_NEW(s->start, (size_t)q->patches + 1));
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    s->start[i] = s->rows;
    for (int32_t k = p->first; k < p->first + p->count; k++) {
      const TlNsArm *m = &q->arm[k];
      add_row(s, p, m->n, m->ran, m->rbn, q->point[k].rhs + m->wall_n, q->point[k].sigma);
      add_block(s, 1, i, HALF);
    }
    add_row(s, p, p->t1, tl_cross(p->ra, p->t1), tl_cross(p->rb, p->t1), p->wall[1], 0);
    add_row(s, p, p->t2, tl_cross(p->ra, p->t2), tl_cross(p->rb, p->t2), p->wall[2], 0);
    add_block(s, 2, i, DISC);
    if (p->resist < 0) continue;
    add_row(s, p, NONE, p->n, p->n, 0, 0);
    add_block(s, 1, i, SEGMENT);
    add_row(s, p, NONE, p->t1, p->t1, 0, 0);
    add_row(s, p, NONE, p->t2, p->t2, 0, 0);
    add_block(s, 2, i, DISC);
  }
  for (int32_t i = 0; i < s->blocks; i++) { /* one step for the rows of a block */
    double most_k = 0;
    const Block *b = &s->block[i];
    for (int32_t k = b->first; k < b->first + b->count; k++)
      most_k = fmax(most_k, diagonal(s, &s->row[k]));
    for (int32_t k = b->first; k < b->first + b->count; k++) s->row[k].step = 1 / most_k;
  }
}

static void slow_free(Slow *s) {
  tl_free(s->row);
  tl_free(s->block);
  tl_free(s->lambda);
  tl_free(s->ahead);
  tl_free(s->old);
  tl_free(s->body);
  tl_free(s->start);
}

/* Velocities at these impulses, from those before any. */
static void move(const Slow *s, const double *lambda, bool from_rest) {
  for (int32_t i = 0; i < s->q->bodies; i++) {
    s->body[i] = s->q->body[i];
    if (from_rest) s->body[i].v = s->body[i].w = NONE;
  }
  for (int32_t k = 0; k < s->rows; k++) {
    const Row *r = &s->row[k];
    TlNsBody *a = &s->body[r->a], *b = &s->body[r->b];
    double l = lambda[k];
    a->v = tl_axpy(a->v, l * a->inverse_mass, r->la);
    b->v = tl_axpy(b->v, -l * b->inverse_mass, r->la);
    a->w = tl_axpy(a->w, l, tl_sym_vec(a->inverse_inertia, r->aa));
    b->w = tl_axpy(b->w, -l, tl_sym_vec(b->inverse_inertia, r->ab));
  }
}

static double velocity(const Slow *s, const Row *r) {
  const TlNsBody *a = &s->body[r->a], *b = &s->body[r->b];
  return tl_dot(r->la, tl_sub(a->v, b->v)) + tl_dot(r->aa, a->w) - tl_dot(r->ab, b->w);
}

/* Bound of a block from the normal rows of its patch. */
static double bound(const Slow *s, const Block *b, const double *lambda) {
  const TlNsPatch *p = &s->q->patch[b->patch];
  int32_t at = s->start[b->patch], within = b->first - at - p->count;
  double borne = 0, spread = 0;
  for (int32_t k = 0; k < p->count; k++) {
    borne += lambda[at + k];
    spread += lambda[at + k] * s->q->point[p->first + k].arm;
  }
  if (within == 0) return p->friction * borne;
  const TlNsResist *r = &s->q->resist[p->resist];
  return within == 2 ? r->twisting * borne + r->spread * p->friction * spread : r->rolling * borne;
}

static void project(const Slow *s, const Block *b, double *lambda) {
  double *l = &lambda[b->first];
  if (b->set == HALF) { /* no adhesion here */
    l[0] = fmax(l[0], 0);
    return;
  }
  double most = bound(s, b, lambda), size = b->count == 2 ? hypot(l[0], l[1]) : fabs(l[0]);
  double keep = size > most ? most / size : 1;
  for (int32_t k = 0; k < b->count; k++) l[k] *= keep;
}

/* Largest change that a projected step of one block makes, as a velocity: 0 at a solution. */
static double residual(const Slow *s, double *lambda) {
  double most = 0;
  move(s, lambda, false);
  for (int32_t i = 0; i < s->blocks; i++) {
    const Block *b = &s->block[i];
    double kept[2], change = 0, step = s->row[b->first].step;
    for (int32_t k = 0; k < b->count; k++) {
      const Row *r = &s->row[b->first + k];
      kept[k] = lambda[b->first + k];
      lambda[b->first + k] -= r->step * (velocity(s, r) + r->sigma * kept[k] - r->rhs);
    }
    project(s, b, lambda);
    for (int32_t k = 0; k < b->count; k++) {
      change = fmax(change, fabs(lambda[b->first + k] - kept[k]) / step);
      lambda[b->first + k] = kept[k];
    }
    /* a spin counts by the speed that it is at R */
    bool turns = !(tl_norm2(s->row[b->first].la) > 0);
    most = fmax(most, turns ? R * change : change);
  }
  return most;
}

/* Largest eigenvalue of D^(1/2) W D^(1/2). */
static double largest(Slow *s) {
  double value = 1;
  for (int32_t k = 0; k < s->rows; k++) s->ahead[k] = 1 + 0.01 * (k % 7);
  for (int it = 0; it < 200; it++) {
    double norm = 0;
    for (int32_t k = 0; k < s->rows; k++) s->old[k] = s->ahead[k] * sqrt(s->row[k].step);
    move(s, s->old, true);
    for (int32_t k = 0; k < s->rows; k++) {
      const Row *r = &s->row[k];
      s->ahead[k] = sqrt(r->step) * (velocity(s, r) + r->sigma * s->old[k]);
      norm += s->ahead[k] * s->ahead[k];
    }
    value = sqrt(norm);
    for (int32_t k = 0; k < s->rows; k++) s->ahead[k] /= value;
  }
  return 1.05 * value;
}

/* Nesterov's steps, begun anew where they turn against the last one. Gives the residual. */
static double slow_solve(Slow *s, double wanted) {
  enum { MOST = 400000 };
  double theta = 1, over = 1 / largest(s);
  memset(s->lambda, 0, (size_t)s->rows * sizeof *s->lambda);
  memset(s->ahead, 0, (size_t)s->rows * sizeof *s->ahead);
  for (int it = 0; it < MOST; it++) {
    if (it % 200 == 0 && residual(s, s->lambda) <= wanted) break;
    memcpy(s->old, s->lambda, (size_t)s->rows * sizeof *s->old);
    move(s, s->ahead, false);
    for (int32_t k = 0; k < s->rows; k++) {
      const Row *r = &s->row[k];
      s->lambda[k] =
          s->ahead[k] - over * r->step * (velocity(s, r) + r->sigma * s->ahead[k] - r->rhs);
    }
    for (int32_t i = 0; i < s->blocks; i++) project(s, &s->block[i], s->lambda);
    double against = 0;
    for (int32_t k = 0; k < s->rows; k++)
      against += (s->ahead[k] - s->lambda[k]) * (s->lambda[k] - s->old[k]) / s->row[k].step;
    double next = against > 0 ? 1 : 0.5 * (1 + sqrt(1 + 4 * theta * theta));
    double push = against > 0 ? 0 : (theta - 1) / next;
    for (int32_t k = 0; k < s->rows; k++)
      s->ahead[k] = s->lambda[k] + push * (s->lambda[k] - s->old[k]);
    theta = next;
  }
  return residual(s, s->lambda);
}

/* The fast solver's impulses in the slow one's order. */
static void take_fast(const TlNsProblem *q, double *lambda) {
  int32_t at = 0;
  for (int32_t i = 0; i < q->patches; i++) {
    const TlNsPatch *p = &q->patch[i];
    for (int32_t k = 0; k < p->count; k++) lambda[at++] = q->point[p->first + k].lambda;
    lambda[at++] = p->lambda[0];
    lambda[at++] = p->lambda[1];
    for (int k = 0; p->resist >= 0 && k < 3; k++) lambda[at++] = q->resist[p->resist].lambda[k];
  }
}

/* ---- both ---- */

static double apart_of(const TlNsProblem *q, const TlNsBody *a, const TlNsBody *b) {
  double apart = 0;
  for (int32_t i = 0; i < q->bodies - 1; i++)
    apart = fmax(apart, tl_norm(tl_sub(a[i].v, b[i].v)) + R * tl_norm(tl_sub(a[i].w, b[i].w)));
  return apart;
}

static void compare(TlNsSolver solver, bool boxes, double friction, uint64_t seed, int64_t *sum) {
  Lab lab;
  Problem problem;
  Slow slow;
  lab_make(&lab, boxes, friction, seed, boxes ? 8 : 10 + (int)(seed % 4), 40 + 20 * (int)seed);
  lab.solver->model->nonsmooth.solver = solver;
  CK_OK(problem_of(&problem, lab.solver, &lab.bodies));
  TlNsProblem *q = &problem.rows.problem;
  ck_assert_int_ge(q->patches, 4);
  slow_make(&slow, q);
  double fall = G * 1e-3, reached = slow_solve(&slow, 1e-8 * fall);
  ck_assert_msg(reached <= 1e-8 * fall, "the slow solver stops at %g of g h", reached / fall);
  TlNsBody *start;
  CK_OK(TL_NEW(start, (size_t)q->bodies));
  memcpy(start, q->body, (size_t)q->bodies * sizeof *start);
  int64_t iterations;
  CK_OK(problem_solve(&problem, 100000, 1e-10 * fall, &iterations));
  *sum += iterations;
  double *fast;
  CK_OK(TL_NEW(fast, (size_t)slow.rows + 1));
  take_fast(q, fast);
  TlNsBody *end;
  CK_OK(TL_NEW(end, (size_t)q->bodies));
  memcpy(end, q->body, (size_t)q->bodies * sizeof *end);
  memcpy(q->body, start, (size_t)q->bodies * sizeof *start);
  double left = residual(&slow, fast);
  ck_assert_msg(left < 1e-6 * fall, "seed %llu, %s, friction %g: residual %g of g h",
                (unsigned long long)seed, boxes ? "boxes" : "spheres", friction, left / fall);
  move(&slow, slow.lambda, false);
  double apart = apart_of(q, slow.body, end);
  /* residuals of 1e-8 and 1e-6, over the least eigenvalue of a pile of so few */
  ck_assert_msg(apart < 1e-4 * fall, "seed %llu, %s, friction %g: velocities %g of g h apart",
                (unsigned long long)seed, boxes ? "boxes" : "spheres", friction, apart / fall);
  tl_free(end);
  tl_free(fast);
  tl_free(start);
  slow_free(&slow);
  problem_free(&problem);
  lab_free(&lab);
}

/* Steps beyond sweeps come to the same answers, with fewer iterations in all: of so few bodies somewhat fewer, of
 * heaps see bench_nonsmooth. */
static void compare_eight(bool boxes, double friction) {
  static const TlNsSolver solver[] = {TL_NS_SWEEPS, TL_NS_EXTRAPOLATED, TL_NS_GRADIENTS};
  int64_t in_order[3] = {0}, by_cells[3] = {0};
  for (uint64_t seed = 0; seed < 8; seed++)
    for (int k = 0; k < 3; k++) {
      compare(solver[k], boxes, friction, seed, &in_order[k]);
      tl_islands_set_small(3); /* larger ones are swept cell by cell of four grids */
      compare(solver[k], boxes, friction, seed, &by_cells[k]);
      tl_islands_set_small(0);
    }
  for (int k = 1; k < 3; k++)
    ck_assert_msg(
        in_order[k] < in_order[0] && by_cells[k] < by_cells[0],
        "%lld and by cells %lld iterations with steps beyond sweeps, %lld and %lld without",
        (long long)in_order[k], (long long)by_cells[k], (long long)in_order[0],
        (long long)by_cells[0]);
}

START_TEST(problems_of_spheres_without_friction) {
  compare_eight(false, 0);
}
END_TEST

START_TEST(problems_of_spheres_with_friction) {
  compare_eight(false, 0.5);
}
END_TEST

START_TEST(problems_of_patches_without_friction) {
  compare_eight(true, 0);
}
END_TEST

START_TEST(problems_of_patches_with_friction) {
  compare_eight(true, 0.5);
}
END_TEST

/* ---- problems as files ---- */

/* The least that a solver of such files needs: sweeps in the order of the file. */
static void sweep_all(const TlNsProblem *q, int sweeps) {
  TlNsRange range = {.last = q->patches};
  tl_nonsmooth_warm(q, &range);
  for (int k = 0; k < sweeps; k++) tl_nonsmooth_sweep(q, &range);
}

/* What is read is what was written, to the bit, and the slow solver and sweeps give one answer to it. */
static void keep(const char *path, bool boxes, double friction, uint64_t seed) {
  Lab lab;
  Problem problem;
  TlNsProblem read, again;
  Slow slow;
  double fall = G * 1e-3;
  lab_make(&lab, boxes, friction, seed, boxes ? 8 : 10 + (int)(seed % 4), 40 + 20 * (int)seed);
  CK_OK(problem_of(&problem, lab.solver, &lab.bodies));
  const TlNsProblem *q = &problem.rows.problem;
  CK_OK(tl_step_problem_write(path, 7, 0.007, q));
  problem_read(path, &read);
  problem_read(path, &again);
  ck_assert(read.bodies == q->bodies && read.patches == q->patches && read.points == q->points &&
            read.resists == q->resists);
  slow_make(&slow, &again);
  double reached = slow_solve(&slow, 1e-8 * fall);
  ck_assert_msg(reached <= 1e-8 * fall, "the slow solver stops at %g of g h", reached / fall);
  sweep_all(&read, 20000);
  sweep_all(q, 20000);
  for (int32_t i = 0; i < q->bodies; i++)
    ck_assert(memcmp(&read.body[i].v, &q->body[i].v, 2 * sizeof(TlVec3)) == 0);
  move(&slow, slow.lambda, false);
  double apart = apart_of(&read, slow.body, read.body);
  ck_assert_msg(apart < 1e-4 * fall, "%s: velocities %g of g h apart", path, apart / fall);
  slow_free(&slow);
  problem_lists_free(&read);
  problem_lists_free(&again);
  problem_free(&problem);
  lab_free(&lab);
}

START_TEST(problems_are_kept_as_files) {
  int files = 0;
  for (int kind = 0; kind < 4; kind++)
    for (uint64_t seed = 0; seed < 8; seed++) {
      char path[600];
      snprintf(path, sizeof path, "%s/problem_%06d.h5", tl_test_folder(), ++files);
      keep(path, kind / 2, kind % 2 ? 0.5 : 0, seed);
    }
  ck_assert_int_ge(files, 30);
}
END_TEST

/* ---- patches that bear nothing ---- */

/* Sweeps that pass over idle patches end where sweeps that visit all of them do, to the bit; how many times one
 * was passed over. */
static int64_t sweep_both_ways(bool boxes, uint64_t seed) {
  enum { SWEEPS = 60 };
  Lab lab[2];
  Problem problem[2];
  int64_t idle = 0;
  for (int all = 0; all < 2; all++) {
    lab_make(&lab[all], boxes, 0.5, seed, boxes ? 8 : 13, 30 + 15 * (int)seed);
    CK_OK(problem_of(&problem[all], lab[all].solver, &lab[all].bodies));
    TlNsProblem *q = &problem[all].rows.problem;
    TlNsRange range = {.last = q->patches};
    for (int32_t i = 0; i < q->bodies - 1; i++) /* some fly towards each other */
      q->body[i].v.x += 0.2 * tl_random_uniform(seed, 2, (uint64_t)i) - 0.1;
    for (int k = 0; k < SWEEPS; k++) {
      for (int32_t i = 0; i < q->patches; i++) {
        idle += !all && k > 0 && q->patch[i].idle_until > -INFINITY;
        if (all) q->patch[i].idle_until = -INFINITY;
      }
      tl_nonsmooth_sweep(q, &range);
    }
  }
  const TlNsProblem *one = &problem[0].rows.problem, *two = &problem[1].rows.problem;
  for (int32_t i = 0; i < one->bodies; i++) {
    ck_assert(memcmp(&one->body[i].v, &two->body[i].v, sizeof(TlVec3)) == 0);
    ck_assert(memcmp(&one->body[i].w, &two->body[i].w, sizeof(TlVec3)) == 0);
  }
  for (int32_t k = 0; k < one->points; k++) ck_assert(one->point[k].lambda == two->point[k].lambda);
  for (int all = 0; all < 2; all++) {
    problem_free(&problem[all]);
    lab_free(&lab[all]);
  }
  return idle;
}

START_TEST(idle_patches_are_passed_over_without_a_change) {
  int64_t idle = 0;
  for (uint64_t seed = 0; seed < 6; seed++)
    idle += sweep_both_ways(false, seed) + sweep_both_ways(true, seed);
  ck_assert_int_ge(idle, 1000);
}
END_TEST

TL_TEST_MAIN("nonsmooth problems", problems_of_spheres_without_friction,
             problems_of_spheres_with_friction, problems_of_patches_without_friction,
             problems_of_patches_with_friction, problems_are_kept_as_files,
             idle_patches_are_passed_over_without_a_change)
