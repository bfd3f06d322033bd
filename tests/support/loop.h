/* Work of normal forces around closed loops: one grain is led along a closed path of positions and
 * rotations in touch with another, without friction or damping, and comes back. Force and moment are
 * integrated along the path; of the solver's own accounts nothing is asked but the elastic energy, as
 * the scale. For the tests and for the validation, so without the test library.
 */
#ifndef TL_TESTS_SUPPORT_LOOP_H
#define TL_TESTS_SUPPORT_LOOP_H

#include "support/materials.h"
#include "support/stepper.h"
#include "support/grain_state.h"

#include "base/random.h"
#include "contact/search.h"
#include "solve/penalty.h"
#include "solve/force_lanes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOP_GRAIN = 1, LOOP_STEPS = 1000 };

/* How the two bear on each other. */
typedef enum LoopHow {
  LOOP_SURFACE = 0, /* by the surfaces between the nodes */
  LOOP_NODES,       /* by their nodes, with the gradient of phi as it is */
  LOOP_UNIT,        /* and with its direction alone */
  LOOP_HOWS
} LoopHow;

typedef struct LoopLab {
  TlSolverConfig config;
  const TlAvatar *grain;
  Stepper *stepper;
  TlBodies bodies; /* two */
  TlPoints points;
  TlForceLanes *lanes;
  TlPairState springs;
} LoopLab;

/* cosine and sine parts of position and rotation vector */
typedef struct Loop {
  TlVec3 centre, along[2], turn[2];
  TlQuat start;
} Loop;

static inline const TlAvatar *loop_avatar(void *context, int64_t id) {
  return id == LOOP_GRAIN ? ((LoopLab *)context)->grain : NULL;
}

static inline TlStatus loop_open(LoopLab *lab, const TlAvatar *grain) {
  memset(lab, 0, sizeof *lab);
  lab->grain = grain;
  lab->config = tl_test_config();
  lab->config.method = TL_PENALTY;
  lab->config.penalty.spread = TL_SPREAD_TRACTION;
  lab->config.search.edges = TL_EDGES_REFINE;
  TL_TEST_SET(&lab->config, TL_TEST_BOTH, stiffness.normal_Pa_m, 1e8);
  lab->config.density_kg_m3 = 2600;
  lab->config.step_s = 1e-6;
  TL_TRY(TL_NEW(lab->lanes, 1));
  TL_TRY(
      stepper_new(&lab->stepper, &lab->config, (TlAvatarSource){lab, loop_avatar}, NULL, 0, NULL));
  for (int i = 0; i < 2; i++)
    TL_TRY(tl_test_add(&lab->bodies, &(TlGrainState){.id = i,
                                                     .avatar_id = LOOP_GRAIN,
                                                     .scale = 1,
                                                     .position = {10.0 * i, 0, 0},
                                                     .rotation = {1, 0, 0, 0}}));
  return stepper_refresh(lab->stepper, &lab->bodies);
}

static inline void loop_close(LoopLab *lab) {
  stepper_free(lab->stepper);
  tl_bodies_free(&lab->bodies);
  tl_points_free(&lab->points);
  tl_pair_state_free(&lab->springs);
  tl_free(lab->lanes);
}

/* What acts between the two where they are. */
static inline TlStatus loop_force(LoopLab *lab, LoopHow how, TlPenaltyForce *out) {
  static const TlPairLaw law = {.stiffness = {.normal_Pa_m = 1e8}};
  static const TlPenalty penalty = {.spread = TL_SPREAD_TRACTION};
  const TlColliders *c = &lab->bodies.colliders;
  TlPenaltyBody body[2];
  for (int i = 0; i < 2; i++)
    body[i] = (TlPenaltyBody){.x = c->position[i],
                              .radius = c->radius[i],
                              .inverse_mass = 1,
                              .curvature = 1 / c->radius[i],
                              .id = i};
  TlPenaltyContact contact = {.colliders = c,
                              .body = body,
                              .penalty = &penalty,
                              .b = 1,
                              .law = &law,
                              .step_s = 1e-6,
                              .lanes = lab->lanes};
  lab->points.count = 0;
  if (how == LOOP_SURFACE) {
    static const TlSearchOptions surfaces = {
        .edges = TL_EDGES_PLACES, .surface = true, .elements = true};
    TlMargin margin = {.size = c->radius[0], .travel = 1e-3 * c->radius[0]};
    TlNear near = {0}; /* nothing is known of the pair */
    TL_TRY(tl_scan_pair(&surfaces, &near, NULL, c, 0, 1, &margin, &lab->points));
  }
  for (int side = 0; side < 2 && how != LOOP_SURFACE; side++) {
    TlWanted wanted = {0, INFINITY, INFINITY, 0};
    TL_TRY(tl_narrow_all_nodes(c, side, 1 - side, side, &wanted, &lab->points));
  }
  for (size_t i = 0; how == LOOP_UNIT && i < lab->points.count; i++)
    lab->points.point[i].steeper = 0;
  return tl_penalty_force(&contact, &lab->points, &lab->springs.of[TL_SPRINGS], out);
}

/* Where the loop is at time t of 0 to 1; the second body is put there. */
static inline TlStatus loop_lead(LoopLab *lab, const Loop *l, double t, TlVec3 *x, TlQuat *q) {
  double c = cos(2 * M_PI * t), s = sin(2 * M_PI * t);
  TlVec3 turn = tl_axpy(tl_scale(c, l->turn[0]), s, l->turn[1]);
  *x = tl_axpy(tl_axpy(l->centre, c, l->along[0]), s, l->along[1]);
  *q = tl_quat_mul(tl_quat_from_rotation(turn), l->start);
  lab->bodies.position[1] = *x;
  lab->bodies.rotation[1] = *q;
  return stepper_refresh(lab->stepper, &lab->bodies);
}

/* Work around the loop over the most energy that was held. */
static inline TlStatus loop_work(LoopLab *lab, const Loop *l, LoopHow how, double *fraction) {
  double work = 0, most = 0;
  for (int i = 0; i < LOOP_STEPS; i++) {
    TlVec3 x[3];
    TlQuat q[3];
    TlPenaltyForce p;
    TL_TRY(loop_lead(lab, l, (double)i / LOOP_STEPS, &x[0], &q[0]));
    TL_TRY(loop_lead(lab, l, (i + 1.0) / LOOP_STEPS, &x[1], &q[1]));
    TL_TRY(loop_lead(lab, l, (i + 0.5) / LOOP_STEPS, &x[2], &q[2]));
    TL_TRY(loop_force(lab, how, &p));
    TlQuat back = {q[0].w, -q[0].x, -q[0].y, -q[0].z}, by = tl_quat_mul(q[1], back);
    TlVec3 turn = tl_scale(2, tl_vec3(by.x, by.y, by.z)); /* but for its third power */
    work += tl_dot(p.torque_b, turn) - tl_dot(p.force, tl_sub(x[1], x[0]));
    most = fmax(most, p.elastic_J);
  }
  *fraction = most > 0 ? fabs(work) / most : NAN;
  return TL_OK;
}

static inline TlVec3 loop_some(TlRandom *random, double size) {
  double x = tl_random_next(random), y = tl_random_next(random), z = tl_random_next(random);
  return tl_vec3(size * (2 * x - 1), size * (2 * y - 1), size * (2 * z - 1));
}

/* A loop about a place where the two overlap by 3% of their radius. */
static inline TlStatus loop_draw(LoopLab *lab, TlRandom *random, Loop *l) {
  double r = lab->bodies.radius[0], low = 0, high = 2.5 * r;
  *l = (Loop){.start = tl_quat_from_rotation(loop_some(random, 3))};
  TlVec3 n = tl_unit(loop_some(random, 1)), x;
  TlQuat q;
  lab->bodies.rotation[0] = tl_quat_from_rotation(loop_some(random, 3));
  for (int i = 0; i < 40; i++) { /* where they part */
    TlPenaltyForce p;
    double middle = 0.5 * (low + high);
    l->centre = tl_scale(middle, n);
    TL_TRY(loop_lead(lab, l, 0, &x, &q));
    TL_TRY(loop_force(lab, LOOP_NODES, &p));
    if (p.points > 0)
      low = middle;
    else
      high = middle;
  }
  l->centre = tl_scale(low - 0.03 * r, n);
  for (int k = 0; k < 2; k++) {
    l->along[k] = loop_some(random, 0.02 * r);
    l->turn[k] = loop_some(random, 0.03);
  }
  return TL_OK;
}

static inline int loop_by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of `count` loops, in ascending order, for each way to find the force. */
static inline TlStatus loop_works(const TlAvatar *grain, int count, double *work[LOOP_HOWS]) {
  LoopLab lab;
  TlRandom random = {5, 1, 0};
  TlStatus status = loop_open(&lab, grain);
  for (int k = 0; status == TL_OK && k < count; k++) {
    Loop l;
    status = loop_draw(&lab, &random, &l);
    for (int how = 0; how < LOOP_HOWS; how++)
      if (status == TL_OK && work[how]) status = loop_work(&lab, &l, (LoopHow)how, &work[how][k]);
  }
  for (int how = 0; how < LOOP_HOWS; how++)
    if (work[how]) qsort(work[how], (size_t)count, sizeof *work[how], loop_by_size);
  loop_close(&lab);
  return status;
}

#endif
