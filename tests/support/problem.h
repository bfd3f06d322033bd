/* The problem of the next step of the nonsmooth method, for scenes of tests: what the step itself
 * would solve in its continuous stage (solve/step_nonsmooth.c). */
#ifndef TL_TESTS_PROBLEM_H
#define TL_TESTS_PROBLEM_H

#include "solve/motion.h"
#include "solve/nonsmooth_solve.h"
#include "support/stepper.h"
#include "support/tltest.h"

typedef struct Problem {
  TlArena arena;
  TlNear near;
  TlPoints points;
  TlManifolds manifolds;
  TlFound found;
  TlMotion motion;
  TlPairRows memory;
  TlNsRows rows;
} Problem;

static inline TlStatus problem_fill(Problem *p, const Stepper *s, TlBodies *b) {
  const TlModel *m = s->model;
  double fastest = 0;
  TL_TRY(stepper_refresh((Stepper *)s, b));
  for (int64_t i = 0; i < b->owned; i++)
    fastest = fmax(fastest, tl_norm(b->velocity[i]) + b->radius[i] * tl_norm(tl_bodies_spin(b, i)));
  TL_TRY(tl_motion_start(b, &p->arena, &p->motion));
  TL_TRY(tl_nonsmooth_recall(b, m->step_s, &p->arena, &p->memory));
  TlDetect d = {.options = &m->search,
                .step_s = m->step_s,
                .gravity_m_s2 = tl_norm(m->gravity_m_s2),
                .materials = &m->materials,
                .boundary = m->boundary,
                .boundary_count = m->boundary_count,
                .speed_max = fastest,
                .arena = &p->arena,
                .near = &p->near,
                .points = &p->points,
                .manifolds = &p->manifolds,
                .memory = &p->memory};
  TL_TRY(tl_detect(&d, b, &p->motion.real, &p->found));
  p->rows = (TlNsRows){.model = m,
                       .materials = &m->materials,
                       .bodies = b,
                       .boundary = m->boundary,
                       .found = &p->found,
                       .dynamics = &p->motion.real,
                       .arena = &p->arena};
  TL_TRY(tl_nonsmooth_rows(&p->rows));
  TL_TRY(tl_nonsmooth_force_rows(&p->rows, m->nonsmooth.warm));
  for (int32_t i = 0; i < p->rows.problem.bodies - 1; i++) {
    TlNsBody *body = &p->rows.problem.body[i];
    if (body->inverse_mass > 0) body->v = tl_axpy(body->v, m->step_s, m->gravity_m_s2);
  }
  return TL_OK;
}

/* Iterate all of it: at most so often, to a residual of so much; gives the most iterations of an island. */
static inline TlStatus problem_solve(Problem *p, int iterations, double change_m_s, int64_t *most) {
  const TlNsRows *r = &p->rows;
  TlNsCount *count = tl_arena_push(&p->arena, (size_t)r->islands + 1, sizeof *count);
  if (!count) return TL_ENOMEM;
  TlNsStage stage = {.iterations = iterations, .tolerance = change_m_s < 0 ? -1 : 1};
  for (int32_t i = 0; i < r->islands; i++) r->island[i].force_m_s = change_m_s;
  *most = 0;
  TL_TRY(tl_nonsmooth_solve_all(r, &stage, count));
  for (int32_t i = 0; i < r->islands; i++)
    if (count[i].iterations > *most) *most = count[i].iterations;
  return TL_OK;
}

/* One thread; release with problem_free. */
static inline TlStatus problem_of(Problem *p, const Stepper *s, TlBodies *b) {
  *p = (Problem){.points = {0}};
  return problem_fill(p, s, b);
}

static inline void problem_free(Problem *p) {
  tl_near_free(&p->near);
  tl_points_free(&p->points);
  tl_manifolds_free(&p->manifolds);
  tl_arena_free(&p->arena);
}

#endif
